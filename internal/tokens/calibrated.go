package tokens

import "math"

// Calibrated counts the tokens of one answer. Where the user has the model's provider
// count, it is asked once; from then on the local count goes by the ratio of the
// two, since an answer that has to be cut is counted many times. It serves one goroutine.
type Calibrated struct {
	Local Counter
	Exact func(b []byte) (n int, ok bool) // nil: no provider is asked
	ratio float64                         // 0 until it is known
}

// Count implements Counter.
func (c *Calibrated) Count(b []byte) int {
	n := c.Local.Count(b)
	if c.ratio == 0 {
		c.ratio = 1
		if c.Exact != nil && n > 0 {
			if exact, ok := c.Exact(b); ok {
				c.ratio = float64(exact) / float64(n)
			}
		}
	}
	return int(math.Ceil(float64(n) * c.ratio))
}
