//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/winetest"
)

// TestWineKills kills the program for Windows while it writes 50 MB. After the next start
// the file is the old one or the new one, and nothing else is in the folder.
func TestWineKills(t *testing.T) {
	const workers = 2
	kills := count(t, "FSMCP_WINE_KILLS", 4)
	var old, other atomic.Int32
	t.Run("kills", func(t *testing.T) {
		for i := range workers {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				wineKills(t, (kills+workers-1-i)/workers, &old, &other)
			})
		}
	})
	report(t, "%d kills while %d MB are written: %d old, %d changed or under way, 0 mixed, 0 left after the next start", kills, wineKillMB(t), old.Load(), other.Load())
}

// wineKillMB is the size of the file that is written.
func wineKillMB(t *testing.T) int { return count(t, "FSMCP_WINE_KILL_MB", 10) }

func wineKills(t *testing.T, kills int, old, other *atomic.Int32) {
	p := newWinePlace(t)
	size := wineKillMB(t) << 20
	name := p.file("large.txt")
	body := bytes.Repeat([]byte("a line of the body of a large file, which an edit moves\n"), size/56)
	words := [2]string{"old", "new, and longer"}
	var versions [2][]byte
	for i, word := range words {
		versions[i] = append([]byte(word+"\n"), body...)
	}
	must(t, os.WriteFile(name, versions[0], 0o644))
	alone := func(name string) bool { return name == "large.txt" }
	longest := time.Duration(0)
	for round := -1; round < kills; round++ { // the first is not killed
		s := p.serve(t, winetest.Name(p.ws))
		if left := noStrays(t, p.ws, alone); left != nil {
			t.Fatalf("kill %d: left after the next start: %q", round, left)
		}
		at := slices.IndexFunc(versions[:], func(v []byte) bool { return bytes.Equal(v, read(t, name)) })
		if at < 0 {
			t.Fatalf("kill %d: the file is neither old nor new", round)
		}
		mustCall(t, s.Client, "Read", args{"file_path": winetest.Name(name), "limit": 3})
		begin := time.Now()
		edit, err := s.GoCall("Edit", args{"file_path": winetest.Name(name), "old_string": words[at] + "\n", "new_string": words[1-at] + "\n"})
		must(t, err)
		if round < 0 {
			res, err := edit.Result()
			must(t, err)
			if res.IsError {
				t.Fatal(res.Text)
			}
			longest = time.Since(begin)
			s.end()
			continue
		}
		time.Sleep(rand.N(longest))
		s.kill()
		if now, err := os.ReadFile(name); err == nil && bytes.Equal(now, versions[at]) {
			old.Add(1)
		} else {
			other.Add(1) // or its name is missing for a moment, until the next start
		}
	}
	s := p.serve(t, winetest.Name(p.ws))
	defer s.end()
	if left := noStrays(t, p.ws, alone); left != nil {
		t.Fatalf("left after the next start: %q", left)
	}
	if !slices.ContainsFunc(versions[:], func(v []byte) bool { return bytes.Equal(v, read(t, name)) }) {
		t.Error("after the last start the file is neither old nor new")
	}
}

// TestWineCtrlC presses Ctrl-C on the console of a server that is idle, and of one that edits a
// file: it ends with status 0, and the file is the old or the new one. In the control arm a program
// that does not handle Ctrl-C ends with another status.
func TestWineCtrlC(t *testing.T) {
	p := newWinePlace(t)
	name := p.file("large.txt")
	body := bytes.Repeat([]byte("a line of the body of a file, which an edit moves\n"), 100_000)
	before, after := append([]byte("old\n"), body...), append([]byte("new, and longer\n"), body...)
	edited := 0
	for _, editing := range []bool{false, true, true} {
		must(t, os.WriteFile(name, before, 0o644))
		s, err := p.tryStart(p.wine.Helper(), "ctrl-c", winetest.Name(p.wine.FSMCP()), "serve", winetest.Name(p.ws))
		must(t, err)
		mustCall(t, s.Client, "Read", args{"file_path": winetest.Name(name), "limit": 3})
		if editing {
			_, err := s.GoCall("Edit", args{"file_path": winetest.Name(name), "old_string": "old\n", "new_string": "new, and longer\n"})
			must(t, err)
		}
		s.CloseInput()
		if err := s.Wait(time.Minute); err != nil {
			s.kill()
			t.Fatalf("editing %v: after Ctrl-C: %v", editing, err)
		}
		switch now := read(t, name); {
		case bytes.Equal(now, after):
			edited++
		case !bytes.Equal(now, before):
			t.Errorf("the file is neither old nor new")
		}
		if left := noStrays(t, p.ws, func(name string) bool { return name == "large.txt" }); left != nil {
			t.Errorf("left: %q", left)
		}
	}
	p.ctrlCUnhandled(t)
	report(t, "3 servers ended with status 0 by Ctrl-C, two while they edited 5 MB: %d old, %d new, 0 mixed", 3-edited, edited)
}

// ctrlCUnhandled is the control arm of TestWineCtrlC.
func (p winePlace) ctrlCUnhandled(t *testing.T) {
	ticks := p.file("ticks")
	cmd := p.wine.Command(p.home, p.wine.Helper(), "ctrl-c", winetest.Name(p.wine.Helper()), "tick", winetest.Name(ticks))
	in, err := cmd.StdinPipe()
	must(t, err)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if !until(func() bool { _, err := os.Stat(ticks); return err == nil }, time.Minute) {
		t.Error("the control arm: the program does not run")
	}
	in.Close()
	if err := cmd.Wait(); err == nil || !strings.Contains(out.String(), "exit status") {
		t.Errorf("the control arm: %v\n%s", err, &out)
	}
}

// TestWineServers has servers edit a line each of one file, under two spellings of its name.
func TestWineServers(t *testing.T) {
	for _, servers := range []int{2, 4} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			t.Parallel()
			editByServers(t, servers, count(t, "FSMCP_WINE_EDITS", 4))
		})
	}
}

func editByServers(t *testing.T, servers, edits int) {
	p := newWinePlace(t)
	file := p.file("Counter.txt")
	text := ""
	for i := range servers {
		text += fmt.Sprintf("server %d: 0.\n", i)
	}
	must(t, os.WriteFile(file, []byte(text), 0o644))
	var all sync.WaitGroup
	var again atomic.Int32
	for i := range servers {
		s := p.serve(t, winetest.Name(p.ws))
		defer s.end()
		name := winetest.Name(file)
		if i%2 == 1 {
			name = winetest.Name(p.file("COUNTER.TXT"))
		}
		all.Go(func() {
			_, _ = s.Call("Read", args{"file_path": name})
			for n, tries := 0, 0; n < edits; tries++ {
				res, err := s.Call("Edit", args{"file_path": name,
					"old_string": fmt.Sprintf("server %d: %d.", i, n), "new_string": fmt.Sprintf("server %d: %d.", i, n+1)})
				switch {
				case err != nil || res.Slug == "no_match" || tries > 40*edits+400:
					t.Errorf("server %d: its edit %d is lost or stuck after %d tries: %s, %v", i, n, tries, res.Text, err)
					return
				case !res.IsError:
					n++
				default: // the answer shows what changed, or that another writes just now
					again.Add(1)
				}
			}
		})
	}
	all.Wait()
	for i := range servers {
		if !strings.Contains(string(read(t, file)), fmt.Sprintf("server %d: %d.\n", i, edits)) {
			t.Errorf("the file holds %s", read(t, file))
		}
	}
	report(t, "%d servers x %d edits under two spellings, 0 lost, %d tried again", servers, edits, again.Load())
}

// wineHold is a way in which another program holds a file, and the words of the answer to an
// edit then; "" if the edit is made.
type wineHold struct{ access, share, busy string }

// wineHolds returns all 18 ways.
func wineHolds() (all []wineHold) {
	for _, share := range []string{"-", "r", "w", "rw", "rd", "rwd"} {
		for _, access := range []string{"r", "w", "rw"} {
			h := wineHold{access: access, share: share}
			switch {
			case !strings.Contains(share, "r"):
				h.busy = "does not share it" // it cannot be opened for reading, even
			case access != "r":
				h.busy = "open for writing"
			case !strings.Contains(share, "d"):
				h.busy = "without sharing deletion"
			}
			all = append(all, h)
		}
	}
	return all
}

// TestWineForeignHolds has another program hold the file in each share mode, while fsmcp
// edits it. An edit that another program's handle does not allow is busy, with the kind of
// hold in the answer, and is made as soon as that program lets go. An edit that is answered
// is in the file beside what the other program appends.
func TestWineForeignHolds(t *testing.T) {
	const workers = 6
	rounds := count(t, "FSMCP_WINE_HOLDS", 18)
	var sum wineHoldSum
	t.Run("holds", func(t *testing.T) {
		for i := range workers {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				wineForeignHolds(t, i*18/workers, (rounds+workers-1-i)/workers, &sum)
			})
		}
	})
	report(t, "%d holds in %d share modes: %d edits while held, %d busy, each with its kind, %d edits after a busy one, %d foreign lines, 0 lost",
		rounds, len(wineHolds()), sum.edits.Load(), sum.busy.Load(), sum.after.Load(), sum.lines.Load())
}

type wineHoldSum struct{ edits, busy, after, lines atomic.Int32 }

func wineForeignHolds(t *testing.T, first, rounds int, sum *wineHoldSum) {
	p := newWinePlace(t)
	h := p.helper(t)
	s := p.serve(t, winetest.Name(p.ws))
	defer s.end()
	file := p.file("a.txt")
	must(t, os.WriteFile(file, []byte("edits: 0.\n"), 0o644))
	edits, appended := 0, []string{}
	edit := func() (ok bool, slug, text string) {
		mustCall(t, s.Client, "Read", args{"file_path": winetest.Name(file)})
		res, err := s.Call("Edit", args{"file_path": winetest.Name(file),
			"old_string": fmt.Sprintf("edits: %d.", edits), "new_string": fmt.Sprintf("edits: %d.", edits+1)})
		must(t, err)
		if !res.IsError {
			edits++
		}
		return !res.IsError, res.Slug, res.Text
	}
	for round := range rounds {
		hold := wineHolds()[(first+round)%18]
		mustCall(t, s.Client, "Read", args{"file_path": winetest.Name(file)})
		if got := h.do("open %s %s %s", hold.access, hold.share, winetest.Name(file)); !strings.HasPrefix(got, "ok") {
			t.Fatalf("open %+v: %s", hold, got)
		}
		res, err := s.Call("Edit", args{"file_path": winetest.Name(file),
			"old_string": fmt.Sprintf("edits: %d.", edits), "new_string": fmt.Sprintf("edits: %d.", edits+1)})
		must(t, err)
		switch {
		case !res.IsError:
			edits++
			sum.edits.Add(1)
			if hold.busy != "" {
				t.Errorf("%+v: the edit was made", hold)
			}
		case hold.busy == "" || res.Slug != "busy" || !strings.Contains(res.Text, hold.busy):
			t.Errorf("%+v: answered %s: %s", hold, res.Slug, clip(res.Text))
		default:
			sum.busy.Add(1)
		}
		if strings.Contains(hold.access, "w") {
			line := fmt.Sprintf("foreign%d", round)
			if got := h.do("append %s", line); strings.HasPrefix(got, "ok") {
				appended = append(appended, line)
				sum.lines.Add(1)
			}
		}
		h.do("close")
		if hold.busy != "" {
			if ok, slug, text := edit(); !ok {
				t.Errorf("%+v: after it let go, answered %s: %s", hold, slug, clip(text))
			} else {
				sum.after.Add(1)
			}
		}
	}
	text := string(read(t, file))
	for _, line := range appended {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is lost", line)
		}
	}
	if !strings.Contains(text, fmt.Sprintf("edits: %d.", edits)) {
		t.Errorf("an edit is lost: %s", clip(text))
	}
}

// TestWineForeignWriters has another program append lines, and others read in each share
// mode that allows a writer, while fsmcp edits as fast as it can. In the control arm a program that reads the file
// and writes it again takes fsmcp's place: it loses lines.
func TestWineForeignWriters(t *testing.T) {
	lines := count(t, "FSMCP_WINE_WRITES", 20)
	t.Run("fsmcp", func(t *testing.T) {
		p := newWinePlace(t)
		file := p.file("a.txt")
		s := p.serve(t, winetest.Name(p.ws))
		defer s.end()
		edits := 0
		f := p.foreigners(t, file, lines, []string{"rw", "rwd"}, func() {
			_, _ = s.Call("Read", args{"file_path": winetest.Name(file)})
			res, err := s.Call("Edit", args{"file_path": winetest.Name(file),
				"old_string": fmt.Sprintf("edits: %d.", edits), "new_string": fmt.Sprintf("edits: %d.", edits+1)})
			must(t, err)
			if !res.IsError {
				edits++
			}
		})
		if text := string(read(t, file)); f.lost > 0 || edits == 0 || !strings.Contains(text, fmt.Sprintf("edits: %d.", edits)) {
			t.Errorf("%d of %d foreign lines are lost, after %d edits: %s", f.lost, lines, edits, clip(text))
		}
		f.lockedOut(t)
		report(t, "%d foreign lines and %d edits, %d lost; the writer waited %d times; readers by what they share (tries, refused and no name for a moment, locked out): %v", lines, edits, f.lost, f.waited, f.reads)
	})
	t.Run("control", func(t *testing.T) {
		p := newWinePlace(t)
		naive := p.helper(t)
		file := p.file("a.txt")
		f := p.foreigners(t, file, lines, nil, func() { naive.do("rewrite %s", winetest.Name(file)) })
		if f.lost == 0 {
			t.Error("the control arm: a program that reads and writes lost no line")
		}
		report(t, "a naive program loses %d of %d foreign lines", f.lost, lines)
	})
}

// TestWineForeignReaders has others read in each share mode, while fsmcp edits as fast as it
// can. No reader is locked out, and the last edit is in the file. In the control arm a program
// holds the file as fsmcp must not, open for deletion.
func TestWineForeignReaders(t *testing.T) {
	p := newWinePlace(t)
	file := p.file("a.txt")
	s := p.serve(t, winetest.Name(p.ws))
	defer s.end()
	most, edits, busy, late := count(t, "FSMCP_WINE_WRITES", 6), 0, 0, 0
	try := func() {
		_, _ = s.Call("Read", args{"file_path": winetest.Name(file)})
		res, err := s.Call("Edit", args{"file_path": winetest.Name(file),
			"old_string": fmt.Sprintf("edits: %d.", edits), "new_string": fmt.Sprintf("edits: %d.", edits+1)})
		must(t, err)
		switch text, _ := os.ReadFile(file); {
		case !res.IsError:
			edits++
		case strings.Contains(res.Text, "may still complete"): // the machine is too slow to know
			late++
			if s.editedMeanwhile(t, file, edits+1) {
				edits++
			}
		case res.Slug != "busy", !strings.Contains(res.Text, "Nothing was changed"), string(text) != fmt.Sprintf("edits: %d.\n", edits):
			t.Errorf("edit %d, answered %s: %s; the file holds %s", edits+1, res.Slug, clip(res.Text), clip(string(text)))
		default:
			busy++
		}
	}
	f := p.foreigners(t, file, 0, []string{"r", "rw", "rd", "rwd"}, func() {
		for tries := 0; edits < most && tries < 3*most; tries++ {
			try()
		}
	})
	f.lockedOut(t)
	if text, err := os.ReadFile(file); err != nil || edits == 0 || string(text) != fmt.Sprintf("edits: %d.\n", edits) {
		t.Errorf("after %d edits: %s, %v", edits, clip(string(text)), err)
	}
	report(t, "%d edits, %d busy, and true, %d answered too late; readers by what they share (tries, refused and no name for a moment, locked out): %v", edits, busy, late, f.reads)
	holder, reader := p.helper(t), p.helper(t)
	holder.do("open rd rwd %s", winetest.Name(file))
	if got := reader.do("reads 2 rw %s", winetest.Name(file)); got != "ok 2 0 2" {
		t.Errorf("the control arm: a reader beside an open for deletion: %s", got)
	}
}

// editedMeanwhile reports whether an edit that was given up was made all the same. A Read waits
// for the end of it.
func (s wineServer) editedMeanwhile(t *testing.T, file string, edit int) bool {
	t.Helper()
	for {
		res, err := s.Call("Read", args{"file_path": winetest.Name(file)})
		must(t, err)
		if !res.IsError {
			return strings.Contains(res.Text, fmt.Sprintf("edits: %d.", edit))
		}
	}
}

// lockedOut fails if a reader was refused for half a second. For the moment of a rename, which
// needs a handle for deletion, one that does not share that is always refused.
func (f foreignCount) lockedOut(t *testing.T) {
	t.Helper()
	for share, got := range f.reads {
		if got[3] > 0 {
			t.Errorf("a reader that shares %s was locked out %d times of %d", share, got[3], got[0])
		}
	}
}

// foreignCount counts how other programs fared.
type foreignCount struct {
	lost, waited int
	reads        map[string][4]int // by share mode: tries, refused for a moment, found no file, locked out
}

// foreigners appends lines to a file and reads it in some share modes, by programs of their
// own, while it calls change again and again until the lines are there.
func (p winePlace) foreigners(t *testing.T, file string, lines int, shares []string, change func()) (f foreignCount) {
	t.Helper()
	must(t, os.WriteFile(file, []byte("edits: 0.\n"), 0o644))
	writer := p.helper(t)
	f.reads = make(map[string][4]int)
	var others sync.WaitGroup
	var mu sync.Mutex
	done := make(chan struct{})
	for _, share := range shares {
		reader := p.helper(t)
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				var refused, missing, lockedOut int
				got := reader.do("reads 20 %s %s", share, winetest.Name(file))
				if _, err := fmt.Sscanf(got, "ok %d %d %d", &refused, &missing, &lockedOut); err != nil {
					t.Errorf("a reader that shares %s: %s", share, got)
					return
				}
				mu.Lock()
				was := f.reads[share]
				f.reads[share] = [4]int{was[0] + 20, was[1] + refused, was[2] + missing, was[3] + lockedOut}
				mu.Unlock()
			}
		})
	}
	written := make(chan struct{})
	others.Go(func() {
		defer close(written)
		for i := 0; i < lines; {
			share := []string{"r", "rw", "rwd"}[i%3]
			if !strings.HasPrefix(writer.do("open w %s %s", share, winetest.Name(file)), "ok") {
				f.waited++ // it may not write while fsmcp changes the file
				time.Sleep(2 * time.Millisecond)
				continue
			}
			if got := writer.do("append foreign%d.", i); !strings.HasPrefix(got, "ok") {
				t.Errorf("append: %s", got)
			}
			writer.do("close")
			i++
			time.Sleep(rand.N(150 * time.Millisecond)) // an edit falls in between, sometimes
		}
	})
	for running := true; running; {
		change()
		select {
		case <-written:
			running = false
		default:
		}
	}
	close(done)
	others.Wait()
	text := string(read(t, file))
	for i := range lines {
		if !strings.Contains(text, fmt.Sprintf("foreign%d.\n", i)) {
			f.lost++
		}
	}
	return f
}
