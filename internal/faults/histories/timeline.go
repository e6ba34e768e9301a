package histories

import (
	"fmt"
	"slices"
	"strings"
)

// Timeline prints a history: a line for each step in the order of their beginnings, with the
// time that it took, and its place in the longest order that was found. Steps without a place
// are those that fit no such order.
func (h History) Timeline(v Verdict) string {
	var ticks []int64
	for _, op := range h.Ops {
		ticks = append(ticks, op.Begin, op.End)
	}
	slices.Sort(ticks)
	ticks = slices.Compact(ticks)
	at := func(tick int64) int { i, _ := slices.BinarySearch(ticks, tick); return i }
	byBegin := make([]int, len(h.Ops))
	for i := range byBegin {
		byBegin[i] = i
	}
	slices.SortStableFunc(byBegin, func(a, b int) int { return int(h.Ops[a].Begin - h.Ops[b].Begin) })
	var b strings.Builder
	for _, name := range h.names() {
		if text, ok := h.Start[name]; ok {
			fmt.Fprintf(&b, "%s is %s\n", name, short(text))
		}
	}
	for _, i := range byBegin {
		op := h.Ops[i]
		bar := []byte(strings.Repeat(".", len(ticks)))
		for n := at(op.Begin); n <= at(op.End); n++ {
			bar[n] = '='
		}
		place := "  -"
		if n := slices.Index(v.Order, i); n >= 0 {
			place = fmt.Sprintf("%3d", n+1)
		}
		fmt.Fprintf(&b, "%s %s %s\n", place, bar, op)
	}
	return b.String()
}

// short spells a text in one line.
func short(text string) string {
	return "[" + strings.Join(linesOf(text), " ") + "]"
}

// String spells a step.
func (op Op) String() string {
	who := "another program"
	if op.Session != Outside {
		who = fmt.Sprintf("session %d", op.Session)
	}
	what := fmt.Sprintf("%s: %s %s", who, op.Kind, op.Name)
	switch {
	case op.Kind == Move:
		what += " to " + op.To
	case op.Old != "":
		what += fmt.Sprintf(" %s -> %s", short(op.Old), short(op.Text))
	case op.Kind != Open && op.Kind != Close && op.Kind != Delete && op.Kind != Remove && op.Kind != Look && op.Kind != Kept:
		what += " " + short(op.Text)
	}
	switch op.Result {
	case Refused:
		what += ": refused, " + op.Why
	case Unknown:
		what += ": cut off by a crash"
	}
	if len(op.Shown)+len(op.Rows) > 0 {
		all := slices.Clone(op.Shown)
		for _, r := range op.Rows {
			all = append(all, fmt.Sprintf("%d:%s", r.Number, r.Text))
		}
		what += ", shows [" + strings.Join(all, " ") + "]"
	}
	return what
}
