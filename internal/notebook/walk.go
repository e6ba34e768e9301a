package notebook

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Everything here walks bytes that check has passed.

// An extent is a half-open range of the file's bytes. The zero extent means that
// there is nothing: no value of a notebook starts at byte 0.
type extent struct{ start, end int }

func (s extent) ok() bool { return s.end > 0 }

// member is one key and value of an object.
type member struct{ key, val extent }

// What a word of eight bytes is looked at with: a one in each byte, and each
// byte's highest bit.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// word is eight bytes, the first of them lowest.
func word(raw []byte, at int) uint64 { return binary.LittleEndian.Uint64(raw[at:]) }

// zeroBytes marks the bytes of a word that are zero by their highest bit. Behind
// the first of them it may mark others too.
func zeroBytes(x uint64) uint64 { return (x - ones) &^ x & highs }

func skipSpace(raw []byte, at int) int {
	if at < len(raw) && raw[at] > ' ' {
		return at
	}
	return skipSpaces(raw, at)
}

// skipSpaces looks at eight bytes at a time, for most white space is an indent.
func skipSpaces(raw []byte, at int) int {
	for at+8 <= len(raw) {
		blanks := bits.TrailingZeros64(word(raw, at)^ones*' ') / 8
		if at += blanks; blanks < 8 {
			if b := raw[at]; b != '\n' && b != '\r' && b != '\t' {
				return at
			}
			at++
		}
	}
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\r' || raw[at] == '\t') {
		at++
	}
	return at
}

// nextValue is where the next value of a container stands, or the container's
// end, when the one before it ends at at.
func nextValue(raw []byte, at int) int {
	if at = skipSpace(raw, at); raw[at] == ',' {
		at = skipSpace(raw, at+1)
	}
	return at
}

// skipString is the offset behind the string whose quote stands at at. It goes
// from quote to quote, for files that escape all sorts of characters have many
// more backslashes than quotes.
func skipString(raw []byte, at int) int {
	for at++; ; at++ {
		at += bytes.IndexByte(raw[at:], '"')
		slashes := 0
		for raw[at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at + 1
		}
	}
}

// skipValue is the offset behind the value that starts at at.
func skipValue(raw []byte, at int) int {
	switch raw[at] {
	case '"':
		return skipString(raw, at)
	case '{', '[':
		return skipContainer(raw, at)
	}
	for at < len(raw) && !endsScalar(raw[at]) {
		at++
	}
	return at
}

func endsScalar(b byte) bool { return b <= ' ' || b == ',' || b == '}' || b == ']' }

// bracketMarks marks the brackets of both kinds in a word, as zeroBytes does. It
// also marks a few letters that stand nowhere outside a string.
func bracketMarks(x uint64) uint64 {
	const kinds, bracket = ones * 0x26, ones * 0x7f // the bits in which they differ, and what is left then
	return zeroBytes((x | kinds) ^ bracket)
}

func skipContainer(raw []byte, at int) int {
	for depth := 0; ; {
		if at+8 <= len(raw) {
			x := word(raw, at)
			marks := bracketMarks(x) | zeroBytes(x^ones*'"')
			if marks == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(marks) / 8
		}
		switch raw[at] {
		case '"':
			at = skipString(raw, at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at++
	}
}

// members calls f for each member of the object at obj until f says stop.
func members(raw []byte, obj extent, f func(m member) bool) {
	at := skipSpace(raw, obj.start+1)
	for raw[at] != '}' {
		var m member
		m.key = extent{at, skipString(raw, at)}
		colon := skipSpace(raw, m.key.end)
		m.val.start = skipSpace(raw, colon+1)
		m.val.end = skipValue(raw, m.val.start)
		if !f(m) {
			return
		}
		at = nextValue(raw, m.val.end)
	}
}

// elements calls f for each element of the array at arr until f says stop.
func elements(raw []byte, arr extent, f func(v extent) bool) {
	at := skipSpace(raw, arr.start+1)
	for raw[at] != ']' {
		v := extent{at, skipValue(raw, at)}
		if !f(v) {
			return
		}
		at = nextValue(raw, v.end)
	}
}

// walkObject calls f for each member of the object at at, with its key and with
// where its value starts, and f returns where that ends. So what f has to walk
// anyway is walked once. It returns where the object ends.
func walkObject(raw []byte, at int, f func(key extent, val int) (end int)) int {
	at = skipSpace(raw, at+1)
	for raw[at] != '}' {
		key := extent{at, skipString(raw, at)}
		colon := skipSpace(raw, key.end)
		end := f(key, skipSpace(raw, colon+1))
		at = nextValue(raw, end)
	}
	return at + 1
}

// walkArray does the same with the elements of the array at at.
func walkArray(raw []byte, at int, f func(at int) (end int)) int {
	at = skipSpace(raw, at+1)
	for raw[at] != ']' {
		at = nextValue(raw, f(at))
	}
	return at + 1
}

// keyOf is the text of a key, or of another string. It is a slice of the file
// where that has no escape.
func keyOf(raw []byte, key extent) []byte {
	inner := raw[key.start+1 : key.end-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	text, _, _ := unquote(nil, raw, key.start)
	return text
}

// lookup follows keys down nested objects; the last of equal keys counts.
func lookup(raw []byte, obj extent, keys ...string) extent {
	for _, key := range keys {
		if !obj.ok() || raw[obj.start] != '{' {
			return extent{}
		}
		var found extent
		members(raw, obj, func(m member) bool {
			if string(keyOf(raw, m.key)) == key {
				found = m.val
			}
			return true
		})
		obj = found
	}
	return obj
}

func isString(raw []byte, v extent) bool { return v.ok() && raw[v.start] == '"' }
func isArray(raw []byte, v extent) bool  { return v.ok() && raw[v.start] == '[' }
func isObject(raw []byte, v extent) bool { return v.ok() && raw[v.start] == '{' }
func isNull(raw []byte, v extent) bool   { return v.ok() && raw[v.start] == 'n' }

// isText tells whether v is text as notebooks write it: a string, or a list of
// strings that belong together.
func isText(raw []byte, v extent) bool {
	if !isArray(raw, v) {
		return isString(raw, v)
	}
	all := true
	elements(raw, v, func(e extent) bool {
		all = raw[e.start] == '"'
		return all
	})
	return all
}
