//go:build !fsys_portable

package statedir

import (
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/disk"
)

// note is this process's list of the folders that it may leave a temporary file
// in, for the Sweep after its death: one quoted name a line. The lock on the file
// tells others that the process lives.
type note struct {
	mu      sync.Mutex
	fd      int
	name    string
	size    int64
	folders map[string]bool
}

// startNote makes the note.
func (st *State) startNote() error {
	sys := st.f.o.Sys
	made, err := disk.CreateLocked(sys, st.flight, 0o600, func() (string, error) { return st.f.o.Random(10) })
	if err != nil {
		return err
	}
	if made.LockErr != nil {
		sys.Close(made.FD)
		disk.Remove(sys, st.flight, made.Name)
		return made.LockErr
	}
	st.note.fd, st.note.name, st.note.folders = made.FD, made.Name, make(map[string]bool)
	return nil
}

// Remember notes a folder, once. What it returns waits until the note would
// survive a loss of power; the caller has a sync of its own to do meanwhile.
// The cost of a second note in one folder is nothing.
func (st *State) Remember(folder string) (noted func() error) {
	n := &st.note
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.folders[folder] {
		return func() error { return nil }
	}
	line := noteLine(folder)
	if err := disk.WriteAll(st.f.o.Sys, n.fd, []byte(line), n.size); err != nil {
		return func() error { return err }
	}
	n.size += int64(len(line))
	synced := make(chan error, 1)
	go func() { synced <- st.syncNote() }()
	return func() error {
		err := <-synced
		if err == nil {
			n.mu.Lock()
			n.folders[folder] = true
			n.mu.Unlock()
		}
		return err
	}
}

func (st *State) syncNote() error {
	if !st.f.o.Sync {
		return nil
	}
	if err := st.f.o.Sys.Sync(st.note.fd); err != nil {
		return err
	}
	return st.f.o.Sys.Sync(st.flight)
}

// end closes the folder, and removes the note unless keep is set.
func (st *State) end(keep bool) error {
	defer st.close()
	if keep {
		return nil
	}
	for folder := range st.note.folders {
		if err := st.f.syncPath(folder); err != nil {
			return err
		}
	}
	return disk.Remove(st.f.o.Sys, st.flight, st.note.name)
}

// syncPath makes the removal of temporary files in a folder last; one that is
// gone needs nothing.
func (f *Folder) syncPath(folder string) error {
	if !f.o.Sync {
		return nil
	}
	fd, err := f.o.Sys.Openat(unix.AT_FDCWD, strings.TrimSuffix(folder, "/")+"/", disk.OpenFolder, 0)
	if disk.Is(err, unix.ENOENT, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.o.Sys.Close(fd)
	return f.o.Sys.Sync(fd)
}
