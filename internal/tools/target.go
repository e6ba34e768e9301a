package tools

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
)

// target is the file of a call, which the rules let through.
type target struct {
	*access.File
	remarks []string // on the arguments, for the end of the answer
	links   []string // its other hard links that mark it as secret, once they are known
	// replaced says that the call has put another file into its place.
	replaced bool
}

// note says which file was used where the argument names it in another way, and the
// remarks, one a line.
func (t *target) note() string {
	var notes []string
	for _, used := range t.Used {
		how := "the one existing name that looks the same"
		if used.Trimmed {
			how = "without the blanks around it"
		}
		notes = append(notes, fmt.Sprintf("(Nothing bears the exact name given; %s was used, %s.)", fsys.InSentence(used.Path.String()), how))
	}
	if t.Asked.Relative() {
		notes = append(notes, fmt.Sprintf("(Relative path: %s was used.)", t.name()))
	}
	return strings.Join(append(notes, t.remarks...), "\n")
}

// name is the absolute path as an answer shows it.
func (t *target) name() string { return fsys.InSentence(t.Asked.String()) }

// What an answer or an error of Write, Edit or NotebookEdit shows of a file is reading. It
// is shown only where a Read of the file takes no question, or where the user has consented
// to this very call. access decides that; answer leaves it out, committing.plan takes it out
// of errors, and reload shows nothing of what hooks did.

// answer is the answer to a change: what was done, what it shows of the file
// where that may be shown, and remarks.
func (s *target) answer(done, shows string, remarks ...string) *Result {
	parts := []string{done}
	if !s.Hidden {
		parts = append(parts, shows)
	}
	return textResult(append(append(parts, remarks...), s.note())...)
}

// opener finds the file of a call and decides on it.
type opener struct {
	access      *access.Checker
	preferences func() Preferences
}

// parseFile parses a file argument, without a look at the disk.
func (o opener) parseFile(raw string) FileArgument {
	path, err := o.access.Parse(raw)
	if err != nil {
		return FileArgument{Key: raw, err: err, parsed: true}
	}
	return FileArgument{Key: path.String(), path: path, parsed: true}
}

// request is the wish of a call for a file.
func (c Call) request(op perm.Op, path fsys.Path) access.Request {
	return access.Request{Op: op, Path: path, Session: &c.Session.grants, Once: c.Consent, Exact: c.restoring}
}

// open resolves and authorizes the file of a call. An error has its words.
func (o opener) open(call Call, op perm.Op) (*target, error) {
	if call.File.err != nil {
		return nil, call.File.err
	}
	f, err := o.access.Open(call.request(op, call.File.path))
	if slash := (*access.SlashError)(nil); errors.As(err, &slash) && call.account != nil {
		call.account.path = slash.Resolved
	}
	if consent := (*access.ConsentError)(nil); errors.As(err, &consent) {
		return nil, needConsent(consent, call.intent(), o.preferences().SettingsFile)
	}
	if err != nil {
		return nil, refusal.Unopened(err, "")
	}
	if call.account != nil {
		call.account.path, call.account.stamp = f.Path, f.Stamp
	}
	return &target{File: f}, nil
}

// absent refuses a change of a name that is not there: the file was gone since it was
// shown, or never was. That it is gone is said once: a repeated call may then create
// it.
func (o opener) absent(session *Session, s *target) error {
	if _, shown := session.files.Get(s.Path); shown {
		session.files.Forget(s.Path)
		return refusal.Gone(s.name())
	}
	return o.missing(s)
}

// missing refuses a name that is not there.
func (o opener) missing(s *target) error {
	return refusal.Missing{
		Path: s.Asked, Near: o.access.Near(s.File), Workspace: o.access.Lexer().Base, ToCreate: isNotebook(s) && s.Op.Changes(),
	}.Refusal()
}

// irregular refuses a folder, a device, a FIFO or a socket; nil for other files.
func (o opener) irregular(s *target) error {
	switch s.Kind {
	case fsys.Directory:
		list, ok := o.access.List(s.File)
		return refusal.Directory(s.name(), list, ok)
	case fsys.Special:
		return refusal.Special(s.Asked)
	}
	return nil
}

// kindOf tells what a file of a size is by its first bytes and its extension.
func kindOf(f *fsys.File, size int64, ext string) (media.Kind, error) {
	head := make([]byte, min(size, media.HeadSize))
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return media.None, err
	}
	return media.Sniff(head[:n], ext), nil
}

// writable refuses what no change may touch by its first bytes: pictures and
// PDFs.
func writable(s *target, old *fsys.File) error {
	kind, err := kindOf(old, media.HeadSize, s.Asked.Ext())
	if err == nil && kind != media.None {
		return refusal.NotText(s.name(), kind.String())
	}
	return err
}

// allNames are all names of a file, the resolved one last.
func (s *target) allNames() []string {
	if s.Names[len(s.Names)-1] == s.Path {
		return s.Names
	}
	return append(s.Names[:len(s.Names):len(s.Names)], s.Path)
}

// knownNames are all names of a file and its hard links that are known, the
// resolved one last.
func (s *target) knownNames() []string {
	return append(slices.Clip(s.links), s.allNames()...)
}

// isNotebook tells by the name: a notebook is a text file by its bytes.
func isNotebook(s *target) bool { return s.Asked.Ext() == "ipynb" }
