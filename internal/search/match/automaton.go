package match

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// outcome is the end of a run of the automaton.
type outcome uint8

const (
	ended   outcome = iota // no match
	matched                // a match
	gaveUp                 // not known: too many states
)

// The ends of a transition beside a state, which is not negative.
const (
	unbuilt int32 = -1 - iota
	toMatch
	toLook // a carriage return: what follows decides
)

// before tells the kinds of characters in front of a place that a pattern can ask for.
type before uint8

const (
	atBegin before = iota
	afterFeed
	afterWord
	afterOther
)

// state is a set of instructions at which a match may go on, and what stands before them.
type state struct {
	insts  []uint32 // ascending, those that take a character, look, or match
	before before
}

// automaton runs a program on text, one character at a time. It builds the states that the
// text leads to and forgets all of them when they take too much room.
type automaton struct {
	p      *program
	width  int // columns: a class each, and those behind them
	states []state
	table  []int32 // a row for each state, which is known by the place where that begins
	byKey  map[string]int32
	size   int // of states, table and keys, in bytes

	begin int32
	// How often the states were forgotten, and the bytes read since.
	forgotten int
	read      int
	off       bool
	// patient goes on although the automaton does not pay.
	patient bool

	set, work sparse
	key       []byte
}

// maxSize bounds the automaton's memory, in bytes.
const maxSize = 384 << 10

// leastPerState is the number of bytes for each state built that makes the automaton pay.
const leastPerState = 10

// newAutomaton returns one that is not reliable for a nil program.
func newAutomaton(p *program) *automaton {
	a := &automaton{p: p}
	if p == nil {
		a.off = true
		return a
	}
	a.width = p.classes + 3
	a.set, a.work = newSparse(len(p.inst)), newSparse(len(p.inst))
	a.forget()
	return a
}

// Columns behind the classes.
func (a *automaton) innerCarriage() int { return a.p.classes }
func (a *automaton) endOfText() int     { return a.p.classes + 1 }
func (p *program) beyondASCII() int     { return p.classes + 2 } // is never built

// scan looks for a matching line from a place on, which begins a line. For a match the
// place is one in the line, or that of its line feed.
func (a *automaton) scan(text []byte, from int) (int, outcome) {
	s := a.begin
	at, s, o := a.feed(s, text, from)
	if o != ended {
		return at, o
	}
	if n := len(text); n > from && text[n-1] != '\n' && a.step(s, a.endOfText()) == toMatch {
		return n, matched
	}
	return len(text), ended
}

// whole looks at a text that is one line, or of a multiline pattern any text.
func (a *automaton) whole(text []byte) outcome {
	_, s, o := a.feed(a.begin, text, 0)
	if o == ended && a.step(s, a.endOfText()) == toMatch {
		return matched
	}
	return o
}

// feed runs over text from a place on and returns the place where it stopped.
func (a *automaton) feed(s int32, text []byte, from int) (int, int32, outcome) {
	p := a.p
	i := from
	for i < len(text) {
		if i, s = a.quick(text, i, s); i == len(text) {
			break
		}
		class, size := a.classAt(text[i:])
		column := int(class)
		if class == p.carriage {
			column = a.innerCarriage()
			if !p.multiline && i+1 < len(text) && text[i+1] == '\n' {
				column, size = int(p.feed), 2
			}
		}
		to := a.step(s, column)
		if to == toMatch {
			return i, s, matched
		}
		if a.off && !a.patient {
			return i, s, gaveUp
		}
		s = to
		i += size
	}
	a.read += len(text) - from
	return i, s, ended
}

// quick follows the transitions that are built, up to a byte beyond ASCII. Most bytes
// leave the state as it is: then the next byte need not wait for this one's transition.
func (a *automaton) quick(text []byte, i int, s int32) (int, int32) {
	table, column := a.table, &a.p.column
	for i < len(text) {
		row := table[s : int(s)+a.width]
		to := s
		for i < len(text) {
			if to = row[column[text[i]]]; to != s {
				break
			}
			i++
		}
		if to == s || to < 0 {
			break
		}
		s = to
		i++
	}
	return i, s
}

func (a *automaton) classAt(text []byte) (uint8, int) {
	if b := text[0]; b < utf8.RuneSelf {
		return a.p.column[b], 1
	}
	r, n := utf8.DecodeRune(text)
	if r == utf8.RuneError {
		return a.p.stray, n
	}
	return a.p.class(r), n
}

// step follows a transition, and builds it first if that is needed.
func (a *automaton) step(s int32, column int) int32 {
	to := a.table[int(s)+column]
	if to == unbuilt {
		to = a.build(s, column)
	}
	return to
}

// build finds where a transition leads.
func (a *automaton) build(s int32, column int) int32 {
	p := a.p
	from := a.states[int(s)/a.width]
	class, end := uint8(column), column == a.endOfText()
	if column == a.innerCarriage() {
		class = p.carriage
	}
	// In a pattern for lines the end of a line is the end of the text.
	end = end || !p.multiline && class == p.feed
	a.set.clear()
	flags := a.flags(from.before, class, end)
	for _, pc := range from.insts {
		if a.close(&a.set, pc, flags, true) {
			a.table[int(s)+column] = toMatch
			return toMatch
		}
	}
	if end { // the next line begins, or the text has ended
		a.table[int(s)+column] = a.begin
		return a.begin
	}
	a.work.clear()
	for _, pc := range a.set.dense {
		if p.takes[pc].has(class) {
			a.close(&a.work, p.inst[pc].Out, 0, false)
		}
	}
	a.close(&a.work, p.start, 0, false) // a match can begin anywhere
	behind := afterOther
	switch {
	case !p.looks:
	case class == p.feed:
		behind = afterFeed
	case p.words && p.word[class]:
		behind = afterWord
	}
	forgotten := a.forgotten
	to := a.intern(a.work.dense, behind)
	if a.forgotten == forgotten {
		a.table[int(s)+column] = to
	}
	return to
}

// flags are the empty-width conditions that hold at a place.
func (a *automaton) flags(b before, next uint8, end bool) syntax.EmptyOp {
	var f syntax.EmptyOp
	if b == atBegin {
		f |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	}
	if b == afterFeed {
		f |= syntax.EmptyBeginLine
	}
	if end {
		f |= syntax.EmptyEndText | syntax.EmptyEndLine
	} else if next == a.p.feed {
		f |= syntax.EmptyEndLine
	}
	if (b == afterWord) != (!end && a.p.word[next]) {
		return f | syntax.EmptyWordBoundary
	}
	return f | syntax.EmptyNoWordBoundary
}

// close adds an instruction to a set with all that it leads to without a character. With
// looked the conditions are known: one that does not hold leads nowhere, and the result
// says whether a match is reached. Else conditions stay in the set.
func (a *automaton) close(set *sparse, pc uint32, flags syntax.EmptyOp, looked bool) bool {
	stack := set.stack[:0]
	stack = append(stack, pc)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !set.add(pc) {
			continue
		}
		in := &a.p.inst[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, in.Out)
		case syntax.InstEmptyWidth:
			if looked && syntax.EmptyOp(in.Arg)&^flags == 0 {
				stack = append(stack, in.Out)
			}
		case syntax.InstMatch:
			if looked {
				set.stack = stack
				return true
			}
		}
	}
	set.stack = stack
	return false
}

// intern returns the state of a set, which it sorts.
func (a *automaton) intern(set []uint32, b before) int32 {
	insts := make([]uint32, 0, len(set))
	for _, pc := range set {
		switch a.p.inst[pc].Op {
		case syntax.InstAlt, syntax.InstAltMatch, syntax.InstCapture, syntax.InstNop, syntax.InstFail:
		default:
			insts = append(insts, pc)
		}
	}
	slices.Sort(insts)
	a.key = append(a.key[:0], byte(b))
	for _, pc := range insts {
		a.key = binary.LittleEndian.AppendUint32(a.key, pc)
	}
	if id, ok := a.byKey[string(a.key)]; ok {
		return id
	}
	size := 4*a.width + 8*len(insts) + 96
	if a.size+size > maxSize && len(a.states) > 1 {
		if a.read < leastPerState*len(a.states) {
			a.off = true
		}
		a.forgotten++
		key := slices.Clone(a.key)
		a.forget()
		a.key = key
		if id, ok := a.byKey[string(a.key)]; ok {
			return id
		}
	}
	return a.add(insts, b, size)
}

func (a *automaton) add(insts []uint32, b before, size int) int32 {
	id := int32(len(a.table))
	a.states = append(a.states, state{insts, b})
	a.byKey[string(a.key)] = id
	a.size += size
	a.table = append(a.table, slices.Repeat([]int32{unbuilt}, a.width)...)
	if !a.p.multiline {
		a.table[int(id)+int(a.p.carriage)] = toLook
	}
	return id
}

// forget drops all states but the first.
func (a *automaton) forget() {
	a.states, a.table, a.byKey, a.size, a.read = a.states[:0], a.table[:0], map[string]int32{}, 0, 0
	a.work.clear()
	a.close(&a.work, a.p.start, 0, false)
	b := afterOther
	if a.p.looks {
		b = atBegin
	}
	a.begin = a.intern(a.work.dense, b)
}

// sparse is a set of small numbers that is cleared at no cost.
type sparse struct {
	dense []uint32
	place []uint32
	stack []uint32
}

func newSparse(n int) sparse { return sparse{place: make([]uint32, n)} }

func (s *sparse) clear() { s.dense = s.dense[:0] }

func (s *sparse) add(n uint32) bool {
	if at := s.place[n]; int(at) < len(s.dense) && s.dense[at] == n {
		return false
	}
	s.place[n] = uint32(len(s.dense))
	s.dense = append(s.dense, n)
	return true
}
