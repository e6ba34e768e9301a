//go:build !fsys_portable

package save

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/volumetest"
)

// macFolder is a folder with a Saver that makes the calls of macOS.
func macFolder(t *testing.T, parent string, system poorer, change ...func(*Options)) *testFolder {
	t.Helper()
	d := newTestFolderIn(t, parent)
	system.mac = true
	d.open(append(change, func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })...)
	return d
}

// A clone with splices holds the same as a copy with them, and keeps the extended attributes.
func TestCloneSplices(t *testing.T) {
	for name, parent := range map[string]string{"copies": memory(t), "reflinks": ""} {
		t.Run(name, func(t *testing.T) {
			if parent == "" {
				parent = volumetest.Reflinks(t)
			}
			d := macFolder(t, parent, poorer{})
			path := d.put("f", "")
			rng := rand.New(rand.NewPCG(1, 1))
			for n := range shortrun.Count(t, 300, 60, "changes") {
				old := make([]byte, rng.IntN(5000))
				for i := range old {
					old[i] = byte('a' + rng.IntN(26))
				}
				if err := os.WriteFile(path, old, 0o640); err != nil {
					t.Fatal(err)
				}
				value := fmt.Appendf(nil, "%d", n)
				if err := unix.Setxattr(path, "user.tag", value, 0); err != nil {
					t.Fatal(err)
				}
				splices := drawSplices(rng, len(old))
				if _, err := change(d.save, path, func([]byte) ([]span.Splice, error) { return splices, nil }); err != nil {
					t.Fatal(err)
				}
				if got, want := d.get("f"), string(spliced(old, splices)); got != want {
					t.Fatalf("%v: %q, want %q", splices, got, want)
				}
				got := make([]byte, 20)
				if size, err := unix.Getxattr(path, "user.tag", got); err != nil || string(got[:size]) != string(value) {
					t.Fatalf("attribute %q, %v, want %q", got[:max(size, 0)], err, value)
				}
				d.wantNames("f")
			}
		})
	}
}

// drawSplices returns splices in order, some that keep the length.
func drawSplices(rng *rand.Rand, size int) (c []span.Splice) {
	for at := 0; at < size && len(c) < 6; {
		at += rng.IntN(size - at)
		end := at + rng.IntN(min(100, size-at)+1)
		length := rng.IntN(200)
		if rng.IntN(3) == 0 {
			length = end - at
		}
		c = append(c, span.Splice{Start: int64(at), End: int64(end), New: bytes.Repeat([]byte{byte('A' + len(c))}, length)})
		at = end + 1
	}
	return c
}

func spliced(old []byte, c []span.Splice) (all []byte) {
	at := int64(0)
	for _, s := range c {
		all = append(append(all, old[at:s.Start]...), s.New...)
		at = s.End
	}
	return append(all, old[at:]...)
}

// A text that another program wrote between the comparison and the clone does not get into the
// new file, also if the old file has its first text again by the last look.
func TestCloneIsCompared(t *testing.T) {
	for _, splice := range []span.Splice{{Start: 0, End: 1, New: []byte("N")}, {Start: 0, End: 1, New: []byte("NEW")}, {Start: 6, End: 8, New: nil}} {
		d := newTestFolderIn(t, memory(t))
		path, cloned := d.put("f", "old text"), false
		system := poorer{mac: true}
		d.open(func(o *Options) {
			o.Sys = hooked{base: system.base(), before: func(c call) error {
				switch {
				case c.name == "Clone":
					cloned = true
					os.WriteFile(path, []byte("bad text"), 0o644)
				case c.name == "Rename":
					os.WriteFile(path, []byte("old text"), 0o644)
				}
				return nil
			}}
		})
		_, err := change(d.save, path, func([]byte) ([]span.Splice, error) { return []span.Splice{splice}, nil })
		if !errors.Is(err, ErrModified) || !cloned {
			t.Errorf("%v, cloned %v", err, cloned)
		}
		d.want("f", "bad text")
		d.wantNames("f")
	}
}

// A file with a flag that forbids changes is refused, and stays.
func TestLockedFile(t *testing.T) {
	needRoot(t)
	for name, flag := range map[string]uint32{"immutable": 0x10, "append only": 0x20} {
		t.Run(name, func(t *testing.T) {
			d := macFolder(t, volumetest.Reflinks(t), poorer{})
			path := d.put("f", "old")
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			kernel := sys.Kernel{}
			flags, err := kernel.Flags(int(f.Fd()))
			if err == nil {
				err = kernel.SetFlags(int(f.Fd()), flags|flag)
			}
			if err != nil {
				t.Skipf("!!! NOT TESTED: no flags here: %v !!!", err)
			}
			defer kernel.SetFlags(int(f.Fd()), flags)
			if _, err := whole(d.save, path, "new"); !errors.Is(err, ErrLocked) {
				t.Errorf("written: %v", err)
			}
			if _, err := removeFile(d.save, path); !errors.Is(err, ErrLocked) {
				t.Errorf("removed: %v", err)
			}
			d.want("f", "old")
			d.wantNames("f")
		})
	}
}

// lateCase is a program that had the file open when it was replaced, and writes then.
type lateCase struct {
	name   string
	watch  bool
	merge  bool
	rescue bool
	system poorer
}

// What a program writes into the old file within the second is merged, or kept and reported.
// The control arm without the watch loses all of it.
func TestLateWrites(t *testing.T) {
	for _, c := range []lateCase{
		{name: "merged", watch: true, merge: true},
		{name: "merged, no exchange", watch: true, merge: true, system: poorer{noExchange: true}},
		{name: "merged, no clones", watch: true, merge: true, system: poorer{noClone: true}},
		{name: "rescued", watch: true, rescue: true},
		{name: "kept beside", watch: true},
		{name: "control"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parent, found, n := memory(t), 0, runs(shortrun.Count(t, 40, 15, "late writes"))
			for range n {
				if c.meet(t, parent) {
					found++
				}
			}
			t.Logf("%d of %d late lines are there", found, n)
			if c.watch && found < n || !c.watch && found > 0 {
				t.Errorf("%d of %d late lines are there", found, n)
			}
		})
	}
}

// meet has a program append a line to the file that it opened before, once the file was
// replaced, and reports whether the line is in the file, in a file beside it or rescued.
func (c lateCase) meet(t *testing.T, parent string) bool {
	var mu sync.Mutex
	var reports []LateWrite
	var rescued []string
	c.system.noWatch = !c.watch
	d := macFolder(t, parent, c.system, func(o *Options) {
		o.Late = func(l LateWrite) { mu.Lock(); defer mu.Unlock(); reports = append(reports, l) }
		if c.merge {
			o.Merge = mergeAppended
		}
		if c.rescue {
			o.Rescue = rescuing(&rescued)
		}
	})
	path := d.put("f", "base\n")
	later := appendLine(path, 0)
	if _, err := change(d.save, path, func([]byte) ([]span.Splice, error) {
		return []span.Splice{{New: []byte(ourLine)}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	later()
	d.save.Close()
	mu.Lock()
	defer mu.Unlock()
	if !strings.HasPrefix(d.get("f"), ourLine) {
		t.Errorf("our line is not there: %q", d.get("f"))
	}
	if c.watch && (len(reports) != 1 || reports[0].Path != path || reports[0].Merged != c.merge || reports[0].Err != nil) {
		t.Errorf("reported %+v", reports)
	}
	all := d.get("f") + strings.Join(rescued, "")
	if len(reports) == 1 {
		for _, name := range reports[0].Saved {
			text, _ := os.ReadFile(name)
			all += string(text)
		}
	}
	return strings.Contains(all, foreignLine)
}

// mergeAppended merges what was appended to base.
func mergeAppended(base, ours, theirs []byte) ([]span.Splice, bool) {
	added, ok := bytes.CutPrefix(theirs, base)
	return []span.Splice{{Start: int64(len(ours)), End: int64(len(ours)), New: added}}, ok
}

// A file that no program wrote to is forgotten after the second: nothing stays open, and at
// most 64 are watched at a time.
func TestLateWatchesEnd(t *testing.T) {
	d := macFolder(t, memory(t), poorer{})
	for n := range 2 * maxLate {
		if _, err := whole(d.save, d.put("f", "old"), fmt.Sprint("new ", n)); err != nil {
			t.Fatal(err)
		}
		d.save.late.mu.Lock()
		if d.save.late.n > maxLate {
			t.Errorf("%d files are watched", d.save.late.n)
		}
		d.save.late.mu.Unlock()
	}
	until(t, "no file is watched", func() bool {
		d.save.late.mu.Lock()
		defer d.save.late.mu.Unlock()
		return d.save.late.n == 0
	})
	if names := d.names(); !slices.Equal(names, []string{"f"}) {
		t.Errorf("the folder holds %q", names)
	}
}
