package watch

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/windows"
)

// trees is the notifier of Windows. AddTree watches a folder with everything below it by one
// handle; any other folder is watched by fsnotify, which has no way for that: its option for it
// is set by its own tests alone (1.10.1). A handle on each folder would keep the user from
// renaming the folders above it, as long as fsmcp runs.
type trees struct {
	system
	sent    chan fsnotify.Event
	failed  chan error
	done    chan struct{}
	stop    windows.Handle // an event, set by Close
	running sync.WaitGroup
	mu      sync.Mutex
	tops    map[string]bool
	closed  bool
}

func newForest() (notifier, error) {
	below, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	stop, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return nil, errors.Join(err, below.Close())
	}
	t := &trees{system: system{below}, sent: make(chan fsnotify.Event), failed: make(chan error), done: make(chan struct{}), stop: stop, tops: make(map[string]bool)}
	t.running.Go(func() { drain(t.system, func(e fsnotify.Event) { t.send(e) }, t.fail) })
	return t, nil
}

// events and failures are those of all trees, and of fsnotify.
func (t *trees) events() <-chan fsnotify.Event { return t.sent }
func (t *trees) failures() <-chan error        { return t.failed }

// send reports false once Close has been called.
func (t *trees) send(e fsnotify.Event) bool {
	select {
	case t.sent <- e:
		return true
	case <-t.done:
		return false
	}
}

func (t *trees) fail(err error) {
	select {
	case t.failed <- err:
	case <-t.done:
	}
}

// AddTree watches a folder and everything below it, unless it is watched already.
func (t *trees) AddTree(top string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tops[top] || t.closed {
		return nil
	}
	r, err := openTree(top)
	if err != nil {
		return err
	}
	begun := make(chan error)
	t.running.Go(func() { t.follow(r, begun) })
	err = <-begun
	t.tops[top] = err == nil
	return err
}

// Remove ends the watch of a folder by fsnotify. What lies in a tree is left alone.
func (t *trees) Remove(dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for top := range t.tops {
		if dir == top || strings.HasPrefix(dir, strings.TrimSuffix(top, `\`)+`\`) {
			return nil
		}
	}
	return t.system.Remove(dir)
}

// Close ends all watches.
func (t *trees) Close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	t.mu.Unlock()
	close(t.done)
	err := errors.Join(windows.SetEvent(t.stop), t.system.Close())
	t.running.Wait()
	close(t.sent)
	return errors.Join(err, windows.CloseHandle(t.stop))
}

// follow sends what happens below a folder, after it has sent whether that can be watched. A
// tree that can be watched no longer, as one that was deleted, is forgotten: the next AddTree
// opens it again.
func (t *trees) follow(r *treeReader, begun chan<- error) {
	runtime.LockOSThread() // the system ends a read with the thread that began it
	defer runtime.UnlockOSThread()
	defer r.close()
	err := r.begin()
	begun <- err
	for err == nil {
		n, stopped, failed := r.wait(t.stop)
		if stopped {
			return
		}
		found := r.parse(n)
		if err = failed; err == nil {
			err = r.begin() // the system gathers what happens until then
		}
		if n == 0 || err != nil {
			t.fail(fsnotify.ErrEventOverflow)
		}
		for _, e := range found {
			if !t.send(e) {
				return
			}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tops, r.top)
}

// treeReader reads the changes below one folder. The system writes into its fields while a
// read is under way: it stays where it is.
type treeReader struct {
	top    string
	handle windows.Handle
	under  *windows.Overlapped
	reads  bool // a read is under way
	buf    []uint32
}

// treeBuffer is the most that the system takes for a folder of another computer.
const treeBuffer = 64 << 10

func openTree(top string) (*treeReader, error) {
	name, err := windows.UTF16PtrFromString(top)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(name, windows.FILE_LIST_DIRECTORY, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OVERLAPPED, 0)
	if err != nil {
		return nil, &os.PathError{Op: "watch", Path: top, Err: err}
	}
	event, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		windows.CloseHandle(h)
		return nil, err
	}
	return &treeReader{top: top, handle: h, under: &windows.Overlapped{HEvent: event}, buf: make([]uint32, treeBuffer/4)}, nil
}

// begin asks for the next changes.
func (r *treeReader) begin() error {
	const changes = windows.FILE_NOTIFY_CHANGE_FILE_NAME | windows.FILE_NOTIFY_CHANGE_DIR_NAME | windows.FILE_NOTIFY_CHANGE_SIZE | windows.FILE_NOTIFY_CHANGE_LAST_WRITE
	*r.under = windows.Overlapped{HEvent: r.under.HEvent}
	err := windows.ReadDirectoryChanges(r.handle, (*byte)(unsafe.Pointer(&r.buf[0])), treeBuffer, true, changes, nil, r.under, 0)
	if err == windows.ERROR_IO_PENDING {
		err = nil
	}
	r.reads = err == nil
	return err
}

// wait returns the number of bytes that were read; 0 if there were more changes than fit.
func (r *treeReader) wait(stop windows.Handle) (n uint32, stopped bool, err error) {
	at, err := windows.WaitForMultipleObjects([]windows.Handle{r.under.HEvent, stop}, false, windows.INFINITE)
	if err != nil || at != windows.WAIT_OBJECT_0 {
		return 0, err == nil, err
	}
	err = windows.GetOverlappedResult(r.handle, r.under, &n, false)
	r.reads = false
	return n, false, err
}

// close ends the read that is under way, and gives the handles back.
func (r *treeReader) close() {
	if r.reads {
		var n uint32
		if windows.CancelIoEx(r.handle, r.under) == nil {
			windows.GetOverlappedResult(r.handle, r.under, &n, true)
		}
	}
	windows.CloseHandle(r.handle)
	windows.CloseHandle(r.under.HEvent)
}

// parse returns the changes in the first n bytes that were read.
func (r *treeReader) parse(n uint32) (all []fsnotify.Event) {
	ops := map[uint32]fsnotify.Op{windows.FILE_ACTION_ADDED: fsnotify.Create, windows.FILE_ACTION_REMOVED: fsnotify.Remove,
		windows.FILE_ACTION_MODIFIED: fsnotify.Write, windows.FILE_ACTION_RENAMED_OLD_NAME: fsnotify.Rename, windows.FILE_ACTION_RENAMED_NEW_NAME: fsnotify.Create}
	base := unsafe.Pointer(&r.buf[0])
	for at := uint32(0); at < n; {
		info := (*windows.FileNotifyInformation)(unsafe.Add(base, at))
		name := windows.UTF16ToString(unsafe.Slice(&info.FileName, info.FileNameLength/2))
		all = append(all, fsnotify.Event{Name: filepath.Join(r.top, name), Op: ops[info.Action]})
		if info.NextEntryOffset == 0 {
			break
		}
		at += info.NextEntryOffset
	}
	return all
}
