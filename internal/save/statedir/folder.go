package statedir

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/lock"
)

// The parts of a state folder.
const (
	locksDir = "locks"
	Flight   = "flight"  // notes of processes, living or dead
	Journals = "journal" // of writes in place
	SavedDir = "saved"   // what could not be kept beside its file
)

// Options of a Folder.
type Options struct {
	Path   string                      // "" goes straight to Temp
	Temp   string                      // where a folder is made if Path cannot be used; "" is the system's
	Sys    disk.Sys                    // Linux only
	Sync   bool                        // notes survive a loss of power
	Random func(n int) (string, error) // spells n random bytes
	Lost   func(*Error)                // is told when Path turns out to be of no use; nil hears nothing
}

// Folder is a state folder, open or not. It is safe for concurrent use.
type Folder struct {
	o       Options
	temp    string        // the folder that serves where Path is not used
	opening chan struct{} // one at a time makes the folder
	state   atomic.Pointer[State]
}

// State is an open state folder:
//
//	locks/00 ... locks/ff   one lock file per stripe, never deleted
//	flight/NAME             one note per living process: the folders it works in
//	journal/NAME            one per write in place that is going on
//	saved/NAME.fsmcp-saved  what could not be kept beside its file
//
// The one in the temp directory has the first two alone: what lies there is never
// replayed onto a file. Outside Linux there are no others.
type State struct {
	Path    string
	Lost    *Error // why it is the one in the temp directory; nil where it is not
	Stripes *lock.Stripes
	f       *Folder
	parts
}

// noteLine is the line of a note that names a folder.
func noteLine(folder string) string { return strconv.Quote(folder) + "\n" }

// Noted returns the folders that a note names. Half a line at its end names none: that
// folder was not used yet.
func Noted(note []byte) (folders []string) {
	for line := range strings.Lines(string(note)) {
		if folder, err := strconv.Unquote(strings.TrimSuffix(line, "\n")); err == nil {
			folders = append(folders, folder)
		}
	}
	return folders
}

// New returns a folder. Nothing on disk is touched before it is opened.
func New(o Options) *Folder {
	return &Folder{o: o, temp: owndir.InTemp(o.Temp), opening: make(chan struct{}, 1)}
}

// Paths lists the folders that may hold state: the configured one, if any, and the one in
// the temp directory.
func (f *Folder) Paths() []string {
	if f.o.Path == "" {
		return []string{f.temp}
	}
	return []string{f.o.Path, f.temp}
}

// InTemp reports that path is the folder in the temp directory.
func (f *Folder) InTemp(path string) bool { return path == f.temp }

// Find returns the name of the configured folder, "" where there is none yet, and an
// *Error where it is there and not used. It makes nothing.
func (f *Folder) Find() (string, error) {
	if f.o.Path == "" {
		return "", nil
	}
	switch err := owndir.Find(f.o.Path, 1); {
	case err == nil:
		return f.o.Path, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", &Error{f.o.Path, err}
	}
}

// Open gives the state folder, making it on first use.
func (f *Folder) Open(ctx context.Context) (*State, error) {
	if st := f.state.Load(); st != nil && st.alive() {
		return st, nil
	}
	select {
	case f.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-f.opening }()
	if st := f.state.Load(); st != nil && st.alive() {
		return st, nil
	}
	st, err := f.open()
	if err != nil {
		return nil, err
	}
	f.state.Store(st) // one before it, deleted under us, stays open for its last users
	return st, nil
}

// open tries the configured folder, then one in the temp directory, and
// turns to the second only for reasons that last: processes with different state
// folders would not see each other's locks.
func (f *Folder) open() (*State, error) {
	lost := &Error{Dir: f.o.Path}
	if f.o.Path != "" {
		st, err := f.openAt(f.o.Path, nil)
		if err == nil {
			return st, nil
		}
		if !lasting(err) {
			return nil, &disk.IOError{Op: "state", Path: f.o.Path, Err: err}
		}
		lost.Err = err
	}
	if f.o.Lost != nil {
		f.o.Lost(lost)
	}
	st, err := f.openAt(f.temp, lost)
	if err == nil {
		return st, nil
	}
	if !lasting(err) {
		return nil, &disk.IOError{Op: "state", Path: f.temp, Err: err}
	}
	return nil, &NoneError{State: lost, Dir: f.temp, Temp: err}
}

// Close forgets the folders noted, unless keep is set: then, and when it fails, the next
// sweep looks into them. Call it when no write is going on.
func (f *Folder) Close(keep bool) error {
	if st := f.state.Swap(nil); st != nil {
		return st.end(keep)
	}
	return nil
}
