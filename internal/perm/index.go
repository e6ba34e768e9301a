package perm

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// none stands for no rule.
const none = int32(1<<31 - 1)

// hits holds, for each list, the first rule that matched.
type hits [Allow + 1]int32

func noHits() hits { return hits{none, none, none} }

// An index holds the patterns of rules, in lists by their first segment. A walk keeps the
// steps of patterns that the name's segments so far have led to, so its work is bounded by
// the segments and the patterns that are still possible.
type index struct {
	fold   glob.Folding // nil: names match exactly only
	strict bool
	whole  []rulePattern            // patterns without steps: they cover every name
	named  map[string][]rulePattern // by the folded name of their first step
	others []rulePattern
	steps  []step // of all patterns, each one's together
}

// rulePattern is one pattern of a rule.
type rulePattern struct {
	first   int32 // of its steps
	rule    int32
	list    List
	ops     opSet
	dirOnly bool
}

// step is one segment of a pattern.
type step struct {
	kind    glob.SegmentKind
	spelled bool   // by the rule, and not by the directory that it starts from
	name    string // of an exact segment, folded
	mask    uint64 // what the literal text of a wildcard demands of a name
	exact   []glob.Token
	folded  []glob.Token
	last    *rulePattern // which this step completes
}

func newIndex(fold glob.Folding, strict bool) *index {
	return &index{fold: fold, strict: strict, named: map[string][]rulePattern{}}
}

// add adds a pattern on behalf of a rule.
func (x *index) add(segs []glob.Segment, p rulePattern) {
	if len(segs) == 0 {
		x.whole = append(x.whole, p)
		return
	}
	p.first = int32(len(x.steps))
	for i, s := range segs {
		if s.Kind == glob.Deep && i == len(segs)-1 {
			// At the end it needs something to stand for, and what is below
			// that is covered anyway.
			s.Kind = glob.AnyName
		}
		x.steps = append(x.steps, x.step(s))
	}
	x.steps[len(x.steps)-1].last = &p
	if first := &x.steps[p.first]; first.kind == glob.Exact {
		x.named[first.name] = append(x.named[first.name], p)
	} else {
		x.others = append(x.others, p)
	}
}

func (x *index) step(s glob.Segment) step {
	t := step{kind: s.Kind, spelled: !s.Anchor}
	switch {
	case s.Kind == glob.Exact && x.fold != nil:
		t.name = x.fold(s.Text)
	case s.Kind == glob.Exact:
		t.name = s.Text
	case s.Kind == glob.Wildcard:
		t.exact, t.mask = s.Tokens, tokenMask(s.Tokens)
		if x.fold != nil {
			t.folded = glob.FoldTokens(s.Tokens, x.strict)
			t.mask &= tokenMask(t.folded)
		}
	}
	return t
}

// tokenMask returns the pairs of characters that a name must have to match.
func tokenMask(toks []glob.Token) uint64 {
	var mask uint64
	for i, t := range toks {
		if t.Kind != glob.Run {
			continue
		}
		text := t.Text
		if i == 0 {
			text = "\x00" + text
		}
		if i == len(toks)-1 {
			text += "\x00"
		}
		for j := 1; j < len(text); j++ {
			mask |= pairBit(text[j-1], text[j])
		}
	}
	return mask
}

// nameMask returns the pairs of characters that a name has.
func nameMask(name string) uint64 {
	var mask uint64
	last := byte(0)
	for i := 0; i < len(name); i++ {
		mask |= pairBit(last, name[i])
		last = name[i]
	}
	return mask | pairBit(last, 0)
}

// pairBit maps two bytes, without regard to ASCII case, to one of 64 bits.
func pairBit(a, b byte) uint64 {
	return 1 << ((uint32(lower(a))<<8 | uint32(lower(b))) * 0x9E3779B1 >> 26)
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b | 0x20
	}
	return b
}

// walk is the state of one look-up. It may be used again, and then has its
// room already.
type walk struct {
	x    *index
	hits hits
	// now holds the steps that the present segment is compared with. Each step has a single
	// way in, so none is there twice.
	now, next []int32
	// deeps holds the steps behind a "**" that was reached: they stay.
	deeps []int32
	seen  []bool // by steps: those in deeps
	// left bounds the rest of the look-up's work; below 0 it was given up.
	left int
}

// maxWork bounds one look-up, in units of some 50 ns on an ordinary machine: a
// thousand rules with wildcards take about 2,000 for a name of ten segments. What
// costs more is a name and rules that were made for it.
const maxWork = 1 << 19

// spent reports whether the look-up was given up, so that its hits are not all.
func (w *walk) spent() bool { return w.left < 0 }

func (w *walk) reset(x *index) {
	w.x, w.hits, w.left = x, noHits(), maxWork
	w.next, w.deeps = w.next[:0], w.deeps[:0]
	if cap(w.seen) < len(x.steps) {
		w.seen = make([]bool, len(x.steps))
	}
	w.seen = w.seen[:len(x.steps)]
	clear(w.seen)
}

// begin reaches the first steps of all patterns for an operation that a name with this
// first segment can match.
func (w *walk) begin(op Op, folded string) {
	for _, p := range w.x.whole {
		if p.ops.has(op) {
			w.hits[p.list] = min(w.hits[p.list], p.rule)
		}
	}
	for _, list := range [...][]rulePattern{w.x.named[folded], w.x.others} {
		for i := range list {
			if list[i].ops.has(op) {
				w.reach(list[i].first)
			}
		}
	}
}

// find returns the first rule of each list that covers the name. Both spellings
// have the same number of segments; dir says that the name is known to be a
// directory. Segments that guard marks must be spelled by the rule, and a rule
// that ends above one of them does not count; nil marks none.
func (x *index) find(w *walk, exact, folded string, dir bool, op Op, guard []bool) hits {
	if x.empty() {
		w.left = maxWork
		return noHits()
	}
	w.reset(x)
	exact, folded = trimSlash(exact), trimSlash(folded)
	first, _ := nextSegment(folded)
	w.begin(op, first)
	for i := 0; exact != "" && !w.spent() && (guard != nil || len(w.next)+len(w.deeps) > 0); i++ {
		var e, f string
		e, exact = nextSegment(exact)
		f, folded = nextSegment(folded)
		exact, folded = trimSlash(exact), trimSlash(folded)
		w.step(e, f, dir || exact != "", i < len(guard) && guard[i])
	}
	return w.hits
}

func (x *index) empty() bool { return len(x.whole)+len(x.steps) == 0 }

// nextSegment cuts a path before its first slash.
func nextSegment(path string) (seg, rest string) {
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

func trimSlash(path string) string {
	if path != "" && path[0] == '/' {
		return path[1:]
	}
	return path
}

// step goes on by one segment. Behind a guarded segment only spelled names lead on, and
// what matched before it does not count.
func (w *walk) step(exact, folded string, dir, guarded bool) {
	w.now, w.next = append(w.next, w.deeps...), w.now[:0]
	if guarded {
		w.deeps, w.hits = w.deeps[:0], noHits()
		clear(w.seen)
	}
	w.left -= 1 + len(w.now)/32
	mask := uint64(0) // not yet computed
	for _, id := range w.now {
		s := &w.x.steps[id]
		switch {
		case guarded && !(s.kind == glob.Exact && s.spelled):
			continue
		case s.kind == glob.Exact && s.name != folded:
			continue
		case s.kind == glob.Wildcard:
			if mask == 0 {
				mask = nameMask(exact) | nameMask(folded)
			}
			if s.mask&^mask != 0 {
				continue
			}
			// Tokens are tried at each place of the name.
			if w.left -= 1 + len(s.exact)*len(exact)/8; w.spent() {
				return
			}
			if !glob.Match(s.exact, exact) && (s.folded == nil || !glob.Match(s.folded, folded)) {
				continue
			}
		}
		if p := s.last; p == nil {
			w.reach(id + 1)
		} else if dir || !p.dirOnly {
			w.hits[p.list] = min(w.hits[p.list], p.rule)
		}
	}
}

// reach has a step compared with the next segment.
func (w *walk) reach(id int32) {
	switch {
	case w.x.steps[id].kind != glob.Deep:
		w.next = append(w.next, id)
	case !w.seen[id+1]:
		w.seen[id+1] = true
		w.deeps = append(w.deeps, id+1)
	}
}
