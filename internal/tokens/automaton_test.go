package tokens

import (
	"math/rand"
	"sort"
	"testing"
	"unicode/utf8"
)

// countPlainly counts the parts of a text by one loop for each kind of run: the rules that
// the automaton follows.
func countPlainly(b []byte) int {
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

// foreign counts the run of characters beyond ASCII from i on.
func (t *tally) foreign(b []byte, i int) int {
	last, at := scripts, 0
	for i < len(b) && b[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(b[i:])
		if r < scriptsFrom[at].first || r >= scriptsFrom[at+1].first {
			at = sort.Search(len(scriptsFrom), func(i int) bool { return scriptsFrom[i].first > r }) - 1
		}
		s := scriptsFrom[at].script
		switch {
		case n == 1:
			s = broken
		case (s == hanRare || s == hangulRare) && isCommon(r):
			s--
		}
		t.n[chars+s]++
		if s != last {
			t.n[starts+s]++
			last = s
		}
		i += n
	}
	return i
}

func TestAutomatonCountsAsThePlainWay(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	alphabets := []string{"aB \n", "aB1.\t \n", "..:;-\n", "Aa", "0123456789a", " \t\n\r", "é日a B\xff1.", "\x00\x7f\x0b~"}
	n := 0
	for range 200_000 {
		alphabet := alphabets[r.Intn(len(alphabets))]
		b := make([]byte, r.Intn(40))
		run := 0
		for i := range b {
			if run == 0 || i == 0 {
				run = 1 + r.Intn(1+r.Intn(25))
				b[i] = alphabet[r.Intn(len(alphabet))]
			} else {
				b[i] = b[i-1]
			}
			run--
		}
		if got, want := (Local{}).Count(b), countPlainly(b); got != want {
			t.Fatalf("%q: %d tokens, the plain way says %d", b, got, want)
		}
		n++
	}
	for class, texts := range corpus(t) {
		for _, text := range texts {
			for range 20 { // also cut anywhere
				from := r.Intn(len(text))
				b := []byte(text[from : from+r.Intn(len(text)-from+1)])
				if got, want := (Local{}).Count(b), countPlainly(b); got != want {
					t.Fatalf("%s: %d tokens, the plain way says %d", class, got, want)
				}
			}
		}
	}
}
