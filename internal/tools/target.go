package tools

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
)

// target is the file of a call, which the rules let through.
type target struct {
	*access.File
	remarks []string // on the arguments, for the end of the answer
	links   []string // its other hard links that mark it as secret, once they are known
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

// FileArgument is a file argument, parsed once for its call.
type FileArgument struct {
	// Key names the file as far as the argument alone does: calls with one key are kept
	// in order.
	Key    string
	path   fsys.Path
	err    error // the failure of the call once it opens the file
	parsed bool
}

// ParseFile parses a file argument, without a look at the disk.
func (h *Service) ParseFile(raw string) FileArgument {
	path, err := h.Access.Parse(raw)
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
func (h *Service) open(call Call, op perm.Op) (*target, error) {
	if call.File.err != nil {
		return nil, call.File.err
	}
	f, err := h.Access.Open(call.request(op, call.File.path))
	if slash := (*access.SlashError)(nil); errors.As(err, &slash) && call.account != nil {
		call.account.path = slash.Resolved
	}
	if consent := (*access.ConsentError)(nil); errors.As(err, &consent) {
		return nil, h.needConsent(consent, call.intent())
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
func (h *Service) absent(call Call, s *target) error {
	if _, shown := call.Session.files.Get(s.Path); shown {
		call.Session.files.Forget(s.Path)
		return refusal.Gone(s.name())
	}
	return h.missing(s)
}

// missing refuses a name that is not there.
func (h *Service) missing(s *target) error {
	return refusal.Missing{
		Path: s.Asked, Near: h.Access.Near(s.File), Workspace: h.Access.Lexer().Base, ToCreate: isNotebook(s) && s.Op.Changes(),
	}.Refusal()
}

// irregular refuses a folder, a device, a FIFO or a socket; nil for other files.
func (h *Service) irregular(s *target) error {
	switch s.Kind {
	case fsys.Directory:
		list, ok := h.Access.List(s.File)
		return refusal.Directory(s.name(), list, ok)
	case fsys.Special:
		return refusal.Special(s.Asked)
	}
	return nil
}
