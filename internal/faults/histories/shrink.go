package histories

import (
	"slices"
	"strings"
	"time"
)

// Shrink leaves out of an illegal history what its violation does not need. What it returns is
// illegal too, and proves as much, since every legal order of the whole is one of what is left:
//
//   - A read or a refusal only adds to what has to be true.
//   - A line is left out of all texts, or a file that no step moves.
//   - What callers were shown does not matter any more (History.AllSeen).
func Shrink(h History, timeout time.Duration) History {
	for smaller := true; smaller; {
		smaller = false
		tries := candidates(h)
		for i := 0; i < len(tries); {
			if v, err := Check(tries[i], timeout); err != nil || v.Legal || v.Undecided {
				i++
				continue
			}
			h, smaller = tries[i], true
			tries = candidates(h)
		}
	}
	return h
}

// candidates returns histories that are a little smaller.
func candidates(h History) (out []History) {
	if !h.AllSeen {
		trusting := History{Start: h.Start, Ops: slices.Clone(h.Ops), AllSeen: true}
		for i := range trusting.Ops {
			if op := &trusting.Ops[i]; op.Kind != Kept {
				op.Shown = nil
			}
		}
		out = append(out, trusting)
	}
	for _, name := range h.names() {
		apart := !slices.ContainsFunc(h.Ops, func(op Op) bool { return op.Kind == Move && (op.Name == name || op.To == name) })
		if apart && h.AllSeen {
			out = append(out, h.without(func(n int) bool { return h.Ops[n].Name == name }))
		}
	}
	for _, group := range h.lineGroups() {
		out = append(out, h.withoutLines(group))
	}
	for i, op := range h.Ops {
		if op.observes() && (h.AllSeen || op.Session == Outside || len(op.shown()) == 0) {
			out = append(out, h.without(func(n int) bool { return n == i }))
		} else if op.observes() && (op.Result != Refused || op.Why != "" || op.Rows != nil) {
			less := h
			less.Ops = slices.Clone(h.Ops)
			less.Ops[i] = op.onlyShows()
			out = append(out, less)
		}
	}
	return out
}

// observes reports whether a step changes nothing.
func (op Op) observes() bool {
	switch op.Kind {
	case Read, Look, Kept:
		return true
	}
	return op.Result == Refused
}

// onlyShows returns a step that shows the same lines and does nothing.
func (op Op) onlyShows() Op {
	op.Shown = op.shown()
	op.Result, op.Why, op.Old, op.Text, op.Hash, op.Rows = Refused, "", "", "", "", nil
	return op
}

// lineGroups returns the lines that can be left out: those that an Edit replaced by each other
// together.
func (h History) lineGroups() (groups [][]string) {
	put := func(lines []string) {
		joined := slices.Clone(lines)
		groups = slices.DeleteFunc(groups, func(g []string) bool {
			shared := slices.ContainsFunc(g, func(l string) bool { return slices.Contains(joined, l) })
			if shared {
				joined = append(joined, g...)
			}
			return shared
		})
		slices.Sort(joined)
		groups = append(groups, slices.Compact(joined))
	}
	anchors := map[string]bool{}
	for _, op := range h.Ops {
		old, now := linesOf(op.Old), linesOf(op.Text)
		if op.Old == "" {
			for _, l := range now {
				put([]string{l})
			}
			continue
		}
		for _, l := range old {
			if slices.Contains(now, l) {
				anchors[l] = true
			}
		}
		put(slices.DeleteFunc(append(old, now...), func(l string) bool { return anchors[l] }))
	}
	for _, text := range h.Start {
		for _, l := range linesOf(text) {
			put([]string{l})
		}
	}
	return slices.DeleteFunc(groups, func(g []string) bool {
		return len(g) == 0 || slices.ContainsFunc(g, func(l string) bool { return anchors[l] })
	})
}

// withoutLines leaves lines out of all texts, and the changes out that then change nothing. The
// numbers of lines and the hashes do not hold any more.
func (h History) withoutLines(lines []string) History {
	gone := func(l string) bool { return slices.Contains(lines, l) }
	less := func(text string) string {
		var b strings.Builder
		for _, l := range linesOf(text) {
			if !gone(l) {
				b.WriteString(l + "\n")
			}
		}
		return b.String()
	}
	out := History{Start: map[string]string{}, AllSeen: h.AllSeen}
	for name, text := range h.Start {
		out.Start[name] = less(text)
	}
	for _, op := range h.Ops {
		was := op
		op.Old, op.Text, op.Hash, op.Rows = less(was.Old), less(was.Text), "", nil
		op.Shown = nil
		if !h.AllSeen || op.Kind == Kept {
			op.Shown = slices.DeleteFunc(append(slices.Clone(was.Shown), was.rowTexts()...), gone)
		}
		if was.Old != "" && op.Old == op.Text || op.Kind == Append && op.Text == "" {
			op = op.onlyShows()
		}
		out.Ops = append(out.Ops, op)
	}
	return out.without(func(n int) bool {
		op := out.Ops[n]
		return op.Kind == Look || op.Kind == Extend && op.Text == "" || op.observes() && op.Why == "" && op.Kind != Read && op.Kind != Kept && len(op.shown()) == 0
	})
}

// without leaves steps out, and the files that no step is left of.
func (h History) without(drop func(int) bool) History {
	out, moved := History{Start: map[string]string{}, AllSeen: h.AllSeen}, map[int]int{}
	for i, op := range h.Ops {
		if !drop(i) {
			moved[i+1] = len(out.Ops) + 1
			out.Ops = append(out.Ops, op)
		}
	}
	for i := range out.Ops {
		out.Ops[i].After = moved[out.Ops[i].After]
	}
	for name, text := range h.Start {
		if slices.Contains(out.names(), name) {
			out.Start[name] = text
		}
	}
	return out
}
