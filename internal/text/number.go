package text

import (
	"encoding/binary"
	"strconv"
)

// counter is a line number and a tab as they are written, for that is done once
// per line: up to seven digits and the tab are one machine word.
type counter struct {
	n     int
	width int    // digits and tab
	word  uint64 // little-endian, where width <= 8
	one   uint64 // makes word the next number, but for a carry
	reset int    // the number at which word is made anew
}

func newCounter(n int) *counter {
	c := &counter{n: n}
	c.spell()
	return c
}

func (c *counter) spell() {
	b := append(strconv.AppendInt(make([]byte, 0, 24), int64(c.n), 10), '\t')
	c.width = len(b)
	c.reset = c.n - c.n%10 + 10
	c.word, c.one = 0, 1<<(8*(len(b)-2)&63)
	for i := range min(len(b), 8) {
		c.word |= uint64(b[i]) << (8 * i)
	}
}

// append writes the number and the tab.
func (c *counter) append(dst []byte) []byte {
	if c.width > 8 {
		return c.appendLong(dst)
	}
	return binary.LittleEndian.AppendUint64(dst, c.word)[:len(dst)+c.width]
}

func (c *counter) appendLong(dst []byte) []byte {
	return append(strconv.AppendInt(dst, int64(c.n), 10), '\t')
}

func (c *counter) next() {
	c.n++
	c.word += c.one
	if c.n == c.reset {
		c.spell()
	}
}

// decimals is the number of digits of n (at least 1) and the first number that
// has one more.
func decimals(n int) (digits, next int) {
	digits, next = 1, 10
	for n >= next {
		digits, next = digits+1, next*10
	}
	return digits, next
}

// Number shows part of a file with these line endings as numbered lines.
func (e EOL) Number(part string, firstLine int) []byte {
	w := &window{s: part, eol: '\n', whole: true, strays: true, ascii: true}
	if e.loneCR() {
		w.eol = '\r'
	}
	var p Page
	w.take(&p, firstLine, 0, 0)
	return p.Body
}
