package history

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/span"
)

// unmade is a folder of files, and a Store whose changes a crash cuts off.
type unmade struct {
	t          *testing.T
	dir, state string
	s          *Store
	marks      []*Mark
}

func newUnmade(t *testing.T) *unmade {
	state := t.TempDir()
	u := &unmade{t: t, dir: t.TempDir(), state: state, s: openStore(t, state)}
	t.Cleanup(u.end)
	return u
}

// end closes what the changes have open, as the end of the process does: Windows removes no
// file that is open.
func (u *unmade) end() {
	for _, m := range u.marks {
		m.release()
	}
}

func (u *unmade) path(name string) string { return filepath.Join(u.dir, name) }

// put writes a file, or removes it if the text is "-".
func (u *unmade) put(name, text string) {
	u.t.Helper()
	err := os.WriteFile(u.path(name), []byte(text), 0o666)
	if text == "-" {
		err = os.RemoveAll(u.path(name))
	}
	if err != nil {
		u.t.Fatal(err)
	}
}

// edit notes an edit, and does not say that it was made.
func (u *unmade) edit(name, old, now string) *Mark {
	c := PendingChange{Names: []string{u.path(name)}, Gone: now == "-"}
	if old != "-" {
		c.Old, c.Size, c.From = bytes.NewReader([]byte(old)), int64(len(old)), []byte(old)
	}
	if now != "-" {
		c.Splices = []span.Splice{{End: c.Size, New: []byte(now)}}
	}
	return u.keep(c)
}

func (u *unmade) keep(c PendingChange) *Mark {
	u.t.Helper()
	m, err := u.s.Keep(context.Background(), c)
	if err != nil {
		u.t.Fatal(err)
	}
	u.marks = append(u.marks, m)
	return m
}

// listed returns how many entries are listed, and checks that Find knows just these.
func (u *unmade) listed(marks ...*Mark) (n int) {
	u.t.Helper()
	a := open(u.t, u.state)
	entries, bad := a.Entries(nil)
	if len(bad) > 0 {
		u.t.Error(bad)
	}
	for _, m := range marks {
		if _, err := a.Find(m.ID()); err == nil {
			n++
		}
	}
	if len(marks) > 0 && n != len(entries) {
		u.t.Errorf("%d entries are found and %d listed", n, len(entries))
	}
	return len(entries)
}

// An edit that a crash cut off is listed if the file has its new bytes, or bytes that tell
// nothing. Once it is said to be made, it stays whatever the file holds.
func TestUnmadeEdits(t *testing.T) {
	for _, c := range []struct {
		old, now, there string
		listed          int
	}{
		{"old", "new", "old", 0},
		{"old", "new", "new", 1},
		{"old", "new", "other", 1},
		{"old", "new", "-", 1},
		{"-", "new", "-", 0},
		{"-", "new", "new", 1},
		{"old", "-", "-", 1},
		{"old", "-", "old", 0},
		{"old", "-", "other", 1},
		{"same", "same", "same", 1},
	} {
		u := newUnmade(t)
		u.put("f", c.there)
		if n := u.listed(u.edit("f", c.old, c.now)); n != c.listed {
			t.Errorf("%q to %q, and there is %q: %d are listed", c.old, c.now, c.there, n)
		}
		u.edit("f", c.old, c.now).Done()
		if n := u.listed(); n < 1 {
			t.Errorf("%q to %q, and there is %q: a change that was made is not listed", c.old, c.now, c.there)
		}
	}
}

// The next change of the file tells whether one before it was made, also after a move.
func TestUnmadeBeforeOthers(t *testing.T) {
	for next, listed := range map[string]int{"old": 1, "new": 2, "other": 2} {
		u := newUnmade(t)
		u.edit("f", "old", "new")
		u.edit("f", next, "last").Done()
		u.put("f", "old")
		if n := u.listed(); n != listed {
			t.Errorf("the next began with %q: %d are listed", next, n)
		}
	}
	u := newUnmade(t)
	u.edit("d/f", "old", "new")
	u.keep(PendingChange{Names: []string{u.path("d")}, Operation: OpMove, To: u.path("e")}).Done()
	if err := os.Mkdir(u.path("e"), 0o777); err != nil {
		t.Fatal(err)
	}
	u.put("e/f", "old")
	if n := u.listed(); n != 1 {
		t.Errorf("%d are listed with the move", n)
	}
	u.put("e/f", "new")
	if n := u.listed(); n != 2 {
		t.Errorf("%d are listed with the move", n)
	}
}

// A segment that is thinned keeps what is known of its changes.
func TestUnmadeIsKnownAfterThinning(t *testing.T) {
	u := newUnmade(t)
	u.put("f", "old")
	u.edit("f", "old", "new").Done()
	u.edit("f", "old", "newer")
	u.s.Close()
	u.end()
	root, err := os.OpenRoot(filepath.Join(u.state, Folder))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	all, err := segments(root)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	entries, _ := all[0].read()
	w, err := newWriter(root, "another", u.s.o.Now)
	if err == nil {
		err = all[0].copyTo(w, entries, func(Entry) bool { return false })
	}
	if err != nil {
		t.Fatal(err)
	}
	w.closeFiles()
	all[0].delete()
	if n := u.listed(); n != 1 {
		t.Errorf("%d are listed", n)
	}
}

// A move, a copy and a removal that a crash cut off are listed if the names tell that they were
// made.
func TestUnmadeNames(t *testing.T) {
	u := newUnmade(t)
	u.put("f", "text")
	stamp, err := fsys.Lstat(u.path("f"))
	if err != nil {
		t.Fatal(err)
	}
	move := u.keep(PendingChange{Names: []string{u.path("f")}, Operation: OpMove, To: u.path("g"), Stamp: stamp})
	if n := u.listed(move); n != 0 {
		t.Error("a move that was not made is listed")
	}
	if err := os.Rename(u.path("f"), u.path("g")); err != nil {
		t.Fatal(err)
	}
	if n := u.listed(move); n != 1 {
		t.Error("a move that was made is not listed")
	}
	u.put("f", "a new file")
	if n := u.listed(move); n != 1 {
		t.Error("a move that was made is not listed")
	}
	clone := u.keep(PendingChange{Names: []string{u.path("g")}, Operation: OpCopy, To: u.path("h"), Stamp: stamp})
	if n := u.listed(move, clone); n != 1 {
		t.Error("a copy that was not made is listed")
	}
	u.put("h", "text")
	if n := u.listed(move, clone); n != 2 {
		t.Error("a copy that was made is not listed")
	}
}

// A removal that a crash cut off is listed if the item is gone, or another one is there.
func TestUnmadeRemovals(t *testing.T) {
	u := newUnmade(t)
	u.put("f", "text")
	if err := os.Mkdir(u.path("d"), 0o777); err != nil {
		t.Fatal(err)
	}
	var marks []*Mark
	for name, kind := range map[string]fsys.Kind{"f": fsys.Regular, "d": fsys.Directory} {
		stamp, err := fsys.Lstat(u.path(name))
		if err != nil {
			t.Fatal(err)
		}
		k := save.Kept{Item: save.Item{Path: u.path(name), Kind: kind, Stamp: stamp}, Meta: save.Meta{Kind: kind, Mtime: stamp.Mtime}, Content: bytes.NewReader([]byte("text"))}
		k.Stamp.Size = 4
		marks = append(marks, u.keep(RemovalChange(k)))
	}
	if n := u.listed(marks...); n != 0 {
		t.Errorf("%d removals that were not made are listed", n)
	}
	u.put("f", "-")
	if n := u.listed(marks...); n != 1 {
		t.Errorf("%d are listed of one that was made", n)
	}
	u.put("d", "-")
	if n := u.listed(marks...); n != 2 {
		t.Errorf("%d are listed of two that were made", n)
	}
}

// Builds that know nothing of Made take no line with it for an entry.
func TestMadeIsAnotherVersion(t *testing.T) {
	b, err := line{Made: []int{1, 2}}.appendTo(nil)
	if err != nil || !bytes.Contains(b, []byte(`"v":3`)) {
		t.Errorf("%s, %v", b, err)
	}
	if l, err := decodeLine(bytes.TrimSuffix(b, []byte("\n"))); err != nil || len(l.Made) != 2 {
		t.Errorf("%+v, %v", l, err)
	}
}
