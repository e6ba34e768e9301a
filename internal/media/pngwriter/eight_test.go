package pngwriter

import (
	"math/rand/v2"
	"testing"
)

// all eight bytes of a word are b.
func all(b int) eight { return ones * eight(b) }

func distance(a, b int) int { return max(a-b, b-a) }

// nearestByTheBook is the Paeth predictor as PNG's specification words it.
func nearestByTheBook(a, b, c int) int {
	p := a + b - c
	pa, pb, pc := distance(p, a), distance(p, b), distance(p, c)
	switch {
	case pa <= pb && pa <= pc:
		return a
	case pb <= pc:
		return b
	}
	return c
}

// TestPredictedByTheBook goes over whatever three bytes can be, eight lefts at once.
func TestPredictedByTheBook(t *testing.T) {
	for up := range 256 {
		for corner := range 256 {
			for left := 0; left < 256; left += 8 {
				got := predicted(all(left)+0x0706050403020100, all(up), all(corner))
				for i := range 8 {
					if want := nearestByTheBook(left+i, up, corner); int(got>>(8*i)&255) != want {
						t.Fatalf("left %d, up %d, corner %d: %d, not %d", left+i, up, corner, got>>(8*i)&255, want)
					}
				}
			}
		}
	}
}

// TestEightAtOnce: each byte is computed with as if there were no others.
func TestEightAtOnce(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			// Beside ones that borrow from and carry into whatever lets them.
			for _, x := range [][2]eight{{all(a), all(b)}, {all(a)&^evens | evens, all(b) &^ evens}, {all(a) &^ evens, all(b)&^evens | evens}} {
				at := 24
				byteOf := func(e eight) int { return int(e >> at & 255) }
				d, noLess := x[0].minus(x[1])
				if byteOf(d) != (a-b)&255 || (byteOf(noLess) == 128) != (a >= b) || byteOf(mask(noLess)) != map[bool]int{true: 255}[a >= b] {
					t.Fatalf("%d less %d: %d, %d", a, b, byteOf(d), byteOf(noLess))
				}
				if got := byteOf(mean(x[0], x[1])); got != (a+b)/2 {
					t.Fatalf("mean of %d and %d: %d", a, b, got)
				}
			}
		}
		if got, want := all(a).sum(), 8*distance(int(int8(a)), 0); got != want {
			t.Errorf("sum of %d: %d, not %d", a, got, want)
		}
	}
}

// TestTheFilterChosen is, for rows of any length, the one with the smallest sum of
// differences, the first of those that are equal.
func TestTheFilterChosen(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	chosen := map[int]int{}
	for range 4000 {
		k := []int{1, 3, 4}[rnd.IntN(3)]
		w := 1 + rnd.IntN(20)
		step := 1 << rnd.IntN(8)
		rows := [2][]byte{make([]byte, w*k), make([]byte, w*k)}
		for y := range rows {
			for i := range rows[y] {
				rows[y][i] = byte(i/k*rnd.IntN(9) + y*rnd.IntN(9) + rnd.IntN(step))
			}
		}
		f := newFilters(shape{w: w, samples: k, row: func(to []byte, y int) { copy(to, rows[y]) }})
		f.append(nil, 0)
		got := int(f.append(nil, 1)[0])
		best, want := 1<<30, 0
		for filter := range 5 {
			sum := 0
			for i := range w * k {
				left, corner, up := 0, 0, int(rows[0][i])
				if i >= k {
					left, corner = int(rows[1][i-k]), int(rows[0][i-k])
				}
				guess := []int{0, left, up, (left + up) / 2, nearestByTheBook(left, up, corner)}[filter]
				sum += distance(int(int8(int(rows[1][i])-guess)), 0)
			}
			if sum < best {
				best, want = sum, filter
			}
		}
		if string(rows[0]) == string(rows[1]) {
			want = 2
		}
		if got != want {
			t.Fatalf("%d, not %d, for %v under %v, %d samples", got, want, rows[1], rows[0], k)
		}
		chosen[got]++
	}
	if len(chosen) != 5 {
		t.Errorf("only %v were asked for", chosen)
	}
}
