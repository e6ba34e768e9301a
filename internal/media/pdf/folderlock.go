package pdf

import (
	"os"
	"path/filepath"
	"time"

	"github.com/fsmcp/fsmcp/internal/filelock"
	"github.com/fsmcp/fsmcp/internal/owndir"
)

// folderLock is a process's right to change a folder while others wait. It ends with the
// process. If there are no locks, all processes go ahead, which costs only time: each file
// is put in its place whole, and an unlisted file is not run.
type folderLock struct {
	file *os.File // beside the folder, locked; nil: there are no locks
	end  chan struct{}
}

// timeouts bounds the wait for other processes.
type timeouts struct {
	total     time.Duration // whatever they do
	silent    time.Duration // without a heartbeat
	heartbeat time.Duration // between two heartbeats of our own
}

// compileTimeouts bounds the wait for another process that is compiling PDFium. If it
// takes longer, it is stuck, and two processes compile at the same time. A stopped
// process, as in a paused container, keeps its lock, but sends no heartbeat.
func compileTimeouts() timeouts {
	return timeouts{total: 60 * time.Second, silent: 5 * time.Second, heartbeat: time.Second}
}

// lockFolder locks a folder. If it has to wait too long, it returns without the lock.
func lockFolder(dir string, p timeouts) *folderLock {
	const again = 20 * time.Millisecond
	if dir == "" || os.MkdirAll(filepath.Dir(dir), 0o700) != nil {
		return &folderLock{}
	}
	name := dir + ".lock"
	begin := time.Now()
	var last os.FileInfo // at the last heartbeat
	heard := begin
	for {
		f, err := filelock.Open(name)
		if err != nil {
			return &folderLock{}
		}
		got, err := filelock.Try(f)
		t := &folderLock{file: f, end: make(chan struct{})}
		now, errStat := f.Stat()
		if errStat == nil {
			errStat = owndir.Check(name, now)
		}
		switch {
		case err != nil || errStat != nil:
			f.Close()
			return &folderLock{}
		case got && t.owned():
			go t.heartbeat(p.heartbeat)
			return t
		case got: // another process took the lock away from its owner
		case last == nil || !os.SameFile(last, now) || !now.ModTime().Equal(last.ModTime()):
			last, heard = now, time.Now()
		case time.Since(heard) > p.silent && t.owned():
			filelock.Discard(name) // the lock's owner has lost it from here on
		}
		f.Close()
		if time.Since(begin) > p.total {
			return &folderLock{}
		}
		time.Sleep(again)
	}
}

// owned reports whether the lock file is still the one that others open: a process that
// was stopped for long loses it.
func (t *folderLock) owned() bool {
	if t.file == nil {
		return true
	}
	own, err := t.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(t.file.Name())
	return err == nil && os.SameFile(own, there)
}

// heartbeat touches the lock file until unlock.
func (t *folderLock) heartbeat(each time.Duration) {
	tick := time.NewTicker(each)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if t.owned() {
				os.Chtimes(t.file.Name(), now, now)
			}
		case <-t.end:
			return
		}
	}
}

// unlock frees the folder.
func (t *folderLock) unlock() {
	if t.file != nil {
		close(t.end)
		t.file.Close()
	}
}
