// Package jsonc reads JSON that may have comments and trailing commas, with the place of each
// value and of each error.
//
// hujson parses. It names the place of an error in words, and recurses without a bound: a few
// kilobytes of brackets could end the process, so callers ask TooDeep first.
package jsonc

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// Fault is the place at which a text is not JSON, and why.
type Fault struct {
	Line, Column int // counted from 1
	What         string
}

// Parse reads a text that TooDeep does not refuse; the fault is nil if it is JSON. After a
// comment to the end of a line it wants a line break, also at the end of the text.
func Parse(text []byte) (hujson.Value, *Fault) {
	root, err := hujson.Parse(text)
	if err == nil {
		return root, nil
	}
	f := &Fault{Line: 1, Column: 1, What: strings.TrimPrefix(err.Error(), "hujson: ")}
	where, what, _ := strings.Cut(f.What, ": ")
	if _, err := fmt.Sscanf(where, "line %d, column %d", &f.Line, &f.Column); err == nil {
		f.What = what
	}
	return root, f
}

// marks finds the strings, comments and brackets of a text, also those that do not end.
var marks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)"(?:\\.|[^"\\])*"?|//[^\n]*|/\*.*?(?:\*/|$)|[][{}]`)
})

// TooDeep reports whether more brackets than most are nested.
func TooDeep(text []byte, most int) bool {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) <= most {
		return false // as in nearly all files
	}
	depth, deepest := 0, 0
	for _, at := range marks().FindAllIndex(text, -1) {
		switch text[at[0]] {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth = max(depth-1, 0)
		}
	}
	return deepest > most
}

// Comment returns where the first comment of a text begins, and -1 if it has none.
func Comment(text []byte) int {
	for _, at := range marks().FindAllIndex(text, -1) {
		if text[at[0]] == '/' {
			return at[0]
		}
	}
	return -1
}

// Text returns the text of a string.
func Text(v hujson.Value) (string, bool) {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() != '"' {
		return "", false
	}
	return literal.String(), true
}

// Texts returns the texts of a list of strings.
func Texts(v hujson.Value) (list []string, ok bool) {
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, false
	}
	for _, e := range array.Elements {
		s, ok := Text(e)
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}
