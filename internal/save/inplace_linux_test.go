//go:build !fsys_portable

package save

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
)

// inPlaceChange is a change of a file that is written in place.
type inPlaceChange struct {
	name     string
	old, new string
}

func inPlaceChanges() []inPlaceChange {
	var old strings.Builder
	for n := range 700 { // three pages
		fmt.Fprintf(&old, "line %04d of old\n", n)
	}
	text := old.String()
	return []inPlaceChange{
		{"grows in front", text, "a new line\n" + text},
		{"grows by a page", text, strings.Repeat("new\n", 1500) + text},
		{"grows at the end", text, text + "a new line\n"},
		{"shrinks in front", text, text[17:]},
		{"shrinks by a page", text, text[1700*3:]},
		{"shrinks at the end", text, text[:len(text)-17]},
		{"becomes empty", text, ""},
		{"was empty", "", text},
		{"keeps its size", text, strings.Replace(text, "line 0003 of old", "line 0003 is new", 1)},
		{"keeps its size, all of it", text, strings.ReplaceAll(text, "old", "new")},
	}
}

// appenders append lines to a file that they only open to append. The rest of what act
// begins is done when the write is over.
var appenders = []foreigner{
	foreigners[0], // open, append, close
	foreigners[1], // open; append and close when the write is over
	{"append twice", func(path string) func() {
		appendLine(path, 0)()
		return appendLine(path, 0)
	}},
}

// splices makes the change in a file that may have lines of other programs at its end.
func (c inPlaceChange) splices(now []byte) ([]span.Splice, error) {
	if !strings.HasPrefix(string(now), c.old) {
		return nil, fmt.Errorf("the file holds %q", short(string(now)))
	}
	same := 0
	for same < min(len(c.old), len(c.new)) && c.old[same] == c.new[same] {
		same++
	}
	tail := 0
	for tail < min(len(c.old), len(c.new))-same && c.old[len(c.old)-1-tail] == c.new[len(c.new)-1-tail] {
		tail++
	}
	return []span.Splice{{Start: int64(same), End: int64(len(c.old) - tail), New: []byte(c.new[same : len(c.new)-tail])}}, nil
}

// TestAppendBesideWriteInPlace: another program appends a line before any system call of a
// write in place, by which the file grows, shrinks or keeps its size. The line is in the
// file in the end. The call is done, and the rest of the file is new, or it is refused, and
// the rest is old. (The long run tries every call with every change and every program.)
func TestAppendBesideWriteInPlace(t *testing.T) {
	results := map[string]int{}
	step := 1
	if !long() {
		step = 2 * shortrun.Step(t, 3, "system calls before which a line is appended")
	}
	for i, c := range inPlaceChanges() {
		for j, f := range appenders {
			if !long() && j > 0 && (i+j)%3 > 0 {
				continue
			}
			for n := i % step; ; n += step {
				r := c.meet(t, poorer{busy: true}, n, f)
				if !r.met {
					break
				}
				if results[r.String()]++; r.lost() != "" {
					t.Errorf("%s, %s before call %d (%s): %s (error %v)", c.name, f.name, n, r.call, r.lost(), r.err)
				}
			}
		}
	}
	t.Log(results)
}

// TestAppendBesideWriteInPlaceControl: without the lease a line is lost between the last
// look at the size and the step that writes over it or cuts it off, and nowhere else. The
// test above is able to fail.
func TestAppendBesideWriteInPlaceControl(t *testing.T) {
	lost := map[string]int{}
	for _, c := range inPlaceChanges() {
		for n := 0; ; n++ {
			r := c.meet(t, poorer{busy: true, noLease: true}, n, appenders[0])
			if !r.met {
				break
			}
			if r.lost() == "" {
				continue
			}
			if lost[r.call]++; r.call != "Pread" && r.call != "Pwrite" && r.call != "Truncate" {
				t.Errorf("%s, before call %d (%s): %s (error %v)", c.name, n, r.call, r.lost(), r.err)
			}
		}
	}
	if len(lost) == 0 {
		t.Error("nothing is lost without the lease: the test proves nothing")
	}
	t.Logf("lost without the lease, before these calls: %v", lost)
}

// inPlaceMeeting is the outcome of a write in place beside which a line was appended.
type inPlaceMeeting struct {
	inPlaceChange
	met  bool
	call string // before which
	err  error
	file string
}

func (c inPlaceChange) meet(t *testing.T, system poorer, n int, f foreigner) (r inPlaceMeeting) {
	t.Helper()
	d := newTestFolderIn(t, memory(t))
	defer os.RemoveAll(filepath.Dir(d.dir))
	path := d.put("f", c.old)
	r.inPlaceChange = c
	at, begun, over, done := -1, false, make(chan struct{}), make(chan struct{})
	d.open(func(o *Options) {
		o.OpenWait = 10 * time.Millisecond
		o.Durability = Full
		o.Sys = hooked{before: func(k call) error {
			if begun {
				at++
			}
			if at == n {
				r.met, r.call = true, k.name
				acted := make(chan struct{})
				go func() {
					later := f.act(path)
					close(acted)
					<-over
					if later != nil {
						later()
					}
					close(done)
				}()
				select {
				case <-acted:
				case <-time.After(3 * time.Millisecond): // the lease holds it back
				}
			}
			return system.before(k)
		}}
	})
	if _, err := whole(d.save, d.put("g", "old"), "new"); err != nil { // makes the state folder
		t.Fatal(err)
	}
	begun = true
	_, r.err = change(d.save, path, c.splices)
	n = -2
	close(over)
	if r.met {
		<-done
	}
	r.file = d.get("f")
	if journals, _ := os.ReadDir(filepath.Join(d.state, journalDir)); len(journals) > 0 {
		t.Errorf("%s, %s before call %d: %d journals stay", c.name, f.name, n, len(journals))
	}
	d.wantNames("f", "g")
	d.save.Close()
	return r
}

// lost says what is wrong with the outcome.
func (r inPlaceMeeting) lost() string {
	var busy *BusyError
	want := r.new
	if r.err != nil {
		want = r.old
	}
	rest, lines := strings.ReplaceAll(r.file, foreignLine, ""), strings.Count(r.file, foreignLine)
	switch {
	case r.err != nil && !errors.Is(r.err, ErrModified) && !errors.As(r.err, &busy):
		return "a strange error"
	case lines == 0:
		return "the other program's line is lost"
	case rest != want:
		return fmt.Sprintf("the file holds %q", short(rest))
	}
	return ""
}

func (r inPlaceMeeting) String() string {
	if r.err != nil {
		return r.err.Error()
	}
	return "done"
}

// TestWriteInPlaceBesideReader: a program that has the file open for reading, as tail does,
// keeps the lease away. The file is written all the same, within a bounded time.
func TestWriteInPlaceBesideReader(t *testing.T) {
	d := newTestFolder(t, func(o *Options) { o.Sys = hooked{before: systems["in-place"].before} })
	path := d.put("f", "old")
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	promptly(t, time.Second, func() time.Duration {
		begun := time.Now()
		if out, err := whole(d.save, path, "new"); err != nil || !out.InPlace {
			t.Fatalf("%+v, %v", out, err)
		}
		return time.Since(begun)
	})
	d.want("f", "new")
	if again, err := os.OpenFile(path, os.O_RDWR, 0); err != nil { // no lease stays
		t.Error(err)
	} else {
		again.Close()
	}
}

// TestAppendBesideReplay: another program appends a line before any system call by which
// the next start finishes an interrupted write: the line is in the file in the end.
func TestAppendBesideReplay(t *testing.T) {
	const short, long = "the old text", "THE NEW AND LONGER TEXT"
	for _, c := range []struct{ name, old, new, then string }{
		{"longer", short, long, "THE NEW text"},
		{"longer, past the old end", short, long, "THE NEW AND LON"},
		{"shorter", long, short, "the old AND LONGER TEXT"},
		{"shorter, not yet cut", long, short, "the old text" + long[len(short):]},
	} {
		for n := 0; ; n++ {
			d := newTestFolderIn(t, memory(t))
			path, _ := interrupted(t, d, c.old, c.new)
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0) // the same inode
			if err != nil {
				t.Fatal(err)
			}
			f.WriteString(c.then)
			f.Close()
			at, met, before, done := -1, false, "", make(chan struct{})
			d.open(func(o *Options) {
				o.Sys = hooked{before: func(k call) error {
					if at++; at != n || met {
						return nil
					}
					met, before = true, k.name
					go func() { defer close(done); appendLine(path, 0)() }()
					select {
					case <-done:
					case <-time.After(3 * time.Millisecond): // the lease holds it back
					}
					return nil
				}}
			})
			r, err := d.save.Sweep(t.Context())
			if !met {
				break
			}
			<-done
			if got := d.get("f"); err != nil || !strings.HasSuffix(got, foreignLine) || got != c.new+foreignLine && got != c.then+foreignLine {
				t.Errorf("%s, before call %d (%s): the file holds %q (%+v, %v)", c.name, n, before, got, r, err)
			}
			d.save.Close()
		}
	}
}

// TestRollbackKeepsAnEqualLine: a line that another program appends without regard to a lease
// stays when the write in place is undone, also if it looks like the new text at that place.
// Only between the last look at the size and the step that writes over it can it be lost.
func TestRollbackKeepsAnEqualLine(t *testing.T) {
	const line = "x\n"
	old := strings.Repeat(line, 6000)
	kept, met := 0, true
	for n := 0; met; n++ {
		d := newTestFolderIn(t, memory(t))
		path := d.put("f", old)
		at, begun := -1, false
		met = false
		var name string
		d.open(func(o *Options) {
			o.Durability = Full
			o.Sys = hooked{before: func(k call) error {
				if begun {
					at++
				}
				if at == n && !met {
					met, name = true, k.name
					f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
					if err != nil {
						t.Error(err)
					} else if _, err = f.WriteString(line); err != nil || f.Close() != nil {
						t.Error(err)
					}
				}
				return poorer{busy: true, noLease: true}.before(k)
			}}
		})
		if _, err := whole(d.save, d.put("g", "old"), "new"); err != nil { // makes the state folder
			t.Fatal(err)
		}
		begun = true
		_, err := change(d.save, path, func([]byte) ([]span.Splice, error) {
			return []span.Splice{{New: []byte("head!\n")}}, nil
		})
		begun = false
		want := old + line
		if err == nil {
			want = "head!\n" + want
		}
		switch got := d.get("f"); {
		case !met:
		case got == want:
			kept++
		case name != "Pread" && name != "Pwrite" && name != "Truncate":
			t.Errorf("before call %d (%s): %d bytes, want %d (error %v)", n, name, len(got), len(want), err)
		}
		d.save.Close()
	}
	if kept < 20 {
		t.Errorf("the line was kept %d times", kept)
	}
}
