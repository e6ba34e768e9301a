package find

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// naming writes names as Read takes them: from the first workspace directory if they lie
// in it, else absolute.
type naming struct {
	base []string // the names of that directory
}

// name writes one absolute, resolved name, for a line of its own. What cannot be shown is
// escaped; access takes that form, too.
func (n naming) name(name string) string { return phrase.Untagged(fsys.Printable(n.relative(name))) }

// inSentence writes such a name within a sentence.
func (n naming) inSentence(name string) string { return fsys.InSentence(n.relative(name)) }

// relative has "." and a separator before a name that Read would take for something else, or that could
// pass for a sentence of fsmcp, which begins with a parenthesis.
func (n naming) relative(name string) string {
	for _, base := range n.base {
		rel, below := fsys.Below(base, name)
		if base == "" || !below || rel == "" {
			continue
		}
		if strings.HasPrefix(rel, "~") || strings.HasPrefix(rel, "(") || strings.Contains(rel, ":") || rel != strings.TrimSpace(rel) {
			return "." + fsys.Separator + rel
		}
		return rel
	}
	return name
}
