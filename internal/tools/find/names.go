package find

import (
	"path"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// naming writes names as Read takes them: from the first workspace directory where they lie
// in it, else absolute.
type naming struct {
	base []string // the names of that directory
}

// name writes one absolute, resolved name. What cannot be shown is escaped; access takes
// that form, too.
func (n naming) name(name string) string { return escaped(n.relative(name)) }

// escaped writes a name on one line, so that nothing in it passes for fsmcp's own words.
func escaped(name string) string { return phrase.Untagged(fsys.Printable(name)) }

func (n naming) relative(name string) string {
	for _, base := range n.base {
		if base == "" || name == base || !fsys.Within(base, name) {
			continue
		}
		rel := strings.TrimPrefix(name[len(base):], "/")
		if strings.HasPrefix(rel, "~") || strings.Contains(rel, ":") || rel != strings.TrimSpace(rel) || path.Clean(rel) != rel {
			return name // Read would take it for something else
		}
		return rel
	}
	return name
}
