package tools

import (
	"fmt"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// spot is a file argument that the rules let through: resolved, pinned, with
// what the answer must tell of how it was found.
type spot struct {
	*fsys.Target
	op    perm.Op
	notes []string
}

// note joins the remarks about the path, one a line.
func (s *spot) note() string { return strings.Join(s.notes, "\n") }

// name is the absolute path as an answer shows it.
func (s *spot) name() string { return fsys.Printable(s.Asked.String()) }

// enter takes a file argument through decision, resolving, and decision on
// every name the file has. Whatever the disk says is held back until the
// rules have spoken.
func (h *House) enter(call Call, op perm.Op, raw string) (*spot, error) {
	path, err := h.Lexer().Parse(raw)
	if err != nil {
		return nil, err
	}
	target, err := h.admitted(call, op, path)
	if err != nil {
		return nil, err
	}
	s := &spot{Target: target, op: op}
	if target.Kind == fsys.Missing && !call.restoring {
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

// admitted decides on the name as given, resolves it, and decides on all its
// names.
func (h *House) admitted(call Call, op perm.Op, path fsys.Path) (*fsys.Target, error) {
	if fsys.RefusedByName(path) {
		return nil, refuse(slugSpecialFile, "%s is a device or another process's stream, not a file: it is never opened. Name a regular file.", fsys.Printable(path.String()))
	}
	policy, grants := h.Policy(), granting{&call.Session.grants, call.Consent}
	first := policy.DecideGranted(op, []string{path.String()}, h.exists, grants)
	if first.Verdict == perm.Deny && first.Reason != perm.ReasonBuiltin {
		return nil, h.denied(op, path, first)
	}
	began := h.Now()
	target, err := h.Resolver.Resolve(path)
	if target == nil {
		return nil, err
	}
	decision := first
	if first.Verdict != perm.Allow || len(target.Names) > 1 {
		decision = policy.DecideGranted(op, target.Names, h.exists, grants)
	}
	decision = h.linked(policy, op, target, began, decision)
	switch {
	case decision.Verdict == perm.Allow && err == nil:
		return target, nil
	case decision.Verdict == perm.Deny && decision.Reason == perm.ReasonBuiltin && target.Kind == fsys.Special:
		err = special(path)
	case decision.Verdict == perm.Ask:
		err = &needsConsent{*h.denied(op, path, decision), h.ask(op, target, decision)}
	case decision.Verdict == perm.Deny:
		err = h.denied(op, path, decision)
	}
	target.Close()
	return nil, err
}

// decide decides on all names of what was found, by a look that began then.
func (h *House) decide(policy *perm.Policy, op perm.Op, t *fsys.Target, began time.Time) perm.Decision {
	return h.linked(policy, op, t, began, policy.Decide(op, t.Names, h.exists))
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
	other, ok := fsys.Lookalike(s.Asked.Base(), names)
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
	target, err := h.admitted(call, s.op, path)
	if err != nil {
		return err
	}
	s.Close()
	s.Target = target
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

// find resolves a name that no caller gave.
func (h *House) find(name string) (*fsys.Target, error) {
	path, err := fsys.Lexer{OS: h.Lexer().OS}.Parse(name)
	if err != nil {
		return nil, err
	}
	return h.Resolver.Resolve(path)
}

// denied words a decision that is not allow. All denials by one rule read the
// same but for the path, whether or not the file exists.
func (h *House) denied(op perm.Op, path fsys.Path, d perm.Decision) *refusal {
	name := fsys.Printable(path.String())
	if d.Reason == perm.ReasonPlan {
		return refused(slugPlanMode, "Plan mode: files are read, not changed, until the user leaves it. Nothing was changed in %s.", name)
	}
	if d.Verdict == perm.Deny {
		return refused(slugDenied, "File is in a directory that is denied by your permission settings.\nPath: %s\n%s", name, because(d))
	}
	next := remedy(d)
	switch {
	case h.Lexer().Base == "":
		next += " There is no workspace directory: add the project's folder to the arguments in the client's configuration, as in \"args\": [\"serve\", \"/your/project\"]."
	case d.Reason == perm.ReasonMode:
		next += " A folder becomes part of the workspace when it is named: fsmcp serve DIR."
	}
	return refused(slugDenied, "%s %s needs the user's consent (%s), which cannot be asked for here.%s", opWord(op), name, because(d), next)
}

// remedy is the one line that would allow it, for the two places where the user
// can put it. A name that a person could not copy has none.
func remedy(d perm.Decision) string {
	rule := d.PasteLine
	if rule == "" || fsys.Printable(rule) != rule {
		return ""
	}
	return fmt.Sprintf(" To allow it, the user can add %q to permissions.allow in ~/.config/fsmcp/settings.json, or start fsmcp with --allow '%s'.",
		rule, strings.ReplaceAll(rule, "'", `'\''`))
}

// because names what decided, and whatever settings file is broken.
func because(d perm.Decision) string { return decidedBy(d) + brokenFiles(d) }

func decidedBy(d perm.Decision) string {
	switch {
	case d.Rule != "" && (d.Quotable || d.Verdict == perm.Ask):
		return fmt.Sprintf("Rule: %s (%s)", fsys.Printable(d.Rule), where(d.Source))
	case d.Rule != "":
		return "Rule: a rule on what this name leads to"
	}
	return "Reason: " + d.Reason.String()
}

// brokenFiles says what closed the door for everything beside what decided, so
// that the user can mend it.
func brokenFiles(d perm.Decision) string {
	var b strings.Builder
	for _, f := range d.Broken {
		fmt.Fprintf(&b, "; the settings file %s %s", where(perm.Source{Name: f.Name, Line: f.Line}), f.Why)
	}
	if len(d.Broken) > 0 {
		b.WriteString(": until it is mended nothing is written, and nothing outside the workspace is read")
	}
	return b.String()
}

func where(s perm.Source) string {
	if s.Line > 0 {
		return fmt.Sprintf("%s:%d", fsys.Printable(s.Name), s.Line)
	}
	return fsys.Printable(s.Name)
}

func opWord(op perm.Op) string {
	if op == perm.Read {
		return "Reading"
	}
	return "Changing"
}

func special(path fsys.Path) error {
	return refuse(slugSpecialFile, "%s is a device, a FIFO or a socket, not a regular file: it is neither read nor written.", fsys.Printable(path.String()))
}

// Bounds of what errors list of a folder.
const (
	maxSiblings = 5_000
	maxEntries  = 50
	maxNear     = 3
)

// missing is the answer for a name that is not there: near names that may be
// read, and where relative names are taken from.
func (h *House) missing(s *spot) error {
	var b strings.Builder
	fmt.Fprintf(&b, "File does not exist. Path: %s.", s.name())
	if near := h.near(s); len(near) > 0 {
		fmt.Fprintf(&b, " Did you mean %s?", strings.Join(near, " or "))
	}
	if base := h.Lexer().Base; base != "" && (s.Asked.Relative() || !within(base, s.Asked.String())) {
		fmt.Fprintf(&b, " The workspace directory is %s.", fsys.Printable(base))
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
	for _, n := range fsys.Near(s.Asked.Base(), names, maxNear*4) {
		if full := join(s.Asked.Dir(), n); h.readable(full) && len(out) < maxNear {
			out = append(out, fsys.Printable(full))
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
	for _, e := range entries {
		if !h.readable(join(s.Asked.String(), e.Name)) {
			continue
		}
		name := fsys.Printable(e.Name)
		if e.Dir {
			name += "/"
		}
		if shown = append(shown, name); len(shown) == maxEntries {
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
	path, err := fsys.Lexer{OS: h.Lexer().OS}.Parse(name)
	return err == nil && h.there(perm.Read, path, perm.Allow)
}

// there tells whether something bears the name, as far as one may know of whom
// the rules let through at least as far as that verdict.
func (h *House) there(op perm.Op, path fsys.Path, least perm.Verdict) bool {
	policy := h.Policy()
	if policy.Decide(op, []string{path.String()}, h.exists).Verdict < least {
		return false
	}
	began := h.Now()
	t, err := h.Resolver.Resolve(path)
	if t == nil {
		return false
	}
	defer t.Close()
	return err == nil && t.Kind != fsys.Missing && h.decide(policy, op, t, began).Verdict >= least
}

// join is a folder and a name in it, in the resolver's spelling.
func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// within tells whether name is dir or lies below it, segment by segment.
func within(dir, name string) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
