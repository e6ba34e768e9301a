package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
)

// The bounds of most tests.
const (
	testMaxSize = 1 << 30
	testMaxAge  = 30 * 24 * time.Hour
)

// seeded is chance that can be had again: FSMCP_SEED is the seed that a test has told.
func seeded(t *testing.T, stream uint64) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("FSMCP_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, stream))
}

// keeping makes a store over a folder.
func openStore(t testing.TB, dir string, change ...func(*Options)) *Store {
	t.Helper()
	o := Options{
		Dir:      func(context.Context) (string, error) { return dir, nil },
		Settings: func() Settings { return Settings{Required: true, MaxSize: testMaxSize, MaxAge: testMaxAge} },
	}
	for _, f := range change {
		f(&o)
	}
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

// keep notes a change from old to new bytes; nil stands for no file.
func keep(t testing.TB, s *Store, path string, old, new []byte) *Mark {
	t.Helper()
	c := PendingChange{Names: []string{path}, Session: "s", Tool: "Edit", Call: "1", Gone: new == nil}
	if old != nil {
		c.Old, c.Size, c.From = bytes.NewReader(old), int64(len(old)), old
	}
	if new != nil {
		c.Splices = []span.Splice{{End: int64(len(old)), New: new}}
	}
	m, err := s.Keep(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	m.Done()
	return m
}

func open(t testing.TB, dir string) *Archive {
	t.Helper()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// version holds the bytes that an entry should give back.
type version struct {
	path        string
	before, now []byte
}

// compare looks at every entry of an archive; want holds them oldest first, by
// path.
func compare(t *testing.T, a *Archive, want map[string][]version) {
	t.Helper()
	entries, bad := a.Entries(nil)
	if len(bad) > 0 {
		t.Fatalf("damaged: %v", bad)
	}
	n := 0
	for _, v := range want {
		n += len(v)
	}
	if len(entries) != n {
		t.Fatalf("%d entries, not %d", len(entries), n)
	}
	for i, e := range entries {
		if i > 0 && e.Time.After(entries[i-1].Time) {
			t.Errorf("entry %d is newer than the one before it", i)
		}
		left := want[e.Path]
		v := left[len(left)-1]
		want[e.Path] = left[:len(left)-1]
		before, err := a.Before(e)
		if err != nil || !bytes.Equal(before, v.before) || (before == nil) != (v.before == nil) {
			t.Fatalf("before of %s of %s: %v, %d bytes, not %d", e.ID, e.Path, err, len(before), len(v.before))
		}
		after, err := a.After(e)
		if err != nil || !bytes.Equal(after, v.now) || (after == nil) != (v.now == nil) {
			t.Fatalf("after of %s of %s: %v, %d bytes, not %d", e.ID, e.Path, err, len(after), len(v.now))
		}
		if (e.Before == nil) != (v.before == nil) || e.Before != nil && *e.Before != sumOr(nil, v.before) {
			t.Fatalf("the hash before %s is %v", e.ID, e.Before)
		}
		found, err := a.Find(e.ID)
		if err != nil || found.Path != e.Path || !found.Time.Equal(e.Time) {
			t.Fatalf("Find %s: %v", e.ID, err)
		}
	}
}

// TestEveryVersionComesBack makes random changes to some files by three stores in
// turn, with other programs' changes in between, and reads every version again.
func TestEveryVersionComesBack(t *testing.T) {
	dir := t.TempDir()
	rng := seeded(t, 2)
	stores := []*Store{openStore(t, dir), openStore(t, dir), openStore(t, dir)}
	files := map[string][]byte{}
	want := map[string][]version{}
	for i := range shortrun.Count(t, 600, 160, "changes") {
		path := fmt.Sprintf("/w/f%d", rng.IntN(8))
		old := files[path]
		now := changed(rng, old)
		if rng.IntN(20) == 0 && old != nil {
			now = nil
		}
		if now == nil && old == nil {
			continue
		}
		keep(t, stores[rng.IntN(3)], path, old, now)
		want[path] = append(want[path], version{path, old, now})
		if now != nil && rng.IntN(4) == 0 {
			now = changed(rng, now) // by another program
		}
		files[path] = now
		if i%150 == 0 {
			stores[0].Close() // its next change starts another pack
		}
	}
	compare(t, open(t, dir), want)
}

// changed is bytes with one place changed: most are lines, some are noise, and a
// few are long.
func changed(rng *rand.Rand, old []byte) []byte {
	put := []byte(strings.Repeat(fmt.Sprintf("line %d\n", rng.IntN(1000)), 1+rng.IntN(20)))
	switch {
	case rng.IntN(10) == 0:
		put = make([]byte, rng.IntN(3000))
		for i := range put {
			put[i] = byte(rng.Uint32())
		}
	case rng.IntN(120) == 0:
		put = bytes.Repeat(put, 8000)
	}
	a := rng.IntN(len(old) + 1)
	b := min(len(old), a+rng.IntN(200))
	out := append(append(append([]byte{}, old[:a]...), put...), old[b:]...)
	return out[:min(len(out), 5<<20)]
}

// TestManySmallEdits is the bound on room: a thousand one-line edits of a file of
// 200 KB, by one server, and some by two in turn.
func TestManySmallEdits(t *testing.T) {
	for servers, edits := range map[int]int{1: shortrun.Count(t, 1000, 40, "edits by one server"), 2: shortrun.Count(t, 300, 30, "edits by two")} {
		dir := t.TempDir()
		var stores []*Store
		for range servers {
			stores = append(stores, openStore(t, dir))
		}
		rng := rand.New(rand.NewPCG(7, 7))
		const width = 40
		line := func(n uint64) string { return fmt.Sprintf("\tif x := f(%20d); x > %7d {\n", n, n%9999)[:width] }
		var old []byte
		for len(old) < 200_000 {
			old = append(old, line(rng.Uint64())...)
		}
		for i := range edits {
			now := bytes.Clone(old)
			copy(now[width*rng.IntN(len(now)/width):], line(rng.Uint64()))
			keep(t, stores[i%servers], "/w/a.go", old, now)
			old = now
		}
		size := folderSize(t, dir)
		t.Logf("%d servers: %.2f MB for %d edits of 200 KB", servers, float64(size)/1e6, edits)
		if size > int64(edits)*10_000 {
			t.Errorf("%d bytes", size)
		}
		a := open(t, dir)
		entries, bad := a.Entries(nil)
		if len(entries) != edits || bad != nil {
			t.Fatalf("%d entries, %v", len(entries), bad)
		}
		last, err := a.After(entries[0])
		if err != nil || !bytes.Equal(last, old) {
			t.Errorf("the last version: %v", err)
		}
	}
}

func folderSize(t testing.TB, dir string) (size int64) {
	t.Helper()
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// TestEqualBytesAreStoredOnce: a file that goes back and forth, and copies of it.
func TestEqualBytesAreStoredOnce(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	rng := rand.New(rand.NewPCG(1, 1))
	noise := func() []byte {
		b := make([]byte, 100_000)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	one, two := noise(), noise()
	for range 20 {
		keep(t, s, "/a", one, two)
		keep(t, s, "/a", two, one)
		keep(t, s, "/b", nil, one)
	}
	if size := folderSize(t, dir); size > 222_000 {
		t.Errorf("%d bytes for two states of 100,000", size)
	}
}

// TestAtOnce keeps from many goroutines of two stores; run it with -race.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	stores := []*Store{openStore(t, dir), openStore(t, dir)}
	want := map[string][]version{}
	var mu sync.Mutex
	var all sync.WaitGroup
	edits := shortrun.Count(t, 40, 15, "edits of each file")
	for g := range 8 {
		all.Go(func() {
			path := fmt.Sprintf("/w/g%d", g)
			rng := rand.New(rand.NewPCG(3, uint64(g)))
			var old []byte
			for range edits {
				now := changed(rng, old)
				keep(t, stores[g%2], path, old, now)
				mu.Lock()
				want[path] = append(want[path], version{path, old, now})
				mu.Unlock()
				old = now
			}
		})
	}
	all.Wait()
	compare(t, open(t, dir), want)
}

func TestVoidIsNotListed(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	keep(t, s, "/a", []byte("1"), []byte("2"))
	m, err := s.Keep(context.Background(), PendingChange{Names: []string{"/a"}, Old: strings.NewReader("2"), Size: 1, Splices: []span.Splice{{End: 1, New: []byte("3")}}})
	if err != nil {
		t.Fatal(err)
	}
	id := m.ID()
	m.Void()
	m.Done()
	keep(t, s, "/a", []byte("2"), []byte("4"))
	a := open(t, dir)
	entries, _ := a.Entries(nil)
	if len(entries) != 2 {
		t.Fatalf("%d entries", len(entries))
	}
	if _, err := a.Find(id); !errors.Is(err, ErrUnknown) {
		t.Errorf("the void one is found: %v", err)
	}
}

func TestSecretsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, func(o *Options) {
		o.Secret = func(names []string) bool { return strings.HasSuffix(names[0], ".env") }
	})
	c := PendingChange{Names: []string{"/w/.env", "/w/real"}, Old: strings.NewReader("canary"), Size: 6, Splices: []span.Splice{{End: 6, New: []byte("x")}}}
	m, err := s.Keep(context.Background(), c)
	if err != nil || !m.Secret || m.ID() != "" {
		t.Fatalf("%v, %v", m, err)
	}
	m.Void()
	m.Done()
	if _, err := s.Rescue(context.Background(), "/w/.env", strings.NewReader("canary"), 6); err == nil {
		t.Error("rescued bytes of a secret: they would be deleted from beside the file")
	}
	if _, err := os.Stat(filepath.Join(dir, Folder)); !os.IsNotExist(err) {
		t.Errorf("the history exists: %v", err)
	}
}

func TestRescuedBytesAreListed(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	id, err := s.Rescue(context.Background(), "/w/a", strings.NewReader("theirs"), 6)
	if err != nil {
		t.Fatal(err)
	}
	a := open(t, dir)
	entries, _ := a.Entries(nil)
	if len(entries) == 1 && entries[0].ID != id {
		t.Errorf("the id is %s, not %s", entries[0].ID, id)
	}
	if len(entries) != 1 || entries[0].Tool != ToolOutside || entries[0].After != nil {
		t.Fatalf("%+v", entries)
	}
	if b, err := a.Before(entries[0]); string(b) != "theirs" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

// TestCannotKeep: by setting the change is stopped, or goes on and is told of.
func TestCannotKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, required := range []bool{true, false} {
		s := openStore(t, dir, func(o *Options) {
			o.Settings = func() Settings { return Settings{Required: required, MaxSize: testMaxSize, MaxAge: testMaxAge} }
		})
		m, err := s.Keep(context.Background(), PendingChange{Names: []string{"/a"}, Splices: []span.Splice{{New: []byte("x")}}})
		failed := (*KeepError)(nil)
		if required && !errors.As(err, &failed) {
			t.Errorf("required, and %v", err)
		}
		if !required && (err != nil || m == nil || m.Missed == nil) {
			t.Errorf("not required, and %v, %v", m, err)
		}
		m.Void()
		m.Done()
	}
}

// TestPrivate: other users cannot read the stored bytes.
func TestPrivate(t *testing.T) {
	if nativetest.Windows {
		t.Skip("Windows has no such modes")
	}
	dir := t.TempDir()
	s := openStore(t, dir)
	keep(t, s, "/a", []byte("1"), []byte("2"))
	s.Close()
	filepath.Walk(filepath.Join(dir, Folder), func(path string, info os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
}

// TestFolderIsNoLink: a link would lead out of what is private.
func TestFolderIsNoLink(t *testing.T) {
	nativetest.NeedSymlinks(t)
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, Folder)); err != nil {
		t.Skipf("!!! NOT TESTED: no link can be made: %v !!!", err)
	}
	_, err := openStore(t, dir).Keep(context.Background(), PendingChange{Names: []string{"/a"}, Splices: []span.Splice{{New: []byte("x")}}})
	if err == nil || folderSize(t, elsewhere) > 0 {
		t.Errorf("it was followed: %v", err)
	}
}

// TestFolderDeletedMeanwhile: the next change makes it anew.
func TestFolderDeletedMeanwhile(t *testing.T) {
	if nativetest.Windows {
		t.Skip("Windows deletes no folder that a process has open")
	}
	dir := t.TempDir()
	s := openStore(t, dir)
	keep(t, s, "/a", []byte("1"), []byte("2"))
	s.tidying.Wait()
	if err := os.RemoveAll(filepath.Join(dir, Folder)); err != nil {
		t.Fatal(err)
	}
	keep(t, s, "/a", []byte("2"), []byte("3"))
	entries, bad := open(t, dir).Entries(nil)
	if len(entries) != 1 || bad != nil {
		t.Errorf("%v, %v", entries, bad)
	}
}

// TestCalls: what the journal tells beside the bytes, whatever stands in it.
func TestCalls(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	path := "/w/\xff\"line\nbreak"
	begin := time.Now()
	m, err := s.Keep(context.Background(), PendingChange{Names: []string{path}, Session: "ab12", Tool: "Write", Call: `"x"`, Splices: []span.Splice{{New: nil}}})
	if err != nil {
		t.Fatal(err)
	}
	id := m.ID()
	m.Done()
	e, err := open(t, dir).Find(id)
	if err != nil || e.Path != path || e.Session != "ab12" || e.Tool != "Write" || e.Call != `"x"` || e.Before != nil || e.Time.Before(begin) {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestFileCutMeanwhile: a file that is shorter than it was is not stored as one that ends in
// zeros.
func TestFileCutMeanwhile(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	for _, size := range []int64{10, 11} { // the first one is the control
		c := PendingChange{Names: []string{"/a"}, Old: strings.NewReader("ten bytes."), Size: size, Was: new(Sum), Gone: true}
		m, err := s.Keep(context.Background(), c)
		if (err != nil) != (size == 11) {
			t.Errorf("%d bytes: %v", size, err)
		}
		m.Done()
	}
	if got := len(entriesOf(t, open(t, dir))); got != 1 {
		t.Errorf("%d entries", got)
	}
}
