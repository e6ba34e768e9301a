package tokens

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

// Offsets of the classes in tally.n.
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
	before := afterBlank
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
	t.n[pieces]++
	if !alike {
		t.n[pieces] += max(n-8, 0) / 4
	}
	for i < len(b) && kinds[b[i]] == 'n' { // the line ends belong to the same token
		i++
	}
	return i, afterBlank
}

// white counts the white space from i on. The part up to the last line end is one piece,
// the rest is another. A last character before a word belongs to the word.
func (t *tally) white(b []byte, i int) (next, before int) {
	start, rest := i, i
	for ; i < len(b); i++ {
		if k := kinds[b[i]]; k == 'n' {
			rest = i + 1
		} else if k != 'b' && k != 't' {
			break
		}
	}
	if rest > start {
		t.n[pieces]++
	}
	if rest == i {
		return i, afterBlank
	}
	if i == len(b) {
		t.n[pieces]++
		return i, afterBlank
	}
	if i-1 > rest {
		t.n[pieces]++
	}
	last, k := b[i-1], kinds[b[i]]
	if k == 'd' || k == 's' && last != ' ' {
		t.n[pieces]++
	}
	if last == ' ' || k == 'd' || k == 's' {
		return i, afterBlank
	}
	return i, afterTab
}
