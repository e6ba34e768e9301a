package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"weak"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Watcher notes which files were touched.
type Watcher interface {
	// Follow looks after a file by its resolved name; fresh says that it was
	// touched unseen perhaps. After an error nothing is known of it.
	Follow(name string) (fresh bool, err error)
	// Touched are the files that were touched since it was last asked.
	Touched() []string
}

// Bounds of one answer's reminders, and of what is remembered for them.
const (
	remindLines  = 60 // of one file's diff
	remindFiles  = 3
	remindNames  = 20
	mostLooks    = 1000 // files looked at for one answer
	mostReminded = 100  // files of which the text that was told last is kept
)

// followed is what a conversation knows of the files that it was shown in full,
// for the sake of reminders.
type followed struct {
	// due are those that may have changed; blind are those that nobody watches,
	// which are looked at before each answer.
	due, blind map[string]bool
	told       map[string]reminded
	order      []string // of told, the longest ago first
	// pictures were shown as pictures: of them only the stamp is known.
	pictures map[string]fsys.Stamp
}

// reminded is the last state of a file that was told.
type reminded struct {
	base state.Sum // of the record at that time: a record that moved has told more
	sum  state.Sum
	gone bool
	text []byte // nil where only the name was told
}

// follow looks after the file of a call, if it has been shown in full; picture says
// that it was as one.
func (h *House) follow(session *Session, about account, picture bool) {
	path := about.path
	rec, ok := session.files.Get(path)
	picture = picture && !ok // a notebook's pictures are not the file
	if !picture && (!ok || !shownInFull(rec)) {
		return
	}
	fresh, err := h.Watcher.Follow(path)
	session.mu.Lock()
	defer session.mu.Unlock()
	f := &session.followed
	if f.due == nil {
		f.due, f.blind, f.told, f.pictures = map[string]bool{}, map[string]bool{}, map[string]reminded{}, map[string]fsys.Stamp{}
	}
	if picture {
		f.pictures[path] = about.stamp
	}
	if err != nil {
		f.blind[path] = true
	} else {
		delete(f.blind, path)
	}
	if fresh {
		f.due[path] = true
	}
}

// shownInFull tells whether nothing of a file is left that was not shown. A file
// above state.WholeHash is none that can be compared as a whole.
func shownInFull(rec state.Record) bool {
	return rec.Parts == nil && len(rec.Shown.Missing(rec.Stamp.Size)) == 0
}

// distribute has every conversation look at what was touched.
func (h *House) distribute() {
	names := h.Watcher.Touched()
	if len(names) == 0 {
		return
	}
	h.mu.Lock()
	h.sessions = slices.DeleteFunc(h.sessions, func(p weak.Pointer[Session]) bool { return p.Value() == nil })
	all := slices.Clone(h.sessions)
	h.mu.Unlock()
	for _, p := range all {
		if s := p.Value(); s != nil {
			s.touch(names)
		}
	}
}

func (s *Session) touch(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range names {
		if s.followed.due != nil {
			s.followed.due[n] = true
		}
	}
}

// reminder is one file to be told of.
type reminder struct {
	name string // as the answer shows it
	why  string
	diff string
}

// remind ends an answer with what changed outside in files that were shown in
// full. It moves no record: another agent of the same connection may not have seen
// the answer. Of the file that the answer is about nothing is said.
func (h *House) remind(ctx context.Context, call Call, r *Result) {
	if h.Watcher == nil {
		return
	}
	h.distribute()
	var all []reminder
	for _, path := range call.Session.toLookAt(call.account.path) {
		if ctx.Err() != nil {
			call.Session.touch([]string{path})
			continue
		}
		if m, ok := h.changedOutside(call.Session, path, len(all) < remindFiles); ok {
			all = append(all, m)
		}
	}
	if len(all) > 0 {
		r.Blocks = append(r.Blocks, Block{Text: words(all)})
	}
}

// toLookAt takes out the files that may have changed, but for one.
func (s *Session) toLookAt(but string) (paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.followed
	for _, set := range []map[string]bool{f.due, f.blind} {
		for path := range set {
			if path != but && len(paths) < mostLooks && !slices.Contains(paths, path) {
				paths = append(paths, path)
				delete(f.due, path)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// changedOutside compares a file with its record and with what was told last, and
// notes what is to be told now. full asks for a diff, where there can be one.
func (h *House) changedOutside(session *Session, path string, full bool) (m reminder, ok bool) {
	rec, known := session.files.Get(path)
	if !known {
		return h.changedPicture(session, path)
	}
	if !shownInFull(rec) {
		session.unfollow(path)
		return m, false
	}
	t, err := h.again(session, path)
	if err != nil {
		return m, false
	}
	defer t.Close()
	last, told := session.lastTold(path, rec)
	m.name = remindable(fsys.Printable(path))
	now := reminded{base: rec.Hash}
	switch {
	case t.Kind == fsys.Missing:
		now.gone = true
		m.why = "was deleted or moved"
	case t.Kind != fsys.Regular || t.Path != path:
		now.gone = true // there is no such file any more
		m.why = "is another kind of file or leads elsewhere now"
	case !told && (rec.Proves(t.Stamp) || t.Stamp.Size > trusted && t.Stamp.Same(rec.Stamp)):
		return m, false
	default:
		was := rec.Content
		if told && last.text != nil {
			was = last.text
		}
		if m, now, ok = h.compared(t, m, now, rec, was, full); !ok {
			return m, false
		}
	}
	same := !now.gone && now.sum == rec.Hash
	if told {
		same = now.gone == last.gone && now.sum == last.sum
	}
	if same {
		return m, false
	}
	session.nowTold(path, now)
	return m, true
}

// trusted is the size from which an equal stamp is believed although it proves
// nothing: to read the file after each change of our own would cost more than a
// reminder is worth.
const trusted = 1 << 20

// changedPicture tells of a picture by its stamp.
func (h *House) changedPicture(session *Session, path string) (m reminder, ok bool) {
	session.mu.Lock()
	was, known := session.followed.pictures[path]
	session.mu.Unlock()
	if !known {
		session.unfollow(path)
		return m, false
	}
	t, err := h.again(session, path)
	if err != nil {
		return m, false
	}
	defer t.Close()
	same := t.Stamp.SameFile(was) && t.Stamp.Size == was.Size && t.Stamp.Mtime == was.Mtime
	if t.Kind == fsys.Missing && was == (fsys.Stamp{}) || same {
		return m, false
	}
	m = reminder{name: remindable(fsys.Printable(path)), why: fmt.Sprintf("was changed outside of fsmcp (%s now)", amount(t.Stamp.Size))}
	if t.Kind == fsys.Missing {
		m.why = "was deleted or moved"
	}
	session.mu.Lock()
	defer session.mu.Unlock()
	session.followed.pictures[path] = t.Stamp
	return m, true
}

// again opens the way to a file as a Read would: by the rules as they are now, and
// what this conversation's user has granted.
func (h *House) again(session *Session, path string) (*fsys.Target, error) {
	p, err := fsys.Lexer{OS: h.Lexer().OS}.Parse(path)
	if err != nil {
		return nil, err
	}
	grants := granting{&session.grants, nil}
	if h.Policy().DecideGranted(perm.Read, []string{path}, h.exists, grants).Verdict == perm.Deny {
		return nil, fs.ErrPermission
	}
	t, err := h.Resolver.Resolve(p)
	if t == nil {
		return nil, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && h.Policy().DecideGranted(perm.Read, t.Names, h.exists, grants).Verdict != perm.Allow {
		err = fs.ErrPermission
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// compared reads a file and words what is different from before.
func (h *House) compared(t *fsys.Target, m reminder, now reminded, rec state.Record, was []byte, full bool) (reminder, reminded, bool) {
	m.why = fmt.Sprintf("was changed outside of fsmcp (%s now)", amount(t.Stamp.Size))
	f, err := t.Open()
	if err != nil {
		return m, now, false
	}
	defer f.Close()
	if t.Stamp.Size > state.KeepContent {
		now.sum, err = sumOfFile(f, t.Stamp.Size)
		return m, now, err == nil
	}
	raw, _, err := f.ReadAll(state.KeepContent)
	if err != nil {
		return m, now, false
	}
	now.sum = sha256.Sum256(raw)
	if !full || was == nil || bytes.Equal(raw, was) {
		return m, now, true
	}
	if diff, ok := shortDiff(was, raw, rec.Enc); ok {
		m.diff, now.text = diff, raw
	}
	return m, now, true
}

// sumOfFile hashes a file that is not kept. One above state.WholeHash goes by its
// size and its ends alone, for the sake of the answer that waits.
func sumOfFile(f io.ReaderAt, size int64) (sum state.Sum, err error) {
	hash := sha256.New()
	if _, err = io.Copy(hash, io.NewSectionReader(f, 0, min(size, state.WholeHash))); err == nil {
		hash.Sum(sum[:0])
	}
	return sum, err
}

// shortDiff is the changed lines with their numbers, as many as are told.
func shortDiff(was, now []byte, enc text.Encoding) (string, bool) {
	old, err := text.DecodeAs(was, enc)
	if err != nil {
		return "", false
	}
	is, err := text.DecodeAs(now, enc)
	if err != nil {
		return "", false
	}
	a, b := linesOf(old), linesOf(is)
	var out []string
	grown := 0
	for _, e := range lineEdits(a, b) {
		gone, come := a.cut(old.Text[e.Start:e.End]), b.cut(e.New)
		first := a.at(e.Start)
		for i, line := range gone {
			out = append(out, fmt.Sprintf("%d\t-%s", first+i, line))
		}
		for i, line := range come {
			out = append(out, fmt.Sprintf("%d\t+%s", first+grown+i, line))
		}
		grown += len(come) - len(gone)
	}
	body := strings.Join(out[:min(len(out), remindLines)], "\n")
	if len(out) > remindLines {
		body += fmt.Sprintf("\n… (%d more changed lines; read the file to see them)", len(out)-remindLines)
	}
	if len(body) > tellBytes {
		return "", false
	}
	return remindable(body), true
}

// remindTag is what a file's text must not pass off as fsmcp's own.
var remindTag = regexp.MustCompile(`(?i)<(\s*/?\s*system-reminder)`)

// remindable takes the force from tags in a text.
func remindable(s string) string { return remindTag.ReplaceAllString(s, "&lt;$1") }

// words puts reminders into one text.
func words(all []reminder) string {
	var b strings.Builder
	for _, m := range all[:min(len(all), remindFiles)] {
		fmt.Fprintf(&b, "<system-reminder>The file %s %s", m.name, m.why)
		if m.diff != "" {
			b.WriteString(". These lines changed since you last saw it (number, then - for a line that is gone, + for one that is there now)")
		}
		b.WriteString(".</system-reminder>\n")
		if m.diff != "" {
			b.WriteString(m.diff + "\n")
		}
	}
	if rest := all[min(len(all), remindFiles):]; len(rest) > 0 {
		var names []string
		for _, m := range rest[:min(len(rest), remindNames)] {
			names = append(names, m.name)
		}
		list := strings.Join(names, ", ")
		if len(rest) > remindNames {
			list += ", …"
		}
		fmt.Fprintf(&b, "<system-reminder>%d more files that you have read were changed, moved or deleted outside of fsmcp: %s.</system-reminder>\n", len(rest), list)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (s *Session) unfollow(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.followed.blind, path)
	delete(s.followed.told, path)
	delete(s.followed.pictures, path)
}

// lastTold is what was told of a file since its record last moved.
func (s *Session) lastTold(path string, rec state.Record) (reminded, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.followed.told[path]
	return last, ok && last.base == rec.Hash
}

func (s *Session) nowTold(path string, now reminded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.followed
	if _, ok := f.told[path]; !ok {
		f.order = append(f.order, path)
	}
	f.told[path] = now
	for len(f.order) > mostReminded {
		if old, ok := f.told[f.order[0]]; ok { // that it was told stays known, its text does not
			old.text = nil
			f.told[f.order[0]] = old
		}
		f.order = f.order[1:]
	}
}
