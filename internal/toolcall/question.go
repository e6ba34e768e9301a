package toolcall

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
)

// Question asks the user to consent to one call. A call that needs consent
// does nothing: its result is the refusal that a client gets which cannot ask,
// with the question beside it. Once it is answered, the call is made afresh.
type Question struct {
	// Message is for the user: the path in printable form, and the rule as the
	// settings have it.
	Message string
	// Names are all names of the file, as they were decided on.
	Names []string
	// Rule is the rule or the reason that asks.
	Rule string
	// Path is the resolved name, which consent is bound to.
	Path string

	// Once says that a yes is for this call alone.
	Once bool

	op perm.Op
	// further are more operations that consent is bound to, each with its resolved name.
	further []Permission
	// Log is the call, which is logged with the answer that it ends with.
	Log *LogEntry
}

// Permission is an operation on a resolved name.
type Permission struct {
	Op   perm.Op
	Path string
}

// Consent is the user's yes to the questions of one call: each covers the tool
// group and exactly that resolved path. nil is none.
type Consent struct {
	questions []*Question
	all       bool // to everything
}

// Consent is the yes to the question, for one call.
func (q *Question) Consent() *Consent { return &Consent{questions: []*Question{q}} }

// Consented is the consent of a user at the command line: a question counts as granted.
func Consented() *Consent { return &Consent{all: true} }

// With is c and the consent to one more question of the same call.
func (c *Consent) With(q *Question) *Consent {
	if c == nil {
		return q.Consent()
	}
	return &Consent{append(slices.Clip(c.questions), q), c.all}
}

// Same reports whether consent to one question is consent to the other.
func (q *Question) Same(other *Question) bool {
	return q.op.Changes() == other.op.Changes() && q.Path == other.Path && slices.Equal(q.further, other.further)
}

// covers reports whether consent to the question is consent to an operation on a name.
func (q *Question) covers(p Permission) bool {
	if q.op.Changes() == p.Op.Changes() && q.Path == p.Path {
		return true
	}
	_, found := slices.BinarySearchFunc(q.further, p, comparePermissions)
	return found
}

func comparePermissions(a, b Permission) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Op, b.Op))
}

// Covers reports whether one of the yeses was to q.
func (c *Consent) Covers(q *Question) bool {
	return c.Permits(Permission{q.op, q.Path})
}

// Permits reports whether one of the yeses was to an operation on a resolved name.
func (c *Consent) Permits(p Permission) bool {
	return c != nil && (c.all || slices.ContainsFunc(c.questions, func(q *Question) bool { return q.covers(p) }))
}

// Granted implements perm.Grants.
func (c *Consent) Granted(op perm.Op, path string) bool {
	return c.Permits(Permission{op, path})
}

// NeedConsent refuses a call that needs consent, in words for a client that cannot ask, and
// words the question, which says what the call will do and to which resolved name.
func NeedConsent(e *access.ConsentError, will, settingsFile string) Outcome {
	rule, err := refusal.Because(e.Decision), refusal.NeedsConsent(e, settingsFile)
	message := fmt.Sprintf("%s %s?\n%s", e.Op, fsys.InSentence(e.Path.String()), rule)
	if e.Resolved != e.Path.String() && fsys.BaseOf(e.Resolved) != e.Path.String() { // the clipboard leads nowhere
		message += "\nIt leads to " + fsys.InSentence(e.Resolved)
	}
	if will != "" {
		message += "\n" + will
	}
	question := &Question{Message: message, Names: e.Names, Rule: rule, Path: e.Resolved, op: e.Op}
	return Outcome{Err: err, Effects: Effects{Question: question}}
}

// ManyNames describes a call that names many files, for one question about all of them.
type ManyNames struct {
	// First is the decision that is quoted; nil if the question is not about a rule.
	First *access.ConsentError
	// What says what the call will do, in one sentence or several lines.
	What string
	// Why says why it is asked, beside the decision; "" for nothing.
	Why string
	// Permissions list the operations that consent is bound to.
	Permissions []Permission
	Once        bool
	// Hidden keeps Why from the caller: it would tell what is there.
	Hidden bool
}

// NeedConsentToMany refuses a call that names many files and needs consent, and words the one
// question about all of them. refused is the refusal for a client that cannot ask if First is
// nil.
func NeedConsentToMany(m ManyNames, settingsFile string, refused error) Outcome {
	rule := m.Why
	if m.First != nil {
		rule = Joined(refusal.Because(m.First.Decision), m.Why)
		refused = refusal.NeedsConsent(m.First, settingsFile)
	}
	all := slices.Clone(m.Permissions)
	slices.SortFunc(all, comparePermissions)
	all = slices.Compact(all)
	q := &Question{Message: m.What + "\n" + rule, Rule: rule, Path: all[0].Path, op: all[0].Op, further: all, Once: m.Once}
	if m.Hidden {
		q.Rule = refusal.Because(m.First.Decision)
	}
	for _, p := range all {
		q.Names = append(q.Names, p.Path)
	}
	return Outcome{Err: refused, Effects: Effects{Question: q}}
}

// Unanswered is the answer to a call whose question did not get a yes. why
// completes "the user ...": "declined". q is nil if it is no longer known.
func Unanswered(tool string, q *Question, why string) *Result {
	if q == nil {
		return Fail(tool, "", refusal.New(refusal.UnansweredUnknown, why))
	}
	r := Fail(tool, "", refusal.New(refusal.Unanswered, fsys.InSentence(q.Path), q.Rule, why))
	r.Log = q.Log
	return r
}
