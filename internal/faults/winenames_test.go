//go:build linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/winetest"
)

// TestWineHoldsOfNames has another program hold a file in each share mode, while fsmcp moves
// and then deletes it. A move needs a program that shares deletion, a removal also one that
// does not write. What is refused has changed nothing, and is made as soon as that program
// lets go; a file that is held keeps what it held.
func TestWineHoldsOfNames(t *testing.T) {
	const workers = 3
	rounds := count(t, "FSMCP_WINE_HOLDS", 18)
	var sum wineNamesSum
	t.Run("holds", func(t *testing.T) {
		for i := range workers {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				wineHoldsOfNames(t, i*18/workers, (rounds+workers-1-i)/workers, &sum)
			})
		}
	})
	report(t, "%d holds: %d moves and %d removals while held, %d busy, each made after it, 0 lost", rounds, sum.moved.Load(), sum.deleted.Load(), sum.busy.Load())
}

type wineNamesSum struct{ moved, deleted, busy atomic.Int32 }

// heldNames is a file that another program holds.
type heldNames struct {
	t    *testing.T
	p    winePlace
	s    wineServer
	h    windowsHelper
	hold wineHold
	sum  *wineNamesSum
}

func wineHoldsOfNames(t *testing.T, first, rounds int, sum *wineNamesSum) {
	p := newWinePlace(t)
	h := heldNames{t: t, p: p, h: p.helper(t), sum: sum}
	h.s = p.serve(t, winetest.Name(p.ws))
	defer h.s.end()
	for round := range rounds {
		h.hold = wineHolds()[(first+round)%18]
		a, b := p.file(fmt.Sprintf("a%d.txt", round)), p.file(fmt.Sprintf("b%d.txt", round)) // fsmcp remembers what it deleted
		text := fmt.Sprintf("round %d of %d\n", round, first)
		must(t, os.WriteFile(a, []byte(text), 0o644))
		shares := strings.Contains(h.hold.share, "d")
		h.change("Move", a, args{"from": winetest.Name(a), "to": winetest.Name(b)}, shares, &sum.moved)
		if got, err := os.ReadFile(b); err != nil || string(got) != text {
			t.Fatalf("%+v: after the move: %q, %v", h.hold, got, err)
		}
		quiet := shares && h.hold.access == "r" && strings.Contains(h.hold.share, "r")
		h.change("Delete", b, args{"paths": []string{winetest.Name(b)}}, quiet, &sum.deleted)
		if left := strays(t, p.ws, func(string) bool { return false }); left != nil {
			t.Fatalf("%+v: after the removal: %q", h.hold, left)
		}
	}
}

// change makes a change while the file is held. If made is false it is to be refused as busy,
// and made after the other program has let go.
func (h heldNames) change(tool, file string, a args, made bool, sum *atomic.Int32) {
	h.t.Helper()
	before := read(h.t, file)
	if got := h.h.do("open %s %s %s", h.hold.access, h.hold.share, winetest.Name(file)); !strings.HasPrefix(got, "ok") {
		h.t.Fatalf("open %+v: %s", h.hold, got)
	}
	res, err := h.s.Call(tool, a)
	must(h.t, err)
	if now, err := os.ReadFile(file); res.IsError && (err != nil || string(now) != string(before)) {
		h.t.Errorf("%s beside %+v: refused, and the file holds %q, %v", tool, h.hold, now, err)
	}
	h.h.do("close")
	switch {
	case res.IsError == made, res.IsError && (res.Slug != "busy" || !strings.Contains(res.Text, "another program")):
		h.t.Errorf("%s beside %+v: %v %s: %s", tool, h.hold, res.IsError, res.Slug, clip(res.Text))
	case made:
		sum.Add(1)
		return
	default:
		h.sum.busy.Add(1)
	}
	if res.IsError {
		mustCall(h.t, h.s.Client, tool, a)
	}
}

// TestWineKillsOfNames kills the program for Windows while it moves many files, or deletes a
// folder with many files. After the next start each file has one of its two names, or was
// deleted and can be restored, and nothing else is there.
func TestWineKillsOfNames(t *testing.T) {
	kills := (count(t, "FSMCP_WINE_KILLS", 2) + 1) / 2
	var during [2]int
	for i, tool := range []string{"Move", "Delete"} {
		t.Run(tool, func(t *testing.T) {
			k := wineNameKills{winePlace: newWinePlace(t), t: t, delete: tool == "Delete"}
			k.run(kills)
			during[i] = k.during
		})
	}
	report(t, "%d kills each: %d in the middle of a Move, %d in that of a Delete; 0 files lost or twice there, 0 left after the next start", kills, during[0], during[1])
}

// wineNameKills is a run of kills while the names of many files change.
type wineNameKills struct {
	winePlace
	t       *testing.T
	delete  bool
	during  int // kills that left some files with the old name, and some without
	longest time.Duration
}

// wineNameFiles is the number of files.
const wineNameFiles = 12

func (k *wineNameKills) run(kills int) {
	for round := -1; round < kills; round++ { // the first is not killed
		k.fill()
		s := k.serve(k.t, winetest.Name(k.ws))
		begin := time.Now()
		call, err := s.GoCall(k.call())
		must(k.t, err)
		if round < 0 {
			res, err := call.Result()
			must(k.t, err)
			if res.IsError {
				k.t.Fatal(res.Text)
			}
			k.longest = time.Since(begin)
			report(k.t, "%d files in %v", wineNameFiles, k.longest.Round(time.Millisecond))
			s.end()
		} else {
			time.Sleep(rand.N(k.longest))
			s.kill()
		}
		s = k.serve(k.t, winetest.Name(k.ws)) // the next start
		k.look(round)
		s.end()
	}
}

// call returns the tool and the arguments of the change.
func (k *wineNameKills) call() (string, args) {
	if k.delete {
		return "Delete", args{"paths": []string{winetest.Name(k.file("from"))}, "recursive": true}
	}
	var moves []args
	for i := range wineNameFiles {
		name := fmt.Sprintf("%d.txt", i)
		moves = append(moves, args{"from": winetest.Name(k.file("from/" + name)), "to": winetest.Name(k.file("to/" + name))})
	}
	return "Move", args{"moves": moves}
}

func (k *wineNameKills) fill() {
	must(k.t, os.RemoveAll(k.file("to")))
	for _, dir := range []string{"from", "to"} {
		must(k.t, os.MkdirAll(k.file(dir), 0o755))
	}
	for i := range wineNameFiles {
		must(k.t, os.WriteFile(k.file(fmt.Sprintf("from/%d.txt", i)), fmt.Appendf(nil, "file %d\n", i), 0o644))
	}
}

// look looks where the files are. What was deleted is restored first.
func (k *wineNameKills) look(round int) {
	known := func(name string) bool { return strings.HasSuffix(name, ".txt") && !strings.HasPrefix(name, ".") }
	old := 0
	for _, dir := range []string{"from", "to"} {
		if _, err := os.Stat(k.file(dir)); err != nil {
			continue
		}
		if left := noStrays(k.t, k.file(dir), known); left != nil {
			k.t.Fatalf("kill %d: left after the next start: %q", round, left)
		}
	}
	for i := range wineNameFiles {
		if _, err := os.Stat(k.file(fmt.Sprintf("from/%d.txt", i))); err == nil {
			old++
		}
	}
	if old > 0 && old < wineNameFiles {
		k.during++
	}
	said := ""
	if k.delete && old < wineNameFiles {
		said = k.restoreDeleted()
	}
	for i := range wineNameFiles {
		names, want := 0, fmt.Sprintf("file %d\n", i)
		for _, dir := range []string{"from", "to"} {
			got, err := os.ReadFile(k.file(filepath.Join(dir, fmt.Sprintf("%d.txt", i))))
			if err == nil && string(got) == want {
				names++
			} else if err == nil {
				k.t.Errorf("kill %d: file %d holds %q", round, i, got)
			}
		}
		if names != 1 {
			k.t.Errorf("kill %d: file %d has %d names; %s", round, i, names, clip(said))
		}
	}
}

// restoreDeleted restores what the last call deleted, and returns what the commands say.
func (k *wineNameKills) restoreDeleted() string {
	listed := k.cli(k.t, "history", "list", "--json", "--dir", winetest.Name(k.ws))
	group := regexp.MustCompile(`"group": *"([^"]+)"`).FindStringSubmatch(listed)
	if group == nil {
		return "the history has no group: " + listed
	}
	return k.cli(k.t, "history", "restore", "--group", group[1])
}
