package history

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save"
)

// delete keeps a removed item.
func delete(t *testing.T, s *Store, k save.Kept) *Mark {
	t.Helper()
	mark, err := s.Keep(context.Background(), RemovalChange(k))
	if err != nil || mark.Missed != nil {
		t.Fatal(err, mark)
	}
	return mark
}

// What was deleted can be made again: its bytes and its metadata.
func TestRemovedComesBack(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	attrs := map[string][]byte{"user.x": {0, 0xff}}
	for _, k := range []save.Kept{
		{Item: save.Item{Path: "/w/d", Kind: fsys.Directory}, Meta: save.Meta{Kind: fsys.Directory, Mode: 0o711, Mtime: 1}},
		{Item: save.Item{Path: "/w/d/f", Kind: fsys.Regular, Stamp: fsys.Stamp{Size: 3}}, Meta: save.Meta{Kind: fsys.Regular, Mode: 0o4755, UID: 7, Mtime: 2, Attrs: attrs, Flags: 0x40}, Content: strings.NewReader("abc")},
		{Item: save.Item{Path: "/w/d/l", Kind: fsys.Link}, Meta: save.Meta{Kind: fsys.Link, Link: []byte("to\xff")}},
		{Item: save.Item{Path: "/w/d/empty", Kind: fsys.Regular}, Meta: save.Meta{Kind: fsys.Regular}, Content: strings.NewReader("")},
	} {
		delete(t, s, k).Done()
	}
	a := open(t, dir)
	entries, damages := a.Entries(nil)
	if len(entries) != 4 || len(damages) > 0 {
		t.Fatalf("%+v, %v", entries, damages)
	}
	slices.Reverse(entries)
	var got []string
	for _, e := range entries {
		r, done, err := a.Removed(e)
		if err != nil || e.Operation != OpDelete {
			t.Fatalf("%+v, %v", e, err)
		}
		content := ""
		if r.Content != nil {
			b, _ := io.ReadAll(r.Content)
			content = string(b)
		}
		got = append(got, content+string(r.Link))
		done.Close()
	}
	if want := []string{"", "abc", "to\xff", ""}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	m := entries[1].Meta
	if m.Mode != 0o4755 || m.UID != 7 || m.Mtime != 2 || !bytes.Equal(m.Attrs["user.x"], attrs["user.x"]) || m.Flags != 0x40 {
		t.Errorf("%+v", m)
	}
}

// A file above WholeLimit is moved into the history, or copied there, and goes with its entry.
func TestDeposit(t *testing.T) {
	dir := t.TempDir()
	var settings = Settings{Required: true, MaxSize: testMaxSize, MaxAge: testMaxAge}
	now := time.Now()
	s := openStore(t, dir, func(o *Options) {
		o.Settings = func() Settings { return settings }
		o.Now = func() time.Time { return now }
	})
	large := filepath.Join(dir, "large")
	f, err := os.Create(large)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteAt([]byte("end"), WholeLimit)
	stamp, err := fsys.Lstat(large)
	if err != nil {
		t.Fatal(err)
	}
	kept := save.Kept{Item: save.Item{Path: large, Kind: fsys.Regular, Stamp: stamp}, Meta: save.Meta{Kind: fsys.Regular}, Content: f}
	moved := delete(t, s, kept)
	to := moved.Deposit()
	if to == (save.Deposit{}) {
		t.Fatal("it is not moved")
	}
	if entries, _ := open(t, dir).Entries(nil); len(entries) != 0 {
		t.Errorf("an entry of a file that was not removed yet: %+v", entries)
	}
	kept.Stamp.Dev++ // as on another file system
	copied := delete(t, s, kept)
	if copied.Deposit() != (save.Deposit{}) {
		t.Error("it is moved across file systems")
	}
	f.Close() // as package os opens it, it cannot be moved on Windows
	if err := os.Rename(large, filepath.Join(to.Folder, to.Name)); err != nil {
		t.Fatal(err)
	}
	moved.Done()
	copied.Done()
	a := open(t, dir)
	entries, _ := a.Entries(nil)
	if len(entries) != 2 {
		t.Fatalf("%+v", entries)
	}
	for _, e := range entries {
		r, done, err := a.Removed(e)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r.Content); n != WholeLimit+3 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		done.Close()
	}
	other := []Removed{{Names: []string{"/w/x"}, Size: 1 << 20}}
	if not := s.WouldKeep(t.Context(), other); len(not) > 0 {
		t.Errorf("%v", not)
	}
	settings.MaxSize = 2*WholeLimit + 1<<20
	if not := s.WouldKeep(t.Context(), other); !slices.Equal(not, []int{0}) {
		t.Errorf("beside what is deposited: %v", not)
	}
	s.Close()
	settings.MaxAge, settings.MaxSize = time.Hour, testMaxSize
	now = now.Add(2 * testMaxAge)
	again := openStore(t, dir, func(o *Options) {
		o.Settings = func() Settings { return settings }
		o.Now = func() time.Time { return now }
	})
	keep(t, again, "/w/y", nil, []byte("new"))
	again.Close()
	if list, _ := os.ReadDir(to.Folder); len(list) > 0 {
		t.Errorf("%d deposits stay behind their entries", len(list))
	}
}

func TestWouldKeep(t *testing.T) {
	settings := Settings{MaxSize: 1 << 20, MaxAge: testMaxAge}
	s := openStore(t, t.TempDir(), func(o *Options) {
		o.Settings = func() Settings { return settings }
		o.Secret = func(names []string) bool { return names[0] == ".env" }
	})
	list := []Removed{{[]string{"a"}, 1}, {[]string{".env"}, 1 << 30}, {[]string{"b"}, 1 << 19}}
	if not := s.WouldKeep(t.Context(), list); !slices.Equal(not, []int{1}) {
		t.Errorf("%v", not)
	}
	list[0].Size = 1 << 20
	if not := s.WouldKeep(t.Context(), list); !slices.Equal(not, []int{0, 1, 2}) {
		t.Errorf("%v", not)
	}
	list[0].Size = 1
	settings.Off = true
	if not := s.WouldKeep(t.Context(), list); !slices.Equal(not, []int{0, 1, 2}) {
		t.Errorf("%v", not)
	}
}

// A file is found under the name that later moves of it and of its folders gave it.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	path := func(name string) string {
		return filepath.Join(string(filepath.Separator), "w", filepath.FromSlash(name))
	}
	move := func(from, to string) {
		mark, err := s.Keep(t.Context(), PendingChange{Names: []string{path(from)}, Operation: OpMove, To: path(to)})
		if err != nil {
			t.Fatal(err)
		}
		mark.Done()
	}
	move("d/f", "before") // another file
	keep(t, s, path("d/f"), []byte("a"), []byte("b"))
	move("d/f", "d/g")
	move("d", "e")
	move("e/gg", "x")
	move("e/g", "h")
	entries, _ := open(t, dir).Entries(nil)
	edit := entries[slices.IndexFunc(entries, func(e Entry) bool { return e.Operation == OpEdit })]
	if got := Follow(edit, entries); got != path("h") {
		t.Error(got)
	}
	if got := Follow(entries[len(entries)-1], entries); got != path("before") {
		t.Error(got)
	}
}
