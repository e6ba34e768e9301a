package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// NameStep is one name that a call moves, copies or deletes.
type NameStep struct {
	From, To fsys.Path // To is zero for a delete
	Into     bool      // To is the folder to go into
	Spelt    bool      // by the call itself, not by a pattern
	Index    int       // of its entry in the arguments
}

// NamesCall is a call that moves, copies or deletes files and folders. Its steps are worked out
// before the first is made, each on the tree that earlier ones leave.
type NamesCall struct {
	Operation history.Operation // OpMove, OpCopy or OpDelete
	Recursive bool              // a folder that is not empty may be deleted
	Steps     []NameStep
	Remarks   []string // on the arguments
}

// Bounds of a call.
const (
	MostSteps    = 1000
	unspeltSteps = 100 // more than these that no argument spells are asked about
	listed       = 20  // names that an answer or a question lists
	mostHooked   = 100 // files below a folder that hooks before a change may name
	// namesTime is the time after its hooks and locks at which a call stops between entries, since the
	// locks keep others waiting.
	namesTime = 25 * time.Second
)

// naming is a NamesCall under way.
type naming struct {
	NamesCall
	by    *Committer
	call  toolcall.Call
	begun time.Time
	tree  nameTree
	// policy has the rules of the first look at all names; nil: they changed meanwhile.
	policy *perm.Policy
	// folders resolves the names that are looked at now.
	folders *fsys.Folders
	steps   []*nameStep
	out     toolcall.Outcome
	// unkept are the names that the history will not keep, each with the reason.
	unkept []string
	marks  []*history.Mark
	faults []hooks.Report
}

// nameStep is a step that was worked out.
type nameStep struct {
	NameStep
	from, to *access.AllowedFile // as they were found first; to is nil for a delete
	toPath   fsys.Path           // the new name itself
	kind     fsys.Kind           // of what is moved, as earlier steps leave it
	stamp    fsys.Stamp
	virtual  bool                 // an earlier step makes it
	asked    *access.ConsentError // the question that comes before the caller learns why the step cannot be made
	below    access.Below
	links    int  // other hard links
	begun    bool // the audit log has it
	made     bool
}

// ChangeNames makes the changes of a call: work all of them out, ask once, run the hooks
// before, lock all names, decide on each again and make it, unlock, and run the hooks after.
func (c *Committer) ChangeNames(ctx context.Context, call toolcall.Call, names NamesCall) toolcall.Outcome {
	call.Group = history.NewGroup()
	n := &naming{NamesCall: names, by: c, call: call}
	defer n.close()
	if out := n.workOut(ctx); out.Err != nil {
		return out
	}
	if out := n.needsConsent(ctx); out.Err != nil {
		return out
	}
	if err := (namesHooks{n}).before(ctx); err != nil {
		return toolcall.Failed(err)
	}
	unlock, err := n.lockPaths(ctx)
	if err != nil {
		return toolcall.Failed(err)
	}
	defer unlock()
	locks, err := n.lockNames(ctx)
	if err != nil {
		return toolcall.Failed(err)
	}
	defer locks.Unlock()
	closeAlone(n)
	n.begun = time.Now()
	failed, why := (&nameMaker{naming: n, locks: locks}).run(ctx)
	locks.Unlock()
	namesHooks{n}.after(ctx)
	tellServersOfNames(n)
	return n.answer(failed, why)
}

// close closes the files of the first look.
func (n *naming) close() {
	for _, s := range n.steps {
		for _, f := range []*access.AllowedFile{s.from, s.to} {
			if f != nil {
				f.Close()
			}
		}
	}
}

// closeAlone closes the files of the first look that have descriptors of their own.
func closeAlone(n *naming) {
	for _, s := range n.steps {
		for _, f := range []*access.AllowedFile{s.from, s.to} {
			if f != nil && !f.SharesFolder() {
				f.Close()
			}
		}
	}
}

// op is the operation that the old names are decided by.
func (n *naming) op() perm.Op {
	switch n.Operation {
	case history.OpDelete:
		return perm.Delete
	case history.OpCopy:
		return perm.Read
	}
	return perm.MoveAway
}

func (n *naming) tool() string {
	if n.Operation == history.OpDelete {
		return perm.Delete.String()
	}
	return perm.Move.String()
}

// open resolves and decides on a name, on the tree that earlier steps leave if there knows it.
// A *access.DeniedError and a *access.ConsentError are not worded yet.
func (n *naming) open(op perm.Op, path fsys.Path, there access.Exists) (*access.AllowedFile, error) {
	r := n.call.Request(op, path)
	r.Folders = n.folders
	f, err := n.by.Opener.Access.Entry(r, there)
	if err != nil && !isByRules(err) {
		err = n.by.Opener.Refusal(op, err)
	}
	return f, err
}

func isDenied(err error) bool { return errors.As(err, new(*access.DeniedError)) }

// isByRules reports whether an error is a denial or a question.
func isByRules(err error) bool { return isDenied(err) || errors.As(err, new(*access.ConsentError)) }

// resolveTogether has open resolve each folder once, until the function that it returns is
// called.
func resolveTogether(n *naming) (end func()) {
	n.folders = n.by.Opener.Access.Resolver.Folders()
	return func() {
		n.folders.Close()
		n.folders = nil
	}
}

// there reports whether a name will exist once the steps so far are made.
func (n *naming) there(name string) bool {
	real, ok := n.tree.real(name)
	if !ok {
		return n.tree.makes(name)
	}
	t, err := n.by.Opener.Access.EntryAt(real)
	if err != nil {
		return n.tree.makes(name)
	}
	defer t.Close()
	return t.Kind != fsys.Missing || n.tree.makes(name)
}

// workOut works out all steps. Those that fail are all named.
func (n *naming) workOut(ctx context.Context) toolcall.Outcome {
	defer resolveTogether(n)()
	policy := n.by.Opener.Access.Policy()
	var failed []failedStep
	for i := range n.Steps {
		if err := ctx.Err(); err != nil {
			return toolcall.Failed(err)
		}
		s := &nameStep{NameStep: n.Steps[i], toPath: n.Steps[i].To}
		n.steps = append(n.steps, s)
		if out := n.step(ctx, s); out.Err != nil {
			errors.As(out.Err, &s.asked)
			failed = append(failed, failedStep{s, isDenied(out.Err), out})
			continue
		}
		change := treeChange{from: s.from.Path, copied: n.Operation == history.OpCopy}
		if s.to != nil {
			change.to = s.to.Path
		}
		n.tree.add(change)
	}
	if policy == n.by.Opener.Access.Policy() {
		n.policy = policy
	}
	if len(failed) > 0 && hidden(n) {
		// Of such names only a denial tells nothing that is on the disk.
		failed = slices.DeleteFunc(failed, func(f failedStep) bool { return !f.denied })
		if len(failed) == 0 {
			return consentFirst(n)
		}
	}
	if len(failed) == 0 {
		return toolcall.Outcome{}
	}
	return n.refused(failed)
}

// hidden reports whether a Read of a name of the call takes a question.
func hidden(n *naming) bool {
	return slices.ContainsFunc(n.steps, func(s *nameStep) bool {
		return s.asked != nil || s.from != nil && s.from.Hidden || s.to != nil && s.to.Hidden
	})
}

// failedStep is a step that cannot be made.
type failedStep struct {
	*nameStep
	denied bool // by the rules, whatever is there
	out    toolcall.Outcome
}

// refused refuses a call if some of its steps cannot be made, in the words for the first one,
// with a line for each of the others.
func (n *naming) refused(failed []failedStep) toolcall.Outcome {
	for i := range failed {
		failed[i].out.Err = n.by.Opener.Refusal(n.op(), failed[i].out.Err)
	}
	out := failed[0].out
	first := refusal.Of(failed[0].From.String(), out.Err)
	entries := make([]toolcall.FailedEntry, len(failed))
	for i, f := range failed {
		entries[i] = toolcall.FailedEntry{Index: f.Index, Error: refusal.Of(f.From.String(), f.out.Err).Slug}
	}
	if len(n.Steps) > 1 {
		var b strings.Builder
		fmt.Fprintf(&b, "Nothing was done: %d of the %d names cannot be %s.", len(failed), len(n.Steps), done(n.Operation))
		for i, f := range failed[1:] {
			if i == listed-1 {
				fmt.Fprintf(&b, "\n… and %d more", len(failed)-listed)
				break
			}
			line, _, _ := strings.Cut(refusal.Of(f.From.String(), f.out.Err).Text, "\n")
			fmt.Fprintf(&b, "\n%s: %s", fsys.InSentence(f.From.String()), line)
		}
		first = first.With(b.String())
	}
	out.Err = first
	if len(n.Steps) > 1 {
		out.Facts.Failed = &entries
	}
	return out
}

// done says what is done, in the passive.
func done(o history.Operation) string {
	return map[history.Operation]string{history.OpMove: "moved", history.OpCopy: "copied", history.OpDelete: "deleted"}[o]
}

// step works out one step.
func (n *naming) step(ctx context.Context, s *nameStep) toolcall.Outcome {
	var err error
	if s.from, err = n.open(n.op(), s.From, n.there); err != nil {
		return toolcall.Failed(err)
	}
	if err := n.find(s); err != nil {
		return toolcall.Failed(err)
	}
	if err := n.mayGo(s); err != nil {
		return toolcall.Failed(err)
	}
	if n.Operation != history.OpDelete {
		if err := n.newName(s); err != nil {
			return toolcall.Failed(err)
		}
	}
	if s.kind == fsys.Directory {
		if err := n.lookBelow(s); err != nil {
			return toolcall.Failed(err)
		}
	}
	if n.Operation == history.OpDelete {
		return n.gateDelete(ctx, s)
	}
	return toolcall.Outcome{}
}

// find finds out what the old name will be when the step's turn comes.
func (n *naming) find(s *nameStep) error {
	real, ok := n.tree.real(s.from.Path)
	s.kind, s.stamp, s.virtual = s.from.Kind, s.from.Stamp, ok && real != s.from.Path
	switch {
	case !ok:
		s.kind = fsys.Missing
	case s.kind == fsys.Missing && !s.virtual && n.tree.makes(s.from.Path):
		s.kind, s.virtual = fsys.Directory, true
	case s.virtual:
		t, err := n.by.Opener.Access.EntryAt(real)
		if err != nil {
			return err
		}
		defer t.Close()
		s.kind, s.stamp = t.Kind, t.Stamp
	}
	s.links = max(0, int(s.stamp.Nlink)-1)
	name := fsys.InSentence(s.From.String())
	switch {
	case s.kind == fsys.Missing:
		return n.by.Opener.Missing(&toolcall.Target{AllowedFile: s.from})
	case s.From.TrailingSlash() && s.kind != fsys.Directory:
		return refusal.New(refusal.NotAFolderName, s.From.Given(), name)
	case s.kind == fsys.Special:
		return refusal.New(refusal.Special, name)
	case s.kind == fsys.Directory && n.Operation == history.OpCopy:
		return refusal.New(refusal.FolderCopy, name)
	}
	return nil
}

// mayGo refuses to take away what stays in its place.
func (n *naming) mayGo(s *nameStep) error {
	if n.Operation == history.OpCopy {
		return nil
	}
	if err := n.stays(s.from); err != nil {
		return err
	}
	if n.Operation == history.OpDelete && s.kind == fsys.Regular && save.ReadOnly(s.stamp) {
		return save.ErrReadOnly
	}
	return nil
}

func (n *naming) stays(f *access.AllowedFile) error {
	if n.by.Opener.Access.Policy().Keeps(f.Names) {
		return refusal.New(refusal.StaysHere, fsys.InSentence(f.Asked.String()))
	}
	return nil
}

// newName works out the new name, and refuses one that is taken.
func (n *naming) newName(s *nameStep) error {
	if err := n.openNew(s); isByRules(err) {
		return err
	} else if err != nil {
		return refusal.Of(s.toPath.String(), err)
	}
	from, to := fsys.InSentence(s.From.String()), fsys.InSentence(s.toPath.String())
	switch {
	case s.kind == fsys.Directory && fsys.Within(s.from.Path, s.to.Path) && s.from.Path != s.to.Path:
		return refusal.New(refusal.IntoItself, from, to)
	case !isFree(n, s.to) && !(n.Operation == history.OpMove && s.respells()):
		return refusal.New(refusal.ToExists, to)
	}
	if err := n.stays(s.to); err != nil {
		return err
	}
	if err := s.to.CheckNewNames(); err != nil {
		return err
	}
	if !n.call.Session.HasDeleted(s.to.Path) {
		return nil
	}
	return n.call.Session.Recall(s.to.Path, n.hides(s.to), n.by.Budget.ForClient(n.call.Client)).Err
}

// openNew opens the new name of a step: what was asked for, or a name in it if it is a folder.
func (n *naming) openNew(s *nameStep) (err error) {
	into := s.Into || s.To.TrailingSlash()
	if !into {
		s.to, err = n.open(perm.Move, s.To, n.there)
		if err == nil && isFree(n, s.to) {
			return nil // the most usual case, which takes one look
		}
		if err == nil && s.to.Hidden {
			return s.to.Question
		}
		if err == nil {
			s.to.Close()
			s.to = nil
		}
		into = n.isFolder(s)
	}
	if into {
		s.toPath = s.To.Below(s.from.Base())
	}
	s.to, err = n.open(perm.Move, s.toPath, n.there)
	return err
}

// isFree reports whether nothing will have a name that was looked at just now, once the steps so
// far are made.
func isFree(n *naming, f *access.AllowedFile) bool {
	if real, ok := n.tree.real(f.Path); ok && real == f.Path {
		return f.Kind == fsys.Missing && !n.tree.makes(f.Path)
	}
	return !n.there(f.Path)
}

// isFolder reports whether the new name is that of a folder, so that it means into it.
func (n *naming) isFolder(s *nameStep) bool {
	t, err := n.by.Opener.Access.Check(n.call.Request(perm.Move, s.To))
	if t == nil || err != nil {
		return false
	}
	defer t.Close()
	if t.Kind == fsys.Directory && !t.Stamp.SameFile(s.stamp) {
		_, stillThere := n.tree.real(t.Path)
		return stillThere
	}
	if t.Kind != fsys.Missing {
		return false
	}
	if n.tree.makes(t.Path) {
		return true
	}
	real, ok := n.tree.real(t.Path)
	if !ok || real == t.Path {
		return false
	}
	was, err := n.by.Opener.Access.EntryAt(real)
	if err != nil {
		return false
	}
	defer was.Close()
	return was.Kind == fsys.Directory
}

// respells reports whether the new name is the old one in another case, of one file.
func (s *nameStep) respells() bool {
	return s.from.Path != s.to.Path && !s.virtual && s.to.Kind != fsys.Missing &&
		s.to.Stamp.SameFile(s.stamp) && strings.EqualFold(s.from.Path, s.to.Path)
}

// hides reports whether what a file holds must not be shown.
func (n *naming) hides(f *access.AllowedFile) bool {
	return n.by.Opener.Access.Policy().DecideGranted(perm.Read, f.Names, nil, &n.call.Session.Grants).Verdict != perm.Allow
}

// lookBelow decides on what lies below a folder.
func (n *naming) lookBelow(s *nameStep) error {
	f := s.from
	if s.virtual {
		real, _ := n.tree.real(s.from.Path)
		t, err := n.by.Opener.Access.EntryAt(real)
		if err != nil {
			return err
		}
		f = &access.AllowedFile{Target: t, Op: s.from.Op}
		defer f.Close()
	}
	var b access.Below
	if f.Kind == fsys.Directory {
		var err error
		if b, err = n.belowOf(s, f); err != nil {
			return err
		}
	}
	if err := n.lookAtComing(s, &b); err != nil {
		return err
	}
	if n.Operation == history.OpDelete && !n.Recursive && len(b.Files)+b.Folders > 0 {
		return refusal.New(refusal.NotEmpty, fsys.InSentence(s.From.String()))
	}
	s.below = b
	return nil
}

// lookAtComing decides on what earlier steps will have put below a folder.
func (n *naming) lookAtComing(s *nameStep, b *access.Below) error {
	for _, c := range n.tree.changes {
		rest, below := fsys.Below(s.from.Path, c.to)
		if c.to == "" || !below || rest == "" {
			continue
		}
		var to []string
		if s.to != nil {
			to = []string{fsys.Join(s.to.Path, rest)}
		}
		if access.Covered(n.by.Opener.Access, n.call.Request(n.op(), s.From), []string{c.to}, to, n.there) {
			return refusal.New(refusal.CoveredBelow, fsys.InSentence(s.From.String()))
		}
		b.Files = append(b.Files, c.to)
	}
	return nil
}

// belowOf decides on what lies below a folder that is open as f, by the names of the step.
func (n *naming) belowOf(s *nameStep, f *access.AllowedFile) (access.Below, error) {
	var to []string
	if s.to != nil {
		to = s.to.Names
	}
	b, err := n.by.Opener.Access.Below(f, n.call.Request(n.op(), s.From), s.from.Names, to, n.there)
	name := fsys.InSentence(s.From.String())
	switch {
	case errors.Is(err, access.ErrCoveredBelow):
		err = refusal.New(refusal.CoveredBelow, name)
	case errors.Is(err, access.ErrTooManyBelow):
		err = refusal.New(refusal.TooManyBelow, name)
	}
	return b, err
}

// questions returns the questions about the names of the call.
func questions(n *naming) toolcall.ManyNames {
	m := toolcall.ManyNames{Once: n.Operation == history.OpDelete, Hidden: hidden(n)}
	note := func(q *access.ConsentError) {
		if q == nil {
			return
		}
		if m.First == nil {
			m.First = q
		}
		m.Permissions = append(m.Permissions, toolcall.Permission{Op: q.Op, Path: q.Resolved})
	}
	for _, s := range n.steps {
		for _, f := range []*access.AllowedFile{s.from, s.to} {
			if f != nil {
				note(f.Question)
			}
		}
		note(s.asked)
		note(s.below.Question)
	}
	return m
}

// consentFirst refuses a call that cannot be made, by the question about its names: without
// consent the caller does not learn what is there.
func consentFirst(n *naming) toolcall.Outcome {
	m := questions(n)
	m.What = n.intent()
	return toolcall.NeedConsentToMany(m, n.by.Opener.SettingsFile(), nil)
}

// needsConsent refuses a call that needs the user's consent, with one question for all of it.
func (n *naming) needsConsent(ctx context.Context) toolcall.Outcome {
	m := questions(n)
	unspelt := 0
	for _, s := range n.steps {
		if !s.Spelt {
			unspelt++
		}
		if s.kind == fsys.Directory && n.Operation == history.OpDelete {
			unspelt += len(s.below.Files) + s.below.Folders
		}
	}
	policy := n.by.Opener.Access.Policy()
	var refused error
	ask := func(why, key string, instead error) {
		p := toolcall.Permission{Op: perm.Delete, Path: key + "\x00"} // no name has that byte
		if n.call.Consent.Permits(p) {
			return
		}
		m.Why = toolcall.Joined(m.Why, why)
		m.Permissions = append(m.Permissions, p)
		if refused == nil {
			refused = instead
		}
	}
	if unspelt > unspeltSteps {
		ask(fmt.Sprintf("Reason: the call changes %s names that it does not spell", phrase.Thousands(unspelt)), fmt.Sprint("unspelt ", unspelt),
			refusal.New(refusal.NoPlainCall, unspelt, unspeltSteps))
	}
	if n.Operation == history.OpDelete {
		if n.unkept = n.notKept(ctx); len(n.unkept) > 0 {
			why := fmt.Sprintf("Reason: fsmcp's history will not keep %s, so that it cannot be restored", listOf(n.unkept, "what is deleted"))
			ask(why, "unkept "+strings.Join(n.unkept, "\x00"), refusal.New(refusal.NotKept, listOf(n.unkept, "it")))
		}
	}
	if len(m.Permissions) == 0 {
		return toolcall.Outcome{}
	}
	if policy.Mode() == perm.DontAsk && refused != nil {
		return toolcall.Failed(refused)
	}
	m.What = n.intent()
	return toolcall.NeedConsentToMany(m, n.by.Opener.SettingsFile(), refused)
}

// listOf names some files in a sentence.
func listOf(names []string, many string) string {
	if len(names) == 1 {
		return fsys.InSentence(names[0])
	}
	return fmt.Sprintf("%d files of %s, such as %s", len(names), many, fsys.InSentence(names[0]))
}

// intent tells the user what the call will do.
func (n *naming) intent() string {
	verb := map[history.Operation]string{history.OpMove: "Move", history.OpCopy: "Copy", history.OpDelete: "Delete"}[n.Operation]
	lines := make([]string, 0, listed+1)
	for i, s := range n.steps {
		if i == listed {
			lines = append(lines, fmt.Sprintf("… and %d more", len(n.steps)-listed))
			break
		}
		lines = append(lines, n.line(s))
	}
	if len(n.steps) == 1 {
		return verb + " " + lines[0] + "?"
	}
	return fmt.Sprintf("%s %s?\n%s", verb, things(len(n.steps)), strings.Join(lines, "\n"))
}

func things(n int) string { return phrase.Thousands(n) + " files and folders" }

// line names what a step changes.
func (n *naming) line(s *nameStep) string {
	line := fsys.InSentence(s.From.String())
	if n.Operation != history.OpDelete {
		line += " to " + fsys.InSentence(s.toPath.String())
	}
	if s.kind == fsys.Directory && (len(s.below.Files) > 0 || s.below.Folders > 0) {
		line += fmt.Sprintf(" (a folder with %s %s)", phrase.Thousands(len(s.below.Files)), phrase.Plural(len(s.below.Files), "file", "files"))
	}
	return line
}

// lockPaths takes the conversation's locks of all names.
func (n *naming) lockPaths(ctx context.Context) (unlock func(), err error) {
	var paths []string
	for _, s := range n.steps {
		paths = append(paths, s.from.Path)
		if s.to != nil {
			paths = append(paths, s.to.Path)
		}
	}
	return n.call.Session.Files.LockAll(ctx, paths)
}

// lockNames takes the locks of all names among processes.
func (n *naming) lockNames(ctx context.Context) (*save.Locks, error) {
	var set save.LockSet
	for _, s := range n.steps {
		if n.Operation != history.OpCopy {
			set.Targets = append(set.Targets, s.from.Target)
		}
		if s.to == nil {
			continue
		}
		set.Targets = append(set.Targets, s.to.Target)
		if n.by.Opener.Access.Policy().RepositoryParts(s.to.Names) {
			set.Purposes = []string{"repository parts"}
		}
	}
	return n.by.Saver.LockAll(ctx, set)
}
