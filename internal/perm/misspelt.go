package perm

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

const (
	// maxLikely bounds the rules that a warning proposes in place of one.
	maxLikely = 8
	// maxMended bounds the length of a pattern that is examined, in bytes.
	maxMended = 1024
)

// A misspelling is a notation of shells and other programs that rules do not have. A rule
// with it matches only names that contain it literally.
type misspelling struct {
	kind WarningKind
	mend mender
}

// A mender returns the specifications that one was likely meant to be; found is false if the
// notation does not occur in it. It may know of none.
type mender func(spec, home string) (likely []string, found bool)

// misspellings are mended one after the other: a rule may have several.
var misspellings = sync.OnceValue(func() []misspelling {
	return []misspelling{
		{BlankAround, mendBlanks},
		{Quoted, by(`^(?:"(.+)"|'(.+)'|`+"`(.+)`"+`|“(.+)”|‘(.+)’) *$`, "$1$2$3$4$5")},
		{FileURL, by(`(?i)^file://(?:localhost)?(~/.*)$`, "$1")},
		{FileURL, by(`(?i)^file://(?:localhost)?/*(.*)$`, "//$1")},
		{PrefixMark, by(`^(|.*/):\* *$`, "$1**")}, // as in rules for Bash, after a command's prefix
		{PrefixMark, by(`^(.*):\* *$`, "$1*")},
		{BareHome, by(`^~$`, "~/**")},
		{OtherHome, byParts(`^~([A-Za-z_][A-Za-z0-9_-]*)(/.*)?$`, otherHome)},
		// ${NAME} anywhere, and $NAME as a whole segment. Files are called Outer$Inner.class,
		// $slug.tsx and $RECYCLE.BIN.
		{Variable, byParts(`^(?:\$\{([A-Za-z_]\w*)\}|\$([A-Z_][A-Z0-9_]*))(/.*)?$|[^\\{]\$\{[A-Za-z_]\w*\}|/\$[A-Z_][A-Z0-9_]*(?:/|$)`, variable)},
		{Braces, alternatives('{', '}', ',')}, // without a comma they are common in the names of templates
		{Bar, alternatives('(', ')', '|')},
	}
})

// misspelt returns the fault in a rule's notation, or noWarning, and the rules that were
// likely meant. Text after a backslash is literal.
func misspelt(text, home string) (kind WarningKind, likely []string) {
	w := splitRule(text)
	tool, body := w.tool, w.body
	if !w.hasBody || len(body) > maxMended || !strings.ContainsFunc(body, suspicious) {
		return noWarning, nil
	}
	if rules := separateRules(tool, body); rules != nil {
		return SeveralRules, rules
	}
	specs := []string{body}
	for _, m := range misspellings() {
		var next []string
		for _, s := range specs {
			mended, found := m.mend(s, home)
			switch {
			case !found:
				next = append(next, s)
				continue
			case kind == noWarning:
				kind = m.kind
			}
			if len(mended) == 0 {
				return kind, nil
			}
			next = append(next, mended...)
		}
		specs = next[:min(len(next), maxLikely)]
	}
	for _, s := range specs {
		likely = append(likely, tool+"("+s+")")
	}
	return kind, likely
}

// suspicious reports whether a misspelling can hold the character.
func suspicious(r rune) bool {
	return strings.ContainsRune("\"'`“‘:~${|(", r) || unicode.IsSpace(r)
}

var nextRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\)[\s,;]*([A-Za-z_]+)\(`) })

// separateRules returns the rules in one text, nil if it is one rule.
func separateRules(tool, body string) (rules []string) {
	start, at := 0, tool
	for _, m := range nextRule().FindAllStringSubmatchIndex(body, -1) {
		if name := body[m[2]:m[3]]; slices.Contains(words[:], name) || slices.Contains(foreignTools[:], name) {
			rules = append(rules, at+"("+body[start:m[0]]+")")
			start, at = m[1], name
		}
	}
	if rules == nil {
		return nil
	}
	rules = append(rules, at+"("+body[start:]+")")
	return rules[:min(len(rules), maxLikely)]
}

// mendBlanks finds blanks that are part of the pattern: git takes no notice of
// spaces at the end alone.
func mendBlanks(spec, _ string) ([]string, bool) {
	s := glob.TrimBlanks(spec)
	trimmed := strings.TrimLeftFunc(s, unicode.IsSpace)
	if !strings.HasSuffix(trimmed, `\ `) {
		trimmed = strings.TrimRightFunc(trimmed, unicode.IsSpace)
	}
	return []string{trimmed}, trimmed != s && trimmed != ""
}

// by mends what matches a pattern as a whole, from its parts.
func by(pattern, mended string) mender {
	re := regexp.MustCompile("(?s)" + pattern)
	return func(spec, _ string) ([]string, bool) {
		return []string{re.ReplaceAllString(spec, mended)}, re.MatchString(spec)
	}
}

// byParts is by with a function of the parts and the home.
func byParts(pattern string, mended func(m []string, home string) []string) mender {
	re := regexp.MustCompile(pattern)
	return func(spec, home string) ([]string, bool) {
		m := re.FindStringSubmatch(spec)
		if m == nil {
			return nil, false
		}
		return mended(m, home), true
	}
}

// otherHome expects the homes of other users beside this one.
func otherHome(m []string, home string) []string {
	user, rest := m[1], m[2]
	dir := parent(home)
	switch {
	case strings.HasSuffix(home, "/"+user):
		return []string{"~/" + strings.TrimPrefix(rest, "/")}
	case user == "root":
		return []string{"//root" + rest}
	case dir == "":
		dir = "/home"
	}
	return []string{"/" + dir + "/" + user + rest}
}

func variable(m []string, _ string) []string {
	rest := strings.TrimPrefix(m[3], "/")
	if rest == "" {
		rest = "**"
	}
	switch m[1] + m[2] {
	case "HOME":
		return []string{"~/" + rest}
	case "PWD", "CLAUDE_PROJECT_DIR", "workspaceFolder", "workspaceRoot":
		return []string{"./" + rest}
	}
	return nil // what it stands for is not known here
}

// alternatives spells out a list between brackets, such as {a,b}; one of bars also without
// brackets.
func alternatives(open, closing, separator byte) (mend mender) {
	mend = func(spec, _ string) (out []string, found bool) {
		before, parts, after := group(spec, open, closing, separator)
		switch {
		case separator != '|':
		case parts == nil:
			parts = split(spec, separator)
		case before != "" && strings.IndexByte("@?+*", before[len(before)-1]) >= 0: // as extended globs have it
			before = before[:len(before)-1]
		}
		if len(parts) < 2 {
			return nil, false
		}
		for _, part := range parts {
			s := before + strings.TrimSpace(part) + after
			if more, found := mend(s, ""); found {
				out = append(out, more...)
			} else if s != "" {
				out = append(out, s)
			}
			if len(out) >= maxLikely {
				return out[:maxLikely], true
			}
		}
		return out, true
	}
	return mend
}

// group finds the first parts between two brackets, split by a separator, and the text
// before and after the brackets.
func group(spec string, open, closing, separator byte) (before string, parts []string, after string) {
	at := -1
	for i, c := range unescaped(spec) {
		switch {
		case c == open && (i == 0 || spec[i-1] != '$'):
			at = i
		case c == closing && at >= 0:
			if parts = split(spec[at+1:i], separator); len(parts) > 1 {
				return spec[:at], parts, spec[i+1:]
			}
			at = -1
		}
	}
	return "", nil, ""
}

// split divides a pattern at separators that stand for themselves nowhere.
func split(spec string, separator byte) (parts []string) {
	start := 0
	for i, c := range unescaped(spec) {
		if c == separator {
			parts = append(parts, spec[start:i])
			start = i + 1
		}
	}
	return append(parts, spec[start:])
}

// unescaped yields the bytes of a pattern that no backslash protects and that
// stand in no bracket expression, with their offsets.
func unescaped(spec string) func(yield func(int, byte) bool) {
	return func(yield func(int, byte) bool) {
		for i := 0; i < len(spec); i++ {
			switch spec[i] {
			case '\\':
				i++
			case '[':
				if _, n, err := glob.ParseClass(spec[i:]); err == nil {
					i += n - 1
				}
			default:
				if !yield(i, spec[i]) {
					return
				}
			}
		}
	}
}
