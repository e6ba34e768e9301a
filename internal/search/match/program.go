package match

import (
	"regexp/syntax"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
)

// program is a compiled pattern as the automaton reads it: characters are replaced by
// classes, so that all characters of a class lead every instruction to the same place.
type program struct {
	inst      []syntax.Inst
	start     uint32
	multiline bool
	looks     bool // it looks at the characters beside a place
	words     bool // whether these are word characters matters

	starts  []rune     // where each interval of characters begins, ascending
	classOf []uint8    // the class of each interval
	column  [256]uint8 // the automaton's column for each byte
	stray   uint8      // the class of U+FFFD and of stray bytes
	// Line breaks and carriage returns have classes of their own.
	feed, carriage uint8
	word           []bool // by class
	classes        int
	takes          []classSet // by instruction
}

// classSet is a set of classes.
type classSet [4]uint64

func (s *classSet) add(c uint8)      { s[c/64] |= 1 << (c % 64) }
func (s *classSet) has(c uint8) bool { return s[c/64]&(1<<(c%64)) != 0 }

// maxClasses leaves room for the end of the text and for what is special.
const maxClasses = 250

// newProgram returns nil for a pattern that tells more characters apart than an automaton
// has room for.
func newProgram(prog *syntax.Prog, multiline bool) *program {
	p := &program{inst: prog.Inst, start: uint32(prog.Start), multiline: multiline}
	takers, of := p.takers()
	p.intervals(takers)
	sets := make([]classSet, len(takers))
	if !p.classify(takers, sets) {
		return nil
	}
	p.takes = make([]classSet, len(p.inst))
	for i := range p.inst {
		if of[i] >= 0 {
			p.takes[i] = sets[of[i]]
		}
	}
	return p
}

// takers returns the different instructions that take a character, and for each
// instruction its place among them, or -1.
func (p *program) takers() (takers []*syntax.Inst, of []int) {
	known := map[string]int{}
	of = make([]int, len(p.inst))
	for i := range p.inst {
		in := &p.inst[i]
		of[i] = -1
		switch in.Op {
		case syntax.InstEmptyWidth:
			p.looks = true
			p.words = p.words || syntax.EmptyOp(in.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			key := string(rune(in.Op)) + string(in.Rune)
			if in.Op == syntax.InstRune && len(in.Rune) == 1 {
				key += string(rune(in.Arg))
			}
			at, ok := known[key]
			if !ok {
				at = len(takers)
				known[key], takers = at, append(takers, in)
			}
			of[i] = at
		}
	}
	return takers, of
}

// intervals finds the places where a taker or a look can begin to differ.
func (p *program) intervals(takers []*syntax.Inst) {
	cut := func(lo, hi rune) { p.starts = append(p.starts, lo, hi+1) }
	p.starts = []rune{0}
	cut('\n', '\n')
	cut('\r', '\r')
	cut(utf8.RuneError, utf8.RuneError)
	if p.words {
		cut('0', '9')
		cut('A', 'Z')
		cut('_', '_')
		cut('a', 'z')
	}
	for _, in := range takers {
		if len(in.Rune) == 1 {
			r := in.Rune[0]
			cut(r, r)
			if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
				for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
					cut(o, o)
				}
			}
			continue
		}
		for i := 0; i+1 < len(in.Rune); i += 2 {
			cut(in.Rune[i], in.Rune[i+1])
		}
	}
	slices.Sort(p.starts)
	p.starts = slices.Compact(p.starts)
}

// classify joins the intervals that no taker tells apart, and adds to each taker's set the
// classes that it takes. It reports false for too many classes.
func (p *program) classify(takers []*syntax.Inst, sets []classSet) bool {
	known := map[string]uint8{}
	key := make([]byte, len(takers)+1)
	for _, r := range p.starts {
		for i, in := range takers {
			key[i] = 0
			if in.MatchRune(r) {
				key[i] = 1
			}
		}
		isWord := p.words && syntax.IsWordChar(r)
		key[len(takers)] = 0
		switch {
		case r == '\n':
			key[len(takers)] = 1
		case r == '\r':
			key[len(takers)] = 2
		case isWord:
			key[len(takers)] = 3
		}
		c, ok := known[string(key)]
		if !ok {
			if len(known) == maxClasses {
				return false
			}
			c = uint8(len(known))
			known[string(key)] = c
			p.word = append(p.word, isWord)
			for i := range takers {
				if key[i] == 1 {
					sets[i].add(c)
				}
			}
		}
		p.classOf = append(p.classOf, c)
	}
	p.classes = len(known)
	for b := range p.column {
		p.column[b] = uint8(p.beyondASCII())
		if b < utf8.RuneSelf {
			p.column[b] = p.class(rune(b))
		}
	}
	p.feed, p.carriage, p.stray = p.column['\n'], p.column['\r'], p.class(utf8.RuneError)
	return true
}

// class finds the class of a character.
func (p *program) class(r rune) uint8 {
	return p.classOf[sort.Search(len(p.starts), func(i int) bool { return p.starts[i] > r })-1]
}
