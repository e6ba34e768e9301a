package edit

import "bytes"

// twoWay yields every place of x in s[from:], overlapping ones included, in
// time linear in both and no memory, whatever the two hold (Crochemore and
// Perrin, "Two-way string-matching"). It compares the right part of x forwards
// and then the left part backwards; the cut between them is chosen so that a
// mismatch on the right allows a leap past all that was compared.
func twoWay(s, x []byte, from int, yield func(i int) bool) {
	cut, period := criticalCut(x)
	periodic := bytes.Equal(x[:cut], x[period:min(len(x), period+cut)])
	if !periodic {
		period = max(cut, len(x)-cut) + 1
	}
	known := 0 // this much of the front of x is known to match (periodic x only)
	for pos := from; pos+len(x) <= len(s); {
		i := max(cut, known)
		for i < len(x) && x[i] == s[pos+i] {
			i++
		}
		if i < len(x) {
			pos += i - cut + 1
			known = 0
			continue
		}
		j := cut - 1
		for j >= known && x[j] == s[pos+j] {
			j--
		}
		if j < known && !yield(pos) {
			return
		}
		pos += period
		if periodic {
			known = len(x) - period
		}
	}
}

// criticalCut is a place to cut x at which the local period is as long as the
// period of the whole, and the period of the part right of it.
func criticalCut(x []byte) (cut, period int) {
	up, upPeriod := maximalSuffix(x, false)
	down, downPeriod := maximalSuffix(x, true)
	if up > down {
		return up, upPeriod
	}
	return down, downPeriod
}

// maximalSuffix is the start of the suffix of x that sorts last (first bytes
// first, or the other way round), and that suffix's period.
func maximalSuffix(x []byte, reversed bool) (start, period int) {
	period = 1
	for next, k := 1, 0; next+k < len(x); {
		a, b := x[next+k], x[start+k]
		switch {
		case a == b && k+1 == period:
			next += period
			k = 0
		case a == b:
			k++
		case (a < b) != reversed:
			next += k + 1
			k = 0
			period = next - start
		default:
			start = next
			next++
			k = 0
			period = 1
		}
	}
	return start, period
}
