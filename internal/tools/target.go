package tools

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
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

// argument is a file argument, parsed.
type argument struct {
	path fsys.Path
	err  error // what the call fails with once it opens the file
}

func (h *House) argument(raw string) argument {
	path, err := h.Access.Parse(raw)
	return argument{path, err}
}

// request is what a call wants to do with a file.
func (c Call) request(op perm.Op, path fsys.Path) access.Request {
	return access.Request{Op: op, Path: path, Session: &c.Session.grants, Once: c.Consent, Exact: c.restoring}
}

// open resolves and authorizes the file of a call. An error has its words.
func (h *House) open(call Call, op perm.Op) (*target, error) {
	if call.file.err != nil {
		return nil, call.file.err
	}
	f, err := h.Access.Open(call.request(op, call.file.path))
	if slash := (*access.SlashError)(nil); errors.As(err, &slash) && call.account != nil {
		call.account.path = slash.Resolved
	}
	if err != nil {
		return nil, h.unopened(call, err)
	}
	if call.account != nil {
		call.account.path, call.account.stamp = f.Path, f.Stamp
	}
	return &target{File: f}, nil
}

// unopened words what keeps a call from a file. An error of resolving stays as it is.
func (h *House) unopened(call Call, err error) error {
	var consent *access.ConsentError
	var denied *access.DeniedError
	var device *access.DeviceError
	var irregular *access.SpecialError
	var slash *access.SlashError
	switch {
	case errors.As(err, &consent):
		return h.needConsent(consent, call.intent())
	case errors.As(err, &denied):
		return judgement{Judgement: denied.Judgement}.denied()
	case errors.As(err, &device):
		return refuse(slugSpecialFile, "%s is a device or another process's stream, not a file: it is never opened. Name a regular file.", fsys.InSentence(device.Path.String()))
	case errors.As(err, &irregular):
		return special(irregular.Path)
	case errors.As(err, &slash):
		return refuse(slugBadArgument, "The path %s ends in a slash, which names a folder; leave the slash out to name the file.", phrase.Quote(slash.Path.Given()))
	}
	return err
}

func special(path fsys.Path) error {
	return refuse(slugSpecialFile, "%s is a device, a FIFO or a socket, not a regular file: it is neither read nor written.", fsys.InSentence(path.String()))
}

// absent returns the error of a change for a name that is not there: the file was gone
// since it was shown, or never was.
func (h *House) absent(call Call, s *target) error {
	if _, shown := call.Session.files.Get(s.Path); shown {
		return gone(call.Session, s)
	}
	return h.missing(s)
}

// missing is the answer for a name that is not there: near names that may be
// read, and where relative names are taken from.
func (h *House) missing(s *target) error {
	var b strings.Builder
	fmt.Fprintf(&b, "File does not exist. Path: %s.", s.name())
	if near := phrase.Names(h.Access.Near(s.File)); len(near) > 0 {
		fmt.Fprintf(&b, " Did you mean %s?", strings.Join(near, " or "))
	}
	if base := h.Access.Lexer().Base; base != "" && (s.Asked.Relative() || !access.Within(base, s.Asked.String())) {
		fmt.Fprintf(&b, " The workspace directory is %s.", fsys.InSentence(base))
	}
	if isNotebook(s) && s.Op.Changes() {
		b.WriteString(" Write creates a notebook.")
	}
	return refuse(slugNotFound, "%s", b.String())
}

// directory is the answer for a folder: its first entries, so that the caller can go
// on.
func (h *House) directory(s *target) error {
	list, ok := h.Access.List(s.File)
	switch {
	case !ok:
		return refuse(slugIsDirectory, "%s is a directory, not a file. Name a file in it.", s.name())
	case len(list.Names) == 0:
		return refuse(slugIsDirectory, "%s is a directory, not a file. It holds nothing that can be named here.", s.name())
	}
	shown := phrase.Names(list.Names)
	if list.More {
		shown = append(shown, "…")
	}
	return refuse(slugIsDirectory, "%s is a directory, not a file. Name a file in it; it holds:\n%s", s.name(), strings.Join(shown, "\n"))
}
