package notebook

import "bytes"

// Everything here walks bytes that check has passed.

// A span is a half-open range of the file's bytes. The zero span means that
// there is nothing: no value of a notebook starts at byte 0.
type span struct{ start, end int }

func (s span) ok() bool { return s.end > 0 }

// member is one key and value of an object.
type member struct{ key, val span }

func skipSpace(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\r' || raw[at] == '\t') {
		at++
	}
	return at
}

// skipString is the offset behind the string whose quote stands at at.
func skipString(raw []byte, at int) int {
	for from := at + 1; ; {
		quote := from + bytes.IndexByte(raw[from:], '"')
		slashes := 0
		for raw[quote-1-slashes] == '\\' {
			slashes++
		}
		if from = quote + 1; slashes%2 == 0 {
			return from
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

// marks tells the bytes that a walk over a container has to look at.
var marks = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true}

func skipContainer(raw []byte, at int) int {
	for depth := 0; ; {
		for !marks[raw[at]] {
			at++
		}
		switch raw[at] {
		case '"':
			at = skipString(raw, at)
			continue
		case '{', '[':
			depth++
		default:
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at++
	}
}

// members calls f for each member of the object at obj until f says stop.
func members(raw []byte, obj span, f func(m member) bool) {
	at := skipSpace(raw, obj.start+1)
	for raw[at] != '}' {
		var m member
		m.key = span{at, skipString(raw, at)}
		colon := skipSpace(raw, m.key.end)
		m.val.start = skipSpace(raw, colon+1)
		m.val.end = skipValue(raw, m.val.start)
		if !f(m) {
			return
		}
		if at = skipSpace(raw, m.val.end); raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
	}
}

// elements calls f for each element of the array at arr until f says stop.
func elements(raw []byte, arr span, f func(v span) bool) {
	at := skipSpace(raw, arr.start+1)
	for raw[at] != ']' {
		v := span{at, skipValue(raw, at)}
		if !f(v) {
			return
		}
		if at = skipSpace(raw, v.end); raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
	}
}

// walkObject calls f for each member of the object at at, with its key and with
// where its value starts, and f returns where that ends. So what f has to walk
// anyway is walked once. It returns where the object ends.
func walkObject(raw []byte, at int, f func(key span, val int) (end int)) int {
	at = skipSpace(raw, at+1)
	for raw[at] != '}' {
		key := span{at, skipString(raw, at)}
		colon := skipSpace(raw, key.end)
		end := f(key, skipSpace(raw, colon+1))
		if at = skipSpace(raw, end); raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
	}
	return at + 1
}

// walkArray does the same with the elements of the array at at.
func walkArray(raw []byte, at int, f func(at int) (end int)) int {
	at = skipSpace(raw, at+1)
	for raw[at] != ']' {
		if at = skipSpace(raw, f(at)); raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
	}
	return at + 1
}

// keyOf is a key's text. It is a slice of the file where the key has no escape.
func keyOf(raw []byte, key span) []byte {
	inner := raw[key.start+1 : key.end-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	text, _ := unquote(nil, raw, key)
	return text
}

// lookup follows keys down nested objects; the last of equal keys counts.
func lookup(raw []byte, obj span, keys ...string) span {
	for _, key := range keys {
		if !obj.ok() || raw[obj.start] != '{' {
			return span{}
		}
		var found span
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

func isString(raw []byte, v span) bool { return v.ok() && raw[v.start] == '"' }
func isArray(raw []byte, v span) bool  { return v.ok() && raw[v.start] == '[' }
func isObject(raw []byte, v span) bool { return v.ok() && raw[v.start] == '{' }
func isNull(raw []byte, v span) bool   { return v.ok() && raw[v.start] == 'n' }

// isText tells whether v is text as notebooks write it: a string, or a list of
// strings that belong together.
func isText(raw []byte, v span) bool {
	if !isArray(raw, v) {
		return isString(raw, v)
	}
	all := true
	elements(raw, v, func(e span) bool {
		all = raw[e.start] == '"'
		return all
	})
	return all
}
