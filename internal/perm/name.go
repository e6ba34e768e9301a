package perm

import (
	"path"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// name is one of a file's names, looked at once for a decision.
type name struct {
	given  string // as the caller has it
	exact  string // with slashes, and none at the end
	folded string // strictly folded
	same   string // as allow rules and the workspace compare it
	dir    bool   // known to be a directory
	null   bool   // the null device, of an operation that may read it
}

// name prepares one name. It fails on anything but an absolute, cleaned path: "." and ".."
// could lead to another file than the rules saw.
func (p *Policy) name(given string, op Op) (name, bool) {
	n := name{given: given, exact: slashes(given, p.config.Windows)}
	if !cleaned(n.exact) {
		return n, false
	}
	if len(n.exact) > 1 && n.exact[len(n.exact)-1] == '/' {
		n.exact, n.dir = n.exact[:len(n.exact)-1], true
	}
	n.null = op == Read && n.exact == nullDevice
	n.same = n.exact
	if p.same != nil {
		n.same = p.same(n.exact)
	}
	if op.Changes() || !p.strict.empty() {
		n.folded = glob.FoldStrict(n.exact)
	}
	return n, true
}

// cleaned reports whether a name is absolute and has no empty, "." or ".."
// segment; one slash at the end is fine.
func cleaned(name string) bool {
	if name == "/" {
		return true
	}
	name = strings.TrimSuffix(name, "/")
	return len(name) > 1 && name[0] == '/' && path.Clean(name) == name && strings.IndexByte(name, 0) < 0
}

// slashes gives a name of Windows the form of the others: "C:\a" is "/C:/a".
func slashes(name string, windows bool) string {
	if !windows {
		return name
	}
	name = strings.ReplaceAll(name, `\`, "/")
	if len(name) >= 2 && name[1] == ':' && glob.IsAlpha(name[0]) {
		return "/" + name
	}
	return name
}

// inside reports whether the name lies in a workspace directory, by whole segments.
func (p *Policy) inside(n *name) bool {
	for i := range p.roots {
		if _, ok := below(n.same, p.roots[i].same); ok {
			return true
		}
	}
	return false
}

// Inside reports whether an absolute, cleaned name lies in the workspace, by
// whole segments; a link's other names have to be asked for as well.
func (p *Policy) Inside(given string) bool {
	n, ok := p.name(given, Read)
	return ok && p.inside(&n)
}

// Mode returns the mode the policy decides in.
func (p *Policy) Mode() Mode { return p.config.Mode }

// PlanFile returns the one file that plan mode may change, "" if there is none.
func (p *Policy) PlanFile() string { return p.config.PlanFile }

// UnusableRoots returns the client's roots that cannot be the workspace.
func (p *Policy) UnusableRoots() []string { return p.config.UnusableRoots }

// Workspace returns the workspace directories as configured.
func (p *Policy) Workspace() []Dir { return p.workspace }
