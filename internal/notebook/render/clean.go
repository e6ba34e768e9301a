package render

import "bytes"

// clean removes terminal escapes from an output's text, in place, and makes every line
// ending a line feed. A lone carriage return, with which progress bars overwrite
// themselves, ends a line, too: so nothing is lost.
func clean(text []byte) []byte {
	at := nextChange(text, 0)
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
		at = nextChange(text, at)
		out = append(out, text[from:at]...)
	}
	return out
}

// nextChange returns the offset of the next byte that may begin an escape or a line ending,
// or the text's end. 0xc2 is the first byte of csi.
func nextChange(text []byte, at int) int {
	for at < len(text) && text[at] != esc && text[at] != '\r' && text[at] != 0xc2 {
		at++
	}
	return at
}

const (
	esc = 0x1b
	csi = "\u009b" // the one-character form of ESC [

	// The first final characters of a control sequence, and of any other escape
	// (ECMA-48, section 5.4; ECMA-35, section 13).
	controlFinal = 0x40
	otherFinal   = 0x30
)

// escapeLen returns the length of the terminal escape at the start of b, 0 if there is none.
// An escape may be incomplete.
func escapeLen(b []byte) int {
	if bytes.HasPrefix(b, []byte(csi)) {
		return len(csi) + sequenceLen(b[len(csi):], controlFinal)
	}
	if b[0] != esc {
		return 0
	}
	if len(b) == 1 {
		return 1
	}
	switch b[1] {
	case '[':
		return 2 + sequenceLen(b[2:], controlFinal)
	case ']', 'P', 'X', '^', '_':
		return 2 + stringLen(b[2:])
	}
	return 1 + sequenceLen(b[1:], otherFinal)
}

// sequenceLen returns the length of an escape after its introducer: intermediates, then one
// final character, which is final or above.
func sequenceLen(b []byte, final byte) int {
	for n, c := range b {
		if c >= final && c <= 0x7e {
			return n + 1
		}
		if c < 0x20 || c >= final {
			return n
		}
	}
	return len(b)
}

// stringLen returns the length of a command string after its introducer. A bell, ESC \ or a
// line break ends it.
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
