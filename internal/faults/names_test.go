//go:build linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestServersMoveAndEdit lets one server move a file to and fro between two names while
// another one edits it under whichever it has. Every edit that was reported as done is in the
// file, once, and the file is there once.
func TestServersMoveAndEdit(t *testing.T) {
	p := newPlace(t)
	rounds := count(t, "FSMCP_MOVES", 20)
	a, b := p.file("a.txt"), p.file("b.txt")
	must(t, os.WriteFile(a, []byte(anchor+"\n"), 0o666))
	mover, editor := p.start(t, "FSMCP_TOOLS=all"), p.start(t, "FSMCP_TOOLS=all")
	var group sync.WaitGroup
	moves := 0
	group.Go(func() {
		from, to := a, b
		for range rounds {
			res, err := mover.Call("Move", args{"from": from, "to": to})
			if err != nil {
				t.Error(err)
				return
			}
			if !res.IsError {
				moves++
				from, to = to, from
			}
		}
	})
	edits, refusals := map[string]bool{}, 0
	group.Go(func() {
		for i := range rounds {
			file := []string{a, b}[i%2]
			line := fmt.Sprintf("edit %04d", i)
			_, err := editor.Call("Read", args{"file_path": file, "limit": 5000})
			if err == nil {
				res, failed := editor.Call("Edit", args{"file_path": file, "old_string": anchor, "new_string": line + "\n" + anchor})
				if err = failed; err == nil && !res.IsError {
					edits[line] = true
				} else if err == nil {
					refusals++
				}
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	group.Wait()
	must(t, mover.Close())
	must(t, editor.Close())
	var text []byte
	there := 0
	for _, name := range []string{a, b} {
		raw, err := os.ReadFile(name)
		if err == nil {
			text, there = raw, there+1
		} else if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	found := marks(text, "edit ")
	for line := range edits {
		if found[line] != 1 {
			t.Errorf("%q was reported as done and is there %d times", line, found[line])
		}
	}
	if there != 1 || len(found) != len(edits) || moves == 0 || len(edits) == 0 {
		t.Errorf("the file is there %d times with %d of %d edits, after %d moves", there, len(found), len(edits), moves)
	}
	report(t, "%d moves and %d edits of one file by two servers, %d refused: all edits are there once", moves, len(edits), refusals)
}

// TestNamesInASwapRace moves and deletes below a name that is now a folder inside and now a
// link to one outside. Nothing outside is ever moved, deleted or added to.
func TestNamesInASwapRace(t *testing.T) {
	seconds := count(t, "FSMCP_SWAP_SECONDS", 1)
	s := startSwapping(t)
	c := s.p.start(t, "FSMCP_TOOLS=all")
	var moves, deletes, refusals int
	notRun := func() bool { return moves == 0 || deletes == 0 || refusals == 0 }
	for begin := time.Now(); time.Since(begin) < time.Duration(seconds)*time.Second || notRun() && time.Since(begin) < time.Minute; {
		for i := range 4 {
			file, other := s.p.file(fmt.Sprintf("d/f%d.txt", i)), s.p.file(fmt.Sprintf("d/m%d.txt", i))
			away := s.p.file(fmt.Sprintf("away%d.txt", i))
			for _, pair := range [][2]string{{file, other}, {other, file}, {file, away}, {away, file}} {
				res, err := c.Call("Move", args{"from": pair[0], "to": pair[1]})
				must(t, err)
				if res.IsError {
					refusals++
				} else {
					moves++
				}
			}
			must(t, os.WriteFile(s.p.file("new.tmp"), []byte("inside 0\n"), 0o666))
			_, err := c.Call("Move", args{"from": s.p.file("new.tmp"), "to": s.p.file("d/f9.txt")})
			must(t, err)
			res, err := c.Call("Delete", args{"paths": []string{s.p.file("d/f9.txt")}})
			must(t, err)
			if !res.IsError {
				deletes++
			}
			os.Remove(s.p.file("new.tmp"))
		}
	}
	must(t, c.Close())
	escapes := s.end(t)
	entries, err := os.ReadDir(s.outside)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if escapes > 0 || strings.Join(names, " ") != "f0.txt f1.txt f2.txt f3.txt" {
		t.Errorf("outside are %q, %d of them changed", names, escapes)
	}
	if notRun() {
		t.Errorf("%d moves, %d deletes, %d refusals: the race was not run", moves, deletes, refusals)
	}
	report(t, "%d s, %d swaps: %d moves and %d deletes inside, %d refused; outside 0", seconds, s.swaps.Load(), moves, deletes, refusals)
}

// TestNaiveMoveLeavesTheWorkspace is the control arm: a program that renames by names alone
// takes files from outside.
func TestNaiveMoveLeavesTheWorkspace(t *testing.T) {
	s := startSwapping(t)
	gone := false
	for begin := time.Now(); !gone && time.Since(begin) < time.Minute; {
		for i := range 4 {
			_ = os.Rename(s.p.file(fmt.Sprintf("d/f%d.txt", i)), s.p.file(fmt.Sprintf("taken%d-%d.txt", i, time.Now().UnixNano())))
		}
		left, err := os.ReadDir(s.outside)
		must(t, err)
		gone = len(left) < 4
	}
	s.stop.Store(true)
	<-s.done
	if taken, _ := filepath.Glob(s.p.file("taken*")); !gone {
		t.Errorf("it took %d files, none from outside", len(taken))
	}
}
