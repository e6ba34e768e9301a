package perm

import (
	"errors"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
	"github.com/fsmcp/fsmcp/internal/perm/notation"
)

// opSet is a set of operations.
type opSet uint16

func (s opSet) has(o Op) bool { return s&(1<<o) != 0 }

// A parsedRule holds the parts of a rule: its operations and its files.
type parsedRule struct {
	ops  opSet
	bare bool // every file
	spec spec
	also *spec // the second meaning of a deny or ask rule, nil if there is none

	ok       bool        // the rule counts
	kind     WarningKind // its fault, or noWarning
	nearest  string      // the known word nearest to an unknown tool
	text     string      // the rule as it is read
	meant    string      // the well-formed rule that was likely meant, if another was written
	hopeless bool        // no name can match the pattern
	doubt    WarningKind // what else the pattern seems to mean, or noWarning
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

// parseRule reads one rule. A faulty rule counts if that makes decisions stricter: a deny
// or ask rule is read as what was likely meant.
func parseRule(r RuleText, on notation.Convention) (p parsedRule) {
	text := on.Slashes(r.Text)
	w := splitRule(text)
	p.text = text
	if strings.HasPrefix(w.tool, "!") || strings.HasPrefix(unquoted(w.body), "!") {
		p.kind = Negated
		return p
	}
	if r.List != Allow {
		w = likely(text)
	}
	if w.tool == "" || w.flaw && r.List == Allow {
		p.kind = Malformed
		return p
	}
	if p.ops, p.kind, p.nearest = applies(w.tool, w.hasBody, r.List, r.Source.Claude); p.ops == 0 {
		p.meant = p.suggestion(w)
		return p
	}
	if w.flaw {
		p.kind, p.text, p.meant = Malformed, w.String(), w.counted()
	}
	if !w.hasBody {
		p.bare, p.ok = true, true
		return p
	}
	p.read(w, r, on)
	return p
}

// read reads the text in the parentheses.
func (p *parsedRule) read(w writing, r RuleText, on notation.Convention) {
	reading, err := on.Read(w.body)
	if err == nil {
		p.spec, err = parseSpec(reading.Text)
	}
	if fault := notation.Fault(""); errors.As(err, &fault) {
		p.kind, p.hopeless = WarningKind(fault), true
		if _, likely := misspelt(w.String(), ""); len(likely) > 0 {
			p.meant = likely[0]
		}
		return
	}
	if err != nil || climbs(&p.spec, r.List) {
		p.kind, p.hopeless, p.meant = MatchesNothing, true, escaped(w, on)
		return
	}
	if len(p.spec.pattern.Segments) == 0 && r.List == Allow {
		// A directory's own name alone ("//", ".") would allow everything in it: too much
		// for a likely mistake.
		p.kind = Malformed
		return
	}
	p.ok, p.doubt = true, WarningKind(reading.Doubt)
	if on.Windows && notation.Escaped(r.Text) {
		p.doubt = WarningKind(notation.Escape)
	}
	if r.List == Allow || reading.Also == "" {
		return
	}
	if also, err := parseSpec(reading.Also); err == nil && !climbs(&also, r.List) {
		p.also = &also
	}
}

// suggestion returns the rule that was likely meant with a tool that is unknown.
func (p *parsedRule) suggestion(w writing) string {
	switch {
	case p.kind != UnknownTool:
		return ""
	case p.nearest != "":
		w.tool = p.nearest
	case w.hasBody:
		w.tool = "Read"
	default:
		w = writing{tool: "Read", body: w.tool, hasBody: true}
	}
	return w.counted()
}

// counted returns the well-formed rule by the name under which its tool counts.
func (w writing) counted() string {
	if as := countsAs(w.tool); w.hasBody && as != "" {
		w.tool = as
	}
	return w.String()
}

// escaped returns a rule whose pattern matches nothing with its brackets taken literally, ""
// if that is no rule, either.
func escaped(w writing, on notation.Convention) string {
	body := strings.TrimRight(strings.ReplaceAll(w.body, "[", `\[`), `\`)
	if s, err := parseSpec(body); err != nil || climbs(&s, Deny) {
		return ""
	}
	if w.body = body; on.Windows {
		w.body = strings.ReplaceAll(body, `\[`, "[[]")
	}
	return w.counted()
}

// FileRule reports whether a rule, as it is written, may be meant for files: all
// are but those for tools that are known to do something else.
func FileRule(text string) bool {
	return !isForeignTool(canonicalForeign(splitRule(text).tool))
}

// splitRule cuts a rule into tool and specification. The specification ends at
// the last parenthesis; a missing one, an empty specification or text behind it
// is a flaw.
func splitRule(text string) (w writing) {
	w.tool, w.body, w.hasBody = strings.Cut(strings.TrimSpace(text), "(")
	w.tool = strings.TrimSpace(w.tool)
	if !w.hasBody {
		w.flaw = w.tool == ""
		return w
	}
	end := strings.LastIndexByte(w.body, ')')
	w.flaw = end != len(w.body)-1
	if end >= 0 {
		w.body = w.body[:end]
	}
	if w.body == "" {
		w.hasBody, w.flaw = false, true
	}
	return w
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
	s.pattern, err = glob.Parse(wholeTree(body))
	return s, err
}

// wholeTree drops the slashes behind stars at the end: "dir/**/" names the folders in dir
// alone, but is meant for the files, too.
func wholeTree(pattern string) string {
	cut := strings.TrimRight(glob.TrimBlanks(pattern), "/")
	last := cut[strings.LastIndexByte(cut, '/')+1:]
	if len(last) >= 2 && strings.Trim(last, "*") == "" {
		return cut
	}
	return pattern
}

// floats reports whether the pattern matches at any depth below its anchor.
// Deny and ask rules float more readily than allow rules.
func (s *spec) floats(list List) bool {
	p := &s.pattern
	switch {
	case s.top || len(p.Segments) == 0:
		return false
	case !p.Slash && p.Segments[0].Text != "..":
		return list != Allow || !s.dotted
	}
	oneDirectory := len(p.Segments) == 2 && p.Segments[0].Kind != glob.Deep && p.Segments[0].Text != ".." && p.Segments[1].Kind == glob.Deep
	return oneDirectory && list != Allow
}
