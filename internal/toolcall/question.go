package toolcall

import (
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

	op perm.Op
	// Log is the call, which is logged with the answer that it ends with.
	Log *LogEntry
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
	return q.op.Changes() == other.op.Changes() && q.Path == other.Path
}

// Covers reports whether one of the yeses was to q.
func (c *Consent) Covers(q *Question) bool {
	return c != nil && (c.all || slices.ContainsFunc(c.questions, q.Same))
}

// Granted implements perm.Grants.
func (c *Consent) Granted(op perm.Op, path string) bool {
	return c.Covers(&Question{Path: path, op: op})
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
