package similar

// Distance returns the number of letters to insert, drop, replace or swap with the
// next one that makes a into b (optimal string alignment, by code points). A number
// above limit comes out as limit+1: only the band of the table that can stay within
// the limit is filled.
func Distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	far := limit + 1
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return far
	}
	before, above, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range above {
		before[j], above[j], row[j] = far, min(j, far), far
	}
	for i := 1; i <= len(x); i++ {
		first, last := max(1, i-limit), min(len(y), i+limit)
		row[first-1] = far
		if first == 1 {
			row[0] = min(i, far)
		}
		least := row[first-1]
		for j := first; j <= last; j++ {
			d := above[j-1]
			if x[i-1] != y[j-1] {
				d = 1 + min(d, above[j], row[j-1])
			}
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = min(d, far)
			least = min(least, row[j])
		}
		if least == far {
			return far // no further row comes back from that
		}
		if last < len(y) {
			row[last+1] = far
		}
		before, above, row = above, row, before
	}
	return above[len(y)]
}
