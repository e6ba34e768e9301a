//go:build !fsys_portable

package save

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

func (d *testFolder) begin(name string) (*Txn, error) {
	return d.save.Begin(context.Background(), target(d.t, d.path(name)))
}

func TestCreate(t *testing.T) {
	for name, system := range systems {
		t.Run(name, func(t *testing.T) {
			d := newTestFolder(t, func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })
			out, err := whole(d.save, d.path("a/b/f"), "new")
			if err != nil || !out.Created || !slices.Equal(out.CreatedDirs, []string{d.path("a"), d.path("a/b")}) {
				t.Errorf("%+v, %v", out, err)
			}
			if stamp := stampAt(t, d.path("a/b/f")); out.Stamp != stamp {
				t.Errorf("%+v, want %+v", out.Stamp, stamp)
			}
			d.want("a/b/f", "new")
			d.wantNames("a")
		})
	}
}

// A file that appears meanwhile is never covered, and folders made for nothing go.
func TestCreateExists(t *testing.T) {
	for name, system := range systems {
		t.Run(name, func(t *testing.T) {
			d := newTestFolder(t, func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })
			x, err := d.begin("f")
			if err != nil || x.Old() != nil {
				t.Fatal(err)
			}
			defer x.Close()
			d.put("f", "theirs")
			if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 0, New: []byte("ours")}}); !errors.Is(err, ErrExists) {
				t.Errorf("%v", err)
			}
			d.want("f", "theirs")
			d.wantNames("f")

			x, err = d.begin("a/b/f")
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			os.Mkdir(d.path("a"), 0o755)
			os.Symlink("/tmp", d.path("a/b"))
			if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 0, New: []byte("ours")}}); err == nil {
				t.Error("went through a link that appeared meanwhile")
			}
			os.Remove(d.path("a/b"))
			d.wantNames("a", "f")

			x, err = d.begin("c/d/f")
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			os.MkdirAll(d.path("c/d"), 0o755)
			os.WriteFile(d.path("c/d/f"), []byte("theirs"), 0o644)
			if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 0, New: []byte("ours")}}); !errors.Is(err, ErrExists) {
				t.Errorf("%v", err)
			}
			d.want("c/d/f", "theirs")
		})
	}
}

func TestVanished(t *testing.T) {
	for name, system := range systems {
		t.Run(name, func(t *testing.T) {
			d := newTestFolder(t, func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })
			d.put("f", "old")
			x, err := d.begin("f")
			if err != nil {
				t.Fatal(err)
			}
			os.Remove(d.path("f"))
			if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 3, New: []byte("new")}}); !errors.Is(err, ErrVanished) {
				t.Errorf("%v", err)
			}
			x.Close()
			d.wantNames()

			d.put("f", "old")
			if x, err = d.begin("f"); err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			os.RemoveAll(d.dir)
			if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 3, New: []byte("new")}}); !errors.Is(err, ErrVanished) {
				t.Errorf("with its folder: %v", err)
			}
			os.Mkdir(d.dir, 0o755)
			if x, err = d.begin("new"); err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			os.RemoveAll(d.dir)
			if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 0, New: []byte("new")}}); !errors.Is(err, ErrVanished) {
				t.Errorf("folder of a new file: %v", err)
			}
		})
	}
}

// A file that a program has open for writing is waited for, but not long.
func TestBusy(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d.save.o.OpenWait = 40 * time.Millisecond
	promptly(t, time.Second, func() time.Duration {
		start := time.Now()
		_, err := whole(d.save, path, "new")
		waited := time.Since(start)
		if !isBusy(err, busyOpen) || !strings.Contains(err.Error(), "open for writing") || waited < 40*time.Millisecond {
			t.Errorf("%v after %v", err, waited)
		}
		return waited
	})
	d.save.o.OpenWait = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	if _, err := d.save.Begin(ctx, target(t, path)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	time.AfterFunc(10*time.Millisecond, func() { f.Close() })
	if _, err := whole(d.save, path, "new"); err != nil {
		t.Errorf("%v", err)
	}
	d.want("f", "new")
}

// heldBack reports whether the lease delays a program that opens the file.
func heldBack(x *Txn) bool {
	kind, err := sys.Kernel{}.GetLease(x.old.fd)
	return err == nil && kind != unix.F_RDLCK
}

// The lease does hold programs back, and Close lets them go on.
func TestLeaseHoldsBack(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old")
	x, err := d.begin("f")
	if err != nil || !x.old.leased {
		t.Fatal(err)
	}
	opened := make(chan struct{})
	go func() {
		appendLine(path, 0)()
		close(opened)
	}()
	until(t, "somebody is held back", func() bool { return heldBack(x) })
	select {
	case <-opened:
		t.Error("nobody was held back")
	case <-time.After(20 * time.Millisecond):
	}
	if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 3, New: []byte("new")}}); !errors.Is(err, ErrModified) {
		t.Errorf("%v", err)
	}
	<-opened // Replace lets go, the caller need not hurry
	x.Close()
	x.Close()
	d.want("f", "old"+foreignLine)
	d.wantNames("f")
}

func TestNotRegular(t *testing.T) {
	d := newTestFolder(t)
	os.Mkdir(d.path("folder"), 0o755)
	unix.Mkfifo(d.path("pipe"), 0o644)
	for _, name := range []string{"folder", "pipe"} {
		if _, err := d.begin(name); !errors.Is(err, fsys.ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.save.Begin(t.Context(), target(t, "/dev/null")); !errors.Is(err, fsys.ErrNotRegular) {
		t.Errorf("%v", err)
	}
}

// A call that was cancelled before it begins to write writes nothing; one
// transaction is good for one write.
func TestReplaceOnce(t *testing.T) {
	d := newTestFolder(t)
	d.put("f", "old")
	x, err := d.begin("f")
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Replace(ctx, []span.Splice{{Start: 0, End: 3, New: []byte("new")}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	d.want("f", "old")
	if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 3, New: []byte("new")}}); err != nil {
		t.Errorf("%v", err)
	}
	if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 3, New: []byte("newer")}}); err == nil {
		t.Error("replaced twice")
	}
	d.want("f", "new")
	if _, err := d.save.Begin(ctx, target(t, d.path("f"))); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := d.save.Lock(ctx, target(t, d.path("f"))); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The stamp in the outcome is that of the file, so that the next look finds it
// unchanged.
func TestOutcomeStamp(t *testing.T) {
	for name, system := range systems {
		d := newTestFolder(t, func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })
		path := d.put("f", "old")
		out, err := whole(d.save, path, "new content")
		if err != nil || out.Stamp != stampAt(t, path) {
			t.Errorf("%s: %+v, want %+v (%v)", name, out.Stamp, stampAt(t, path), err)
		}
	}
}

// A folder that cannot be synced: the write is done, its durability unknown.
func TestDurabilityUnknown(t *testing.T) {
	for name, file := range map[string]string{"replace": "f", "create": "new"} {
		syncs := 0
		d := newTestFolderIn(t, memory(t))
		d.put("f", "old")
		var folder []bool
		d.open(func(o *Options) {
			o.Durability = Full
			o.Sys = hooked{before: func(c call) error {
				if c.name != "Sync" {
					return nil
				}
				syncs++
				s, _ := sys.Kernel{}.Fstat(c.fd)
				isWork := s.Mode&unix.S_IFMT == unix.S_IFDIR && s.Ino == stampAt(t, d.dir).Ino
				folder = append(folder, isWork)
				if isWork {
					return unix.EIO
				}
				return nil
			}}
		})
		out, err := whole(d.save, d.path(file), "content")
		if err != nil || !out.DurabilityUnknown {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		d.want(file, "content")
		if n := len(folder); !slices.Contains(folder, true) || folder[n-1] && n > 1 && folder[n-2] {
			t.Errorf("%s: synced %v", name, folder)
		}
	}
}

// After an error a file is never synced again.
func TestSyncIsNotRetried(t *testing.T) {
	for _, errno := range []unix.Errno{unix.EIO, unix.EINTR, unix.ENOSPC} {
		d := newTestFolderIn(t, memory(t))
		path := d.put("f", "old")
		seen := map[uint64]int{}
		d.open(func(o *Options) {
			o.Durability = Full
			o.Sys = hooked{before: func(c call) error {
				if c.name != "Sync" {
					return nil
				}
				s, _ := sys.Kernel{}.Fstat(c.fd)
				if s.Mode&unix.S_IFMT != unix.S_IFREG || s.Nlink > 0 {
					return nil
				}
				seen[s.Ino]++
				return errno
			}}
		})
		_, err := whole(d.save, path, "new")
		if !errors.Is(err, errno) || len(seen) != 1 {
			t.Errorf("%v: %v, %v", errno, err, seen)
		}
		for _, n := range seen {
			if n != 1 {
				t.Errorf("%v: synced %d times", errno, n)
			}
		}
		d.want("f", "old")
		d.wantNames("f")
	}
}

// What each durability costs.
func TestSyncsPerDurability(t *testing.T) {
	for how, want := range map[Durability]int{Full: 2, Data: 1, None: 0} {
		d := newTestFolderIn(t, memory(t))
		path := d.put("f", "old")
		syncs := 0
		d.open(func(o *Options) {
			o.Durability = how
			o.Sys = hooked{before: func(c call) error {
				if c.name == "Sync" {
					syncs++
				}
				return nil
			}}
		})
		whole(d.save, path, "first") // notes the folder
		syncs = 0
		if _, err := whole(d.save, path, "second"); err != nil || syncs != want {
			t.Errorf("%v: %d syncs, want %d (%v)", how, syncs, want, err)
		}
	}
}

// How many system calls a small edit takes, resolving apart.
func TestCallCount(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	path := d.put("f", strings.Repeat("x", 1024))
	counts := map[string]int{}
	d.open(func(o *Options) {
		o.Durability = Full
		o.Sys = hooked{before: func(c call) error { counts[c.name]++; return nil }}
	})
	whole(d.save, path, strings.Repeat("y", 1024))
	settle()
	clear(counts)
	if err := edit(d.save, path, "mark"); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	t.Logf("%d calls: %v", total, counts)
	if total > 40 {
		t.Errorf("%d calls: %v", total, counts)
	}
}

// An old file whose digest the caller has is not read again for it.
func TestKnownDigestIsNotWorkedOutAgain(t *testing.T) {
	reads := 0
	var now time.Time
	d := newTestFolder(t, func(o *Options) {
		o.Now = func() time.Time { return now }
		o.Sys = hooked{before: func(c call) error {
			if c.name == "Pread" {
				reads++
			}
			return nil
		}}
	})
	old := []byte("old text")
	for _, known := range []bool{false, true} {
		path := d.put("f", string(old))
		now = time.Unix(0, stampAt(t, path).Ctime) // just now: its stamp proves nothing yet
		_, err := transact(d.save, path, func(x *Txn) (Written, error) {
			if known {
				x.Known(int64(len(old)), func() [32]byte { return sha256.Sum256(old) })
			}
			reads = 0
			out, err := x.Replace(context.Background(), []span.Splice{{Start: 0, End: 3, New: []byte("new")}})
			want := 2 // the text that is kept, and all of it for the digest
			if known {
				want = 1
			}
			if x.old.sum == nil || *x.old.sum != sha256.Sum256(old) || reads != want {
				t.Errorf("known %v: %d reads, digest %x", known, reads, x.old.sum)
			}
			return out, err
		})
		if err != nil {
			t.Error(err)
		}
		d.want("f", "new text")
	}
}

// lying is a network file system that keeps other bytes than it was given.
type lying struct {
	hooked
	lie *bool
}

func (l lying) Pread(fd int, p []byte, off int64) (int, error) {
	n, err := l.hooked.Pread(fd, p, off)
	if s, _ := l.hooked.Fstat(fd); *l.lie && s.Size == int64(len("new content")) && n > 0 {
		p[0] ^= 1
	}
	return n, err
}

// On the network what was written is read back; other bytes are a loud failure,
// and the old ones are back in place.
func TestNetworkReadBack(t *testing.T) {
	for name, system := range systems {
		if name == "in-place" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			lie := true
			d := newTestFolder(t, func(o *Options) {
				o.Sys = lying{hooked{base: system.base(), before: system.before, network: true}, &lie}
			})
			path := d.put("f", "old")
			_, err := whole(d.save, path, "new content")
			var ioerr *IOError
			if !errors.Is(err, ErrReadBack) || !errors.As(err, &ioerr) || ioerr.Changed {
				t.Errorf("%v", err)
			}
			d.want("f", "old")
			if _, err := whole(d.save, d.path("g"), "new content"); !errors.Is(err, ErrReadBack) {
				t.Errorf("%v", err)
			}
			d.wantNames("f")
			lie = false
			if _, err := whole(d.save, path, "new content"); err != nil {
				t.Error(err)
			}
			d.want("f", "new content")
			d.wantNames("f")
		})
	}
}

// A network file system that grants no lease says the same as if the file were
// open: there it must not stop the write.
func TestNetworkWithoutLease(t *testing.T) {
	d := newTestFolder(t, func(o *Options) {
		o.Sys = hooked{network: true, before: func(c call) error {
			if c.name == "SetLease" {
				return unix.EAGAIN
			}
			return nil
		}}
	})
	if _, err := whole(d.save, d.put("f", "old"), "new"); err != nil {
		t.Error(err)
	}
	d.want("f", "new")
}

// Only what was compared is replaced, whatever the caller waited for.
func TestModifiedSinceBegin(t *testing.T) {
	for name, system := range systems {
		t.Run(name, func(t *testing.T) {
			d := newTestFolder(t, func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })
			d.put("f", "old")
			x, err := d.begin("f")
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			renameOnto(d.path("f"), "theirs")
			if _, err := x.Replace(t.Context(), []span.Splice{{Start: 0, End: 3, New: []byte("new")}}); !errors.Is(err, ErrModified) {
				t.Errorf("%v", err)
			}
			d.want("f", "theirs")
			d.wantNames("f")
		})
	}
}
