package perm

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
	"github.com/fsmcp/fsmcp/internal/perm/notation"
)

// A writing is the text of a rule, split.
type writing struct {
	tool, body string
	hasBody    bool
	// flaw says that the rule was not well formed.
	flaw bool
}

// String returns the well-formed rule of these parts.
func (w writing) String() string {
	if !w.hasBody {
		return w.tool
	}
	return w.tool + "(" + w.body + ")"
}

// aliases are names that other programs and earlier versions of Claude Code have for the
// tools of files, by their names in lower case.
var aliases = map[string]string{"update": "Edit", "create": "Edit", "search": "Read", "view": "Read", "ls": "Read"}

// wideParentheses are those that input methods of Chinese and Japanese give.
var wideParentheses = strings.NewReplacer("（", "(", "）", ")")

// likely returns the rule that a deny or ask rule was most likely meant to be. It has a flaw
// if the rule as it is written is another one. Rules of other programs' tools stay as they
// are.
//
// It takes away blanks and quotes around the rule and its pattern, and what is behind the
// last parenthesis that it needs. It adds a missing parenthesis, and mends the tool's name:
// its case, one slip, or an alias. A text that names no tool is a pattern.
func likely(text string) writing {
	w := splitRule(text)
	word := unquoted(w.tool)
	if n := len(serverWord); len(word) >= n && word[:n] != serverWord && strings.EqualFold(word[:n], serverWord) && (word[n:] == "" || strings.HasPrefix(word[n:], "__")) {
		w = likely(strings.Replace(text, word[:n], serverWord, 1))
		w.flaw = true
		return w
	}
	if isForeignTool(canonicalForeign(word)) && (!w.hasBody || aliases[strings.ToLower(word)] == "") {
		w.tool, w.flaw = canonicalForeign(word), false
		return w
	}
	whole := unquoted(text)
	if !strings.Contains(whole, "(") {
		whole = wideParentheses.Replace(whole)
	}
	if whole != strings.TrimSpace(text) {
		w = splitRule(whole)
		w.flaw = true
	}
	if !strings.Contains(whole, "(") {
		if tool, rest, ok := cutTool(whole); ok {
			w = writing{tool, rest, true, true}
		}
	}
	if w.hasBody {
		body := balanced(unquoted(w.body))
		w.flaw = w.flaw || body == "" || body != glob.TrimBlanks(w.body)
		w.body, w.hasBody = body, body != ""
	}
	return w.withTool(whole)
}

// withTool mends the name of the tool. whole is the rule without blanks and quotes around
// it.
func (w writing) withTool(whole string) writing {
	word := unquoted(w.tool)
	if word == "" && !w.hasBody {
		w.flaw = true
		return w // nothing is there
	}
	meant := meantTool(word)
	if strings.ContainsAny(word, wildcards) && namesTool(word) {
		if meant = strings.TrimRight(word, wildcards); !w.hasBody || !slices.Contains(words[:], meant) {
			w.tool = word
			return w
		}
	}
	if fields := strings.FieldsFunc(word, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }); meant == "" && w.hasBody && len(fields) > 1 {
		meant = meantTool(fields[len(fields)-1])
	}
	switch {
	case meant != "":
		w.flaw = w.flaw || meant != w.tool
		w.tool = meant
	case word == "" || !namesTool(word):
		w = writing{"Read", strings.TrimSuffix(whole, ")"), true, true}
		if _, body, ok := strings.Cut(whole, "("); word == "" && ok {
			w.body = unquoted(strings.TrimSuffix(body, ")"))
		} else if strings.Contains(whole, "(") {
			w.body = whole
		}
	default:
		w.tool = word
	}
	return w
}

// meantTool returns the tool that a word was likely meant for: the same in another case, an
// alias, or a name one slip away. It returns "" if there is none.
func meantTool(word string) string {
	switch folded := strings.ToLower(word); {
	case folded == serverWord:
		return serverWord
	case aliases[folded] != "":
		return aliases[folded]
	}
	return nearestWord(word, 1)
}

// namesTool reports whether a word that names no tool of fsmcp may name one of another
// program, or be a glob over such names: tools of Claude Code begin with a capital, those
// of MCP servers with mcp__. Other words are patterns of files.
func namesTool(word string) bool {
	inName := func(r rune) bool {
		return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(wildcards+"]!^", r)
	}
	if strings.ContainsFunc(word, func(r rune) bool { return !inName(r) }) {
		return false
	}
	first := []rune(word)[0]
	return unicode.IsUpper(first) || strings.ContainsRune(wildcards, first) || strings.HasPrefix(strings.ToLower(word), "mcp__")
}

// cutTool splits a rule that lacks its first parenthesis, such as "Read.env)", or has another
// sign for it, such as "Read: .env" and "Read[.env]".
func cutTool(text string) (tool, body string, ok bool) {
	for _, w := range words {
		if len(text) <= len(w) || !strings.EqualFold(text[:len(w)], w) {
			continue
		}
		body = strings.TrimLeft(text[len(w):], " :={[<")
		if body == text[len(w):] && !strings.HasSuffix(text, ")") {
			return "", "", false
		}
		return w, strings.TrimRight(body, " )]}>"), true
	}
	return "", "", false
}

// canonicalForeign returns the spelling of another program's tool that differs from a word
// in case only, else the word.
func canonicalForeign(word string) string {
	for _, w := range foreignTools {
		if strings.EqualFold(w, word) {
			return w
		}
	}
	return word
}

// unquoted removes blanks and quotes around a text, whether or not they are pairs. Those
// that a backslash protects stay.
func unquoted(s string) string {
	outside := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`“”‘’", r) }
	s = strings.TrimLeftFunc(s, outside)
	trimmed := strings.TrimRightFunc(s, outside)
	slashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if slashes%2 == 1 && len(trimmed) < len(s) {
		for i := range s[len(trimmed):] {
			if i > 0 {
				return s[:len(trimmed)+i]
			}
		}
		return s
	}
	return trimmed
}

// balanced removes parentheses at the end of a pattern that close nothing in it. A
// backslash keeps one.
func balanced(s string) string {
	for strings.HasSuffix(s, ")") && !strings.HasSuffix(s, `\)`) && strings.Count(s, ")") > strings.Count(s, "(") {
		s = s[:len(s)-1]
	}
	return s
}

// climbs reports whether ".." follows a wildcard in a pattern: the folder above is unknown.
func climbs(s *spec, list List) bool {
	for p := &s.pattern; p != nil; p = p.Also {
		if _, ok := anchored("/", p, s.floats(list)); !ok {
			return true
		}
	}
	return false
}

// Fault returns why a source with this deny or ask rule counts as broken, as the rest of a
// sentence about the source; "" if it does not. In fsmcp's own files, flags and variables
// that is every rule that cannot be understood as it is written, in Claude Code's files
// only one that has no likely meaning.
func Fault(r RuleText, on notation.Convention) string {
	if r.List == Allow {
		return ""
	}
	p := parseRule(r, on)
	mistyped := p.hopeless || p.kind == Malformed || p.kind == UnknownTool
	if !mistyped || r.Source.Claude && !p.hopeless {
		return ""
	}
	why := fmt.Sprintf("has the %s rule %s, which cannot be understood", r.List, quoted(r.Text, on.Windows))
	if p.hopeless && p.kind != MatchesNothing {
		why += fmt.Sprintf(": it %s", p.kind)
	}
	if p.meant != "" {
		why += fmt.Sprintf("; did you mean %q?", p.meant)
	}
	return why
}
