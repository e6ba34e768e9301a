package tokens

import "math/bits"

// Text is split as a byte-pair tokenizer splits it before it merges: words with the one
// character before them, groups of digits, runs of signs, white space. A word is split
// again where its case changes ("parseHTTPHeader" has three parts). A part's class is the
// character before it, its case and its length.
const (
	// The character before a part of a word.
	afterNothing = iota // none that belongs to the same token
	afterBlank          // one blank
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

const (
	longest = 16 // parts longer than this count their further letters alone
	maxRun  = 8  // runs of signs alike
	maxLog  = 8  // logarithms of lengths
)

// Offsets of the classes in tally.n.
const (
	parts      = 0
	tails      = parts + befores*cases*longest // letters beyond the longest
	digits     = tails + cases                 // groups of up to three
	runs       = digits + 1                    // of different signs, by length
	repeats    = runs + maxRun                 // of one sign, by the logarithm of the length
	lineBreak  = repeats + maxLog              // one line feed
	blankLines = lineBreak + 1                 // several line ends
	whiteLines = blankLines + 1                // line ends with blanks between, by their number
	indent     = whiteLines + maxLog           // blanks, by the logarithm of their number
	tabs       = indent + maxLog               // tabs, likewise
	mixed      = tabs + maxLog                 // blanks and tabs
	loneBlank  = mixed + 1                     // before a digit, or at the end
	chars      = loneBlank + 1                 // characters, by script
	starts     = chars + scripts               // runs of characters of one script
	classes    = starts + scripts
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
	var t tally
	t.add(b)
	sum := int64(0)
	for i, n := range t.n {
		sum += int64(n) * weights[i]
	}
	return int((sum + 255) / 256)
}

// tally holds the counts of a text's parts.
type tally struct {
	n [classes]int
}

// add counts all of b.
func (t *tally) add(b []byte) {
	before := afterNothing
	for i := 0; i < len(b); {
		switch kinds[b[i]] {
		case 'l', 'u':
			i = t.word(b, i, before)
			before = afterPart
		case 'd':
			start := i
			for i++; i < len(b) && kinds[b[i]] == 'd'; i++ {
			}
			t.n[digits] += (i - start + 2) / 3
			before = afterDigit
		case 's':
			i, before = t.signs(b, i)
		case 'h':
			i = t.foreign(b, i)
			before = afterPart
		default:
			i, before = t.white(b, i)
		}
	}
}

// word counts the letters from i on, part by part, and returns their end.
func (t *tally) word(b []byte, i, before int) int {
	for i < len(b) {
		start, form := i, small
		if kinds[b[i]] == 'u' {
			for i++; i < len(b) && kinds[b[i]] == 'u'; i++ {
			}
			form = capitals
			if i < len(b) && kinds[b[i]] == 'l' {
				if i-start > 1 { // the last capital begins the next part
					t.part(before, capitals, i-1-start)
					before, start = afterPart, i-1
				}
				form = capital
			}
		} else if kinds[b[i]] != 'l' {
			break
		}
		if form != capitals {
			for i++; i < len(b) && kinds[b[i]] == 'l'; i++ {
			}
		}
		t.part(before, form, i-start)
		before = afterPart
	}
	return i
}

func (t *tally) part(before, form, n int) {
	if n > longest {
		t.n[tails+form] += n - longest
		n = longest
	}
	t.n[parts+(before*cases+form)*longest+n-1]++
}

// signs counts the run of signs from i on. A single sign before a word belongs to the
// word.
func (t *tally) signs(b []byte, i int) (next, before int) {
	start := i
	alike := true
	for i++; i < len(b) && kinds[b[i]] == 's'; i++ {
		alike = alike && b[i] == b[start]
	}
	n := i - start
	if n == 1 && i < len(b) && (kinds[b[i]] == 'l' || kinds[b[i]] == 'u') {
		return i, afterSign
	}
	if alike && n > 2 {
		t.n[repeats+min(bits.Len(uint(n))-1, maxLog-1)]++
	} else {
		t.n[runs+min(n, maxRun)-1]++
		if n > maxRun { // as if cut
			t.n[runs+maxRun/2-1] += (n - maxRun) / (maxRun / 2)
		}
	}
	for i < len(b) && kinds[b[i]] == 'n' { // the line ends belong to the same token
		i++
	}
	return i, afterNothing
}

// white counts the white space from i on. The part up to the last line end is one piece,
// the rest is another. A last character before a word belongs to the word.
func (t *tally) white(b []byte, i int) (next, before int) {
	start, rest := i, i
	ends, lines := 0, 0
	for i < len(b) {
		k := kinds[b[i]]
		if k == 'n' {
			if i > rest { // behind blanks
				lines++
			}
			rest = i + 1
			ends++
		} else if k != 'b' && k != 't' {
			break
		}
		i++
	}
	switch {
	case rest == start:
	case lines > 0:
		t.n[whiteLines+min(lines, maxLog)-1]++
	case ends == 1 || ends == 2 && b[start] == '\r':
		t.n[lineBreak]++
	default:
		t.n[blankLines]++
	}
	if rest == i {
		return i, afterNothing
	}
	if i == len(b) {
		t.space(b[rest:i])
		return i, afterNothing
	}
	t.space(b[rest : i-1])
	last, k := b[i-1], kinds[b[i]]
	if k == 'd' || k == 's' && last != ' ' {
		t.n[loneBlank]++
	}
	switch {
	case k == 'd' || k == 's':
		return i, afterNothing
	case last == ' ':
		return i, afterBlank
	}
	return i, afterTab
}

// space counts a piece of blanks and tabs.
func (t *tally) space(b []byte) {
	if len(b) == 0 {
		return
	}
	alike := true
	for _, c := range b {
		alike = alike && c == b[0]
	}
	log := min(bits.Len(uint(len(b)))-1, maxLog-1)
	switch {
	case !alike:
		t.n[mixed]++
	case b[0] == ' ':
		t.n[indent+log]++
	default:
		t.n[tabs+log]++
	}
}
