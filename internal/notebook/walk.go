package notebook

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Everything here walks bytes that the checker has passed.

// An extent is a half-open range of the file's bytes. The zero extent means no value: no
// value of a notebook but the outermost begins at byte 0.
type extent struct{ start, end int }

func (s extent) ok() bool { return s.end > 0 }

// member is one key and value of an object.
type member struct{ key, val extent }

// A one in each byte of a word, and each byte's highest bit.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// word returns eight bytes, the first as the lowest.
func word(raw []byte, at int) uint64 { return binary.LittleEndian.Uint64(raw[at:]) }

// zeroBytes sets the highest bit of each zero byte of a word. Above the lowest of them it may
// set others.
func zeroBytes(x uint64) uint64 { return (x - ones) &^ x & highs }

func skipSpace(raw []byte, at int) int {
	if at < len(raw) && raw[at] > ' ' {
		return at
	}
	return skipSpaces(raw, at)
}

// skipSpaces tests eight bytes at a time, since most white space is an indent.
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

// nextValue returns the offset of the next value of a container, or of the container's end.
// The value before it ends at the offset at.
func nextValue(raw []byte, at int) int {
	if at = skipSpace(raw, at); raw[at] == ',' {
		at = skipSpace(raw, at+1)
	}
	return at
}

// skipString returns the end of the string that begins at the offset at. It searches for
// quotes, since some files have many more backslashes.
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

// skipValue returns the end of the value that begins at the offset at.
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

// bracketMarks marks the brackets of both kinds in a word, as zeroBytes does, and a few
// letters that do not occur outside a string.
func bracketMarks(x uint64) uint64 {
	const kinds, bracket = ones * 0x26, ones * 0x7f // the bits in which they differ, and the others
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

// members calls f for each member of the object at obj until f returns false.
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

// elements calls f for each element of the array at arr until f returns false.
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

// walkObject calls f for each member of the object at the offset at, with the key and the
// offset of the value. f returns the end of the value, so that values f walks are walked
// once. It returns the end of the object.
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

// walkArray does the same with the elements of an array.
func walkArray(raw []byte, at int, f func(at int) (end int)) int {
	at = skipSpace(raw, at+1)
	for raw[at] != ']' {
		at = nextValue(raw, f(at))
	}
	return at + 1
}

// keyOf returns the text of a key or another string. Without escapes it is a part of the file.
func keyOf(raw []byte, key extent) []byte {
	inner := raw[key.start+1 : key.end-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	text, _, _ := unquote(nil, raw, key.start)
	return text
}

// lookup returns the value at a path of keys. Of equal keys the last one counts.
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

// isText reports whether v is a string or a list of strings.
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
