package pdf

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsmcp/fsmcp/internal/filelock"
)

// silent owns the lock of a folder and sends no heartbeat, as a stopped process does.
func silent(t *testing.T, dir string) *folderLock {
	t.Helper()
	f, err := filelock.Open(dir + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := filelock.Try(f); err != nil || !got {
		t.Skipf("!!! NOT TESTED: %v, no lock can be had here: %v !!!", got, err)
	}
	return &folderLock{file: f, end: make(chan struct{})}
}

// A stopped owner loses its lock after a moment; a live owner does not: the control. The
// clock stands still while any process works, so a busy machine makes no owner look
// stopped.
func TestWhoIsStoppedLosesItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const still = time.Second
		dir := filepath.Join(t.TempDir(), "pdfium")
		stopped := silent(t, dir)
		begin := time.Now()
		mine := lockFolder(dir, timeouts{total: time.Minute, silent: still, heartbeat: still / 10})
		if took := time.Since(begin); took < still || took > 2*still {
			t.Errorf("it was waited for for %v", took)
		}
		if mine.file == nil || !mine.owned() || stopped.owned() {
			t.Errorf("both have it, or none: %v, %v", mine.owned(), stopped.owned())
		}
		begin = time.Now()
		third := lockFolder(dir, timeouts{total: 3 * still, silent: still, heartbeat: still})
		if took := time.Since(begin); third.file != nil || took < 3*still {
			t.Errorf("the turn of one who lives was taken after %v: %v", took, third.file != nil)
		}
		mine.unlock()
		stopped.unlock()
		last := lockFolder(dir, timeouts{total: time.Minute, silent: time.Hour, heartbeat: still})
		if last.file == nil || !last.owned() {
			t.Error("when all is over nobody can have it")
		}
		last.unlock()
	})
}

// Many processes load sound files at once, whichever has the lock: a stopped owner delays
// none of them. They wait for files that are not sound: the control.
func TestManyLoadAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	for _, sound := range []bool{true, false} {
		dir, _ := compiledOnce(t)
		if stray := filepath.Join(dir, "stray"); !sound {
			if err := os.WriteFile(stray, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		other := silent(t, dir)
		loaded, asked := make(chan error, 1), make(chan struct{})
		go func() {
			r := New(dir)
			r.timeouts.total, r.timeouts.silent = time.Hour, time.Hour
			defer r.Close()
			var once sync.Once // what takes the lock says so each second
			loaded <- r.Warm(func(int64, int64, string) { once.Do(func() { close(asked) }) })
		}()
		var err error
		ended, waits := false, false
		select {
		case err = <-loaded:
			ended = true
		case <-asked:
			_, gone := os.Stat(filepath.Join(dir, "stray")) // cleared away by what has the lock
			waits = sound || gone == nil
		}
		other.unlock()
		if !ended {
			err = <-loaded
		}
		if err != nil || waits == sound {
			t.Errorf("sound: %v; it waited: %v, %v", sound, waits, err)
		}
	}
}
