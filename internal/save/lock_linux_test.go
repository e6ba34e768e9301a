//go:build !fsys_portable

package save

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func (d *testFolder) lock(name string) *Lock {
	d.t.Helper()
	l, err := d.save.Lock(context.Background(), target(d.t, d.path(name)))
	if err != nil {
		d.t.Fatal(err)
	}
	return l
}

func isBusy(err error, why string) bool {
	var busy *BusyError
	return errors.As(err, &busy) && busy.Why == why
}

// Two Savers on one state folder are as two processes: the lock files are opened
// by each.
func TestLockKeepsOthersOut(t *testing.T) {
	for _, same := range []bool{true, false} {
		t.Run(fmt.Sprint("same process ", same), func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			d.put("f", "")
			d.open()
			first := d.lock("f")
			if !same {
				d.open()
			}
			d.save.o.LockWait = 30 * time.Millisecond
			promptly(t, time.Second, func() time.Duration {
				start := time.Now()
				_, err := d.save.Lock(t.Context(), target(t, d.path("f")))
				waited := time.Since(start)
				if !isBusy(err, busyLock) || waited < 30*time.Millisecond {
					t.Errorf("%v after %v", err, waited)
				}
				return waited
			})
			d.save.o.LockWait = time.Minute
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(5*time.Millisecond, cancel)
			if _, err := d.save.Lock(ctx, target(t, d.path("f"))); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			first.Unlock()
			first.Unlock()
			d.lock("f").Unlock()
		})
	}
}

// Waiting ends as soon as the holder lets go.
func TestLockIsHandedOn(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	d.put("f", "")
	promptly(t, 500*time.Millisecond, func() time.Duration {
		d.open()
		first := d.lock("f")
		d.open()
		time.AfterFunc(20*time.Millisecond, first.Unlock)
		start := time.Now()
		d.lock("f").Unlock()
		return time.Since(start)
	})
}

func TestLockCovers(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	d.open()
	d.put("f", "")
	l := d.lock("f")
	defer l.Unlock()
	if !l.Covers(target(t, d.path("f"))) {
		t.Error("not its own file")
	}
	if l.Covers(target(t, d.path("g"))) {
		t.Error("another file")
	}
	os.Mkdir(d.path("sub"), 0o755)
	os.Symlink("../f", d.path("sub/link"))
	if !l.Covers(target(t, d.path("sub/link"))) {
		t.Error("not through a link")
	}
	os.Rename(d.dir, d.dir+"2")
	os.Mkdir(d.dir, 0o755)
	if l.Covers(target(t, d.path("f"))) {
		t.Error("another folder of that name")
	}

	// A new name below folders that are still missing, and below them once
	// they are there.
	l2 := d.lock("a/b/new")
	defer l2.Unlock()
	if !l2.Covers(target(t, d.path("a/b/new"))) {
		t.Error("not its own new file")
	}
	os.MkdirAll(d.path("a/b"), 0o755)
	if l2.Covers(target(t, d.path("a/b/new"))) {
		t.Error("the folder is there now: another key")
	}
}

// Different files that share a stripe do not wait for each other in one process.
func TestStripeIsShared(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	d.open()
	first, err := d.save.lockKey(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Unlock()
	for n := 0; ; n++ {
		key := fmt.Sprint(n)
		if stripeOf(key) != stripeOf("first") {
			continue
		}
		second, err := d.save.lockKey(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		second.Unlock()
		break
	}
	other := New(Options{StateDir: d.state, LockWait: 20 * time.Millisecond})
	if _, err := other.lockKey(t.Context(), "first"); !isBusy(err, busyLock) {
		t.Errorf("the shared stripe was given away: %v", err)
	}
}

func TestStateFolder(t *testing.T) {
	modes := func(t *testing.T, path string) {
		t.Helper()
		st, err := os.Stat(path)
		if err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", st, err)
		}
	}
	t.Run("made lazily", func(t *testing.T) {
		d := newTestFolderIn(t, t.TempDir())
		d.state = filepath.Join(d.state, "deep", "down")
		d.open()
		if _, err := os.Stat(d.state); err == nil {
			t.Error("made without need")
		}
		out, err := whole(d.save, d.put("f", "old"), "new")
		if err != nil || out.StateInTemp != "" {
			t.Errorf("%+v, %v", out, err)
		}
		modes(t, d.state)
		modes(t, filepath.Dir(d.state))
	})
	t.Run("in the temp directory", func(t *testing.T) {
		d := newTestFolderIn(t, t.TempDir())
		os.WriteFile(d.state, nil, 0o600) // a file is in the way
		d.open()
		out, err := whole(d.save, d.put("f", "old"), "new")
		want := filepath.Join(filepath.Dir(d.state), fmt.Sprint("fsmcp-", os.Geteuid()))
		if err != nil || out.StateInTemp != want {
			t.Errorf("%+v, %v", out, err)
		}
		modes(t, want)
	})
	for name, prepare := range map[string]func(path string){
		"a link":    func(path string) { os.Symlink("/tmp", path) },
		"open":      func(path string) { os.Mkdir(path, 0o755) },
		"a file":    func(path string) { os.WriteFile(path, nil, 0o600) },
		"another's": func(path string) { os.Mkdir(path, 0o700); os.Chown(path, nobody, nobody) },
	} {
		t.Run("temp folder is "+name, func(t *testing.T) {
			if name == "another's" {
				needRoot(t)
			}
			d := newTestFolderIn(t, t.TempDir())
			os.WriteFile(d.state, nil, 0o600)
			prepare(filepath.Join(filepath.Dir(d.state), fmt.Sprint("fsmcp-", os.Geteuid())))
			d.open()
			if _, err := whole(d.save, d.put("f", "old"), "new"); !errors.Is(err, ErrNoState) {
				t.Errorf("%v", err)
			}
			d.want("f", "old")
		})
	}
	t.Run("a passing trouble", func(t *testing.T) {
		d := newTestFolderIn(t, t.TempDir())
		failing := true
		d.open(func(o *Options) {
			o.Sys = hooked{before: func(c call) error {
				if failing && c.name == "Openat" {
					return unix.EMFILE
				}
				return nil
			}}
		})
		path := d.put("f", "old")
		if _, err := whole(d.save, path, "new"); !errors.Is(err, unix.EMFILE) {
			t.Errorf("%v", err)
		}
		failing = false
		if out, err := whole(d.save, path, "new"); err != nil || out.StateInTemp != "" {
			t.Errorf("%+v, %v", out, err)
		}
	})
	t.Run("deleted at work", func(t *testing.T) {
		d := newTestFolder(t)
		path := d.put("f", "old")
		for _, content := range []string{"one", "two"} {
			if _, err := whole(d.save, path, content); err != nil {
				t.Fatal(err)
			}
			os.RemoveAll(d.state)
		}
		if _, err := whole(d.save, path, "three"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(d.state, "locks")); err != nil {
			t.Error(err)
		}
	})
	t.Run("lock files stay", func(t *testing.T) {
		d := newTestFolder(t)
		whole(d.save, d.put("f", "old"), "new")
		d.save.Close()
		locks, _ := os.ReadDir(filepath.Join(d.state, "locks"))
		if len(locks) != 1 || len(locks[0].Name()) != 2 || strings.Trim(locks[0].Name(), "0123456789abcdef") != "" {
			t.Errorf("%v", locks)
		}
	})
}
