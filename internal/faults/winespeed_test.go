//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/winetest"
)

// TestWineSpeed prints how long the program for Windows takes under Wine beside a small
// program in Go that takes the steps which fsmcp promises, each once (small in the helper): it
// starts and looks at the workspace and the settings; or goes down a name, finds the final one,
// and reads the file while it does not change; or does that under a lock, keeps the old bytes,
// and replaces the file with its metadata, flushed, by one rename or two. The aim is twice as
// long. Both take turns, so that other work on the machine slows both; more than three times
// is an error.
func TestWineSpeed(t *testing.T) {
	if os.Getenv("FSMCP_WINE") != "all" {
		t.Skip("make wine compares times")
	}
	p := newWinePlace(t)
	row := func(what string, own, other []time.Duration) {
		slices.Sort(own)
		slices.Sort(other)
		a, b := own[len(own)/2], other[len(other)/2]
		ratio := float64(a) / float64(b)
		mark := ""
		if ratio > 2 {
			mark = "  OVER"
		}
		report(t, "%-12s fsmcp %8.2f ms, small program %8.2f ms, %5.2f x (aim 2)%s", what, a.Seconds()*1e3, b.Seconds()*1e3, ratio, mark)
		if ratio > 3 {
			t.Errorf("%s: %.1f x", what, ratio)
		}
	}
	timed := func(f func()) time.Duration {
		begin := time.Now()
		f()
		return time.Since(begin)
	}
	var own, other []time.Duration
	for range 7 {
		own = append(own, timed(func() { s := p.serve(t, winetest.Name(p.ws)); s.end() }))
		other = append(other, timed(func() {
			h, end := p.startHelper(t)
			h.want("begin %s", winetest.Name(p.ws))
			end()
		}))
	}
	row("start, end", own, other)
	s := p.serve(t, winetest.Name(p.ws))
	defer s.end()
	h := p.helper(t)
	h.want("begin %s", winetest.Name(p.ws))
	for _, size := range []int{1 << 10, 10 << 20} {
		label := fmt.Sprintf("%d KB", size>>10)
		body := bytes.Repeat([]byte("a line of the file that both programs read and edit, 64 bytes..\n"), size/64)
		a, b := p.file(fmt.Sprintf("own%d.txt", size)), p.file(fmt.Sprintf("other%d.txt", size))
		must(t, os.WriteFile(a, append([]byte("count 0.\n"), body...), 0o644))
		must(t, os.WriteFile(b, append([]byte("count 0.\n"), body...), 0o644))
		nameA, nameB := winetest.Name(a), winetest.Name(b)
		own, other = nil, nil
		mustCall(t, s.Client, "Read", args{"file_path": nameA, "limit": 5})
		for i := range 15 {
			own = append(own, timed(func() { mustCall(t, s.Client, "Read", args{"file_path": nameA, "limit": 5, "offset": 2 + i}) }))
			other = append(other, timed(func() { h.want("read 0 %s", nameB) }))
		}
		row("Read "+label, own, other)
		own, other = nil, nil
		for i := range 15 {
			own = append(own, timed(func() {
				mustCall(t, s.Client, "Edit", args{"file_path": nameA, "old_string": fmt.Sprintf("count %d.", i), "new_string": fmt.Sprintf("count %d.", i+1)})
			}))
			other = append(other, timed(func() { h.want("edit %d %s", i, nameB) }))
		}
		row("Edit "+label, own, other)
	}
}
