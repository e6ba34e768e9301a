package pdf

import "unicode"

// Bounds of the gap between two characters, in parts of the height of their line.
const (
	noGap   = 0.03 // below this gap there is no space
	someGap = 0.13 // a gap that exceeds its neighbours by more is a space
	samples = 150  // pairs of a page that are checked before all are
)

// fixSpaces removes and adds spaces by the gaps between characters. Some documents have
// space characters within words, where no gap is seen, or gaps between words without a space
// character. Checking every pair takes longer than the rest of reading a text, so all pairs
// are checked only if two of a sample are wrong.
func (p *pageText) fixSpaces() {
	pairs := p.pairs()
	step := max(1, len(pairs)/samples)
	wrong := 0
	for n, pair := range pairs {
		if suspect := p.suspect(pair); suspect || n%step == 0 {
			if p.fixSpace(pair) && !suspect {
				wrong++
			}
		}
	}
	if wrong < 2 {
		return
	}
	for _, pair := range pairs {
		p.fixSpace(pair)
	}
}

// pairs returns the indexes of every two neighbouring characters of a line, in scripts that
// separate words by spaces.
func (p *pageText) pairs() (out [][2]int) {
	last := -1
	for i, sign := range p.chars {
		switch {
		case sign == ' ' || sign == '\u00a0' || sign == 0:
		case !unicode.IsPrint(sign) || sign == unknownChar || sign >= 0x1100 && !unicode.IsPunct(sign) && !ligature(sign):
			last = -1
		default:
			if last >= 0 {
				out = append(out, [2]int{last, i})
			}
			last = i
		}
	}
	return out
}

func ligature(r rune) bool { return r >= 'ﬀ' && r <= 'ﬆ' }

// suspect reports a pair that is often wrong: a ligature before a space, as ligatures are
// wider than fonts say, and the end of a sentence without a space.
func (p *pageText) suspect(pair [2]int) bool {
	i, k := pair[0], pair[1]
	if k > i+1 {
		if i == 0 {
			return false
		}
		switch string(p.chars[i-1 : i+1]) {
		case "ff", "fi", "fl", "ft", "fj", "Th", "tt", "ti", "ct", "st":
			return unicode.IsLetter(p.chars[k])
		}
		return false
	}
	return unicode.IsUpper(p.chars[k]) && (unicode.IsLower(p.chars[i]) || unicode.IsPunct(p.chars[i]))
}

// fixSpace removes the spaces between two characters if there is no gap, or adds one if there
// is. It reports whether it changed anything.
func (p *pageText) fixSpace(pair [2]int) bool {
	i, k := pair[0], pair[1]
	gap, ok := p.gap(i, k)
	if !ok {
		return false
	}
	beside := p.gapBeside(i, k)
	if k == i+1 {
		if p.before[k] || gap < someGap+max(beside, 0) {
			return false
		}
		p.before[k] = true
		return true
	}
	// Characters may be set closer than they are wide, and a space has no width if its font is
	// missing: neither shows that the space is wrong.
	if gap > beside+someGap || gap > noGap && !p.inkMeets(i, k) || !p.wideSpaces(i+1, k) {
		return false
	}
	found := false
	for s := i + 1; s < k; s++ {
		found = found || p.chars[s] != 0
		p.chars[s] = 0
	}
	return found
}

// gap returns the distance between two characters of a line, in parts of its height. ok:
// they are on one line, one after the other.
func (p *places) gap(i, k int) (gap float64, ok bool) {
	a, okA := p.wide(i)
	b, okB := p.wide(k)
	height := min(a.top-a.bottom, b.top-b.bottom)
	if !okA || !okB || height <= 0 {
		return 0, false
	}
	level := max(a.bottom-b.bottom, b.bottom-a.bottom) < 0.1*height && max(a.top-b.top, b.top-a.top) < 0.1*height
	return (b.left - a.right) / height, level && b.left > a.left && b.right > a.right
}

// gapBeside returns the smallest gap around a pair within words, and 0 if there is none:
// characters may be set wide or tight.
func (p *pageText) gapBeside(i, k int) float64 {
	least, any := 0.0, false
	for _, pair := range [][2]int{{i - 2, i - 1}, {i - 1, i}, {k, k + 1}, {k + 1, k + 2}} {
		if pair[0] < 0 || pair[1] >= len(p.chars) || p.chars[pair[0]] <= ' ' || p.chars[pair[1]] <= ' ' {
			continue
		}
		if gap, ok := p.gap(pair[0], pair[1]); ok && (!any || gap < least) {
			least, any = gap, true
		}
	}
	return least
}

// wideSpaces reports whether all spaces in a range have a width.
func (p *pageText) wideSpaces(from, to int) bool {
	for i := from; i < to; i++ {
		if b, _ := p.wide(i); p.chars[i] != 0 && b.right-b.left < 0.01*(b.top-b.bottom) {
			return false
		}
	}
	return true
}

// inkMeets reports whether the ink of two characters of a line meets.
func (p *places) inkMeets(i, k int) bool {
	a, okA := p.tight(i)
	b, okB := p.tight(k)
	return okA && okB && b.left <= a.right
}
