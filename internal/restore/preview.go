package restore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Preview holds the steps that the restore of a change, or of all changes of its call, would
// make. Restored makes exactly these steps, or stops.
type Preview struct {
	ID      string // of the change
	Group   bool   // all changes of its call
	Steps   []Step
	Changes bool // a step changes something

	sums map[[sha256.Size]byte]bool
}

// Step describes the part of a restore that changes one file.
type Step struct {
	Path    string        // under the name that the file has now
	Entry   history.Entry // the newest of the changes that are restored
	Text    string        // a sentence
	Changes bool
	// Now and Then are the file as it is and as it will be, nil for no file; of a large file the
	// places that change. Both are nil where bytes do not change.
	Now, Then []byte

	sum [sha256.Size]byte // of all that the step does, and to which bytes
}

// ErrDenied says that the rules do not let the user see a file of a restore.
var ErrDenied = errors.New("the rules deny a file that it would change")

// planned is a step before it is made. old and plan are those of a change of bytes.
type planned struct {
	path  string
	entry history.Entry
	old   *fsys.File
	plan  history.Plan
}

// Preview finds out what the restore of a change would do, or with group that of all changes of
// its call. It changes nothing. Other errors than ErrDenied are as those of Change and Group.
func (r Restorer) Preview(ctx context.Context, e history.Entry, group bool) (*Preview, error) {
	p := &Preview{ID: e.ID, Group: group, sums: make(map[[sha256.Size]byte]bool)}
	r.planned = func(s planned) error {
		if errors.Join(r.Admit(s.entry), r.Service.Admit(s.path)) != nil {
			return ErrDenied
		}
		step, err := s.step()
		p.Steps, p.Changes, p.sums[step.sum] = append(p.Steps, step), p.Changes || step.Changes, true
		return err
	}
	files := []RestoredFile{{Path: e.Path, Entries: []history.Entry{e}}}
	if group {
		if files = r.filesOf(inGroup(e.Group)); len(files) == 0 {
			return nil, ErrNoSession
		}
	}
	return p, r.try(ctx, files, e.ID)
}

// Restored makes the steps of a preview, and returns a line for each file that it changed. Where
// a step would not be the one that the preview has, it stops with a *history.ConflictError.
func (r Restorer) Restored(ctx context.Context, p *Preview) ([]string, error) {
	e, err := r.Archive.Find(p.ID)
	if err != nil {
		return nil, err
	}
	r.planned = func(s planned) error {
		step, err := s.step()
		if err == nil && !p.sums[step.sum] {
			err = &history.ConflictError{Why: "it has changed since it was shown"}
		}
		return err
	}
	if p.Group {
		files, err := r.Group(ctx, e.Group)
		return Lines(files), err
	}
	result, err := r.Change(ctx, e)
	if result == nil {
		return nil, err
	}
	return []string{result.Blocks[0].Text}, err
}

// step words a step and finds the bytes before and after it.
func (s planned) step() (step Step, err error) {
	e, places := s.entry, ""
	step = Step{Path: s.path, Entry: e, Text: "It changes as shown below.", Changes: true}
	switch {
	case e.Operation == history.OpMove && !fsys.Exists(e.To):
		step.Text, step.Changes = "It is moved back already, or is not there any more.", false
	case e.Operation == history.OpMove:
		step.Text = fmt.Sprintf("It is moved back from %s.", fsys.Printable(e.To))
	case e.Operation == history.OpDelete && fsys.Exists(e.Path):
		step.Text, step.Changes = "It is there already.", false
	case e.Operation == history.OpDelete:
		step.Text = "It is made again."
	case s.plan.Remove:
		step.Text = "The change created it: it is removed."
		if e.NewDirs > 0 {
			step.Text = "The change created it: it is removed, with the folders made for it that are empty then."
		}
	case len(s.plan.Splices) == 0:
		step.Text, step.Changes = "It holds nothing of this change any more: nothing is to be done.", false
	case s.old == nil:
		step.Text = "It is made again."
	}
	if bytes := e.Operation == history.OpEdit || e.Operation == history.OpCopy; bytes && step.Changes {
		step.Now, step.Then, err = s.sides()
		for _, c := range s.plan.Splices {
			places += fmt.Sprint(c.Start, "-", c.End, " ")
		}
	}
	step.sum = sha256.Sum256(fmt.Appendf(nil, "%q %q %q %t %s %x %x", e.ID, s.path, step.Text, step.Then == nil, places, sha256.Sum256(step.Now), sha256.Sum256(step.Then)))
	return step, err
}

// sides returns the bytes before and after a step.
func (s planned) sides() (now, then []byte, err error) {
	if s.entry.Partial() {
		for _, c := range s.plan.Splices {
			old := make([]byte, c.End-c.Start)
			if _, err := s.old.ReadAt(old, c.Start); err != nil {
				return nil, nil, err
			}
			now, then = append(now, old...), append(then, c.New...)
		}
		return now, then, nil
	}
	if now, err = content(s.old); err != nil || s.plan.Remove {
		return now, nil, err
	}
	return now, append([]byte{}, span.Apply(now, s.plan.Splices)...), nil
}

// Refused says in one sentence or more why a restore of e, as Preview and Restored make it, failed.
func Refused(e history.Entry, err error) string {
	if in := (*FileError)(nil); errors.As(err, &in) {
		e = in.File.Entries[0]
	}
	if no := (*history.ConflictError)(nil); errors.As(err, &no) {
		return fmt.Sprintf("%s: %s. Nothing was changed in it.", fsys.Printable(e.Path), no.Why)
	}
	if errors.Is(err, ErrDenied) {
		return "The rules deny a file that it would change. Nothing was changed."
	}
	text, _ := Fault(e, err)
	return strings.TrimRight(text, ".") + "."
}
