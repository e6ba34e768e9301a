package tokens

import "strings"

// Text is split as a byte-pair tokenizer splits it before it merges: words with the one
// character before them, groups of digits, runs of signs, white space. A word is split
// again at each change of case ("parseHTTPHeader" has three parts). A part's class is the
// character before it, its case and its length.
const (
	// The character before a part of a word.
	afterBlank = iota // one blank, or none that belongs to the same token
	afterTab
	afterSign // one sign
	afterPart // another part of the same word
	afterDigit
	befores
)

const (
	// The case of a part.
	small   = iota
	capital // one capital, then small letters
	capitals
	cases
)

// longest bounds the length of a part: its further letters count alone.
const longest = 16

// Offsets of the classes in weights.
const (
	parts   = 0
	tails   = parts + befores*cases*longest // letters beyond the longest
	digits  = tails + cases                 // groups of up to three
	pieces  = digits + 1                    // runs of signs, white space
	chars   = pieces + 1                    // characters, by script
	starts  = chars + scripts               // runs of characters of one script
	classes = starts + scripts
)

// The kinds of bytes, in rows of sixteen: l and u for letters, d for digits, b for the
// blank, t for tabs, n for line ends, h for bytes beyond ASCII, s for signs.
const kinds = "ssssssssstnttnss" + "ssssssssssssssss" +
	"bsssssssssssssss" + "ddddddddddssssss" +
	"suuuuuuuuuuuuuuu" + "uuuuuuuuuuusssss" +
	"slllllllllllllll" + "lllllllllllsssss" +
	"hhhhhhhhhhhhhhhh" + "hhhhhhhhhhhhhhhh" + "hhhhhhhhhhhhhhhh" + "hhhhhhhhhhhhhhhh" +
	"hhhhhhhhhhhhhhhh" + "hhhhhhhhhhhhhhhh" + "hhhhhhhhhhhhhhhh" + "hhhhhhhhhhhhhhhh"

// Local estimates by classes of characters, in one pass. Its zero value is ready for use by
// several goroutines.
type Local struct{}

// Count estimates the tokens of b.
func (Local) Count(b []byte) int {
	cut := lineStart(b, len(b)/2)
	return int((theAutomaton().sum(b[:cut], b[cut:]) + 255) / 256)
}

// lineStart returns the first place from i on that follows a line end and begins with
// neither white space nor a line end, or the end of b. The sum of b is that of the text
// before such a place and of the text from there on.
func lineStart(b []byte, i int) int {
	for i++; i < len(b); i++ {
		if kinds[b[i-1]] == 'n' && strings.IndexByte("btn", kinds[b[i]]) < 0 {
			return i
		}
	}
	return len(b)
}

// sum returns the sum of weights of two texts. It reads a byte of each in turn, because a
// processor follows two chains of steps in little more time than one.
func (a *automaton) sum(x, y []byte) int64 {
	var i, j int
	s, t, sum := int32(start), int32(start), int64(0)
	for i < len(x) && j < len(y) {
		p, q := a.steps[s+a.column[x[i]]], a.steps[t+a.column[y[j]]]
		sum += int64(p>>costShift) + int64(q>>costShift)
		s, t = p&offsetMask, q&offsetMask
		i++
		j++
		if s >= rows {
			i, s, sum = longRun(x, i, s, sum)
		}
		if t >= rows {
			j, t, sum = longRun(y, j, t, sum)
		}
	}
	return a.rest(x, i, s, a.rest(y, j, t, sum))
}

// rest adds to sum what b adds from i on.
func (a *automaton) rest(b []byte, i int, state int32, sum int64) int64 {
	for i < len(b) {
		step := a.steps[state+a.column[b[i]]]
		sum += int64(step >> costShift)
		state = step & offsetMask
		i++
		if state >= rows {
			i, state, sum = longRun(b, i, state, sum)
		}
	}
	return sum + int64(a.steps[state+endOfText]>>costShift)
}

// longRun goes on with a run of characters beyond ASCII or of many signs that has begun
// before i: it returns the run's end, the state there and the sum.
func longRun(b []byte, i int, state int32, sum int64) (next int, after int32, newSum int64) {
	if state == foreign*columns {
		next, cost := foreignRun(b, i-1)
		return next, afterForeign * columns, sum + cost
	}
	first, alike := i-mostSigns-1, true
	for i < len(b) && kinds[b[i]] == 's' {
		i++
	}
	for _, c := range b[first:i] {
		alike = alike && c == b[first]
	}
	if !alike {
		sum += int64(i-first-8) / 4 * weights[pieces]
	}
	return i, (inSigns + 1) * columns, sum
}
