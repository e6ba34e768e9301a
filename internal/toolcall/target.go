package toolcall

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
)

// Target is the file of a call, which the rules let through.
type Target struct {
	*access.AllowedFile
	Remarks []string // on the arguments, for the end of the answer
	Links   []string // its other hard links that mark it as secret, once they are known
	// Named says that the answer names the file by its absolute path.
	Named bool
	// AfterHooks says that the user's hooks before this call's change have run.
	AfterHooks bool
	large      func() // gives back the place for a change of a large file; nil: not taken
}

// Note says which file was used if the argument names it in another way, and the
// remarks, one a line.
func (t *Target) Note() string {
	var notes []string
	for _, used := range t.Used {
		how := map[access.SpellingKind]string{
			access.LooksAlike: "the one existing name that looks the same", access.Trimmed: "without the blanks around it", access.FromURL: "which the file: URL names",
		}[used.How]
		notes = append(notes, fmt.Sprintf("(Nothing bears the exact name given; %s was used, %s.)", fsys.InSentence(used.Path.String()), how))
	}
	if t.Asked.Relative() && !t.Named {
		notes = append(notes, fmt.Sprintf("(Relative path: %s was used.)", t.Name()))
	}
	return strings.Join(append(notes, t.Remarks...), "\n")
}

// Name is the absolute path as an answer shows it.
func (t *Target) Name() string { return fsys.InSentence(t.Asked.String()) }

// Answer is the answer to a change: what was done, what it shows of the file, and remarks.
func (t *Target) Answer(done, shows string, remarks ...string) Answer {
	return Answer{Head: done, Body: shows, Notes: append(remarks, t.Note())}
}

// Opener finds the file of a call and decides on it.
type Opener struct {
	Access *access.Checker
	// SettingsFile is the user's own, where rules can be added, as a person writes it.
	SettingsFile func() string
}

// ParseFile parses a file argument, without a look at the disk.
func (o Opener) ParseFile(raw string) FileArgument {
	path, err := o.Access.Parse(raw)
	if err != nil {
		return FileArgument{Key: raw, err: err, Parsed: true}
	}
	return FileArgument{Key: path.String(), path: path, Parsed: true}
}

// Request is the wish of a call for a file.
func (c Call) Request(op perm.Op, path fsys.Path) access.Request {
	return access.Request{Op: op, Path: path, Session: &c.Session.Grants, Once: c.Consent, Exact: c.Restoring}
}

// Open resolves and authorizes the file of a call. Without one, the outcome says why.
func (o Opener) Open(call Call, op perm.Op) (*Target, Outcome) {
	f, err := (*access.AllowedFile)(nil), call.File.err
	if err == nil {
		f, err = o.Access.Open(call.Request(op, call.File.path))
	}
	if err != nil {
		return nil, o.refused(call, op, err)
	}
	t := &Target{AllowedFile: f}
	if call.Remark != "" {
		t.Remarks = append(t.Remarks, call.Remark)
	}
	return t, Outcome{}
}

// Decide decides on what is no file, such as the clipboard.
func (o Opener) Decide(call Call, op perm.Op, path fsys.Path) Outcome {
	if err := o.Access.Decide(call.Request(op, path)); err != nil {
		return o.refused(call, op, err)
	}
	return Outcome{}
}

// refused refuses a call by an error of access.
func (o Opener) refused(call Call, op perm.Op, err error) (out Outcome) {
	if consent := (*access.ConsentError)(nil); errors.As(err, &consent) {
		will := ""
		if call.Intent != nil {
			will = call.Intent.Intent()
		}
		return NeedConsent(consent, will, o.SettingsFile())
	}
	if slash := (*access.SlashError)(nil); errors.As(err, &slash) {
		out.File.Path = slash.Resolved
	}
	out.Err = refusal.Unopened(err)
	if e := (*access.ElsewhereError)(nil); errors.As(err, &e) {
		meant := o.Access.Meant(op, e.Elsewhere)
		out.Err = refusal.Elsewhere(e, meant, o.Access.Lexer().Base)
	}
	return out
}

// Refusal words an error of access that asks nothing.
func (o Opener) Refusal(op perm.Op, err error) error {
	return o.refused(Call{}, op, err).Err
}

// Absent refuses a change of a name that is not there: the file was gone since it was
// shown, or never was.
func (o Opener) Absent(session *Session, s *Target) Outcome {
	if _, shown := session.Files.Get(s.Path); shown {
		return Refused(refusal.New(refusal.Gone, s.Name()), Shown{Path: s.Path, How: Forgotten})
	}
	return Failed(o.Missing(s))
}

// Missing refuses a name that is not there.
func (o Opener) Missing(s *Target) error {
	return refusal.Missing{
		Path: s.Asked, Near: o.Access.Near(s.AllowedFile), Workspace: o.Access.Lexer().Base, ToCreate: IsNotebook(s) && s.Op.Changes(),
	}.Refusal()
}

// Irregular refuses a folder, a device, a FIFO or a socket; nil for other files.
func (o Opener) Irregular(s *Target) error {
	switch s.Kind {
	case fsys.Directory:
		list, ok := o.Access.List(s.AllowedFile)
		return refusal.Directory(s.Name(), list, ok)
	case fsys.Special:
		return refusal.New(refusal.Special, s.Name())
	}
	return nil
}

// AllNames are all names of a file, the resolved one last.
func (t *Target) AllNames() []string {
	if t.Names[len(t.Names)-1] == t.Path {
		return t.Names
	}
	return append(t.Names[:len(t.Names):len(t.Names)], t.Path)
}

// KnownNames are all names of a file and its hard links that are known, the
// resolved one last.
func (t *Target) KnownNames() []string {
	return append(slices.Clip(t.Links), t.AllNames()...)
}

// IsNotebook tells by the name: a notebook is a text file by its bytes.
func IsNotebook(s *Target) bool { return s.Asked.Ext() == "ipynb" }
