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
	// Off says that nothing is to be kept any more.
	Off bool
	// Required says that a change is stopped whose old bytes cannot be kept, but not
	// where there is no state folder, and so no history.
	Required bool
	MaxSize  int64 // bytes of all that is kept
	MaxAge   time.Duration
}

// Options of a Store.
type Options struct {
	// Dir makes sure of the state folder and names it; a *save.StateError says that
	// there is none.
	Dir func(context.Context) (string, error)
	// Settings are asked for before each change.
	Settings func() Settings
	// Secret tells of all names of a file whether its bytes must not be kept.
	Secret func(names []string) bool
	Now    func() time.Time // nil: the clock
}

// Store keeps changes. It is safe for concurrent use, and touches nothing before
// the first change.
type Store struct {
	o    Options
	code coder

	mu      sync.Mutex // guards now
	now     *writer
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

// Change is a change that is about to be made.
type Change struct {
	// Names are all names of the file; the last one is resolved and absolute.
	Names []string
	// Session, Tool and Call say what makes it.
	Session, Tool, Call string
	// Old is the file as it is, Size bytes of it; nil where there is none.
	Old  io.ReaderAt
	Size int64
	// From are the bytes of Old, where they are in memory.
	From []byte
	// Splices turn them into the new ones. Gone says that there will be no file.
	Splices []span.Splice
	Gone    bool
	// Was and Is are the hashes before and after, where they are known.
	Was, Is *Sum
}

func (c Change) path() string { return c.Names[len(c.Names)-1] }

// KeepError says that old bytes could not be kept.
type KeepError struct{ Err error }

func (e *KeepError) Error() string { return "the history cannot keep the old bytes: " + e.Err.Error() }

// Unwrap gives the system's error to errors.Is.
func (e *KeepError) Unwrap() error { return e.Err }

// Mark is a change that was kept; nil stands for one of a secret file.
type Mark struct {
	// Off says that nothing is kept of any change, as the user wants it.
	Off bool
	// Missed says why nothing could be kept of a change that goes on all the same,
	// since the settings do not require the history.
	Missed error

	w      *writer
	number int
}

// Void notes that the change was not made after all.
func (m *Mark) Void() {
	if m != nil && m.w != nil {
		m.w.append(line{Void: m.number})
	}
}

// Done gives the entry back to its pack; call it when the change was made, or
// after Void.
func (m *Mark) Done() {
	if m != nil && m.w != nil {
		m.w.release()
		m.w = nil
	}
}

// ID names the entry, as Archive knows it; "" where nothing was kept.
func (m *Mark) ID() string {
	if m == nil || m.w == nil {
		return ""
	}
	return fmt.Sprintf("%s-%d", m.w.id, m.number)
}

// Secret reports whether nothing of a file with these names is kept.
func (s *Store) Secret(names []string) bool { return s.o.Secret != nil && s.o.Secret(names) }

// Keep keeps the bytes that a change replaces, and notes the change. It is to be
// called under the file's lock, right before the change is made. An error is
// *KeepError, and the change must then not be made.
func (s *Store) Keep(ctx context.Context, c Change) (*Mark, error) {
	if s.Secret(c.Names) {
		return nil, nil
	}
	settings := s.o.Settings()
	if settings.Off {
		s.aged.Do(func() { s.age(ctx, settings) })
		return &Mark{Off: true}, nil
	}
	mark, err := s.keep(ctx, c, settings)
	none := errors.As(err, new(*save.StateError))
	switch {
	case err == nil:
		return mark, nil
	case settings.Required && !none:
		return nil, &KeepError{err}
	}
	return &Mark{Missed: err}, nil
}

// age has what was kept before the history was turned off go as it would have gone.
func (s *Store) age(ctx context.Context, settings Settings) {
	s.tidying.Go(func() {
		dir, err := s.o.Dir(context.WithoutCancel(ctx))
		if err != nil {
			return
		}
		if root, err := owndir.Sub(dir, Folder); err == nil {
			defer root.Close()
			evict(root, settings, s.o.Now())
		}
	})
}

func (s *Store) keep(ctx context.Context, c Change, settings Settings) (*Mark, error) {
	w, err := s.writer(ctx, settings)
	if err != nil {
		return nil, err
	}
	l := line{Session: c.Session, Tool: c.Tool, Call: c.Call, Path: c.path()}
	if c.Old != nil && c.Size > WholeLimit {
		l.PlacesAt, err = w.places(c, settings.MaxSize)
	} else {
		err = w.states(c, &l)
	}
	if err == nil {
		l.Number, err = w.append(l)
	}
	if err != nil {
		w.release()
		return nil, err
	}
	return &Mark{w: w, number: l.Number}, nil
}

// errNotWhole: only places of a file of that size are kept.
var errNotWhole = errors.New("the file is too large to be kept whole")

// Rescue keeps bytes that were displaced from path and are in no file any more,
// and gives the entry's ID. After an error they are known nowhere, as before.
func (s *Store) Rescue(ctx context.Context, path string, content io.ReaderAt, size int64) (id string, err error) {
	if size > WholeLimit {
		return "", errNotWhole
	}
	mark, err := s.Keep(ctx, Change{Names: []string{path}, Tool: ToolOutside, Old: content, Size: size, Gone: true})
	switch {
	case err != nil:
		return "", err
	case mark == nil:
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

// writer gives the pack to write to, for one change.
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
	w, err := newWriter(root, strings.ToLower(rand.Text()[:idLen]), s.o.Now, &s.code)
	if err != nil {
		root.Close()
		return nil, err
	}
	if s.now != nil {
		s.now.retire()
	}
	s.now = w
	w.users++ // the eviction needs its folder
	s.tidying.Go(func() {
		defer w.release()
		evict(root, settings, s.o.Now())
	})
	return w, nil
}

// Close ends the keeping. Marks that are still out stay good.
func (s *Store) Close() {
	s.mu.Lock()
	if s.now != nil {
		s.now.retire()
		s.now = nil
	}
	s.mu.Unlock()
	s.tidying.Wait()
}
