//go:build !fsys_portable

package save

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/span"
)

// foreigner is a program that knows nothing of fsmcp. It does something to the
// file; what it gives back, if anything, is the rest of it, to be done when the
// write is over.
type foreigner struct {
	name string
	act  func(path string) (later func())
}

const foreignLine = "foreign line\n"

var foreigners = []foreigner{
	{"append", func(path string) func() {
		appendLine(path, 0)()
		return nil
	}},
	{"append slowly", func(path string) func() { return appendLine(path, 0) }},
	{"truncate and write", func(path string) func() {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil
		}
		defer f.Close()
		old, _ := io.ReadAll(f)
		f.Truncate(0)
		f.WriteAt(append(old, foreignLine...), 0)
		return nil
	}},
	{"open truncating", func(path string) func() {
		os.WriteFile(path, []byte(foreignLine), 0o644)
		return nil
	}},
	{"rename", func(path string) func() {
		os.WriteFile(path+".theirs", []byte(foreignLine), 0o644)
		os.Rename(path+".theirs", path)
		return nil
	}},
	{"rename twice", func(path string) func() {
		renameOnto(path, "first foreign line\n")
		return func() { renameOnto(path, foreignLine) }
	}},
}

func renameOnto(path, text string) {
	os.WriteFile(path+".theirs", []byte(text), 0o644)
	os.Rename(path+".theirs", path)
}

func appendLine(path string, flag int) func() {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|flag, 0)
	if err != nil {
		return func() {}
	}
	return func() {
		f.WriteString(foreignLine)
		f.Close()
	}
}

// Whatever another program does, and before whichever of our system calls: its
// bytes are in the file or beside it, ours are in the file if and only if the
// write succeeded, unless the other program replaced them.
func TestForeignAtEveryCall(t *testing.T) {
	for name, system := range map[string]poorer{"": {}, " beside a write in place": {busy: true}} {
		for _, f := range foreigners {
			t.Run(f.name+name, func(t *testing.T) {
				results := map[string]int{}
				parent := memory(t)
				for n := 0; ; n++ {
					r := meet(t, parent, system, meeting{n, f})
					if !r.met {
						break
					}
					results[r.String()]++
					if why := r.wrong(); why != "" {
						t.Errorf("before call %d: %s: %s", n, why, r.detail())
					}
				}
				t.Log(results)
			})
		}
	}
}

// Two programs, at two moments.
func TestForeignPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	parent := memory(t)
	for range runs(150) {
		first, second := foreigners[rng.IntN(len(foreigners))], foreigners[rng.IntN(len(foreigners))]
		// Around the exchange most can go wrong.
		n := 25 + rng.IntN(30)
		m := n + rng.IntN(8)
		r := meet(t, parent, poorer{}, meeting{n, first}, meeting{m, second})
		if why := r.wrong(); why != "" {
			t.Errorf("%s before call %d, %s before %d: %s: %s", first.name, n, second.name, m, why, r.detail())
		}
	}
}

// Without the lease a program that had the file open is not noticed: the test
// above is able to fail.
func TestForeignControl(t *testing.T) {
	lost, parent := 0, memory(t)
	for n := 0; ; n++ {
		r := meet(t, parent, poorer{noLease: true}, meeting{n, foreigners[1]})
		if !r.met {
			break
		}
		if r.wrong() != "" {
			lost++
		}
	}
	if lost == 0 {
		t.Error("nothing was lost without the lease: the test proves nothing")
	}
	t.Logf("without the lease the line is lost at %d calls", lost)
}

type meeting struct {
	call int
	who  foreigner
}

// met is the outcome of a simultaneous write by another program.
type met struct {
	met    bool
	err    error
	file   string   // what the file holds in the end
	saved  []string // what was kept and reported
	strays []string // what lies about unreported
}

const ourLine = "our line\n"

// meet runs one write that puts our line in front, and has the others act before
// the given calls. One that is held back by the lease goes on when the write is over.
func meet(t *testing.T, parent string, system poorer, meetings ...meeting) met {
	t.Helper()
	return meetDoing(t, parent, system, false, func(s *Saver, path string) (Written, error) {
		return change(s, path, func([]byte) ([]span.Splice, error) {
			return []span.Splice{{Start: 0, End: 0, New: []byte(ourLine)}}, nil
		})
	}, meetings...)
}

// meetDoing is meet for anything that is done to the file. rescue says that unknown bytes
// are rescued, and count as saved.
func meetDoing(t *testing.T, parent string, system poorer, rescue bool, do func(s *Saver, path string) (Written, error), meetings ...meeting) met {
	t.Helper()
	d := newTestFolderIn(t, parent)
	defer os.RemoveAll(filepath.Dir(d.dir))
	path := d.put("f", "base\n")

	var r met
	at, over := -1, make(chan struct{})
	var others []chan struct{}
	var rescued []string
	d.open(func(o *Options) {
		o.OpenWait = 10 * time.Millisecond
		if rescue {
			o.Rescue = rescuing(&rescued)
		}
		o.Sys = hooked{before: func(c call) error {
			at++
			for i, m := range meetings {
				if m.call != at {
					continue
				}
				r.met = r.met || i == len(meetings)-1
				acted, done := make(chan struct{}), make(chan struct{})
				others = append(others, done)
				go func() {
					later := m.who.act(path)
					close(acted)
					<-over
					if later != nil {
						later()
					}
					close(done)
				}()
				if system.noLease { // nothing can hold it back
					<-acted
					continue
				}
				select {
				case <-acted:
				case <-time.After(3 * time.Millisecond):
				}
			}
			return system.before(c)
		}}
	})
	out, err := do(d.save, path)
	r.err, meetings = err, nil
	close(over)
	for _, o := range others {
		<-o
	}
	d.save.Close()
	r.file = d.get("f")
	for _, name := range out.Saved {
		b, _ := os.ReadFile(name)
		r.saved = append(r.saved, string(b))
	}
	r.saved = append(r.saved, rescued...)
	for _, name := range d.names() {
		if name != "f" && !strings.Contains(strings.Join(out.Saved, " "), d.path(name)) {
			r.strays = append(r.strays, name)
		}
	}
	return r
}

func (r met) wrong() string {
	ours, theirs := strings.Contains(r.file, ourLine), strings.Contains(r.file, foreignLine)
	var busy *BusyError
	switch {
	case len(r.strays) > 0:
		return "something is left behind"
	case r.err != nil && !errors.Is(r.err, ErrModified) && !errors.As(r.err, &busy):
		return "a strange error"
	case r.err != nil && ours:
		return "the write failed and is there"
	case r.err == nil && !ours && !theirs:
		return "the write succeeded and is not there"
	case r.met && !theirs && !strings.Contains(strings.Join(r.saved, ""), foreignLine):
		return "the other program's line is lost"
	}
	return ""
}

func (r met) detail() string {
	return fmt.Sprintf("error %v, file %q, saved %q, strays %q", r.err, r.file, r.saved, r.strays)
}

func (r met) String() string {
	s := "done"
	if r.err != nil {
		s = r.err.Error()
	}
	if len(r.saved) > 0 {
		s += ", some saved"
	}
	return s
}

// What happens around the exchange itself, case by case. The acts come before the
// first, second ... call of Rename, which is our exchange, then the one that takes
// it back.
func TestForeignAroundExchange(t *testing.T) {
	write := func(text string) func(string) {
		return func(path string) { renameOnto(path, text) }
	}
	cases := []struct {
		name  string
		acts  []func(path string)
		err   error
		file  string
		saved []string
	}{
		{"renamed before", []func(string){write("theirs")}, ErrModified, "theirs", nil},
		{"renamed before and again after", []func(string){write("first"), write("second")},
			ErrModified, "second", []string{"first"}},
		{"and again", []func(string){write("first"), write("second"), write("third")},
			ErrModified, "third", []string{"second"}},
		{"deleted before", []func(string){remove}, ErrVanished, "(missing)", nil},
		{"renamed before, deleted after", []func(string){write("theirs"), remove},
			ErrVanished, "(missing)", []string{"theirs"}},
		{"renamed before, ours written to after", []func(string){write("theirs"), func(path string) { appendLine(path, 0)() }},
			ErrModified, "theirs", []string{"new" + foreignLine}},
		{"mode changed", []func(string){func(path string) { os.Chmod(path, 0o600) }}, ErrModified, "old", nil},
		{"a link in its place", []func(string){func(path string) { os.Remove(path); os.Symlink("elsewhere", path) }},
			ErrModified, "(link)", nil},
		{"a folder in its place", []func(string){func(path string) { os.Remove(path); os.Mkdir(path, 0o755) }},
			ErrModified, "(folder)", nil},
		{"a pipe in its place", []func(string){func(path string) { os.Remove(path); unix.Mkfifo(path, 0o644) }},
			ErrModified, "(pipe)", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			path := d.put("f", "old")
			renames := 0
			d.open(func(o *Options) {
				o.Sys = hooked{before: func(k call) error {
					if k.name == "Rename" && k.flags == unix.RENAME_EXCHANGE {
						if renames < len(c.acts) {
							c.acts[renames](path)
						}
						renames++
					}
					return nil
				}}
			})
			out, err := whole(d.save, path, "new")
			if !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if got := look(path); got != c.file {
				t.Errorf("the file holds %q, want %q", got, c.file)
			}
			var saved []string
			for _, name := range out.Saved {
				saved = append(saved, look(name))
				os.Remove(name)
			}
			if !slices.Equal(saved, c.saved) {
				t.Errorf("saved %q, want %q", saved, c.saved)
			}
			os.RemoveAll(path)
			d.wantNames()
		})
	}
}

func remove(path string) { os.Remove(path) }

// look tells what a name holds.
func look(path string) string {
	st, err := os.Lstat(path)
	switch {
	case err != nil:
		return "(missing)"
	case st.IsDir():
		return "(folder)"
	case st.Mode()&os.ModeSymlink != 0:
		return "(link)"
	case st.Mode()&os.ModeNamedPipe != 0:
		return "(pipe)"
	}
	b, _ := os.ReadFile(path)
	return string(b)
}
