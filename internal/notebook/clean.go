package notebook

import (
	"bytes"
	"math/bits"
)

// clean takes terminal escapes out of an output's text, in place, and makes
// every line ending a line feed. A lone carriage return, with which progress
// bars overwrite themselves, ends a line too: nothing is lost that way.
func clean(text []byte) []byte {
	at := nextToGo(text, 0)
	out := text[:at]
	for at < len(text) {
		if n := escapeLen(text[at:]); n > 0 {
			at += n
		} else if b := text[at]; b != '\r' {
			out = append(out, b)
			at++
		} else if at++; at == len(text) || text[at] != '\n' {
			out = append(out, '\n')
		}
		from := at
		at = nextToGo(text, at)
		out = append(out, text[from:at]...)
	}
	return out
}

// nextToGo is where the next thing may begin that does not stay, or the text's
// end; 0xc2 is the first byte of csi.
func nextToGo(text []byte, at int) int {
	for ; at+8 <= len(text); at += 8 {
		x := word(text, at)
		if marks := zeroBytes(x^ones*esc) | zeroBytes(x^ones*'\r') | zeroBytes(x^ones*0xc2); marks != 0 {
			return at + bits.TrailingZeros64(marks)/8
		}
	}
	for at < len(text) && text[at] != esc && text[at] != '\r' && text[at] != 0xc2 {
		at++
	}
	return at
}

const (
	esc = 0x1b
	csi = "\u009b" // the one-character form of ESC [
)

// escapeLen is the length of the terminal escape that b begins with, 0 if none.
// One that does not end takes what belongs to it so far.
func escapeLen(b []byte) int {
	if bytes.HasPrefix(b, []byte(csi)) {
		return len(csi) + controlLen(b[len(csi):])
	}
	if b[0] != esc {
		return 0
	}
	if len(b) == 1 {
		return 1
	}
	switch b[1] {
	case '[':
		return 2 + controlLen(b[2:])
	case ']', 'P', 'X', '^', '_':
		return 2 + stringLen(b[2:])
	}
	return 1 + plainLen(b[1:])
}

// controlLen is the length of a control sequence behind its introducer:
// parameters, then one final character.
func controlLen(b []byte) int {
	for n, c := range b {
		if c >= 0x40 && c <= 0x7e {
			return n + 1
		}
		if c < 0x20 || c > 0x3f {
			return n
		}
	}
	return len(b)
}

// stringLen is the length of a command string behind its introducer, which a
// bell or ESC \ ends. A line break ends a broken one.
func stringLen(b []byte) int {
	for n, c := range b {
		switch {
		case c == '\a':
			return n + 1
		case c == esc && n+1 < len(b) && b[n+1] == '\\':
			return n + 2
		case c == '\n' || c == esc:
			return n
		}
	}
	return len(b)
}

// plainLen is the length of any other escape behind ESC: intermediates and one
// final character.
func plainLen(b []byte) int {
	for n, c := range b {
		if c >= 0x30 && c <= 0x7e {
			return n + 1
		}
		if c < 0x20 || c > 0x2f {
			return n
		}
	}
	return len(b)
}
