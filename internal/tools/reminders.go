package tools

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"weak"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/state"
)

// Watcher notes which files were touched.
type Watcher interface {
	// Follow looks after a file by its resolved name; fresh says that it was
	// touched unseen perhaps. After an error nothing is known of it.
	Follow(name string) (fresh bool, err error)
	// Touched are the files that were touched since it was last asked.
	Touched() []string
}

// Bounds of the looks for one answer, and of what is remembered for them.
const (
	mostLooks    = 1000 // files
	mostReminded = 100  // files whose text is kept as it was last reported
	// lookFor bounds the wait of an answer for them, which only a slow or stuck disk
	// uses up: a later answer reports what is not looked at by then.
	lookFor = 250 * time.Millisecond
)

// followed holds what a conversation knows of the files that it was shown in full, for
// reminders.
type followed struct {
	files map[string]*follower
	// due are those that may have changed. blind are those that cannot be watched: they
	// are looked at before each answer. underWay are those that are being looked at, or
	// that an answer reports which was not sent yet.
	due, blind, underWay map[string]bool
	// recent are the files whose text is kept as it was reported.
	recent []string
}

// follower is one of the files.
type follower struct {
	// picture is the stamp of a file that was shown as pictures, so that its bytes are
	// not known; nil otherwise.
	picture *fsys.Stamp
	// reported is the last state that was reported; nil where none was.
	reported *reminded
	// proof is a settled stamp under which the file was found to be as was told, or
	// as the record has it.
	proof fsys.Stamp
	// hashed is a settled stamp under which a file too large to be kept had this sum:
	// an answer that could not wait for it need not begin again.
	hashed fsys.Stamp
	sum    state.Sum
}

// reminded is a state of a file as it was told.
type reminded struct {
	base state.Sum // of the record at that time: a record that moved has told more
	sum  state.Sum
	gone bool
	text []byte // nil where its lines were not told
	// whole says that all lines that changed since base were told.
	whole bool
}

// extent says how much a call has shown of a file whose bytes do not tell.
type extent int

const (
	unknownExtent extent = iota
	inPart               // of a notebook: some of its cells
	inFull               // all cells of a notebook
	asPictures           // all of a picture, or all pages
)

// follow looks after the file of a call, if it has been shown in full.
func (h *Service) follow(session *Session, about account) {
	path := about.path
	rec, known := session.files.Get(path)
	if !session.followFile(about, rec, known) {
		return
	}
	fresh, err := h.Watcher.Follow(path)
	session.watched(path, fresh, err)
}

// followFile notes whether a file has been shown in full.
func (s *Session) followFile(about account, rec state.Record, known bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.followed
	path := about.path
	old := f.files[path]
	full := about.extent == inFull || about.extent == asPictures || known && shownInFull(rec)
	if about.extent == unknownExtent && old != nil && (isNotebookName(path) && known || old.picture != nil && !known) {
		full = true // a call that shows a part of it, or nothing, takes nothing away
	}
	if !full {
		s.unfollow(path)
		return false
	}
	if f.files == nil {
		f.files, f.due, f.blind, f.underWay = map[string]*follower{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	if old == nil {
		old = &follower{}
		f.files[path] = old
		f.due[path] = true // between the look at it and now it may have been touched
	}
	switch {
	case about.extent == asPictures:
		old.picture = &about.stamp
	case known && about.extent != unknownExtent || known && shownInFull(rec):
		old.picture = nil
	}
	return true
}

// watched notes what became of having a file watched.
func (s *Session) watched(path string, fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.followed
	if f.files[path] == nil {
		return
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

// unfollow forgets a file; the caller holds mu.
func (s *Session) unfollow(path string) {
	f := &s.followed
	delete(f.files, path)
	delete(f.due, path)
	delete(f.blind, path)
}

// shownInFull tells whether nothing of a file is left that was not shown. One whose
// parts have no hash together is none that can be compared as a whole.
func shownInFull(rec state.Record) bool {
	whole := rec.Parts == nil || rec.Hash != (state.Sum{}) && rec.Stamp.Size <= changeInMemory
	return whole && len(rec.Shown.Union(rec.Reported).Missing(rec.Stamp.Size)) == 0
}

// distribute has every conversation look at what was touched.
func (h *Service) distribute() {
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
			s.touch(names...)
		}
	}
}

// touch has files looked at, as far as they are followed.
func (s *Session) touch(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range names {
		if s.followed.files[n] != nil {
			s.followed.due[n] = true
		}
	}
}

// remind ends an answer with what changed outside in files that were shown in
// full. It moves no record: another agent of the same connection may not have seen
// the answer. Of the file that the answer is about nothing is said. An answer that
// is never sent has told nothing: its call's context ends, and a later one tells.
func (h *Service) remind(ctx context.Context, call Call, r *Result) {
	if h.Watcher == nil {
		return
	}
	h.distribute()
	session := call.Session
	paths := session.toLookAt(call.account.path)
	if len(paths) == 0 {
		return
	}
	all := h.lookOver(ctx, session, paths)
	if len(all) == 0 {
		return
	}
	text, ok := words(all, call.Client.room(r))
	if !ok {
		session.notReported(all)
		return
	}
	r.Blocks = append(r.Blocks, Block{Text: text})
	r.reminders = &reporting{all, context.AfterFunc(ctx, func() { session.notReported(all) })}
}

// reporting are the reminders of an answer that is not sent yet. stop keeps the end of its
// call from giving them to a later answer.
type reporting struct {
	all  []reminder
	stop func() bool
}

// toLookAt takes out the files that may have changed, but for one, and those that
// are looked at already.
func (s *Session) toLookAt(but string) (paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.followed
	for _, set := range []map[string]bool{f.due, f.blind} {
		for path := range set {
			if path != but && !f.underWay[path] && len(paths) < mostLooks {
				paths = append(paths, path)
				delete(f.due, path)
				f.underWay[path] = true
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// finding is the outcome of a look at a file.
type finding int

const (
	nothing finding = iota
	changed
	later // it could not be looked at now
)

// lookOver looks at files one after the other, as long as an answer may wait. Where the
// disk is stuck, only the looking goroutine is.
func (h *Service) lookOver(ctx context.Context, session *Session, paths []string) (all []reminder) {
	enough, end := context.WithTimeout(ctx, h.LookFor)
	defer end()
	found := make(chan reminder)
	go func() {
		defer close(found)
		count := 0
		for _, path := range paths {
			m, is := reminder{}, later
			if enough.Err() == nil {
				m, is = h.carefully(session, path, count < remindFiles)
			}
			if is == changed {
				select {
				case found <- m: // from now on it is the answer's
					count++
					continue
				case <-enough.Done():
					is = later
				}
			}
			session.lookedAt(path, is == later)
		}
	}()
	for {
		select {
		case m, more := <-found:
			if !more {
				return all
			}
			all = append(all, m)
		case <-enough.Done():
			return all
		}
	}
}

// carefully is changedOutside where a fault of ours costs neither the answer, which
// may be that a change was made, nor the process.
func (h *Service) carefully(session *Session, path string, full bool) (m reminder, is finding) {
	defer func() {
		if r := recover(); r != nil {
			h.Notify(fmt.Sprintf("(fsmcp failed inside when it looked whether %s has changed: %v. This is a bug of fsmcp; tell the user.)", fsys.InSentence(path), r))
			is = nothing
		}
	}()
	return h.changedOutside(session, path, full)
}

// lookedAt ends a look that told nothing.
func (s *Session) lookedAt(path string, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.followed.underWay, path)
	if again && s.followed.files[path] != nil {
		s.followed.due[path] = true
	}
}

// notReported has a later answer tell what this one did not.
func (s *Session) notReported(all []reminder) {
	for _, m := range all {
		s.lookedAt(m.path, true)
	}
}

// reported notes what was told.
func (s *Session) reported(all []reminder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range all {
		delete(s.followed.underWay, m.path)
		if f := s.followed.files[m.path]; f != nil {
			f.note(m)
			s.boundReported(m.path)
		}
	}
}

func (f *follower) note(m reminder) {
	f.reported, f.proof = &m.now, m.proof
	if f.picture != nil {
		f.picture = &m.stamp
	}
}

// boundReported bounds the texts that are kept; the caller holds mu.
func (s *Session) boundReported(path string) {
	f := &s.followed
	f.recent = slices.DeleteFunc(f.recent, func(p string) bool { return p == path })
	if f.files[path].reported.text == nil {
		return
	}
	f.recent = append(f.recent, path)
	for len(f.recent) > mostReminded {
		if old := f.files[f.recent[0]]; old != nil && old.reported != nil {
			cut := *old.reported
			cut.text = nil // that it was told stays known
			old.reported = &cut
		}
		f.recent = f.recent[1:]
	}
}

// follower returns what is known of a file, as it is now.
func (s *Session) follower(path string) (f follower, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.followed.files[path]; p != nil {
		return *p, true
	}
	return f, false
}

// proven notes a stamp under which a file is as is known.
func (s *Session) proven(path string, stamp fsys.Stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.followed.files[path]; f != nil {
		f.proof = stamp
	}
}

// changedOutside compares a file with its record and with what was told last. full
// asks for a diff, where there can be one.
//
// A call that works on the file may be about to change it, or its record: then its
// own change would be taken for another's.
func (h *Service) changedOutside(session *Session, path string, full bool) (m reminder, is finding) {
	done, free := session.files.TryLock(path)
	if !free {
		return m, later
	}
	defer done()
	f, ok := session.follower(path)
	rec, known := session.files.Get(path)
	if !ok || !known && f.picture == nil {
		return m, nothing
	}
	fresh, err := h.Watcher.Follow(path) // its folder may be another one by now
	if session.watched(path, false, err); fresh {
		f.proof = fsys.Stamp{}
	}
	t, err := h.Access.Again(path, &session.grants)
	if errors.Is(err, fsys.ErrNotDir) {
		return vanishedFile(path, f, rec)
	}
	if err != nil {
		return m, nothing
	}
	defer t.Close()
	switch {
	case t.Kind == fsys.Missing:
		return vanishedFile(path, f, rec)
	case t.Kind != fsys.Regular || t.Path != path:
		m, is = vanishedFile(path, f, rec)
		m.why = "is another kind of file or leads elsewhere now"
		return m, is
	case f.proof != (fsys.Stamp{}) && f.proof.Same(t.Stamp):
		return m, nothing
	case f.picture != nil:
		if m, is = changedPicture(path, f, t.Stamp); is == changed && session.ownChange(t.Stamp) {
			session.reported([]reminder{m})
			is = nothing
		}
		return m, is
	}
	return h.compared(session, t, f, rec, full)
}

func vanishedFile(path string, f follower, rec state.Record) (m reminder, is finding) {
	base := rec.Sum()
	if f.reported != nil && f.reported.gone && (f.picture != nil || f.reported.base == base) {
		return m, nothing
	}
	return reminder{path: path, why: "was deleted or moved", now: reminded{base: base, gone: true}}, changed
}

// changedPicture tells of a picture by its stamp.
func changedPicture(path string, f follower, now fsys.Stamp) (m reminder, is finding) {
	was := *f.picture
	if now.SameFile(was) && now.Size == was.Size && now.Mtime == was.Mtime {
		return m, nothing
	}
	return reminder{path: path, why: whyChanged(now.Size), stamp: now}, changed
}

// hashed keeps the sum of a large file.
func (s *Session) hashed(path string, stamp fsys.Stamp, sum state.Sum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.followed.files[path]; f != nil {
		f.hashed, f.sum = stamp, sum
	}
}

func whyChanged(size int64) string {
	return fmt.Sprintf("was changed outside of fsmcp (%s now)", phrase.Bytes(size))
}

// trusted is the size from which an equal stamp is believed although it proves
// nothing: to read the file after each change of our own would cost more than a
// reminder is worth.
const trusted = 1 << 20

// compared reads a file and words what is different from what is known.
func (h *Service) compared(session *Session, t *fsys.Target, f follower, rec state.Record, full bool) (m reminder, is finding) {
	same := rec.Proves(t.Stamp)
	if t.Stamp.Size > trusted {
		same = t.Stamp.Same(rec.Stamp)
	}
	if same && f.reported == nil {
		return m, nothing
	}
	base := rec.Sum()
	was := reminded{base: base, sum: base, text: rec.Content, whole: true}
	if f.reported != nil && f.reported.base == base {
		was, same = *f.reported, false
		if was.text == nil {
			was.text, was.whole = rec.Content, true
		}
	}
	if same {
		return m, nothing
	}
	raw, stamp, sum, err := []byte(nil), t.Stamp, f.sum, error(nil)
	if f.hashed == (fsys.Stamp{}) || !f.hashed.Same(t.Stamp) {
		raw, stamp, sum, err = contentNow(t)
	}
	if err != nil {
		if errors.Is(err, fsys.ErrUnstable) {
			return m, later
		}
		return m, nothing
	}
	proof := fsys.Stamp{}
	if stamp.Settled(h.Now()) {
		proof = stamp
		if raw == nil {
			session.hashed(t.Path, stamp, sum)
		}
	}
	if !was.gone && sum == was.sum {
		session.proven(t.Path, proof)
		return m, nothing
	}
	m = reminder{path: t.Path, why: whyChanged(stamp.Size), proof: proof, now: reminded{base: base, sum: sum}}
	if sum == base {
		m.why = "is again as it was when it was read"
	}
	if session.ownChange(stamp) {
		session.reported([]reminder{m})
		return m, nothing
	}
	if full && raw != nil && was.text != nil && !isNotebookName(t.Path) {
		if diff, all := changes.Since(was.text, raw, rec.Enc); diff != "" {
			m.diff, m.now.text, m.now.whole = diff, raw, all && was.whole
		}
	}
	return m, changed
}

// contentNow is a file as it is now: its bytes where they would be kept, and what
// tells them from others.
func contentNow(t *fsys.Target) (raw []byte, stamp fsys.Stamp, sum state.Sum, err error) {
	f, err := t.Open()
	if err != nil {
		return nil, stamp, sum, err
	}
	defer f.Close()
	if stamp, err = f.Stamp(); err != nil {
		return nil, stamp, sum, err
	}
	if stamp.Size <= state.KeepContent {
		raw, stamp, err = f.ReadAll(state.KeepContent)
		if err == nil {
			return raw, stamp, sha256.Sum256(raw), nil
		}
		if large := (*fsys.TooLargeError)(nil); !errors.As(err, &large) {
			return nil, stamp, sum, err
		}
		if stamp, err = f.Stamp(); err != nil {
			return nil, stamp, sum, err
		}
	}
	sum, err = sumOfFile(f, stamp)
	return nil, stamp, sum, err
}

// sumOfFile hashes a file that is not kept. One above changeInMemory, which cannot
// have been shown like that, goes by its size and time instead.
func sumOfFile(f io.ReaderAt, stamp fsys.Stamp) (sum state.Sum, err error) {
	if stamp.Size > changeInMemory {
		return sha256.Sum256(fmt.Appendf(nil, "%d %d", stamp.Size, stamp.Mtime)), nil
	}
	hash := sha256.New()
	if _, err = io.Copy(hash, io.NewSectionReader(f, 0, stamp.Size)); err == nil {
		hash.Sum(sum[:0])
	}
	return sum, err
}
