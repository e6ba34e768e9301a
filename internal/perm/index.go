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

// firsts holds the first rule for each list and operation.
type firsts [Allow + 1][opCount]int32

// An index finds, among many patterns, those that cover a name: a tree of
// segments in which patterns with the same beginning share their nodes. A walk
// keeps the set of nodes that the name's segments so far have led to, so its
// work is bounded by the segments and the patterns that are still possible.
type index struct {
	fold  glob.Folding // nil: names match exactly only
	nodes []node
	deeps int // nodes that stay once reached
}

type node struct {
	names map[string]int32 // by folded name
	// spelled holds, in an index that keeps them apart, the names that stand in
	// the rules themselves.
	spelled map[string]int32
	masks   []uint64 // for each glob what its literal text demands of a name
	globs   []edge
	any     int32 // where every name leads; 0 means nowhere, since no edge leads to the root
	deep    int32 // the node that this one's "**" leads to
	stays   int32 // for a "**" node its number from 1 on
	file    *firsts
	dir     *firsts // patterns that match directories alone
}

// edge is a wildcard segment. Most names are dismissed by its mask, without a
// look at the tokens.
type edge struct {
	to            int32
	exact, folded []glob.Token
}

func (e *edge) matches(exact, folded string) bool {
	return glob.Match(e.exact, exact) || e.folded != nil && glob.Match(e.folded, folded)
}

// cost estimates what a match takes: tokens are tried at each place of the name.
func (e *edge) cost(name string) int {
	return 1 + len(e.exact)*len(name)/8
}

// indexBuilder adds patterns to an index.
type indexBuilder struct {
	index
	strict bool
	// apart keeps what a rule spells apart from the directory it starts from.
	apart bool
	seen  map[globKey]int32
}

type globKey struct {
	from int32
	text string
}

func newIndexBuilder(fold glob.Folding, strict bool) *indexBuilder {
	return &indexBuilder{
		index:  index{fold: fold, nodes: make([]node, 1)},
		strict: strict,
		seen:   map[globKey]int32{},
	}
}

// add enters a pattern on behalf of a rule.
func (b *indexBuilder) add(segs []glob.Segment, dirOnly bool, rule int32, list List, ops opSet) {
	at := int32(0)
	for i, s := range segs {
		if s.Kind == glob.Deep && i == len(segs)-1 {
			// At the end it needs something to stand for, and what is below
			// that is covered anyway.
			s.Kind = glob.AnyName
		}
		at = b.child(at, s)
	}
	n := &b.nodes[at]
	slot := &n.file
	if dirOnly {
		slot = &n.dir
	}
	if *slot == nil {
		*slot = newFirsts()
	}
	for op := Op(0); op < opCount; op++ {
		if first := &(*slot)[list][op]; ops.has(op) && rule < *first {
			*first = rule
		}
	}
}

func newFirsts() *firsts {
	var f firsts
	for l := range f {
		for o := range f[l] {
			f[l][o] = none
		}
	}
	return &f
}

// child returns the node that the segment leads to, making it when it is new.
func (b *indexBuilder) child(from int32, s glob.Segment) int32 {
	next := int32(len(b.nodes))
	n := &b.nodes[from]
	switch s.Kind {
	case glob.Exact:
		name := s.Text
		if b.fold != nil {
			name = b.fold(name)
		}
		names := &n.names
		if b.apart && !s.Anchor {
			names = &n.spelled
		}
		if to, ok := (*names)[name]; ok {
			return to
		}
		if *names == nil {
			*names = map[string]int32{}
		}
		(*names)[name] = next
	case glob.AnyName:
		if n.any != 0 {
			return n.any
		}
		n.any = next
	case glob.Deep:
		if n.deep != 0 {
			return n.deep
		}
		n.deep = next
		b.deeps++
		b.nodes = append(b.nodes, node{stays: int32(b.deeps)})
		return next
	case glob.Wildcard:
		key := globKey{from, s.Text}
		if to, ok := b.seen[key]; ok {
			return to
		}
		b.seen[key] = next
		e, mask := b.edge(s, next)
		n.globs, n.masks = append(n.globs, e), append(n.masks, mask)
	}
	b.nodes = append(b.nodes, node{})
	return next
}

func (b *indexBuilder) edge(s glob.Segment, to int32) (edge, uint64) {
	e := edge{to: to, exact: s.Tokens}
	mask := tokenMask(s.Tokens)
	if b.fold != nil {
		e.folded = glob.FoldTokens(s.Tokens, b.strict)
		mask &= tokenMask(e.folded)
	}
	return e, mask
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
	op   Op
	hits hits
	// now holds the nodes that end at the present segment; every one has a
	// single way in, so none can be there twice.
	now, next []int32
	// deeps holds the "**" nodes reached so far: they never leave.
	deeps []int32
	seen  []bool // by the numbers of "**" nodes
	// left bounds the rest of the look-up's work; below 0 it was given up.
	left int
}

// maxWork bounds one look-up, in units of some 50 ns on an ordinary machine: a
// thousand rules with wildcards take about 2,000 for a name of ten segments. What
// costs more is a name and rules that were made for it.
const maxWork = 1 << 19

// spent reports whether the look-up was given up, so that its hits are not all.
func (w *walk) spent() bool { return w.left < 0 }

func (w *walk) start(x *index, op Op) {
	w.reset(x, op)
	w.enter(0, true)
}

func (w *walk) reset(x *index, op Op) {
	w.x, w.op, w.hits, w.left = x, op, noHits(), maxWork
	w.next, w.deeps = w.next[:0], w.deeps[:0]
	if cap(w.seen) <= x.deeps {
		w.seen = make([]bool, x.deeps+1)
	}
	w.seen = w.seen[:x.deeps+1]
	clear(w.seen)
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
	w.start(x, op)
	exact = trimSlash(exact)
	for i := 0; exact != "" && !w.spent() && (guard != nil || len(w.next)+len(w.deeps) > 0); i++ {
		w.now, w.next = w.next, w.now[:0]
		var e, f string
		e, exact = nextSegment(exact)
		f, folded = nextSegment(trimSlash(folded))
		exact = trimSlash(exact)
		if i < len(guard) && guard[i] {
			w.stepSpelled(f, dir || exact != "")
		} else {
			w.step(e, f, dir || exact != "")
		}
	}
	return w.hits
}

func (x *index) empty() bool {
	return len(x.nodes) == 1 && x.nodes[0].file == nil && x.nodes[0].dir == nil
}

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

// step moves every node on by one segment.
func (w *walk) step(exact, folded string, dir bool) {
	mask := uint64(0) // 0: not yet computed
	deeps := w.deeps  // those reached in this step begin with the next
	for _, id := range w.now {
		mask = w.follow(id, exact, folded, dir, mask)
	}
	for _, id := range deeps {
		mask = w.follow(id, exact, folded, dir, mask)
	}
}

// stepSpelled is a step over a guarded segment: what matched before it covers
// no more, and nothing but a spelled name leads on.
func (w *walk) stepSpelled(folded string, dir bool) {
	w.now = append(w.now, w.deeps...)
	w.deeps = w.deeps[:0]
	clear(w.seen)
	w.hits = noHits()
	for _, id := range w.now {
		if to, ok := w.x.nodes[id].spelled[folded]; ok {
			w.enter(to, dir)
		}
	}
}

func (w *walk) follow(id int32, exact, folded string, dir bool, mask uint64) uint64 {
	n := &w.x.nodes[id]
	if to, ok := n.names[folded]; ok {
		w.enter(to, dir)
	}
	if to, ok := n.spelled[folded]; ok {
		w.enter(to, dir)
	}
	if n.any != 0 {
		w.enter(n.any, dir)
	}
	w.left -= 1 + len(n.masks)/32
	if len(n.globs) == 0 || w.spent() {
		return mask
	}
	if mask == 0 {
		mask = nameMask(exact)
		if folded != exact {
			mask |= nameMask(folded)
		}
	}
	for i, m := range n.masks {
		if m&^mask != 0 {
			continue
		}
		if w.left -= n.globs[i].cost(exact); w.spent() {
			return mask
		}
		if n.globs[i].matches(exact, folded) {
			w.enter(n.globs[i].to, dir)
		}
	}
	return mask
}

// enter notes the rules of a node and keeps it for the next segment.
func (w *walk) enter(id int32, dir bool) {
	n := &w.x.nodes[id]
	w.note(n.file)
	if dir {
		w.note(n.dir)
	}
	if n.deep != 0 {
		w.stay(n.deep)
	}
	if n.names != nil || n.spelled != nil || n.any != 0 || n.globs != nil {
		w.next = append(w.next, id)
	}
}

func (w *walk) stay(id int32) {
	if n := w.x.nodes[id].stays; !w.seen[n] {
		w.seen[n] = true
		w.deeps = append(w.deeps, id)
	}
}

func (w *walk) note(f *firsts) {
	if f == nil {
		return
	}
	for list := range w.hits {
		w.hits[list] = min(w.hits[list], f[list][w.op])
	}
}
