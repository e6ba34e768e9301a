package tokens

import (
	"strings"
	"sync"
)

// automaton reads a text a byte at a time: a state and the kind of a byte give the next
// state, and what the byte adds to the sum of weights. The loop over it has no branch that
// depends on the text, so that its speed does not depend on its place in the program. A
// loop with branches for each kind took up to 20 % longer in one build than in another.
type automaton struct {
	column [256]int32  // of each byte
	steps  [rows]int32 // by state and column: what is added, above the offset of the next state
}

const (
	costShift  = 16
	offsetMask = 1<<costShift - 1
)

// The columns: the kinds of bytes, and the end of the text.
const (
	columnKinds = "ludsbtnh"
	endOfText   = 8
	columns     = 9
)

// mostSigns bounds the runs of signs that have a state for each length.
const mostSigns = 11

// The states.
const (
	start        = iota
	afterForeign                        // bytes beyond ASCII
	inDigits                            // a state for each place in a group
	inSigns      = inDigits + 3         // a state for each length of a run
	afterSigns   = inSigns + mostSigns  // the line ends that belong to the signs
	lineEnds     = afterSigns + 1       // white space that ends with a line end
	inBlanks     = lineEnds + 1         // other white space, by the bits below
	inLetters    = inBlanks + allBlanks // by part of a word and length; the last length is any above longest
	states       = inLetters + befores*cases*(longest+1)

	foreign   = states // without rows: longRun counts these runs
	manySigns = states + 1

	rows = states * columns
)

// What a state of blanks knows of the white space.
const (
	hasLineEnd = 1 << iota // before the last characters
	hasMore                // two or more characters since then
	endsInTab
	allBlanks
)

// theAutomaton is made when the first text is counted.
var theAutomaton = sync.OnceValue(func() *automaton {
	a := &automaton{}
	for i := range a.column {
		a.column[i] = int32(strings.IndexByte(columnKinds, kinds[i]))
	}
	for state := range states {
		for column := range columns {
			kind := byte(0)
			if column != endOfText {
				kind = columnKinds[column]
			}
			next, cost := step(state, kind)
			a.steps[state*columns+column] = int32(cost)<<costShift | int32(next*columns)
		}
	}
	return a
})

// step returns the state after a byte of the kind, or after the end of the text (0), and
// what the byte adds to the sum.
func step(state int, kind byte) (next int, cost int64) {
	switch {
	case state >= inLetters:
		return stepLetters(state, kind)
	case state >= inBlanks:
		return stepBlanks(state-inBlanks, kind)
	case state == lineEnds:
		switch kind {
		case 'n':
			return lineEnds, 0
		case 'b':
			return inBlanks + hasLineEnd, 0
		case 't':
			return inBlanks + hasLineEnd + endsInTab, 0
		}
	case state == afterSigns && kind == 'n':
		return afterSigns, 0
	case state >= inSigns && state < afterSigns:
		return stepSigns(state-inSigns+1, kind)
	case state >= inDigits && state < inSigns:
		if kind != 'd' {
			return begin(afterDigit, kind)
		}
		if state < inSigns-1 {
			return state + 1, 0
		}
	case state == afterForeign:
		return begin(afterPart, kind)
	}
	return begin(afterBlank, kind)
}

// begin returns the state after the first byte of a new run.
func begin(before int, kind byte) (next int, cost int64) {
	switch kind {
	case 'l':
		return letter(before, small, 1), weight(before, small, 1)
	case 'u':
		return letter(before, capitals, 1), weight(before, capitals, 1)
	case 'd':
		return inDigits, weights[digits]
	case 's':
		return inSigns, 0
	case 'b':
		return inBlanks, 0
	case 't':
		return inBlanks + endsInTab, 0
	case 'n':
		return lineEnds, weights[pieces]
	case 'h':
		return foreign, 0
	}
	return start, 0
}

// letter returns the state of a part of n letters.
func letter(before, form, n int) int {
	return inLetters + (before*cases+form)*(longest+1) + min(n, longest+1) - 1
}

// weight returns the weight of a part of n letters.
func weight(before, form, n int) int64 {
	return weights[parts+(before*cases+form)*longest+min(n, longest)-1] + int64(max(n-longest, 0))*weights[tails+form]
}

func stepLetters(state int, kind byte) (next int, cost int64) {
	class, n := (state-inLetters)/(longest+1), (state-inLetters)%(longest+1)+1
	before, form := class/cases, class%cases
	counted := weight(before, form, n)
	switch {
	case kind == 'l' && form == capitals && n == 1:
		return letter(before, capital, 2), weight(before, capital, 2) - counted
	case kind == 'l' && form == capitals: // the last capital begins the next part
		return letter(afterPart, capital, 2), weight(before, capitals, n-1) + weight(afterPart, capital, 2) - counted
	case kind == 'l', kind == 'u' && form == capitals:
		return letter(before, form, n+1), weight(before, form, n+1) - counted
	}
	return begin(afterPart, kind)
}

// stepSigns goes on from a run of n signs. A single inSigns before a word belongs to the word.
func stepSigns(n int, kind byte) (next int, cost int64) {
	switch {
	case kind == 's' && n == mostSigns:
		return manySigns, 0
	case kind == 's':
		next = inSigns + n
	case n == 1 && (kind == 'l' || kind == 'u'):
		return begin(afterSign, kind)
	case kind == 'n':
		next = afterSigns
	default:
		next, cost = begin(afterBlank, kind)
	}
	if n == 1 {
		cost += weights[pieces]
	}
	return next, cost
}

// stepBlanks goes on from white space. The part up to the last line end is one piece, the
// rest is another. A last character before a word belongs to the word.
func stepBlanks(known int, kind byte) (next int, cost int64) {
	switch kind {
	case 'b':
		return inBlanks + known&hasLineEnd + hasMore, 0
	case 't':
		return inBlanks + known&hasLineEnd + hasMore + endsInTab, 0
	case 'n':
		if known&hasLineEnd == 0 {
			cost = weights[pieces]
		}
		return lineEnds, cost
	case 0:
		return start, weights[pieces]
	}
	before := afterBlank
	if known&endsInTab != 0 {
		before = afterTab
	}
	next, cost = begin(before, kind)
	if known&hasMore != 0 {
		cost += weights[pieces]
	}
	if kind == 'd' || kind == 's' && before == afterTab {
		cost += weights[pieces]
	}
	return next, cost
}
