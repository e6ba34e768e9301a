package history

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Folder is the history's place in the state folder.
const Folder = "history"

// idLen is the number of letters, of five bits each, that name a pack.
const idLen = 8

// Settings are the user's. They may change while a Store is in use.
type Settings struct {
	// Off says that no change is stored any more.
	Off bool
	// Required stops a change if its old bytes cannot be stored, unless there is no state
	// folder.
	Required bool
	MaxSize  int64 // bytes of all packs and journals
	MaxAge   time.Duration
}

// Options of a Store.
type Options struct {
	// Dir makes the state folder, if it is missing, and returns its name. The error is a
	// *save.StateError if there can be none.
	Dir func(context.Context) (string, error)
	// Settings returns the current settings; it is called before each change.
	Settings func() Settings
	// Secret reports, for all names of a file, whether its bytes must not be stored.
	Secret func(names []string) bool
	Now    func() time.Time // nil: the clock
}

// Store stores changes. It is safe for concurrent use, and touches nothing before the first
// change.
type Store struct {
	o Options

	mu      sync.Mutex // guards now
	now     *writer
	late    bool   // evict at Close
	due     func() // what Close has to evict
	tidying sync.WaitGroup
	aged    sync.Once
}

// New makes a Store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{o: o}
}

// EvictAtClose makes the Store evict at Close and not before. A restore reads the history
// while it adds to it: its own changes must not evict or thin what it has yet to read.
func (s *Store) EvictAtClose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = true
}

// evict evicts in the background, or at Close. The caller holds s.mu.
func (s *Store) evict(dir string, settings Settings) {
	run := func() {
		if root, err := owndir.Sub(dir, Folder); err == nil {
			defer root.Close()
			evict(root, settings, s.o.Now())
		}
	}
	if s.late {
		s.due = run
		return
	}
	s.tidying.Go(run)
}

// PendingChange is a change that is about to be made.
type PendingChange struct {
	// Names are all names of the file; the last one is resolved and absolute.
	Names []string
	// Session, Tool, Call and Group say what makes the change, as in an Entry.
	Session, Tool, Call, Group string
	// Operation and To are as in an Entry. Of a move or a copy nothing is stored but the entry.
	Operation Operation
	To        string
	// Meta is that of what Delete removes, Stamp that of it or of the source of a copy.
	Meta  *save.Meta
	Stamp fsys.Stamp
	// Old is the current file, Size bytes of it; nil if there is none.
	Old  io.ReaderAt
	Size int64
	// From holds the bytes of Old, if they are in memory.
	From []byte
	// Splices turn the old bytes into the new ones. Gone says that the file is removed.
	Splices []span.Splice
	Gone    bool
	// NewDirs is the number of folders that are made for the file.
	NewDirs int
	// Was and Is are the hashes before and after; nil if they are not known.
	Was, Is *Sum
}

func (c PendingChange) path() string { return c.Names[len(c.Names)-1] }

// line returns the line of the change, without what is stored for it.
func (c PendingChange) line() line {
	l := line{
		Session: c.Session, Tool: c.Tool, Call: c.Call, Group: c.Group, Operation: c.Operation,
		Path: c.path(), To: c.To, NewDirs: c.NewDirs, Meta: c.Meta, Pending: true,
	}
	if c.Operation == OpMove {
		l.Ino = c.Stamp.Ino
	}
	if c.Operation == OpCopy {
		l.Copied = &deposited{Size: c.Stamp.Size, Mtime: c.Stamp.Mtime}
	}
	return l
}

// KeepError says that old bytes could not be stored.
type KeepError struct{ Err error }

func (e *KeepError) Error() string { return "the history cannot keep the old bytes: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *KeepError) Unwrap() error { return e.Err }

// Mark is a stored change; nil stands for a change of a secret file.
type Mark struct {
	// Off says that the settings turn the history off, and Secret that nothing of the file
	// is stored.
	Off, Secret bool
	// Missed is the reason why the change could not be stored. The change goes on, since the
	// settings do not require the history.
	Missed error

	w       *writer
	number  int
	void    bool
	batch   *Batch // that has yet to write the entry
	deposit save.Deposit
}

// Void notes that the change was not made after all.
func (m *Mark) Void() {
	if m == nil || m.w == nil {
		return
	}
	m.void = true
	switch {
	case m.batch != nil:
		m.batch.drop(m)
		m.batch = nil
	case m.number > 0:
		m.w.append(line{Void: m.number})
	}
}

// Done notes that the change was made, unless Void has noted that it was not, and releases the
// pack of the entry. If its process dies before, the next reader finds out by the files.
func (m *Mark) Done() { Done([]*Mark{m}) }

func (m *Mark) release() {
	if m != nil && m.w != nil {
		m.w.release()
		m.w = nil
	}
}

// ID returns the entry's ID, as Archive knows it; "" if nothing was stored.
func (m *Mark) ID() string {
	if m == nil || m.w == nil || m.number == 0 {
		return ""
	}
	return fmt.Sprintf("%s-%d", m.w.id, m.number)
}

// Secret reports whether a file with these names is not stored.
func (s *Store) Secret(names []string) bool { return s.o.Secret != nil && s.o.Secret(names) }

// Keep stores the bytes that a change replaces, and notes the change. The caller holds the
// file's lock and makes the change right afterwards. An error is a *KeepError, and the
// change must then not be made.
func (s *Store) Keep(ctx context.Context, c PendingChange) (*Mark, error) {
	return s.kept(ctx, c, s.keep)
}

// kept calls keep unless the settings or the file's names forbid it.
func (s *Store) kept(ctx context.Context, c PendingChange, keep func(context.Context, PendingChange, Settings) (*Mark, error)) (*Mark, error) {
	if s.Secret(c.Names) {
		return &Mark{Secret: true}, nil
	}
	settings := s.o.Settings()
	if settings.Off {
		s.aged.Do(func() { s.age(ctx, settings) })
		return &Mark{Off: true}, nil
	}
	mark, err := keep(ctx, c, settings)
	none := errors.As(err, new(*save.StateError))
	switch {
	case err == nil:
		return mark, nil
	case settings.Required && !none:
		return nil, &KeepError{err}
	}
	return &Mark{Missed: err}, nil
}

// age removes old segments although the history is turned off.
func (s *Store) age(ctx context.Context, settings Settings) {
	s.tidying.Go(func() {
		if dir, err := s.o.Dir(context.WithoutCancel(ctx)); err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.evict(dir, settings)
		}
	})
}

func (s *Store) keep(ctx context.Context, c PendingChange, settings Settings) (*Mark, error) {
	w, err := s.writer(ctx, settings)
	if err != nil {
		return nil, err
	}
	l, deposit := c.line(), save.Deposit{}
	switch {
	case c.Operation == OpMove || c.Operation == OpCopy || c.Meta != nil && c.Old == nil:
	case c.Operation == OpDelete && c.Size > WholeLimit:
		l.Deposit, deposit, err = s.deposit(ctx, w, c)
	case c.Old != nil && c.Size > WholeLimit:
		l.Places, err = w.places(c, settings.MaxSize)
	default:
		err = w.states(c, &l)
	}
	if err == nil {
		l.Number, err = w.append(l)
	}
	if err != nil {
		w.release()
		return nil, err
	}
	return &Mark{w: w, number: l.Number, deposit: deposit}, nil
}

// ErrTooLarge says that of a file of that size only places are stored, and that these are
// more than the history may hold.
var ErrTooLarge = errors.New("the file is too large to be kept whole")

// Rescue stores bytes that were displaced from path and are in no file any more. It returns
// the entry's ID. After an error nothing is stored.
func (s *Store) Rescue(ctx context.Context, path string, content io.ReaderAt, size int64) (id string, err error) {
	if size > WholeLimit {
		return "", ErrTooLarge
	}
	mark, err := s.Keep(ctx, PendingChange{Names: []string{path}, Tool: ToolOutside, Old: content, Size: size, Gone: true})
	switch {
	case err != nil:
		return "", err
	case mark.Secret:
		return "", errSecret
	case mark.Off:
		return "", errOff
	case mark.Missed != nil:
		return "", mark.Missed
	}
	defer mark.Done()
	return mark.ID(), nil
}

var errOff = errors.New("the history is turned off")

var errSecret = errors.New("the file's name is one of those that are not kept")

// writer returns the pack to write to, for one change. The caller releases it.
func (s *Store) writer(ctx context.Context, settings Settings) (*writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.now; w != nil && w.acquire(s.o.Now(), settings) {
		return w, nil
	}
	dir, err := s.o.Dir(ctx)
	if err != nil {
		return nil, err
	}
	root, err := owndir.MakeSub(dir, Folder)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(root, strings.ToLower(rand.Text()[:idLen]), s.o.Now)
	if err != nil {
		root.Close()
		return nil, err
	}
	if s.now != nil {
		s.now.release()
	}
	s.now = w
	w.users++ // the change
	s.evict(dir, settings)
	return w, nil
}

// Close closes the Store. Marks that are not done stay valid.
func (s *Store) Close() {
	s.tidying.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		s.now.release()
		s.now = nil
	}
	if s.due != nil {
		s.due()
		s.due = nil
	}
}
