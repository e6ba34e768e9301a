//go:build linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// shifting is a workspace in which names lead to a denied file at one moment
// and to a harmless one at the next, as fast as they can be changed: by links
// of every kind, and by renaming over them.
type shifting struct {
	t      *testing.T
	p      place
	stop   atomic.Bool
	done   chan struct{}
	shifts atomic.Int64
}

// denies are the rules on the two files that hold the secret.
const denies = "Read(.env)\nRead(vault/**)"

// paths are the names that shift, by the way in which they do.
var shiftingNames = []string{"link.txt", "hard.txt", "chain1", "folder/key", "above/below/key"}

func startShifting(t *testing.T) *shifting {
	t.Helper()
	s := &shifting{t: t, p: newPlace(t), done: make(chan struct{})}
	for _, dir := range []string{"vault", "free", "folder", "above/below", "above2"} {
		must(t, os.MkdirAll(s.p.file(dir), 0o755))
	}
	for _, name := range []string{".env", "vault/key"} {
		must(t, os.WriteFile(s.p.file(name), []byte(secret+"\n"), 0o666))
	}
	for _, name := range []string{"free/key", "folder/key", "above/below/key"} {
		must(t, os.WriteFile(s.p.file(name), []byte("inside 0\n"), 0o666))
	}
	must(t, os.Symlink("vault", s.p.file("folder2")))
	must(t, os.Symlink("../vault", s.p.file("above2/below")))
	must(t, os.Symlink("chain2", s.p.file("chain1")))
	go s.shift()
	return s
}

// shift goes round. What the server makes of a name is taken away by the next
// round; a failure only costs a turn.
func (s *shifting) shift() {
	defer close(s.done)
	over := func(name string, make func(temp string) error) {
		temp := s.p.file(".shifting")
		os.Remove(temp)
		if make(temp) == nil && os.Rename(temp, s.p.file(name)) == nil {
			s.shifts.Add(1)
		}
	}
	exchange := func(a, b string) {
		if unix.Renameat2(unix.AT_FDCWD, s.p.file(a), unix.AT_FDCWD, s.p.file(b), unix.RENAME_EXCHANGE) == nil {
			s.shifts.Add(1)
		}
	}
	plain := func(temp string) error { return os.WriteFile(temp, []byte("inside 0\n"), 0o666) }
	link := func(to string) func(string) error {
		return func(temp string) error { return os.Symlink(to, temp) }
	}
	for !s.stop.Load() {
		over("link.txt", link(".env"))
		over("hard.txt", func(temp string) error { return os.Link(s.p.file(".env"), temp) })
		over("chain2", link("vault/key"))
		exchange("folder", "folder2")
		exchange("above", "above2")
		over("link.txt", plain)
		over("hard.txt", plain)
		over("chain2", link("free/key"))
		exchange("folder", "folder2")
		exchange("above", "above2")
	}
}

// end stops the shifting and asks that the denied files are as they were.
func (s *shifting) end() {
	s.t.Helper()
	s.stop.Store(true)
	<-s.done
	for _, name := range []string{".env", "vault/key"} {
		if got := read(s.t, s.p.file(name)); string(got) != secret+"\n" {
			s.t.Errorf("%s holds %q", name, got)
		}
	}
	if more := strays(s.t, s.p.file("vault"), func(name string) bool { return name == "key" }); len(more) > 0 {
		s.t.Errorf("made in the denied folder: %q", more)
	}
}

// tally counts the outcomes of the calls on one shifting name.
type tally struct{ served, denied, other, changed, leaks int }

// TestDeniedRace reads, edits and writes under names that lead to a denied file
// every other moment. It is never shown, and never changed.
func TestDeniedRace(t *testing.T) {
	seconds := count(t, "FSMCP_RACE_SECONDS", 1)
	s := startShifting(t)
	c := s.p.start(t, "FSMCP_DENY="+denies, "FSMCP_DURABILITY=none")
	tallies := make([]tally, len(shiftingNames))
	notRun := func(n tally) bool { return n.served == 0 || n.denied == 0 }
	for begin := time.Now(); time.Since(begin) < time.Duration(seconds)*time.Second || slices.ContainsFunc(tallies, notRun) && time.Since(begin) < time.Minute; {
		for i, name := range shiftingNames {
			n := &tallies[i]
			path := s.p.file(name)
			calls := []struct {
				tool string
				args args
			}{
				{"Read", args{"file_path": path}},
				{"Edit", args{"file_path": path, "old_string": "inside ", "new_string": "inside 1"}},
				{"Write", args{"file_path": path, "content": "written\n"}},
				{"Read", args{"file_path": path}},
				{"Edit", args{"file_path": path, "old_string": "OUTSIDE", "new_string": "x"}},
				{"Write", args{"file_path": filepath.Dir(path) + "/new", "content": "written\n"}},
			}
			for _, call := range calls {
				res, err := c.Call(call.tool, call.args)
				must(t, err)
				switch {
				case strings.Contains(res.Text, secret):
					n.leaks++
				case res.Slug == "denied":
					n.denied++
				case res.IsError:
					n.other++
				case call.tool == "Read":
					n.served++
				default:
					n.changed++
				}
			}
			os.Remove(filepath.Dir(path) + "/new") // as far as it was made inside
		}
	}
	must(t, c.Close())
	s.end()
	for i, n := range tallies {
		if n.leaks > 0 {
			t.Errorf("%s: %d answers held the secret", shiftingNames[i], n.leaks)
		}
		if notRun(n) {
			t.Errorf("%s: %+v: the race was not run", shiftingNames[i], n)
		}
		report(t, "%d s, %d shifts, %s: %d read, %d changed, %d denied, %d other refusals; %d leaks",
			seconds, s.shifts.Load(), shiftingNames[i], n.served, n.changed, n.denied, n.other, n.leaks)
	}
}

// TestDeniedRaceByNameLeaks is the control arm: every name of the file is
// looked up and held against the rules, its other hard links as well, and then
// the file is opened by name.
func TestDeniedRaceByNameLeaks(t *testing.T) {
	s := startShifting(t)
	denied := func(path string) bool {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || strings.HasPrefix(real, s.p.file("vault")+"/") || filepath.Base(real) == ".env" {
			return true
		}
		a, errA := os.Stat(real)
		b, errB := os.Stat(s.p.file(".env"))
		return errA != nil || errB != nil || os.SameFile(a, b)
	}
	leaks, checks := make([]int, len(shiftingNames)), 0
	for begin := time.Now(); time.Since(begin) < time.Minute && slices.Contains(leaks, 0); checks++ {
		for i, name := range shiftingNames {
			path := s.p.file(name)
			if denied(path) {
				continue
			}
			b, err := os.ReadFile(path)
			if err == nil && strings.Contains(string(b), secret) {
				leaks[i]++
			} else if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	s.end()
	if slices.Contains(leaks, 0) {
		t.Errorf("the check by name leaked nothing under one of %q in %d tries: %d", shiftingNames, checks, leaks)
	}
	report(t, "checked by name and opened by name, %d tries under each of %s leaked %s times", checks, strings.Join(shiftingNames, ", "), fmt.Sprint(leaks))
}
