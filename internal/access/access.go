// Package access is the one way from a file argument to a file: the argument is
// parsed, the rules decide on the name, the name is resolved, and the rules decide
// again on every name and hard link that the file turns out to have. Tools, hints,
// reminders, restore and `fsmcp explain` all go through it.
//
// It returns facts: the resolved file, or as an error what keeps a call from it.
// Nothing that the disk says leaves it before the rules have decided. It opens no
// file, words nothing for a model, and knows nothing of what a caller was shown.
package access

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// Checker resolves and authorizes file arguments by the rules as they are now.
type Checker struct {
	// Lexer parses file arguments, relative ones from the workspace as it is now.
	Lexer    func() fsys.Lexer
	Resolver *fsys.Resolver
	Policy   func() *perm.Policy
	Now      func() time.Time
	// Folders returns the workspace directories: one that is not there is not made. nil
	// serves every name.
	Folders func() []Folder
}

// Request names the operation of a call and its file.
type Request struct {
	Op   perm.Op
	Path fsys.Path
	// Session holds the user's grants for the rest of the conversation, Once the
	// consent to this call; nil grants nothing.
	Session, Once perm.Grants
	// Exact takes the name as it is: no other spelling is tried if it names nothing.
	Exact bool
	// Folders resolves the names of an Entry; nil: each name alone.
	Folders *fsys.Folders
}

// Granted implements perm.Grants: either grant will do.
func (r Request) Granted(op perm.Op, path string) bool {
	return r.Session != nil && r.Session.Granted(op, path) || r.Once != nil && r.Once.Granted(op, path)
}

// AllowedFile is a file that the rules let through, resolved and pinned.
type AllowedFile struct {
	*fsys.Target
	Op perm.Op
	// Question asks the user before a change that would succeed; nil asks nothing. A
	// question that comes before any look at the file is an error of Open instead.
	Question *ConsentError
	// Hidden says that an answer to a change must not show what the file holds: a
	// Read of it would take a question.
	Hidden bool
	// Used are the other spellings that were tried because the name named nothing.
	Used []Spelling
}

// Decision is a decision of the rules with the facts that it was made on.
type Decision struct {
	perm.Decision
	Policy *perm.Policy
	Op     perm.Op
	Path   fsys.Path
	Names  []string // of the file, as far as they are known
}

// Outside returns the first name of the file that is in no workspace directory, "" if all
// are in one.
func (d Decision) Outside() string {
	if i := slices.IndexFunc(d.Names, func(n string) bool { return !d.Policy.Inside(n) }); i >= 0 {
		return d.Names[i]
	}
	return ""
}

// Why words the reason of a decision that no rule made. Refusals, questions and
// explanations say the same.
func (d Decision) Why() string {
	if d.Reason != perm.ReasonMode {
		return string(d.Reason)
	}
	mode, outside := d.Policy.Mode(), d.Outside() != ""
	why := "outside the workspace"
	switch {
	case !outside && mode == perm.DontAsk:
		return "mode dontAsk refuses changes that no rule allows"
	case !outside:
		return fmt.Sprintf("mode %s asks before changes", mode)
	case len(d.Policy.Workspace()) == 0:
		why = "there is no workspace directory"
	}
	if mode == perm.DontAsk {
		why += ", and mode dontAsk asks nobody"
	}
	return why
}

// DeniedError: the rules deny the call. It is the same for a file that does not
// exist.
type DeniedError struct{ Decision }

func (e *DeniedError) Error() string { return fmt.Sprintf("%s %s is denied", e.Op, e.Path) }

// ConsentError: the call takes the user's consent.
type ConsentError struct {
	Decision
	Resolved string // the name that consent is bound to
}

func (e *ConsentError) Error() string { return fmt.Sprintf("%s %s needs consent", e.Op, e.Path) }

// DeviceError: the name is a device or a stream of another process, and is never
// resolved.
type DeviceError struct{ Path fsys.Path }

func (e *DeviceError) Error() string { return e.Path.String() + " is a device" }

// SpecialError: what the name leads to is a device, a FIFO or a socket.
type SpecialError struct{ Path fsys.Path }

func (e *SpecialError) Error() string { return e.Path.String() + " is no regular file" }

// SlashError: the argument is spelt as a folder, and no folder is there.
type SlashError struct {
	Path     fsys.Path
	Resolved string // the name of what is there
}

func (e *SlashError) Error() string { return e.Path.String() + " is no folder" }

// ErrElsewhere: a name led to another place by the time its lock was held.
var ErrElsewhere = errors.New("the folders or links on the way were changed meanwhile")

// Open resolves and authorizes a file argument. If the name names nothing, it tries the other
// spellings that a caller may have meant. The error is a *DeniedError, *ConsentError,
// *DeviceError, *SpecialError, *SlashError or *ElsewhereError, or that of Resolve.
func (c *Checker) Open(r Request) (*AllowedFile, error) {
	r, used, err := c.fromElsewhere(r)
	if err != nil {
		return nil, err
	}
	f, err := c.authorize(r)
	if err != nil {
		return nil, err
	}
	f.Used = used
	if f.Kind == fsys.Missing && !r.Exact {
		if err := c.respell(r, f); err != nil {
			f.Close()
			return nil, err
		}
	}
	if f.Asked.TrailingSlash() && f.Kind != fsys.Directory {
		f.Close()
		return nil, &SlashError{r.Path, f.Path}
	}
	return f, nil
}

// Check is Open for a caller that cannot ask and takes the name as it is: a question
// is a *ConsentError.
func (c *Checker) Check(r Request) (*fsys.Target, error) {
	f, err := c.authorize(r)
	if err != nil {
		return nil, err
	}
	if f.Question != nil {
		f.Close()
		return nil, f.Question
	}
	return f.Target, nil
}

// Decide decides on what is no file, such as the clipboard, by its name in each workspace
// directory. It resolves nothing. The error is a *DeniedError or a *ConsentError.
func (c *Checker) Decide(r Request) error {
	d := Decision{Policy: c.Policy(), Op: r.Op, Path: r.Path}
	if c.Folders != nil {
		if err := Unserved(c.Folders(), ""); err != nil {
			return err
		}
	}
	for _, dir := range d.Policy.Workspace() {
		d.Names = append(d.Names, fsys.Join(dir.Name, r.Path.String()))
	}
	if len(d.Names) == 0 {
		d.Names = []string{fsys.Join("", r.Path.String())}
	}
	d.Decision = d.Policy.DecideGranted(r.Op, d.Names, c.isThere, r)
	switch d.Verdict {
	case perm.Deny:
		return &DeniedError{d}
	case perm.Ask:
		return &ConsentError{Decision: d, Resolved: d.Names[len(d.Names)-1]}
	}
	return nil
}

// decide decides on the name as given and, if goOn says so, resolves it and decides on every
// name and hard link of the file that it leads to. The target is nil if it goes no further;
// err is that of resolving.
func (c *Checker) decide(r Request, goOn func(perm.Decision) bool) (d Decision, t *fsys.Target, err error) {
	d = Decision{Policy: c.Policy(), Op: r.Op, Path: r.Path, Names: []string{r.Path.String()}}
	d.Decision = d.Policy.DecideGranted(r.Op, d.Names, c.isThere, r)
	if !goOn(d.Decision) {
		return d, nil, nil
	}
	began := c.Now()
	t, err = c.Resolver.Resolve(r.Path)
	d.Names = t.Names
	if d.Verdict != perm.Allow || len(t.Names) > 1 {
		d.Decision = d.Policy.DecideGranted(r.Op, d.Names, c.isThere, r)
	}
	d.Decision = hardLinks{c, t}.decide(d, began, r)
	return d, t, err
}

// authorize resolves a file argument and returns what the rules let through.
func (c *Checker) authorize(r Request) (*AllowedFile, error) {
	if fsys.RefusedByName(r.Path) {
		return nil, &DeviceError{r.Path}
	}
	d, target, err := c.decide(r, func(d perm.Decision) bool { return d.Verdict != perm.Deny || d.Reason == perm.ReasonBuiltin })
	if target == nil {
		return nil, &DeniedError{d}
	}
	if c.Folders != nil {
		if err := unserved(c.Folders(), r.Path.String(), target); err != nil {
			target.Close()
			return nil, err
		}
	}
	f, refused := c.fileBy(d, r, target)
	if refused == nil {
		refused = err
	}
	if refused != nil {
		target.Close()
		return nil, refused
	}
	return f, nil
}

// unserved returns a *UnservedError for a file that none of the folders serves. It looks
// at a folder only if the file itself, or the folder that it would be made in, does not show
// that it is there.
func unserved(folders []Folder, given string, t *fsys.Target) error {
	if (t.Kind != fsys.Missing || len(t.MissingDirs()) == 0) && served(folders, given) {
		return nil
	}
	if err := Unserved(folders, given); err != nil || t.Path == given {
		return err
	}
	return Unserved(folders, t.Path)
}

// fileBy returns the file that a decision lets through, or the error that it comes to.
//
// A question about a change waits until the call is known to succeed, if the file may be
// read without one. Otherwise it comes before anything that the disk says is told.
func (c *Checker) fileBy(d Decision, r Request, t *fsys.Target) (*AllowedFile, error) {
	if d.Verdict == perm.Deny {
		if d.Reason == perm.ReasonBuiltin && t.Kind == fsys.Special {
			return nil, &SpecialError{r.Path}
		}
		return nil, &DeniedError{d}
	}
	readable := r.Op.Changes() && d.Policy.DecideGranted(perm.Read, d.Names, c.isThere, r.Session).Verdict == perm.Allow
	f := &AllowedFile{Target: t, Op: r.Op}
	if d.Verdict == perm.Ask {
		f.Question = &ConsentError{Decision: d, Resolved: t.Path}
		if !readable {
			return nil, f.Question
		}
	}
	// A grant for the session covers changes, not reading: only consent to this very
	// call shows the file.
	f.Hidden = r.Op.Changes() && !readable && (r.Once == nil || !r.Once.Granted(r.Op, t.Path))
	return f, nil
}
