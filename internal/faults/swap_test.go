//go:build linux

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// swapped is a workspace in which a folder and a link to a folder outside
// change places as fast as they can.
type swapped struct {
	p       place
	outside string
	stop    atomic.Bool
	swaps   atomic.Int64
	done    chan struct{}
}

const secret = "OUTSIDE SECRET"

func startSwapping(t *testing.T) *swapped {
	t.Helper()
	s := &swapped{p: newPlace(t), done: make(chan struct{})}
	s.outside = filepath.Join(filepath.Dir(s.p.ws), "outside")
	inside := s.p.file("d")
	for _, dir := range []string{s.outside, inside} {
		must(t, os.Mkdir(dir, 0o755))
	}
	for i := range 4 {
		must(t, os.WriteFile(filepath.Join(s.outside, fmt.Sprintf("f%d.txt", i)), []byte(secret+"\n"), 0o666))
		must(t, os.WriteFile(filepath.Join(inside, fmt.Sprintf("f%d.txt", i)), []byte("inside 0\n"), 0o666))
	}
	must(t, os.Symlink(s.outside, s.p.file("l")))
	a, b := s.p.file("d"), s.p.file("l")
	go func() {
		defer close(s.done)
		for !s.stop.Load() {
			if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
				s.swaps.Add(1)
			}
		}
	}()
	return s
}

// end stops the swapping and tells what was changed outside.
func (s *swapped) end(t *testing.T) (escapes int) {
	t.Helper()
	s.stop.Store(true)
	<-s.done
	entries, err := os.ReadDir(s.outside)
	must(t, err)
	for _, e := range entries {
		b := read(t, filepath.Join(s.outside, e.Name()))
		if string(b) != secret+"\n" {
			escapes++
		}
	}
	return escapes
}

// TestSwapRace reads, writes and edits below a name that is now a folder
// inside and now a link to one outside. Nothing outside is ever shown or
// written.
func TestSwapRace(t *testing.T) {
	seconds := count(t, "FSMCP_SWAP_SECONDS", 1)
	s := startSwapping(t)
	c := s.p.start(t)
	var reads, leaks, writes, edits, refusals int
	notRun := func() bool { return reads == 0 || writes == 0 || refusals == 0 }
	for begin := time.Now(); time.Since(begin) < time.Duration(seconds)*time.Second || notRun() && time.Since(begin) < time.Minute; {
		for i := range 4 {
			file := s.p.file(fmt.Sprintf("d/f%d.txt", i))
			res, err := c.Call("Read", args{"file_path": file})
			must(t, err)
			switch {
			case strings.Contains(res.Text, secret):
				leaks++
			case res.IsError:
				refusals++
			default:
				reads++
			}
			res, err = c.Call("Edit", args{"file_path": file, "old_string": "inside ", "new_string": "inside 1"})
			must(t, err)
			if strings.Contains(res.Text, secret) {
				leaks++
			}
			if !res.IsError {
				edits++
			}
			res, err = c.Call("Write", args{"file_path": s.p.file(fmt.Sprintf("d/new%d.txt", writes+refusals)), "content": "written\n"})
			must(t, err)
			if !res.IsError {
				writes++
			} else {
				refusals++
			}
		}
	}
	must(t, c.Close())
	escapes := s.end(t)
	if leaks > 0 || escapes > 0 {
		t.Errorf("%d reads and %d writes went outside", leaks, escapes)
	}
	if notRun() {
		t.Errorf("%d reads, %d writes, %d refusals: the race was not run", reads, writes, refusals)
	}
	report(t, "%d s, %d swaps: %d reads and %d writes and %d edits inside, %d refused; %d outside reads, %d outside writes",
		seconds, s.swaps.Load(), reads, writes, edits, refusals, leaks, escapes)
}

// TestSwapRaceByStringLeaks is the control arm: a path that is resolved and
// compared as a string, and then opened by name, leads outside.
func TestSwapRaceByStringLeaks(t *testing.T) {
	s := startSwapping(t)
	leaks, checks := 0, 0
	inside := func(name string) bool {
		dir, err := filepath.EvalSymlinks(filepath.Dir(name))
		return err == nil && strings.HasPrefix(dir+"/", s.p.ws+"/")
	}
	written := 0
	for begin := time.Now(); time.Since(begin) < 20*time.Second && (leaks == 0 || written < 200) || leaks == 0 && time.Since(begin) < time.Minute; checks++ {
		if name := s.p.file("d/f0.txt"); inside(name) {
			if b, err := os.ReadFile(name); err == nil && strings.Contains(string(b), secret) {
				leaks++
			}
		}
		if name := s.p.file(fmt.Sprintf("d/new%d.txt", checks)); inside(name) {
			if os.WriteFile(name, []byte("written\n"), 0o666) == nil {
				written++
			}
		}
	}
	escapes := s.end(t)
	if leaks == 0 {
		t.Errorf("the check by string leaked nothing in %d tries: the test proves nothing", checks)
	}
	report(t, "checked by string, %d of %d reads and %d of %d writes went outside", leaks, checks, escapes, written)
}
