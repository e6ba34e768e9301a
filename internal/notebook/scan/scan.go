// Package scan walks JSON text that a checker has passed: where the values of a notebook
// are, and strings as text and back. It checks nothing, and panics on text that is not JSON.
package scan

import (
	"bytes"

	"github.com/fsmcp/fsmcp/internal/span"
)

// An Extent is a half-open range of the file's bytes. The zero extent means no value: no
// value of a notebook but the outermost begins at byte 0.
type Extent struct{ Start, End int }

// Between is the extent from start to end.
func Between(start, end int) Extent { return Extent{start, end} }

// OK reports whether there is a value.
func (s Extent) OK() bool { return s.End > 0 }

// Span returns the extent as a range of the file.
func (s Extent) Span() span.Span { return span.Span{Start: int64(s.Start), End: int64(s.End)} }

// Member is one key and value of an object.
type Member struct{ Key, Val Extent }

// SkipSpace returns the offset of the first byte from at on that is no white space.
func SkipSpace(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\r' || raw[at] == '\t') {
		at++
	}
	return at
}

// NextValue returns the offset of the next value of a container, or of the container's end.
// The value before it ends at the offset at.
func NextValue(raw []byte, at int) int {
	if at = SkipSpace(raw, at); raw[at] == ',' {
		at = SkipSpace(raw, at+1)
	}
	return at
}

// SkipString returns the end of the string that begins at the offset at. It searches for
// quotes, since some files have many more backslashes.
func SkipString(raw []byte, at int) int {
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

// SkipValue returns the end of the value that begins at the offset at.
func SkipValue(raw []byte, at int) int {
	switch raw[at] {
	case '"':
		return SkipString(raw, at)
	case '{', '[':
		return skipContainer(raw, at)
	}
	for at < len(raw) && !endsScalar(raw[at]) {
		at++
	}
	return at
}

func endsScalar(b byte) bool { return b <= ' ' || b == ',' || b == '}' || b == ']' }

func skipContainer(raw []byte, at int) int {
	for depth := 0; ; {
		switch raw[at] {
		case '"':
			at = SkipString(raw, at)
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

// Members calls f for each member of the object at obj until f returns false.
func Members(raw []byte, obj Extent, f func(m Member) bool) {
	at := SkipSpace(raw, obj.Start+1)
	for raw[at] != '}' {
		var m Member
		m.Key = Extent{at, SkipString(raw, at)}
		colon := SkipSpace(raw, m.Key.End)
		m.Val.Start = SkipSpace(raw, colon+1)
		m.Val.End = SkipValue(raw, m.Val.Start)
		if !f(m) {
			return
		}
		at = NextValue(raw, m.Val.End)
	}
}

// Elements calls f for each element of the array at arr until f returns false.
func Elements(raw []byte, arr Extent, f func(v Extent) bool) {
	at := SkipSpace(raw, arr.Start+1)
	for raw[at] != ']' {
		v := Extent{at, SkipValue(raw, at)}
		if !f(v) {
			return
		}
		at = NextValue(raw, v.End)
	}
}

// WalkObject calls f for each member of the object at the offset at, with the key and the
// offset of the value. f returns the end of the value, so that values f walks are walked
// once. It returns the end of the object.
func WalkObject(raw []byte, at int, f func(key Extent, val int) (end int)) int {
	at = SkipSpace(raw, at+1)
	for raw[at] != '}' {
		key := Extent{at, SkipString(raw, at)}
		colon := SkipSpace(raw, key.End)
		end := f(key, SkipSpace(raw, colon+1))
		at = NextValue(raw, end)
	}
	return at + 1
}

// WalkArray does the same with the elements of an array.
func WalkArray(raw []byte, at int, f func(at int) (end int)) int {
	at = SkipSpace(raw, at+1)
	for raw[at] != ']' {
		at = NextValue(raw, f(at))
	}
	return at + 1
}

// KeyOf returns the text of a key or another string. Without escapes it is a part of the file.
func KeyOf(raw []byte, key Extent) []byte {
	inner := raw[key.Start+1 : key.End-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	text, _, _ := Unquote(nil, raw, key.Start)
	return text
}

// Lookup returns the value at a path of keys. Of equal keys the last one counts.
func Lookup(raw []byte, obj Extent, keys ...string) Extent {
	for _, key := range keys {
		if !obj.OK() || raw[obj.Start] != '{' {
			return Extent{}
		}
		var found Extent
		Members(raw, obj, func(m Member) bool {
			if string(KeyOf(raw, m.Key)) == key {
				found = m.Val
			}
			return true
		})
		obj = found
	}
	return obj
}

// IsString reports whether v is a string; so do the others for their kinds.
func IsString(raw []byte, v Extent) bool { return v.OK() && raw[v.Start] == '"' }
func IsArray(raw []byte, v Extent) bool  { return v.OK() && raw[v.Start] == '[' }
func IsObject(raw []byte, v Extent) bool { return v.OK() && raw[v.Start] == '{' }
func IsNull(raw []byte, v Extent) bool   { return v.OK() && raw[v.Start] == 'n' }

// IsText reports whether v is a string or a list of strings.
func IsText(raw []byte, v Extent) bool {
	if !IsArray(raw, v) {
		return IsString(raw, v)
	}
	all := true
	Elements(raw, v, func(e Extent) bool {
		all = raw[e.Start] == '"'
		return all
	})
	return all
}
