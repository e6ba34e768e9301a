package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The results of a case.
const (
	right   = "right"
	refused = "refused" // nothing is changed, and the answer says so
	noTool  = "no tool" // the server has no tool for it, and nothing is changed
	wrong   = "WRONG"
)

// result is what came of a case with one server.
type result struct {
	Verdict string
	Reason  string // why it is wrong
	Cost    cost
	Timing  bool // the cost depends on the machine
}

// attempt plays a case as often as it says, or until it goes wrong, and judges it. The cost is
// that of the first time.
func attempt(c *testCase, a *adapter, dir string) (result, error) {
	var first, now result
	for try := range max(c.Tries, 1) {
		here := filepath.Join(dir, fmt.Sprint(try))
		r, err := play(c, a, here, try)
		if err != nil {
			return now, err
		}
		if !r.killed {
			r.close()
		}
		now, err = r.judge()
		// A server may remove what a killed one left after it has answered.
		for end := time.Now().Add(5 * time.Second); err == nil && r.killed && now.Verdict == wrong && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
			now, err = r.judge()
		}
		if r.killed {
			r.close()
		}
		if err != nil {
			return now, err
		}
		now.Timing = c.Timing
		if try == 0 {
			first = now
		}
		now.Cost = first.Cost
		if err := os.RemoveAll(here); err != nil {
			return now, err
		}
		if now.Verdict != right {
			break
		}
	}
	return now, nil
}

// judge compares the area with what it should be, and the answers with both.
func (r *run) judge() (result, error) {
	done := result{Verdict: right, Cost: r.cost}
	bad := func(reason string) (result, error) {
		return result{Verdict: wrong, Reason: reason, Cost: r.cost}, nil
	}
	area, err := readTree(r.place.area)
	if err != nil {
		return done, err
	}
	fault, from := r.difference(r.after, area), r.difference(r.untouched, area)
	idle := from == ""
	if r.unsure && len(from) < len(fault) {
		fault = from // it may be the old file as well as the new one
	}
	for _, got := range r.shown {
		if r.c.Hides != "" && strings.Contains(got.text, r.c.Hides) {
			return bad("shows what lies outside")
		}
	}
	switch {
	case r.broken != "" && fault == "":
		return bad(r.broken)
	case r.broken != "":
		return bad(r.broken + "; " + fault)
	case r.noTool && idle:
		done.Verdict = noTool
	case r.unsure && (fault == "" || idle):
	case r.c.Refuse && fault == "":
		if !r.failed {
			return bad("reports success")
		}
	case r.failed && idle:
		done.Verdict = refused
	case fault == "" && r.failed:
		return bad("reports failure, and the change is made")
	case fault == "":
		if miss := r.lacks(); miss != "" {
			return bad(miss)
		}
	case idle:
		return bad("reports success, and nothing is changed")
	case r.failed:
		return bad(fault + "; it reports failure")
	default:
		return bad(fault)
	}
	return done, nil
}

// lacks tells what the last answer should show and does not.
func (r *run) lacks() string {
	var last answer
	if len(r.shown) > 0 {
		last = r.shown[len(r.shown)-1]
	}
	if !strings.Contains(last.text, r.c.Shows) {
		return "reports success, and does not show it"
	}
	if r.c.Picture && last.pictures == 0 {
		return "reports success, and shows no picture"
	}
	return ""
}

// difference tells how an area is not what it should be: "" if it is.
func (r *run) difference(want, got tree) string {
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w, g := want[name], got[name]
		short := strings.TrimPrefix(name, "work/")
		if w.mode&fs.ModeSymlink != 0 {
			w.text = r.place.fill(w.text)
		}
		old, was := r.start[name]
		_, is := got[name]
		switch {
		case !is:
			faults = append(faults, short+" is missing")
		case w.mode&fs.ModeSymlink != g.mode&fs.ModeSymlink:
			faults = append(faults, short+" is no link any more")
		case w.text != g.text:
			faults = append(faults, fmt.Sprintf("%s: %s", short, count(wrongBytes(w.text, g.text), "wrong byte")))
		case w.same != "" && !r.sameFile(name, w.same):
			faults = append(faults, short+" is another file")
		case was && old.mode != g.mode:
			faults = append(faults, fmt.Sprintf("%s: mode %o", short, g.mode.Perm()))
		}
	}
	more := 0
	for name := range got {
		if _, ok := want[name]; !ok {
			more++
		}
	}
	if more > 0 {
		faults = append(faults, count(more, "file")+" too many")
	}
	return strings.Join(faults, ", ")
}

func (r *run) sameFile(a, b string) bool {
	one, err := os.Stat(filepath.Join(r.place.area, a))
	other, err2 := os.Stat(filepath.Join(r.place.area, b))
	return err == nil && err2 == nil && os.SameFile(one, other)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// wrongBytes counts the bytes that lack and those that are too many.
func wrongBytes(want, got string) int {
	for len(want) > 0 && len(got) > 0 && want[0] == got[0] {
		want, got = want[1:], got[1:]
	}
	for len(want) > 0 && len(got) > 0 && want[len(want)-1] == got[len(got)-1] {
		want, got = want[:len(want)-1], got[:len(got)-1]
	}
	if len(want)*len(got) > 1<<26 {
		return len(want) + len(got)
	}
	// The longest common subsequence, row by row.
	row := make([]int, len(got)+1)
	for i := range len(want) {
		diagonal := 0
		for j := range len(got) {
			above := row[j+1]
			if want[i] == got[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return len(want) + len(got) - 2*row[len(got)]
}
