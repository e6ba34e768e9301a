package pdf

import (
	"os"
	"path/filepath"
	"time"

	"github.com/fsmcp/fsmcp/internal/filelock"
	"github.com/fsmcp/fsmcp/internal/owndir"
)

// turn is a process's right to change a folder while others wait. It ends with the
// process. Where none can be had, all go ahead at once, which costs time alone:
// files are put in their place whole, and what is not listed is not run.
type turn struct {
	file *os.File // beside the folder, locked; nil: there are no locks
	end  chan struct{}
}

// patience is how long one waits for others.
type patience struct {
	whole time.Duration // whatever they do
	still time.Duration // for one who gives no sign of life
	sign  time.Duration // how often one gives such a sign oneself
}

// ordinary is the patience with others who compile. One who takes longer has lost
// its way: two then compile beside each other. One who is stopped, as all processes
// of a paused container are, has its lock all the while: it is known by its silence.
func ordinary() patience {
	return patience{whole: 60 * time.Second, still: 5 * time.Second, sign: time.Second}
}

// takeTurn waits for its turn at a folder, as long as patience lasts.
func takeTurn(dir string, p patience) *turn {
	const again = 20 * time.Millisecond
	if dir == "" || os.MkdirAll(filepath.Dir(dir), 0o700) != nil {
		return &turn{}
	}
	name := dir + ".lock"
	begin := time.Now()
	var last os.FileInfo // as it was at the last sign of life
	heard := begin
	for {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return &turn{}
		}
		got, err := filelock.Try(f)
		t := &turn{file: f, end: make(chan struct{})}
		now, errStat := f.Stat()
		if errStat == nil {
			errStat = owndir.Check(name, now)
		}
		switch {
		case err != nil || errStat != nil:
			f.Close()
			return &turn{}
		case got && t.mine():
			go t.live(p.sign)
			return t
		case got: // it was taken away from who had it, by somebody else
		case last == nil || !os.SameFile(last, now) || !now.ModTime().Equal(last.ModTime()):
			last, heard = now, time.Now()
		case time.Since(heard) > p.still && t.mine():
			os.Remove(name) // from here on who has the lock has nothing
		}
		f.Close()
		if time.Since(begin) > p.whole {
			return &turn{}
		}
		time.Sleep(again)
	}
}

// mine tells whether the lock is still the one that others ask for: it is taken away
// from who was stopped for long.
func (t *turn) mine() bool {
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

// live gives signs of life until the turn is over.
func (t *turn) live(each time.Duration) {
	tick := time.NewTicker(each)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if t.mine() {
				os.Chtimes(t.file.Name(), now, now)
			}
		case <-t.end:
			return
		}
	}
}

// over lets others go on.
func (t *turn) over() {
	if t.file != nil {
		close(t.end)
		t.file.Close()
	}
}
