package perm

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// opSet is a set of operations.
type opSet uint8

func (s opSet) has(o Op) bool { return s&(1<<o) != 0 }

func ops(list ...Op) (s opSet) {
	for _, o := range list {
		s |= 1 << o
	}
	return s
}

// A parsedRule holds the parts of a rule: its operations and its files.
type parsedRule struct {
	ops  opSet
	bare bool // every file
	spec spec
}

// spec is the part in parentheses.
type spec struct {
	base    base
	pattern glob.Pattern
	// top says that a name without a slash does not float: it was written
	// behind "//", "~/" or "/".
	top bool
	// dotted says that it was written behind "./".
	dotted bool
}

// base is the directory that a specification starts from.
type base uint8

const (
	fromWorkspace base = iota
	fromRoot
	fromHome
	fromSource
)

// parseRule reads one rule. kind is its fault, or noWarning; ok says whether the rule
// still counts. A faulty rule counts if that makes decisions stricter.
func parseRule(r RuleText) (p parsedRule, kind WarningKind, nearest string, ok bool) {
	tool, body, hasBody, flaw := splitRule(r.Text)
	if strings.HasPrefix(tool, "!") || strings.HasPrefix(body, "!") {
		return p, Negated, "", false
	}
	if tool == "" || flaw && r.List == Allow {
		return p, Malformed, "", false
	}
	p.ops, kind, nearest = applies(tool, hasBody, r.List, r.Source.Claude)
	if p.ops == 0 {
		return p, kind, nearest, false
	}
	if flaw {
		kind = Malformed
	}
	if !hasBody {
		p.bare = true
		return p, kind, nearest, true
	}
	var err error
	p.spec, err = parseSpec(body)
	if err != nil {
		return p, MatchesNothing, "", false
	}
	if len(p.spec.pattern.Segments) == 0 && r.List == Allow {
		// A directory's own name alone ("//", ".") would allow everything in it: too much
		// for a likely mistake.
		return p, Malformed, "", false
	}
	return p, kind, nearest, true
}

// FileRule reports whether a rule, as it is written, may be meant for files: all
// are but those for tools that are known to do something else.
func FileRule(text string) bool {
	tool, _, _, _ := splitRule(text)
	return !isForeignTool(tool)
}

// splitRule cuts a rule into tool and specification. The specification ends at
// the last parenthesis; a missing one, an empty specification or text behind it
// is a flaw.
func splitRule(text string) (tool, body string, hasBody, flaw bool) {
	text = strings.TrimSpace(text)
	tool, body, hasBody = strings.Cut(text, "(")
	tool = strings.TrimSpace(tool)
	if !hasBody {
		return tool, "", false, tool == ""
	}
	end := strings.LastIndexByte(body, ')')
	flaw = end != len(body)-1
	if end >= 0 {
		body = body[:end]
	}
	if body == "" {
		return tool, "", false, true
	}
	return tool, body, true, flaw
}

// parseSpec reads the text in the parentheses.
func parseSpec(body string) (spec, error) {
	s := spec{top: true}
	switch {
	case strings.HasPrefix(body, "//"):
		s.base, body = fromRoot, body[2:]
	case strings.HasPrefix(body, "~/"):
		s.base, body = fromHome, body[2:]
	case strings.HasPrefix(body, "/"):
		s.base, body = fromSource, body[1:]
	case strings.HasPrefix(body, "./"):
		s.top, s.dotted, body = false, true, body[2:]
	default:
		s.top = false
	}
	var err error
	s.pattern, err = glob.Parse(body)
	return s, err
}

// floats reports whether the pattern matches at any depth below its anchor.
// Deny and ask rules float more readily than allow rules.
func (s *spec) floats(list List) bool {
	p := &s.pattern
	switch {
	case s.top || len(p.Segments) == 0:
		return false
	case !p.Slash:
		return list != Allow || !s.dotted
	}
	oneDirectory := len(p.Segments) == 2 && p.Segments[0].Kind != glob.Deep && p.Segments[1].Kind == glob.Deep
	return oneDirectory && list != Allow
}
