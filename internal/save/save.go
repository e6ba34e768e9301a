package save

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
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
)

// Options of a Saver; the zero value of each is its default.
type Options struct {
	StateDir      string // absolute; made with mode 0700 on first use; "" goes straight to TempDir
	TempDir       string // where a folder for locks and notes is made if StateDir cannot be used; "" is the system's
	Durability    Durability
	KeepHardLinks bool // write a file with several names in place
	Sys           Sys  // nil is the real system; Linux only
	Now           func() time.Time
	Rand          io.Reader
	LockWait      time.Duration // for other writers; 5 s
	OpenWait      time.Duration // for programs that hold the file open for writing; 200 ms
	// Rescue is handed bytes of the file at path that are known nowhere else.
	// Where it keeps them it says under which name, and no file has to; nil
	// keeps none. Linux only.
	Rescue func(path string, content io.ReaderAt, size int64) (id string, err error)
	// Lost is told when StateDir turns out to be of no use; nil hears nothing.
	Lost func(*StateError)
}

// Saver writes files. It is safe for concurrent use.
type Saver struct {
	o       Options
	sys     Sys
	temp    string     // the folder that serves where the state folder is not used
	randMu  sync.Mutex // guards o.Rand
	keys    keyLocks
	opening chan struct{} // one at a time makes the state folder
	state   atomic.Pointer[state]
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
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	return &Saver{o: o, sys: system(o.Sys), temp: owndir.InTemp(o.TempDir), opening: make(chan struct{}, 1)}
}

// StateDir makes sure of the state folder and returns its name. The error is a
// *StateError where only the folder in the temp directory serves: nothing but
// locks and notes is kept there.
func (s *Saver) StateDir(ctx context.Context) (string, error) {
	st, err := s.openState(ctx)
	if err != nil {
		return "", err
	}
	if st.lost != nil {
		return "", st.lost
	}
	return st.path, nil
}

// FoundStateDir returns the name of the state folder, "" where there is none yet,
// and a *StateError where it is there and not used. It makes nothing.
func (s *Saver) FoundStateDir() (string, error) {
	if s.o.StateDir == "" {
		return "", nil
	}
	switch err := owndir.Find(s.o.StateDir, 1); {
	case err == nil:
		return s.o.StateDir, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", &StateError{s.o.StateDir, err}
	}
}

// Outcome describes a write.
type Outcome struct {
	Stamp             fsys.Stamp // of the file as it is now
	Created           bool
	CreatedDirs       []string    // absolute, outermost first
	OtherNames        int         // hard links that keep the old text
	InPlace           bool        // the file was overwritten, not replaced
	SharedNames       int         // hard links that have the new text, as Options.KeepHardLinks asks
	DurabilityUnknown bool        // the bytes are in place, but a sync failed
	NoState           *StateError // why the state folder is not used; nil where it is
	StateInTemp       string      // the folder that serves in its place
	Left              []string    // files with the old text that could not be removed; the next Sweep tries again
	Saved             []string    // files left behind with bytes known nowhere else; also set beside an error
	Rescued           []string    // what Rescue has kept such bytes as; also set beside an error
}

// SweepReport describes the files of dead processes.
type SweepReport struct {
	Removed  int      // temporary files that held nothing of worth
	Saved    []string // files with bytes known nowhere else, as they are named now
	Rescued  []string // what Rescue has kept such bytes as
	Replayed []string // files whose write in place was finished
	Torn     []string // files that are neither old, nor new, nor a mix of them; their journals are among Saved or Rescued
	Pending  []string // files and folders that could not be looked at now; the next Sweep tries again
	// Untrusted are the folders and files that were left alone, since others may
	// have written them.
	Untrusted []error
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
