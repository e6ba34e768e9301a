package save

import (
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// note is this process's list of the folders in which it may leave a temporary file, for
// the sweep after its death: one quoted name a line. The lock on the file tells other
// processes that this one lives.
type note struct {
	s       *Saver
	dir, fd int
	name    string
	mu      sync.Mutex
	size    int64
	folders map[string]bool
	pending map[string]func() error // of folders whose note is not on disk yet
}

// start makes the note.
func (n *note) start() error {
	made, err := sys.CreateLocked(n.s.sys, n.dir, 0o600, func() (string, error) { return n.s.random(10) })
	if err != nil {
		return err
	}
	if made.LockErr != nil {
		n.s.sys.Close(made.FD)
		sys.Remove(n.s.sys, n.dir, made.Name)
		return made.LockErr
	}
	n.fd, n.name, n.folders, n.pending = made.FD, made.Name, make(map[string]bool), make(map[string]func() error)
	return nil
}

// add notes a folder, once. The function that it returns waits until the note would survive
// a loss of power; the caller has a sync of its own to do meanwhile. A second note of one
// folder costs nothing, and one beside the first waits for that.
func (n *note) add(folder string) (noted func() error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.folders[folder] {
		return func() error { return nil }
	}
	if noted := n.pending[folder]; noted != nil {
		return noted
	}
	line := strconv.Quote(folder) + "\n"
	if err := sys.WriteAll(n.s.sys, n.fd, []byte(line), n.size); err != nil {
		return func() error { return err }
	}
	n.size += int64(len(line))
	noted = sync.OnceValue(func() error {
		err := n.sync()
		n.mu.Lock()
		defer n.mu.Unlock()
		if err == nil {
			n.folders[folder] = true
		}
		delete(n.pending, folder)
		return err
	})
	n.pending[folder] = noted
	go noted()
	return noted
}

func (n *note) sync() error {
	if n.s.o.Durability == None {
		return nil
	}
	if err := n.s.sys.Sync(n.fd); err != nil {
		return err
	}
	return n.s.sys.Sync(n.dir)
}

// remove removes the note, after the removal of temporary files in its folders is synced. A
// folder that is gone needs nothing.
func (n *note) remove() error {
	for folder := range n.folders {
		if n.s.o.Durability == None {
			break
		}
		err := sys.SyncFolder(n.s.sys, sys.CWD, strings.TrimSuffix(folder, "/")+"/")
		if err != nil && !sys.Is(err, syscall.ENOENT, syscall.ENOTDIR) {
			return err
		}
	}
	return sys.Remove(n.s.sys, n.dir, n.name)
}

// notedFolders returns the folders that a note names. Half a line at its end names none:
// that folder was not used yet.
func notedFolders(note []byte) (folders []string) {
	for line := range strings.Lines(string(note)) {
		if folder, err := strconv.Unquote(strings.TrimSuffix(line, "\n")); err == nil {
			folders = append(folders, folder)
		}
	}
	return folders
}
