package pdf

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsmcp/fsmcp/internal/filelock"
)

// silent is one who has the turn at a folder and gives no sign of life, as a stopped
// process does.
func silent(t *testing.T, dir string) *turn {
	t.Helper()
	f, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := filelock.Try(f); err != nil || !got {
		t.Skipf("!!! NOT TESTED: %v, no lock can be had here: %v !!!", got, err)
	}
	return &turn{file: f, end: make(chan struct{})}
}

// One who has the turn and is stopped is waited for a moment, and then has lost it;
// one who lives is waited for: the control. The clock stands still while anybody works,
// so that nobody is taken for stopped whom the machine holds up.
func TestWhoIsStoppedLosesItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const still = time.Second
		dir := filepath.Join(t.TempDir(), "pdfium")
		stopped := silent(t, dir)
		begin := time.Now()
		mine := takeTurn(dir, patience{whole: time.Minute, still: still, sign: still / 10})
		if took := time.Since(begin); took < still || took > 2*still {
			t.Errorf("it was waited for for %v", took)
		}
		if mine.file == nil || !mine.mine() || stopped.mine() {
			t.Errorf("both have it, or none: %v, %v", mine.mine(), stopped.mine())
		}
		begin = time.Now()
		third := takeTurn(dir, patience{whole: 3 * still, still: still, sign: still})
		if took := time.Since(begin); third.file != nil || took < 3*still {
			t.Errorf("the turn of one who lives was taken after %v: %v", took, third.file != nil)
		}
		mine.over()
		stopped.over()
		last := takeTurn(dir, patience{whole: time.Minute, still: time.Hour, sign: still})
		if last.file == nil || !last.mine() {
			t.Error("when all is over nobody can have it")
		}
		last.over()
	})
}

// What lies there sound is loaded by many at once, whoever has the turn: also one who
// is stopped keeps nobody waiting. What is not sound is waited for: the control.
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
		loaded := make(chan error, 1)
		go func() {
			r := New(dir)
			r.patience.whole, r.patience.still = time.Hour, time.Hour
			defer r.Close()
			loaded <- r.Warm(quiet)
		}()
		var err error
		waits, enough := false, 5*time.Second
		if sound {
			enough = time.Minute // to load it, on whatever machine
		}
		select {
		case err = <-loaded:
		case <-time.After(enough):
			waits = true
		}
		other.over()
		if waits {
			err = <-loaded
		}
		if err != nil || waits == sound {
			t.Errorf("sound: %v; it waited: %v, %v", sound, waits, err)
		}
	}
}
