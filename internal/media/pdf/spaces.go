package pdf

import "unicode"

// Bounds of the gap between two chars, in parts of the height of their line.
const (
	noGap   = 0.03 // what a space is no space below
	someGap = 0.13 // what is a space above, beyond the gaps beside it
	looks   = 150  // how many pairs of a page are looked at, before all are
)

// fixSpaces sets right where words end, which some documents leave to their
// geometry alone: there are chars of spaces within words, where nothing is seen,
// and gaps between words without a sign. To look at every pair takes longer than
// all else about a text; so it is done where a few of them gave reason to.
func (p *pageText) fixSpaces() {
	pairs := p.pairs()
	step := max(1, len(pairs)/looks)
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

// pairs are the places of every two chars that stand beside each other on a line
// of a script that divides words by spaces.
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

// suspect tells of a pair that is often wrong: letters that fonts draw as one,
// which are wider than they say, before a space, and a sentence's end without.
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

// fixSpace takes spaces between two chars away where there is no gap, or adds one
// where there is. It tells whether it did.
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
	// Signs may be set closer than they are wide, and a space may have no width
	// where its font is not at hand: that says nothing.
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

// gapBeside is the least gap of those around a pair within words, 0 where there is
// none: chars may be set apart, or close.
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

// wideSpaces tells whether all spaces in a place have a width of their own.
func (p *pageText) wideSpaces(from, to int) bool {
	for i := from; i < to; i++ {
		if b, _ := p.wide(i); p.chars[i] != 0 && b.right-b.left < 0.01*(b.top-b.bottom) {
			return false
		}
	}
	return true
}

// inkMeets reports whether the ink of two chars of a line meets.
func (p *places) inkMeets(i, k int) bool {
	a, okA := p.tight(i)
	b, okB := p.tight(k)
	return okA && okB && b.left <= a.right
}
