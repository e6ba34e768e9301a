package save

import (
	"context"
	"crypto/rand"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/keylock"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Durability names the failures that a reported success survives.
type Durability int

const (
	// Full: the loss of power. File and folder are synced.
	Full Durability = iota
	// Data: after a loss of power the file is wholly old or wholly new, but
	// may be old. Only the file is synced.
	Data
	// None: the death of the process, nothing more.
	None
)

// The defaults of Options.
const (
	defaultLockWait = 5 * time.Second
	defaultOpenWait = 200 * time.Millisecond
	// windowsOpenWait: a virus scanner holds a file for half a second.
	windowsOpenWait = 2 * time.Second
)

// Options of a Saver; the zero value of each is its default.
type Options struct {
	StateDir      string // absolute; made with mode 0700 on first use; "" goes straight to TempDir
	TempDir       string // where a folder for locks and notes is made if StateDir cannot be used; "" is the system's
	Durability    Durability
	KeepHardLinks bool    // write a file with several names in place
	Sys           sys.Sys // nil is the real system
	Now           func() time.Time
	Rand          io.Reader
	LockWait      time.Duration // for other writers; 5 s
	OpenWait      time.Duration // for programs that hold the file open for writing; 200 ms, on Windows 2 s
	// Rescue stores bytes of the file at path that exist nowhere else, and returns the id
	// that it stored them under. Otherwise they are kept in a file; nil stores none. It is
	// used on Linux only: elsewhere no lease shows that the file is at rest.
	Rescue func(path string, content io.ReaderAt, size int64) (id string, err error)
	// Merge merges two texts that grew out of base; ok is false if they conflict. Nil merges
	// nothing. It serves systems without leases: see LateWrite.
	Merge func(base, ours, theirs []byte) (c []span.Splice, ok bool)
	// Late is told of each LateWrite; nil hears nothing.
	Late func(LateWrite)
	// Lost is called when StateDir cannot be used; nil drops the call.
	Lost func(*StateError)
}

// Saver writes files. It is safe for concurrent use.
type Saver struct {
	o      Options
	sys    sys.Sys
	randMu sync.Mutex // guards o.Rand
	gate   gate
	keys   keylock.Locks
	state  *stateFolder
	late   lateFiles
	// closing are files that were removed and are being closed.
	closing sync.WaitGroup
	// leftover: a temporary file could not be removed; the next Sweep will.
	leftover atomic.Bool
}

// New makes a Saver. Nothing on disk is touched before first use.
func New(o Options) *Saver {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LockWait == 0 {
		o.LockWait = defaultLockWait
	}
	if o.OpenWait == 0 {
		o.OpenWait = defaultOpenWait
		if runtime.GOOS == "windows" {
			o.OpenWait = windowsOpenWait
		}
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	s := &Saver{o: o, sys: sys.New(o.Sys)}
	s.state = newStateFolder(s)
	s.late.rescue = s.rescueLate
	return s
}

// StateDir makes sure of the state folder and returns its name. The error is a
// *StateError if only the folder in the temp directory serves: nothing but
// locks and notes is kept there.
func (s *Saver) StateDir(ctx context.Context) (string, error) {
	st, err := s.state.get(ctx)
	if err != nil {
		return "", err
	}
	if st.lost != nil {
		return "", st.lost
	}
	return st.path, nil
}

// Durability names the failures that a reported success survives.
func (s *Saver) Durability() Durability { return s.o.Durability }

// FoundStateDir returns the name of the state folder, "" if there is none yet,
// and a *StateError if it exists and is not used. It makes nothing.
func (s *Saver) FoundStateDir() (string, error) { return s.state.find() }

// Close forgets the folders noted: call it when no write is going on. Without
// it, or when it fails, the next Sweep looks into them.
func (s *Saver) Close() error {
	s.closing.Wait()
	s.late.endAll()
	return s.state.end(s.leftover.Load())
}

// Written describes a write.
type Written struct {
	Stamp             fsys.Stamp // of the file as it is now
	Created           bool
	CreatedDirs       []string    // absolute, outermost first
	OtherNames        int         // hard links that keep the old text
	InPlace           bool        // the file was overwritten, not replaced
	SharedNames       int         // hard links that have the new text, as Options.KeepHardLinks asks
	OwnerLost         bool        // the file belongs to this user now (Windows)
	DurabilityUnknown bool        // the bytes are in place, but a sync failed
	NoState           *StateError // why the state folder is not used; nil if it is
	StateInTemp       string      // the folder that serves in its place
	Left              []string    // files with the old text that could not be removed; the next Sweep tries again
	Saved             []string    // files left behind with bytes known nowhere else; also set beside an error
	Rescued           []string    // what Rescue has kept such bytes as; also set beside an error
}

// random spells n random bytes; five make eight letters.
func (s *Saver) random(n int) (string, error) {
	b := make([]byte, n)
	s.randMu.Lock()
	defer s.randMu.Unlock()
	if _, err := io.ReadFull(s.o.Rand, b); err != nil {
		return "", err
	}
	return spell(b), nil
}

// addState adds to an outcome that the state folder is not used.
func (o *Written) addState(st *state) {
	if st.lost != nil {
		o.NoState, o.StateInTemp = st.lost, st.path
	}
}
