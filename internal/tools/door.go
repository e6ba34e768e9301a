package tools

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/alike"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// spot is a file argument that the rules let through: resolved, pinned, with
// what the answer must tell of how it was found.
type spot struct {
	admission
	op     perm.Op
	notes  []string
	linked []string // other names of it that mark it as secret, once they are known
}

// admission is a file with what the rules say of a call on it.
type admission struct {
	*fsys.Target
	// ask is the question before a change that would succeed; nil where none is.
	// A question that comes before any look at the file is an error instead.
	ask *needsConsent
	// hidden says that a change must not show what the file holds.
	hidden bool
}

// note joins the remarks about the path, one a line.
func (s *spot) note() string { return strings.Join(s.notes, "\n") }

// name is the absolute path as an answer shows it.
func (s *spot) name() string { return fsys.InSentence(s.Asked.String()) }

// enter takes a file argument through decision, resolving, and decision on
// every name the file has. Whatever the disk says is held back until the
// rules have spoken.
func (h *House) enter(call Call, op perm.Op, raw string) (*spot, error) {
	path, err := h.Lexer().Parse(raw)
	if err != nil {
		return nil, err
	}
	a, err := h.authorize(call, op, path)
	if err != nil {
		return nil, err
	}
	s := &spot{admission: a, op: op}
	if s.Kind == fsys.Missing && !call.restoring {
		if err := h.lookalike(call, s, raw); err != nil {
			s.Close()
			return nil, err
		}
	}
	if call.account != nil {
		call.account.path, call.account.stamp = s.Path, s.Stamp
	}
	if s.Asked.Relative() {
		s.notes = append(s.notes, fmt.Sprintf("(Relative path: %s was used.)", s.name()))
	}
	if s.Asked.TrailingSlash() && s.Kind != fsys.Directory {
		s.Close()
		return nil, refuse(slugBadArgument, "The path %s ends in a slash, which names a folder; leave the slash out to name the file.", quoted(raw))
	}
	return s, nil
}

// admitted is authorize for a caller that cannot ask: a question is an error.
func (h *House) admitted(call Call, op perm.Op, path fsys.Path) (*fsys.Target, error) {
	a, err := h.authorize(call, op, path)
	if err == nil && a.ask != nil {
		a.Close()
		return nil, a.ask
	}
	return a.Target, err
}

// authorize decides on the name as given, resolves it, and decides on all its
// names. The target of an error is closed.
func (h *House) authorize(call Call, op perm.Op, path fsys.Path) (admission, error) {
	if fsys.RefusedByName(path) {
		return admission{}, refuse(slugSpecialFile, "%s is a device or another process's stream, not a file: it is never opened. Name a regular file.", fsys.InSentence(path.String()))
	}
	policy, grants := h.Policy(), granting{&call.Session.grants, call.Consent}
	j := judgement{policy: policy, op: op, path: path, names: []string{path.String()}}
	j.Decision = policy.DecideGranted(op, j.names, h.exists, grants)
	if j.Verdict == perm.Deny && j.Reason != perm.ReasonBuiltin {
		return admission{}, j.denied()
	}
	began := h.Now()
	target, err := h.Resolver.Resolve(path)
	if target == nil {
		return admission{}, err
	}
	j.names = target.Names
	if j.Verdict != perm.Allow || len(target.Names) > 1 {
		j.Decision = policy.DecideGranted(op, j.names, h.exists, grants)
	}
	j.Decision = h.linked(policy, op, target, began, j.Decision)
	j.Decision = h.guardedLink(policy, op, target, grants, j.Decision)
	a, err := h.admission(call, j, target, err)
	if err != nil {
		target.Close()
	}
	return a, err
}

// admission is what a decision makes of a resolved file; found is what resolving
// it came to.
//
// A question about a change waits until the call is known to succeed, where the
// file may be read without one. Elsewhere it comes before anything that the disk
// says is told.
func (h *House) admission(call Call, j judgement, t *fsys.Target, found error) (a admission, err error) {
	a.Target = t
	if j.Verdict == perm.Deny {
		if j.Reason == perm.ReasonBuiltin && t.Kind == fsys.Special {
			return a, special(j.path)
		}
		return a, j.denied()
	}
	free := j.op.Changes() && j.policy.DecideGranted(perm.Read, j.names, h.exists, &call.Session.grants).Verdict == perm.Allow
	if j.Verdict == perm.Ask {
		j.settings = h.Preferences().SettingsFile
		a.ask = j.ask(t)
		if !free {
			return a, a.ask.tells(call.intent())
		}
	}
	a.hidden = j.op.Changes() && !free && !consented(call, j.op, t)
	return a, found
}

// decide decides on all names of what was found, by a look that began then.
func (h *House) decide(policy *perm.Policy, op perm.Op, t *fsys.Target, began time.Time) perm.Decision {
	d := h.linked(policy, op, t, began, policy.Decide(op, t.Names, h.exists))
	return h.guardedLink(policy, op, t, nil, d)
}

// linked is a decision once the file's other hard links are known, too.
//
// A second name may be taken away between the moment in which the file was
// found by it and the one in which its names were counted. Where the file may
// have changed since the look began, the count proves nothing.
func (h *House) linked(policy *perm.Policy, op perm.Op, t *fsys.Target, began time.Time, d perm.Decision) perm.Decision {
	oneName := t.Stamp.Nlink == 1 && t.Stamp.Settled(began)
	if d.Verdict == perm.Deny || t.Kind != fsys.Regular || oneName {
		return d
	}
	if denied, ok := h.secondName(policy, op, t); ok {
		return denied
	}
	return d
}

// guardedLink decides once more where another hard link of the file is a guarded
// one, such as a settings file: a write in place would change both.
func (h *House) guardedLink(policy *perm.Policy, op perm.Op, t *fsys.Target, grants perm.Grants, d perm.Decision) perm.Decision {
	if d.Verdict != perm.Allow || !op.Changes() || t.Kind != fsys.Regular || t.Stamp.Nlink < 2 {
		return d
	}
	for _, name := range policy.Guarded() {
		other, err := h.find(name)
		if other == nil {
			continue
		}
		same := err == nil && other.Stamp.SameFile(t.Stamp) && other.Path != t.Path
		other.Close()
		if same {
			// The resolved name comes last: a grant is for that one.
			names := slices.Concat(t.Names[:1], other.Names, t.Names)
			return policy.DecideGranted(op, names, h.exists, grants)
		}
	}
	return d
}

// secondName finds out whether a file with several names is one that a deny
// rule names: a hard link is no way around it.
func (h *House) secondName(policy *perm.Policy, op perm.Op, t *fsys.Target) (perm.Decision, bool) {
	for _, l := range policy.LiteralDenies(op) {
		denied, err := h.find(l.Path)
		if denied == nil {
			continue
		}
		// A denied link that leads to this very name gives the file no other one.
		same := err == nil && denied.Stamp.SameFile(t.Stamp) && denied.Path != t.Path
		denied.Close()
		if same {
			return l.Decision, true
		}
	}
	return perm.Decision{}, false
}

// lookalike makes up for an argument that names nothing: without blanks around
// it, then the one name beside it that merely looks different.
func (h *House) lookalike(call Call, s *spot, raw string) error {
	if trimmed := strings.TrimSpace(raw); trimmed != raw && trimmed != "" {
		path, err := h.Lexer().Parse(trimmed)
		if err != nil {
			return err
		}
		if err := h.swap(call, s, path, "without the blanks around it"); err != nil || s.Kind != fsys.Missing {
			return err
		}
	}
	siblings, err := s.Siblings(maxSiblings)
	if err != nil {
		return nil // nothing to look at: the name stays missing
	}
	names := make([]string, len(siblings))
	for i, e := range siblings {
		names[i] = e.Name
	}
	other, ok := alike.Lookalike(s.Asked.Base(), names)
	if !ok {
		return nil
	}
	path := s.Asked.WithBase(other)
	if !h.there(s.op, path, perm.Ask) {
		return nil // what is denied stays unknown
	}
	return h.swap(call, s, path, "the one existing name that looks the same")
}

// swap puts another spelling in the place of one that names nothing.
func (h *House) swap(call Call, s *spot, path fsys.Path, why string) error {
	a, err := h.authorize(call, s.op, path)
	if err != nil {
		return err
	}
	s.Close()
	s.admission = a
	s.notes = append(s.notes, fmt.Sprintf("(Nothing bears the exact name given; %s was used, %s.)", s.name(), why))
	return nil
}

// exists tells the policy whether a name is there (a bare repository is known
// by its HEAD). A link that leads nowhere is there, too, and git takes such a
// HEAD for one.
func (h *House) exists(name string) bool {
	t, err := h.find(name)
	if t == nil {
		return false
	}
	defer t.Close()
	if err != nil || t.Kind != fsys.Missing {
		return true
	}
	dir, err := h.find(t.Asked.Dir())
	if dir == nil {
		return false
	}
	defer dir.Close()
	return err == nil && dir.Kind == fsys.Directory && t.Path != join(dir.Path, t.Asked.Base())
}

// find resolves a name that no caller gave. The target is nil where it is known
// that nothing bears the name.
func (h *House) find(name string) (*fsys.Target, error) {
	path, err := fsys.Lexer{OS: h.Lexer().OS}.Parse(name)
	if err != nil {
		return nil, err
	}
	if h.Resolver.Absent(path) {
		return nil, fs.ErrNotExist
	}
	return h.Resolver.Resolve(path)
}

func special(path fsys.Path) error {
	return refuse(slugSpecialFile, "%s is a device, a FIFO or a socket, not a regular file: it is neither read nor written.", fsys.InSentence(path.String()))
}

// Bounds of what errors list of a folder.
const (
	maxSiblings = 5_000
	maxEntries  = 50
	maxHidden   = 500 // names that may not be shown, each of which the rules decide on
	maxNear     = 3
)

// absent returns the error of a change for a name that is not there: the file was gone
// since it was shown, or never was.
func (h *House) absent(call Call, s *spot) error {
	if _, shown := call.Session.files.Get(s.Path); shown {
		return gone(call.Session, s)
	}
	return h.missing(s)
}

// missing is the answer for a name that is not there: near names that may be
// read, and where relative names are taken from.
func (h *House) missing(s *spot) error {
	var b strings.Builder
	fmt.Fprintf(&b, "File does not exist. Path: %s.", s.name())
	if near := h.near(s); len(near) > 0 {
		fmt.Fprintf(&b, " Did you mean %s?", strings.Join(near, " or "))
	}
	if base := h.Lexer().Base; base != "" && (s.Asked.Relative() || !within(base, s.Asked.String())) {
		fmt.Fprintf(&b, " The workspace directory is %s.", fsys.InSentence(base))
	}
	if isNotebook(s) && s.op.Changes() {
		b.WriteString(" Write creates a notebook.")
	}
	return refuse(slugNotFound, "%s", b.String())
}

func (h *House) near(s *spot) []string {
	if !h.readable(s.Asked.Dir()) {
		return nil
	}
	siblings, err := s.Siblings(maxSiblings)
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(siblings))
	for _, e := range siblings {
		names = append(names, e.Name)
	}
	var out []string
	for _, n := range alike.Near(s.Asked.Base(), names, maxNear*4) {
		if full := join(s.Asked.Dir(), n); h.readable(full) && len(out) < maxNear {
			out = append(out, fsys.InSentence(full))
		}
	}
	return out
}

// directory is the answer for a folder: its first entries, so that the caller
// can go on.
func (h *House) directory(s *spot) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is a directory, not a file.", s.name())
	entries, err := s.Entries(maxSiblings)
	if err != nil || !h.readable(s.Asked.String()) {
		return refuse(slugIsDirectory, "%s Name a file in it.", b.String())
	}
	var shown []string
	hidden := 0
	for _, e := range entries {
		if !h.readable(join(s.Asked.String(), e.Name)) {
			if hidden++; hidden == maxHidden {
				break
			}
			continue
		}
		name := e.Name
		if e.Dir {
			name += "/"
		}
		if shown = append(shown, fsys.InSentence(name)); len(shown) == maxEntries {
			break
		}
	}
	if len(shown) == 0 {
		return refuse(slugIsDirectory, "%s It holds nothing that can be named here.", b.String())
	}
	fmt.Fprintf(&b, " Name a file in it; it holds:\n%s", strings.Join(shown, "\n"))
	if len(shown) == maxEntries && len(entries) > maxEntries {
		b.WriteString("\n…")
	}
	return refuse(slugIsDirectory, "%s", b.String())
}

// readable tells whether a Read of name would find something and be allowed
// without a question, by every name it has.
func (h *House) readable(name string) bool {
	t := h.lookAt(name)
	if t == nil {
		return false
	}
	defer t.Close()
	return t.Kind != fsys.Missing
}

// lookAt resolves a name that a Read would be allowed without a question, by every
// name it has; nil where it would not.
func (h *House) lookAt(name string) *fsys.Target {
	path, err := fsys.Lexer{OS: h.Lexer().OS}.Parse(name)
	if err != nil {
		return nil
	}
	return h.permitted(perm.Read, path, perm.Allow)
}

// there tells whether something bears the name, as far as one may know of whom
// the rules let through at least as far as that verdict.
func (h *House) there(op perm.Op, path fsys.Path, least perm.Verdict) bool {
	t := h.permitted(op, path, least)
	if t == nil {
		return false
	}
	defer t.Close()
	return t.Kind != fsys.Missing
}

// permitted resolves a name on which the verdict is at least that one, by every
// name it has and its hard links; nil where it is not.
func (h *House) permitted(op perm.Op, path fsys.Path, least perm.Verdict) *fsys.Target {
	policy := h.Policy()
	if policy.Decide(op, []string{path.String()}, h.exists).Verdict < least {
		return nil
	}
	began := h.Now()
	t, err := h.Resolver.Resolve(path)
	if t != nil && (err != nil || h.decide(policy, op, t, began).Verdict < least) {
		t.Close()
		return nil
	}
	return t
}

// join is a folder and a name in it, in the resolver's spelling.
func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// within tells whether name is dir or lies below it, segment by segment.
func within(dir, name string) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
