package save

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/span"
)

// What holds on every system; with -tags fsys_portable Linux tries it out on what
// serves the others.

func TestReplace(t *testing.T) {
	for _, how := range []Durability{Full, Data, None} {
		d := newTestFolder(t, func(o *Options) { o.Durability = how })
		path := d.put("f", "old content")
		os.Chmod(path, 0o640)
		out, err := change(d.save, path, func([]byte) ([]span.Splice, error) {
			return []span.Splice{{Start: 0, End: 3, New: []byte("new")}, {Start: 3, End: 3, New: []byte("er")}, {Start: 11, End: 11, New: []byte("!")}}, nil
		})
		if err != nil || out.Created || out.InPlace || out.DurabilityUnknown || out.StateInTemp != "" {
			t.Errorf("%+v, %v", out, err)
		}
		d.want("f", "newer content!")
		d.wantNames("f")
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o640 && runtime.GOOS != "windows" || out.Stamp.Size != info.Size() || out.Stamp.Mtime != info.ModTime().UnixNano() {
			t.Errorf("%v, stamp %+v", info, out.Stamp)
		}
	}
}

func TestNewFile(t *testing.T) {
	d := newTestFolder(t)
	out, err := whole(d.save, d.path(filepath.Join("a", "b", "f")), "new")
	if err != nil || !out.Created || fmt.Sprint(out.CreatedDirs) != fmt.Sprint([]string{d.path("a"), d.path(filepath.Join("a", "b"))}) {
		t.Errorf("%+v, %v", out, err)
	}
	d.want(filepath.Join("a", "b", "f"), "new")

	x, err := d.save.Begin(t.Context(), target(t, d.path("g")))
	if err != nil || x.Old() != nil {
		t.Fatal(err)
	}
	defer x.Close()
	d.put("g", "theirs")
	if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 0, New: []byte("ours")}}); !errors.Is(err, ErrExists) {
		t.Errorf("%v", err)
	}
	d.want("g", "theirs")
	d.wantNames("a", "g")
}

func TestChangedMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(path string) error
		err  error
		file string
	}{
		"renamed": {func(path string) error {
			theirs := filepath.Join(filepath.Dir(filepath.Dir(path)), "theirs")
			return errors.Join(os.WriteFile(theirs, []byte("theirs"), 0o644), os.Rename(theirs, path))
		}, ErrModified, "theirs"},
		"deleted": {os.Remove, ErrVanished, "(missing)"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestFolder(t)
			path := d.put("f", "old")
			x, err := d.save.Begin(t.Context(), target(t, path))
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			if err := c.act(path); runtime.GOOS == "windows" && (err != nil || d.get("f") == "old") {
				t.Skip("the system keeps the other program out, or deletes the file later: ", err)
			}
			if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 3, New: []byte("new")}}); !errors.Is(err, c.err) {
				t.Errorf("%v", err)
			}
			d.want("f", c.file)
			if c.file == "(missing)" {
				d.wantNames()
			} else {
				d.wantNames("f")
			}
		})
	}
}

func TestReadOnlyFile(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old")
	os.Chmod(path, 0o444)
	if _, err := whole(d.save, path, "new"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("%v", err)
	}
	os.Chmod(path, 0o644)
	d.want("f", "old")
}

func TestLocks(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old")
	first, err := d.save.Lock(t.Context(), target(t, path))
	if err != nil || !first.Covers(target(t, path)) || first.Covers(target(t, d.path("g"))) {
		t.Fatal(err)
	}
	other := New(Options{StateDir: d.state})
	defer other.Close()
	for _, s := range []*Saver{d.save, other} {
		s.o.LockWait = 20 * time.Millisecond
		var busy *BusyError
		if _, err := s.Lock(t.Context(), target(t, path)); !errors.As(err, &busy) {
			t.Errorf("%v", err)
		}
	}
	first.Unlock()
	other.o.LockWait = time.Minute
	second, err := other.Lock(t.Context(), target(t, path))
	if err != nil {
		t.Fatal(err)
	}
	second.Unlock()
}

func TestManyWriters(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "")
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for n := range 10 {
				mark := fmt.Sprintf("w%d-%d\n", w, n)
				_, err := change(d.save, path, func([]byte) ([]span.Splice, error) {
					return []span.Splice{{Start: 0, End: 0, New: []byte(mark)}}, nil
				})
				if err != nil {
					t.Errorf("%s: %v", mark, err)
				}
			}
		})
	}
	all.Wait()
	if got := strings.Count(d.get("f"), "\n"); got != 80 {
		t.Errorf("%d lines of 80", got)
	}
	d.wantNames("f")
}

func TestStateInTemp(t *testing.T) {
	d := newTestFolderIn(t, t.TempDir())
	os.WriteFile(d.state, nil, 0o600)
	d.open()
	out, err := whole(d.save, d.put("f", "old"), "new")
	skipWithoutReplace(t, err)
	if err != nil || !strings.HasPrefix(out.StateInTemp, filepath.Dir(d.state)) {
		t.Errorf("%+v, %v", out, err)
	}
}

// A file that a dead process was about to publish goes at the next start.
func TestSweepAfterDeath(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old")
	if _, err := whole(d.save, path, "new"); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(d.state, "flight", "dead")
	if err := os.WriteFile(note, fmt.Appendf(nil, "%q\n", d.dir), 0o600); err != nil {
		t.Fatal(err)
	}
	d.put(".f.fsmcp-n01234567", "unpublished")
	d.put(".f.fsmcp-no", "somebody else's")
	d.save.Close()
	d.open()
	r, err := d.save.Sweep(t.Context())
	if err != nil || r.Removed != 1 || len(r.Saved)+len(r.Pending) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	d.wantNames(".f.fsmcp-no", "f")
	if _, err := os.Stat(note); err == nil {
		t.Error("the note stays")
	}
}

func TestErrorsSpeak(t *testing.T) {
	err := error(&IOError{Op: "write", Path: "/f", Err: os.ErrPermission})
	if !errors.Is(err, os.ErrPermission) || err.Error() != "write /f: permission denied" {
		t.Error(err)
	}
}

// What has to be done before a change is, and where that fails nothing is changed,
// however the file is written.
func TestBefore(t *testing.T) {
	replace := func(x *Txn) (Written, error) {
		size := int64(0)
		if x.Old() != nil {
			size = int64(len("old"))
		}
		return x.Replace(t.Context(), []span.Splice{{Start: 0, End: size, New: []byte("new")}})
	}
	for name, c := range map[string]struct {
		options func(*Options)
		prepare func(d *testFolder)
		do      func(x *Txn) (Written, error)
		before  string
		after   string
	}{
		"replace": {nil, func(d *testFolder) { d.put("f", "old") }, replace, "old", "new"},
		"in place": {func(o *Options) { o.KeepHardLinks = true }, func(d *testFolder) {
			d.put("f", "old")
			os.Link(d.path("f"), d.path("g"))
		}, replace, "old", "new"},
		"create": {nil, func(*testFolder) {}, replace, "(missing)", "new"},
		"remove": {nil, func(d *testFolder) { d.put("f", "old") }, func(x *Txn) (Written, error) { return x.Remove(t.Context()) }, "old", "(missing)"},
	} {
		for _, why := range []error{nil, errors.New("no room")} {
			t.Run(fmt.Sprint(name, " ", why), func(t *testing.T) {
				var options []func(*Options)
				if c.options != nil {
					options = append(options, c.options)
				}
				d := newTestFolder(t, options...)
				c.prepare(d)
				names := d.names()
				asked := 0
				_, err := transact(d.save, d.path("f"), func(x *Txn) (Written, error) {
					x.Before(func() error {
						asked++
						d.want("f", c.before)
						return why
					})
					return c.do(x)
				})
				if err != why || asked == 0 {
					t.Errorf("asked %d times, %v", asked, err)
				}
				if why == nil {
					d.want("f", c.after)
					return
				}
				d.want("f", c.before)
				d.wantNames(names...)
			})
		}
	}
}
