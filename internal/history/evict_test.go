package history

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/filelock"
)

// aged makes a finished pack with some bytes that was written to that long ago.
func aged(t *testing.T, dir string, age time.Duration, size int) {
	t.Helper()
	s := openStore(t, dir, func(o *Options) { o.Now = func() time.Time { return time.Now().Add(-age) } })
	keep(t, s, "/"+age.String(), nil, noise(size))
	s.Close()
	all, err := filepath.Glob(filepath.Join(dir, Folder, "*-*"))
	if err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-age)
	for _, f := range all {
		if info, err := os.Stat(f); err == nil && time.Since(info.ModTime()) < time.Minute {
			if err := os.Chtimes(f, then, then); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// noise is bytes that cannot be compressed.
func noise(n int) []byte {
	b := make([]byte, n)
	x := uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x >> 32)
	}
	return b
}

// left are the ages, in hours, of what is still there.
func left(t *testing.T, dir string) (hours []int) {
	t.Helper()
	entries, bad := open(t, dir).Entries(nil)
	if bad != nil {
		t.Fatal(bad)
	}
	for _, e := range entries {
		hours = append(hours, int(time.Since(e.Time).Round(time.Hour)/time.Hour))
	}
	return hours
}

func TestEviction(t *testing.T) {
	const mb = 1 << 20
	for name, c := range map[string]struct {
		settings Settings
		want     []int
	}{
		"all fits":          {Settings{MaxSize: 100 * mb, MaxAge: 1000 * time.Hour}, []int{0, 2, 30, 100}},
		"by age":            {Settings{MaxSize: 100 * mb, MaxAge: 50 * time.Hour}, []int{0, 2, 30}},
		"by size":           {Settings{MaxSize: 2*mb + mb/2, MaxAge: 1000 * time.Hour}, []int{0, 2}},
		"the young are not": {Settings{MaxSize: mb, MaxAge: time.Minute}, []int{0}},
		"twice the size":    {Settings{MaxSize: mb / 4, MaxAge: time.Minute}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, h := range []int{100, 30, 2, 0} {
				aged(t, dir, time.Duration(h)*time.Hour, mb)
			}
			root, err := os.OpenRoot(filepath.Join(dir, Folder))
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			if err := evict(root, c.settings, time.Now()); err != nil {
				t.Fatal(err)
			}
			if got := left(t, dir); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("left are those of %v hours ago, not %v", got, c.want)
			}
		})
	}
}

// TestEvictionSparesTheLiving: however old, what a process may still add to stays.
func TestEvictionSparesTheLiving(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	keep(t, s, "/a", nil, []byte("1"))
	all, _ := filepath.Glob(filepath.Join(dir, Folder, "*-*"))
	old := time.Now().Add(-9999 * time.Hour)
	for _, f := range all {
		if err := os.Chtimes(f, old, old); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tidy := func() { evict(root, Settings{MaxSize: 1, MaxAge: time.Hour}, time.Now()) }
	if tidy(); len(left(t, dir)) != 1 {
		t.Error("a living process's entry is gone")
	}
	s.Close()
	if tidy(); len(left(t, dir)) != 0 {
		t.Error("what was left behind stays")
	}
}

// TestOneEvictor: a second one leaves it to the first.
func TestOneEvictor(t *testing.T) {
	dir := t.TempDir()
	aged(t, dir, 100*time.Hour, 10)
	root, err := os.OpenRoot(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	lock, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := filelock.Try(lock); !got {
		t.Fatal(err)
	}
	evict(root, Settings{MaxSize: 1, MaxAge: time.Hour}, time.Now())
	if len(left(t, dir)) != 1 {
		t.Error("it did not wait its turn")
	}
	lock.Close()
	evict(root, Settings{MaxSize: 1, MaxAge: time.Hour}, time.Now())
	if len(left(t, dir)) != 0 {
		t.Error("nothing was evicted")
	}
}

// TestPacksAreShort: by size and by age a new one is begun, so that there is
// something to evict.
func TestPacksAreShort(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	s := openStore(t, dir, func(o *Options) {
		o.Now = func() time.Time { return now }
		o.Settings = func() Settings { return Settings{Required: true, MaxSize: 32 << 20, MaxAge: testMaxAge} }
	})
	count := func() int {
		all, _ := filepath.Glob(filepath.Join(dir, Folder, "*"+packExt))
		return len(all)
	}
	for range 4 {
		keep(t, s, "/a", nil, append(noise(minPack/2+100), fmt.Sprint(count(), time.Now())...))
	}
	if n := count(); n != 2 {
		t.Errorf("%d packs for 2 MB of 1 MB each", n)
	}
	now = now.Add(maxSpan + time.Second)
	keep(t, s, "/a", nil, []byte("x"))
	if n := count(); n != 3 {
		t.Errorf("%d packs after a day", n)
	}
}

// TestEvictAtClose: a restore stores more than there is room for while it reads.
func TestEvictAtClose(t *testing.T) {
	for _, atClose := range []bool{false, true} { // the first one is the control
		dir := t.TempDir()
		aged(t, dir, 3*time.Hour, 1000)
		s := openStore(t, dir, func(o *Options) {
			o.Settings = func() Settings { return Settings{Required: true, MaxSize: 100, MaxAge: testMaxAge} }
		})
		if atClose {
			s.EvictAtClose()
		}
		keep(t, s, "/a", nil, []byte("1"))
		s.tidying.Wait()
		if got := len(left(t, dir)); got != map[bool]int{false: 1, true: 2}[atClose] {
			t.Errorf("at close %v: %d entries before", atClose, got)
		}
		s.Close()
		if got := len(left(t, dir)); got > 1 {
			t.Errorf("at close %v: %d entries after", atClose, got)
		}
	}
}

// TestEvictedWhileRead: what an archive has read from once stays readable.
func TestEvictedWhileRead(t *testing.T) {
	dir := t.TempDir()
	aged(t, dir, 3*time.Hour, 1000)
	a, control := open(t, dir), open(t, dir)
	e, other := entriesOf(t, a)[0], entriesOf(t, control)[0]
	if _, err := a.After(e); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := evict(root, Settings{MaxSize: 1, MaxAge: testMaxAge}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if b, err := a.After(e); err != nil || len(b) != 1000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := control.After(other); err == nil {
		t.Error("nothing was evicted")
	}
}
