//go:build !fsys_portable

package save

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// entryOf resolves a name itself.
func entryOf(path string) (*fsys.Target, error) {
	p, err := fsys.Lexer{OS: "linux"}.Parse(path)
	if err != nil {
		return nil, err
	}
	return fsys.NewResolver().ResolveEntry(p)
}

// named calls f with the locks of two names, and finishes.
func (d *testFolder) named(from, to string, f func(n *NamesTxn, from, to *fsys.Target) error) error {
	a, err := entryOf(from)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := entryOf(to)
	if err != nil {
		return err
	}
	defer b.Close()
	locks, err := d.save.LockAll(context.Background(), LockSet{Targets: []*fsys.Target{a, b}})
	if err != nil {
		return err
	}
	defer locks.Unlock()
	n, err := d.save.Names(context.Background())
	if err != nil {
		return err
	}
	defer n.Close()
	err = f(n, a, b)
	n.Finish()
	return err
}

func (d *testFolder) move(from, to string) (m Moved, err error) {
	err = d.named(d.at(from), d.at(to), func(n *NamesTxn, a, b *fsys.Target) error {
		m, err = n.Move(context.Background(), a, b)
		return err
	})
	return m, err
}

// at is path, for absolute names too.
func (d *testFolder) at(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return d.path(name)
}

// remove deletes names as Delete does; keep is told of everything.
func (d *testFolder) remove(keep func(Kept) (Deposit, error), names ...string) error {
	ctx := context.Background()
	n, err := d.save.Names(ctx)
	if err != nil {
		return err
	}
	defer n.Close()
	var all []*Removal
	for _, name := range names {
		t, err := entryOf(d.at(name))
		if err != nil {
			return err
		}
		defer t.Close() // the portable calls of these tests go by its descriptor
		r, err := n.Look(ctx, t, true, func(Item) error { return nil })
		if err == nil {
			err = r.Keep(ctx, keep)
		}
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	for _, r := range all {
		if err := n.Remove(ctx, r); err != nil {
			break
		}
	}
	n.Finish()
	for _, r := range all {
		if r.Err() != nil {
			return r.Err()
		}
	}
	return nil
}

func keepNothing(Kept) (Deposit, error) { return Deposit{}, nil }

// tree spells everything below a folder: kind, mode, time, content or link, attributes.
func tree(t testing.TB, top string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(top, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, path)
		fmt.Fprintf(&b, "%s %v %d", rel, info.Mode(), info.ModTime().UnixNano())
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			text, _ := os.Readlink(path)
			fmt.Fprintf(&b, " -> %s", text)
		case info.Mode().IsRegular():
			content, _ := os.ReadFile(path)
			attr := make([]byte, 100)
			n, _ := unix.Getxattr(path, "user.fsmcp.test", attr)
			fmt.Fprintf(&b, " %q %q ", content, attr[:max(n, 0)])
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fill makes a folder of everything that can be moved.
func (d *testFolder) fill(name string) {
	d.t.Helper()
	top := d.at(name)
	for _, dir := range []string{"", "deep/er", "empty"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			d.t.Fatal(err)
		}
	}
	write := func(rel, content string, mode os.FileMode) {
		path := filepath.Join(top, rel)
		os.WriteFile(path, []byte(content), 0o644)
		os.Chmod(path, mode)
		unix.Setxattr(path, "user.fsmcp.test", []byte(rel), 0)
		os.Chtimes(path, time.Time{}, time.Unix(1_600_000_000, 123456789))
	}
	write("a", "content\n", 0o640)
	write("deep/er/script", "#!/bin/sh\n", 0o755)
	write("deep/b", strings.Repeat("long\n", 1<<16), 0o600)
	os.Link(filepath.Join(top, "a"), filepath.Join(top, "deep/a again"))
	os.Symlink("../nowhere", filepath.Join(top, "deep/link"))
	os.Symlink("deep", filepath.Join(top, "to folder"))
	os.Chtimes(filepath.Join(top, "empty"), time.Time{}, time.Unix(1_500_000_000, 0))
	os.Chmod(filepath.Join(top, "empty"), 0o711)
}

var namesSystems = []struct {
	name string
	poorer
}{
	{"kernel", poorer{}},
	{"no exclusive rename", poorer{noExchange: true}},
	{"no lease", poorer{noLease: true}},
	{"portable", poorer{portable: true}},
	{"mac", poorer{mac: true}},
}

func (d *testFolder) on(p poorer) {
	d.open(func(o *Options) { o.Durability = Full; o.Sys = unsynced{hooked{base: p.base(), before: p.before}} })
}

func TestMove(t *testing.T) {
	for _, system := range namesSystems {
		t.Run(system.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			d.on(system.poorer)
			d.put("file", "x")
			os.Symlink("file", d.path("link"))
			os.Chmod(d.put("read-only", "r"), 0o444)
			os.Mkdir(d.path("other"), 0o755)
			d.fill("folder")
			before := tree(t, d.path("folder"))
			for _, c := range []struct{ from, to string }{
				{"file", "file2"}, {"file2", "other/file"}, {"link", "other/link"}, {"read-only", "other/read-only"},
				{"folder", "moved"}, {"moved", "new/parents/folder"},
			} {
				if _, err := d.move(c.from, c.to); err != nil {
					t.Fatalf("%s to %s: %v", c.from, c.to, err)
				}
			}
			d.want("other/file", "x")
			if text, err := os.Readlink(d.path("other/link")); text != "file" {
				t.Errorf("link: %q, %v", text, err)
			}
			if after := tree(t, d.path("new/parents/folder")); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
			d.wantNames("new", "other")
			m, err := d.move("other/file", "made/for/it")
			if err != nil || !slices.Equal(m.CreatedDirs, []string{d.path("made"), d.path("made/for")}) {
				t.Errorf("%+v, %v", m, err)
			}
		})
	}
}

// Another program renames a file of its own to the old name right before the rename, or to the
// new name right after it. What it put at the old name goes back there, and what it put at the new
// name stays there: a refused move moves nothing, and a move that was made is answered as one.
func TestMoveLeavesFilesOfOthers(t *testing.T) {
	for _, folder := range []string{memory(t), t.TempDir()} {
		for _, c := range []struct {
			name, to string
			after    bool
			want     error
		}{
			{"old name, before", "to", false, ErrModified},
			{"new name, after", "to", true, nil},
			{"old name, before, to a folder", "other/from", false, ErrModified},
			{"new name, after, to a folder", "other/from", true, nil},
			{"new name, after, to a new folder", "made/from", true, nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				d := newTestFolderIn(t, folder)
				d.put("from", "mine")
				os.Mkdir(d.path("other"), 0o755)
				calls := 0 // since the first rename, with it
				d.open(func(o *Options) {
					o.Sys = hooked{before: func(k call) error {
						if calls > 0 || k.name == "Rename" {
							calls++
						}
						if calls == 1 && !c.after {
							renameOnto(d.path("from"), "theirs")
						} else if calls == 2 && c.after {
							renameOnto(d.path(c.to), "theirs")
						}
						return nil
					}}
				})
				m, err := d.move("from", c.to)
				if !errors.Is(err, c.want) {
					t.Errorf("%v", err)
				}
				there, free := c.to, "from"
				if c.want != nil {
					there, free = "from", c.to
				}
				d.want(there, "theirs")
				if _, err := os.Lstat(d.path(free)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s is there: %v", free, err)
				}
				if now, err := fsys.Lstat(d.path(there)); err != nil || now.SameFile(m.Stamp) {
					t.Errorf("the file of the other program passes for the one that was moved: %v", err)
				}
			})
		}
	}
}

// A call leaves a folder that it moves: what it had open of it is called by its old path.
func TestMovedFolderIsLeft(t *testing.T) {
	for _, system := range namesSystems {
		t.Run(system.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			d.on(system.poorer)
			d.put("f", "x")
			n, err := d.save.Names(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			for _, c := range [][2]string{{"f", "old/below/f"}, {"old", "new"}, {"new/below/f", "f"}} {
				from, err := entryOf(d.path(c[0]))
				to, err2 := entryOf(d.path(c[1]))
				if err := errors.Join(err, err2); err != nil {
					t.Fatal(err)
				}
				defer from.Close()
				defer to.Close()
				if _, err := n.Move(t.Context(), from, to); err != nil {
					t.Fatalf("%v: %v", c, err)
				}
			}
			for _, f := range n.folders {
				if fsys.Within(d.path("old"), f.path) {
					t.Errorf("%s is open as %s", d.path("new"), f.path)
				}
			}
			n.Finish()
			d.want("f", "x")
		})
	}
}

func TestMoveRefuses(t *testing.T) {
	for _, system := range namesSystems {
		t.Run(system.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			d.on(system.poorer)
			d.put("file", "x")
			d.put("taken", "theirs")
			os.Symlink("nowhere", d.path("dangling"))
			os.MkdirAll(d.path("folder/empty"), 0o755)
			unix.Mkfifo(d.path("pipe"), 0o600)
			for _, c := range []struct {
				from, to string
				want     error
			}{
				{"file", "taken", ErrExists}, {"file", "dangling", ErrExists}, {"file", "folder", ErrExists}, {"file", "file", ErrExists},
				{"folder", "taken", ErrExists}, {"folder", "folder/empty", ErrInside}, {"folder", "folder/a/b", ErrInside},
				{"folder/empty", "folder", ErrExists}, {"pipe", "new/pipe", ErrSpecial}, {"missing", "new/name", ErrVanished},
			} {
				if _, err := d.move(c.from, c.to); !errors.Is(err, c.want) {
					t.Errorf("%s to %s: %v", c.from, c.to, err)
				}
			}
			d.want("taken", "theirs")
			d.want("file", "x")
			d.wantNames("dangling", "file", "folder", "pipe", "taken")
		})
	}
}

// Across file systems everything comes along, and nothing stays.
func TestMoveAcross(t *testing.T) {
	for _, system := range namesSystems {
		t.Run(system.name, func(t *testing.T) {
			d := newTestFolder(t)
			d.on(system.poorer)
			if same, _ := sameDevice(d.dir, memory(t)); same {
				t.Skip("!!! NOT TESTED: there is no second file system !!!")
			}
			far := newTestFolderIn(t, memory(t))
			d.fill("folder")
			d.put("file", "x")
			before := tree(t, d.path("folder"))
			if system.portable && !system.mac {
				before = strings.NewReplacer(`"a" `, `"" `, `"deep/b" `, `"" `, `"deep/er/script" `, `"" `).Replace(before)
			}
			m, err := d.move("folder", far.path("new/folder"))
			if err != nil || !m.Across || len(m.Left) > 0 {
				t.Fatalf("%+v, %v", m, err)
			}
			after := tree(t, far.path("new/folder"))
			if system.portable || system.mac { // a link has its own time
				before, after = withoutLinkTimes(before), withoutLinkTimes(after)
			}
			if after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
			a, _ := fsys.Lstat(far.path("new/folder/a"))
			b, _ := fsys.Lstat(far.path("new/folder/deep/a again"))
			if !a.SameFile(b) || a.Nlink != 2 {
				t.Error("hard links were not kept")
			}
			if _, err := d.move("file", far.path("new/folder/empty/f")); err != nil {
				t.Error(err)
			}
			d.wantNames()
			far.wantNames("new")
		})
	}
}

func withoutLinkTimes(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if before, link, ok := strings.Cut(line, " -> "); ok {
			line = before[:strings.LastIndexByte(before, ' ')] + " -> " + link
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

func sameDevice(a, b string) (bool, error) {
	x, err := fsys.Lstat(a)
	if err != nil {
		return false, err
	}
	y, err := fsys.Lstat(b)
	return x.Dev == y.Dev, err
}

func TestCopyAndRemove(t *testing.T) {
	for _, system := range namesSystems {
		t.Run(system.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			d.on(system.poorer)
			d.fill("folder")
			err := d.named(d.path("folder/a"), d.path("new/copy"), func(n *NamesTxn, a, b *fsys.Target) error {
				_, err := n.Copy(context.Background(), a, b)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			d.want("new/copy", "content\n")
			was, _ := os.Stat(d.path("folder/a"))
			if now, _ := os.Stat(d.path("new/copy")); now.Mode() != was.Mode() || !now.ModTime().Equal(was.ModTime()) {
				t.Errorf("%v %v", now.Mode(), now.ModTime())
			}
			seen := map[string]Meta{}
			err = d.remove(func(k Kept) (Deposit, error) {
				rel, _ := filepath.Rel(d.dir, k.Path)
				seen[rel] = k.Meta
				return Deposit{}, nil
			}, "folder", "new/copy")
			if err != nil {
				t.Error(err)
			}
			d.wantNames("new")
			if len(seen) != 11 || string(seen["folder/deep/link"].Link) != "../nowhere" || seen["folder/empty"].Mode != 0o711 || seen["folder/deep/er/script"].Mode != 0o755 {
				t.Errorf("%d: %+v", len(seen), seen)
			}
		})
	}
}

func TestRemoveRefuses(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	d.on(poorer{})
	os.MkdirAll(d.path("folder/deep"), 0o755)
	d.put("folder/file", "x")
	os.Chmod(d.put("folder/deep/read-only", "r"), 0o444)
	if err := d.remove(keepNothing, "folder"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("%v", err)
	}
	os.Chmod(d.path("folder/deep/read-only"), 0o644)
	f, err := os.OpenFile(d.path("folder/file"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.remove(keepNothing, "folder"); !errors.As(err, new(*BusyError)) {
		t.Errorf("%v", err)
	}
	f.Close()
	unix.Mkfifo(d.path("folder/pipe"), 0o600)
	if err := d.remove(keepNothing, "folder"); !errors.Is(err, ErrSpecial) {
		t.Errorf("%v", err)
	}
	os.Remove(d.path("folder/pipe"))
	// What appears meanwhile stays, and so do the folders that hold it.
	err = d.remove(func(k Kept) (Deposit, error) {
		if filepath.Base(k.Path) == "read-only" {
			d.put("folder/deep/new", "theirs")
			os.Rename(d.put("other", "changed"), d.path("folder/file")) // a write would wait for the lease
		}
		return Deposit{}, nil
	}, "folder")
	if !errors.Is(err, ErrModified) {
		t.Errorf("%v", err)
	}
	d.want("folder/deep/new", "theirs")
	d.want("folder/file", "changed")
}

func TestRemoveToADeposit(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	d.on(poorer{})
	deposit := t.TempDir()
	if same, _ := sameDevice(d.dir, deposit); !same {
		deposit = filepath.Join(filepath.Dir(d.dir), "deposit")
		os.Mkdir(deposit, 0o700)
	}
	d.put("large", "content")
	if err := d.remove(func(Kept) (Deposit, error) { return Deposit{deposit, "id"}, nil }, "large"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(deposit, "id")); string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	d.wantNames()
}

// What was kept comes back as it was.
func TestRecreate(t *testing.T) {
	for _, system := range namesSystems {
		t.Run(system.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			d.on(system.poorer)
			d.fill("folder")
			before := tree(t, d.path("folder"))
			type item struct {
				path    string
				remains Remains
			}
			var kept []item
			err := d.remove(func(k Kept) (Deposit, error) {
				r := Remains{Meta: k.Meta}
				if k.Content != nil {
					b := make([]byte, k.Stamp.Size)
					k.Content.ReadAt(b, 0)
					r.Content = strings.NewReader(string(b))
				}
				kept = append(kept, item{k.Path, r})
				return Deposit{}, nil
			}, "folder")
			if err != nil {
				t.Fatal(err)
			}
			d.wantNames()
			n, err := d.save.Names(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			again := func(k item) {
				target, err := entryOf(k.path)
				if err != nil {
					t.Fatal(err)
				}
				defer target.Close()
				if _, err := n.Recreate(t.Context(), target, k.remains); err != nil {
					t.Errorf("%s: %v", k.path, err)
				}
			}
			for _, k := range kept {
				again(k)
			}
			n.Finish()
			plain := func(text string) string { // folders that are filled again, and links on lesser systems, have new times
				var lines []string
				if system.portable && !system.mac {
					text = withoutLinkTimes(text)
				}
				for line := range strings.Lines(text) {
					if f := strings.Fields(line); len(f) > 1 && strings.Contains(line, " d") && !strings.HasPrefix(line, "empty") {
						line = strings.Join(f[:len(f)-1], " ") + "\n"
					}
					lines = append(lines, line)
				}
				return strings.Join(lines, "")
			}
			after := tree(t, d.path("folder"))
			if system.portable && !system.mac {
				before = strings.NewReplacer(`"a" `, `"" `, `"deep/b" `, `"" `, `"deep/er/script" `, `"" `).Replace(before)
			}
			if plain(after) != plain(before) {
				t.Errorf("before\n%s\nafter\n%s", plain(before), plain(after))
			}
		})
	}
}
