package fsys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestResolve: names are relative to the yard; "/"-names are absolute.
func TestResolve(t *testing.T) {
	tests := []struct {
		name    string
		make    func(y yard)
		ask     string
		want    []string // the names, the last one being the resolved
		kind    Kind
		missing []string
	}{
		{"plain", func(y yard) { y.file("ws/a", "x") }, "ws/a", []string{"ws/a"}, Regular, nil},
		{"folder", func(y yard) { y.folder("ws") }, "ws", []string{"ws"}, Directory, nil},
		{"relative link", func(y yard) { y.file("ws/a", "x"); y.link("ws/l", "a") }, "ws/l", []string{"ws/l", "ws/a"}, Regular, nil},
		{"absolute link", func(y yard) { y.file("ws/a", "x"); y.link("ws/l", y.at("ws/a")) }, "ws/l", []string{"ws/l", "ws/a"}, Regular, nil},
		{"untidy link", func(y yard) { y.file("ws/a", "x"); y.link("ws/l", ".//./../ws//a") }, "ws/l", []string{"ws/l", "ws/a"}, Regular, nil},
		{"chain", func(y yard) {
			y.file("out/a", "x")
			y.link("ws/1", "2")
			y.link("ws/2", "../mid/3")
			y.link("mid/3", y.at("out/a"))
		}, "ws/1", []string{"ws/1", "ws/2", "mid/3", "out/a"}, Regular, nil},
		{"to a folder", func(y yard) { y.folder("ws/d"); y.link("ws/l", "d/") }, "ws/l", []string{"ws/l", "ws/d"}, Directory, nil},
		{"through a folder", func(y yard) { y.file("ws/d/s/a", "x"); y.link("ws/l", "d") }, "ws/l/s/a",
			[]string{"ws/l/s/a", "ws/d/s/a"}, Regular, nil},
		{"two links in one name", func(y yard) {
			y.file("ws/d/e/a", "x")
			y.link("ws/l", "d")
			y.link("ws/d/m", "e")
		}, "ws/l/m/a", []string{"ws/l/m/a", "ws/d/m/a", "ws/d/e/a"}, Regular, nil},
		{"out and back in", func(y yard) {
			y.file("ws/a", "x")
			y.link("ws/l", "../out/back")
			y.link("out/back", "../ws/a")
		}, "ws/l", []string{"ws/l", "out/back", "ws/a"}, Regular, nil},
		{"back to its own name", func(y yard) {
			y.file("ws/d/a", "x")
			y.link("ws/l", "d")
			y.link("ws/d/up", "../l")
		}, "ws/l/up/a", []string{"ws/l/up/a", "ws/d/up/a", "ws/l/a", "ws/d/a"}, Regular, nil},
		{"parent behind a link", func(y yard) {
			// The system goes up from where the link leads, not from where it lies.
			y.file("far/a", "right")
			y.file("ws/a", "wrong")
			y.folder("far/d")
			y.link("ws/d", "../far/d")
			y.link("ws/l", "d/../a")
		}, "ws/l", []string{"ws/l", "far/a"}, Regular, nil},
		{"parent behind a folder", func(y yard) { y.file("ws/a", "x"); y.folder("ws/d/e"); y.link("ws/l", "d/e/../../a") },
			"ws/l", []string{"ws/l", "ws/a"}, Regular, nil},
		{"above the root", func(y yard) { y.file("ws/a", "x"); y.link("ws/l", strings.Repeat("../", 60)+y.at("ws/a")[1:]) },
			"ws/l", []string{"ws/l", "ws/a"}, Regular, nil},
		{"linked workspace", func(y yard) { y.file("real/p/a", "x"); y.link("home", "real") }, "home/p/a", []string{"home/p/a", "real/p/a"}, Regular, nil},
		{"new name", func(y yard) { y.folder("ws") }, "ws/new", []string{"ws/new"}, Missing, nil},
		{"new folders", func(y yard) { y.folder("ws") }, "ws/d/e/new", []string{"ws/d/e/new"}, Missing, []string{"d", "e"}},
		{"new name behind a link", func(y yard) { y.folder("ws/d"); y.link("ws/l", "d") }, "ws/l/e/new", []string{"ws/l/e/new", "ws/d/e/new"}, Missing, []string{"e"}},
		{"dangling", func(y yard) { y.folder("out"); y.link("ws/l", "../out/new") }, "ws/l", []string{"ws/l", "out/new"}, Missing, nil},
		{"dangling through folders", func(y yard) { y.link("ws/l", "../x/y/new") }, "ws/l", []string{"ws/l", "x/y/new"}, Missing, []string{"x", "y"}},
		{"dangling chain", func(y yard) { y.link("ws/1", "2"); y.link("ws/2", "3") }, "ws/1", []string{"ws/1", "ws/2", "ws/3"}, Missing, nil},
		{"forty links", func(y yard) { y.file("ws/40", "x"); chain(y, 40) }, "ws/0", upTo(40), Regular, nil},
		{"fifo", func(y yard) { y.folder("ws"); y.must(unix.Mkfifo(y.at("ws/p"), 0o644)) }, "ws/p", []string{"ws/p"}, Special, nil},
		{"link to a device", func(y yard) { y.link("ws/l", "/dev/null") }, "ws/l", []string{"ws/l", "/dev/null"}, Special, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			y := newYard(t)
			tt.make(y)
			var want []string
			for _, name := range tt.want {
				if name[0] != '/' {
					name = y.at(name)
				}
				want = append(want, name)
			}
			everyWay(t, func(t *testing.T, r *Resolver) {
				y := yard{t, y.dir}
				target, err := y.resolve(r, tt.ask)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(target.Names, want) || target.Path != want[len(want)-1] {
					t.Errorf("names %q, path %q, want %q", target.Names, target.Path, want)
				}
				if target.Kind != tt.kind || !slices.Equal(target.MissingDirs(), tt.missing) {
					t.Errorf("%v, missing %q", target.Kind, target.MissingDirs())
				}
				agree(t, target)
			})
		})
	}
}

func chain(y yard, links int) {
	for i := range links {
		y.link(fmt.Sprintf("ws/%d", i), fmt.Sprint(i+1))
	}
}

func upTo(last int) []string {
	var names []string
	for i := range last + 1 {
		names = append(names, fmt.Sprintf("ws/%d", i))
	}
	return names
}

// agree asks the system to follow the name as it was given.
func agree(t *testing.T, target *Target) {
	t.Helper()
	info, err := os.Stat(target.Asked.String())
	if target.Kind == Missing {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the system sees %v, %v", info, err)
		}
		if target.Stamp != (Stamp{}) {
			t.Errorf("stamp of nothing: %+v", target.Stamp)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	seen, err := os.Stat(target.Path)
	if err != nil || !os.SameFile(info, seen) {
		t.Errorf("the system follows to another file than %q: %v", target.Path, err)
	}
	if st := info.Sys(); target.Stamp.Size != info.Size() || target.Stamp.Mtime != info.ModTime().UnixNano() {
		t.Errorf("stamp %+v of %+v", target.Stamp, st)
	}
}

func TestResolveErrors(t *testing.T) {
	tests := []struct {
		name  string
		make  func(y yard)
		ask   string
		want  error
		names []string
	}{
		{"forty-one links", func(y yard) { y.file("ws/41", "x"); chain(y, 41) }, "ws/0", ErrLoop, upTo(40)},
		{"loop", func(y yard) { y.link("ws/1", "2"); y.link("ws/2", "1") }, "ws/1", ErrLoop, []string{"ws/1", "ws/2"}},
		{"itself", func(y yard) { y.link("ws/1", "1") }, "ws/1", ErrLoop, []string{"ws/1"}},
		{"growing", func(y yard) { y.link("ws/1", "1/x") }, "ws/1", ErrLoop, nil},
		{"file as folder", func(y yard) { y.file("ws/a", "x") }, "ws/a/b/c", ErrNotDir, []string{"ws/a/b/c"}},
		{"link to file as folder", func(y yard) { y.file("ws/a", "x"); y.link("ws/l", "a") }, "ws/l/b", ErrNotDir, []string{"ws/l/b", "ws/a/b"}},
		{"parent of a file", func(y yard) { y.file("ws/a", "x"); y.file("ws/b", "x"); y.link("ws/l", "a/../b") }, "ws/l", ErrNotDir, []string{"ws/l"}},
		{"parent of nothing", func(y yard) { y.file("ws/b", "x"); y.link("ws/l", "a/../b") }, "ws/l", fs.ErrNotExist, []string{"ws/l"}},
		{"file spelt as folder", func(y yard) { y.file("ws/a", "x"); y.link("ws/l", "a/") }, "ws/l", ErrNotDir, []string{"ws/l", "ws/a"}},
		{"long name in a link", func(y yard) { y.link("ws/l", strings.Repeat("a", 256)) }, "ws/l", unix.ENAMETOOLONG, nil},
		{"fifo as folder", func(y yard) { y.folder("ws"); y.must(unix.Mkfifo(y.at("ws/p"), 0o644)) }, "ws/p/x", ErrNotDir, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			y := newYard(t)
			tt.make(y)
			everyWay(t, func(t *testing.T, r *Resolver) {
				y := yard{t, y.dir}
				target, err := y.resolve(r, tt.ask)
				if !errors.Is(err, tt.want) {
					t.Fatalf("%v", err)
				}
				var names []string
				for _, name := range tt.names {
					names = append(names, y.at(name))
				}
				if names != nil && !slices.Equal(target.Names, names) {
					t.Errorf("names %q, want %q", target.Names, names)
				}
				if _, err := target.Open(); err == nil && target.Kind != Regular {
					t.Error("opened nothing")
				}
			})
		})
	}
}

// A link's text may hold hundreds of ".." behind folders, and each of them is
// a walk: honest numbers are followed, others refused before they cost time.
func TestResolveManyParents(t *testing.T) {
	for parents, want := range map[int]error{2: nil, 800: ErrLoop} {
		y := newYard(t)
		y.folder("ws/d")
		y.file("ws/40", "x")
		for i := range 40 {
			y.link(fmt.Sprintf("ws/%d", i), strings.Repeat("d/../", parents)+fmt.Sprint(i+1))
		}
		inTime(t, 2*time.Second, fmt.Sprint(parents, " parents"), func() {
			if target, err := y.resolve(NewResolver(), "ws/0"); !errors.Is(err, want) {
				t.Error(target.Path, err)
			}
		})
	}
}

// TestResolveProc: links made up by the kernel are read as text like others.
func TestResolveProc(t *testing.T) {
	everyWay(t, func(t *testing.T, r *Resolver) {
		y := newYard(t)
		working, err := os.Getwd()
		y.must(err)
		target, err := y.resolve(r, "/proc/self/cwd/doc.go")
		if err != nil || target.Path != filepath.Join(working, "doc.go") {
			t.Errorf("%q, %v", target.Path, err)
		}
		reading, writing, err := os.Pipe()
		y.must(err)
		defer reading.Close()
		defer writing.Close()
		target, err = y.resolve(r, fmt.Sprintf("/proc/self/fd/%d", reading.Fd()))
		if err != nil || target.Kind != Missing { // "pipe:[...]"
			t.Errorf("%q is a %v, %v", target.Path, target.Kind, err)
		}
	})
}

// TestWorkspaceReplaced: whatever happens to the folder of a workspace, its
// name counts.
func TestWorkspaceReplaced(t *testing.T) {
	y := newYard(t)
	y.file("ws/a", "old")
	r := NewResolver()
	expect := func(name, want string) {
		t.Helper()
		target, err := y.resolve(r, name)
		y.must(err)
		got, err := y.read(target)
		if got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	expect("ws/a", "old")
	y.must(os.Rename(y.at("ws"), y.at("ws.bak")))
	if target, err := y.resolve(r, "ws/a"); err != nil || target.Kind != Missing || !slices.Equal(target.MissingDirs(), []string{"ws"}) {
		t.Errorf("%v, missing %q, %v", target.Kind, target.MissingDirs(), err)
	}
	y.file("ws/a", "new")
	expect("ws/a", "new")
	expect("ws.bak/a", "old")
	y.must(os.RemoveAll(y.at("ws")))
	if target, err := y.resolve(r, "ws/a"); err != nil || target.Kind != Missing {
		t.Errorf("%v, %v", target.Kind, err)
	}
	y.link("ws", "ws.bak")
	expect("ws/a", "old")
}

func TestNames(t *testing.T) {
	y := newYard(t)
	y.folder("real")
	y.link("link", "real")
	y.link("twice", "link")
	names := []string{y.at("real"), y.at("link"), y.at("gone"), y.at("link/sub"), y.at("twice")}
	want := [][]string{{y.at("real")}, {y.at("link"), y.at("real")}, {y.at("gone")}, {y.at("link/sub"), y.at("real/sub")}, {y.at("twice"), y.at("link"), y.at("real")}}
	for i, name := range names {
		if got := NewResolver().Names(name); !slices.Equal(got, want[i]) {
			t.Errorf("%q, want %q", got, want[i])
		}
	}
}

func TestKinds(t *testing.T) {
	y := newYard(t)
	y.must(unix.Mkfifo(y.at("fifo"), 0o644))
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	y.must(err)
	defer unix.Close(socket)
	y.must(unix.Bind(socket, &unix.SockaddrUnix{Name: y.at("socket")}))
	names := []string{"fifo", "socket", "/dev/null", "/dev/zero", "/dev/tty", "/dev/full"}
	if unix.Mknod(y.at("block"), unix.S_IFBLK|0o600, int(unix.Mkdev(7, 250))) == nil {
		names = append(names, "block")
	}
	everyWay(t, func(t *testing.T, r *Resolver) {
		for _, name := range names {
			inTime(t, 100*time.Millisecond, name, func() {
				target, err := r.Resolve(y.path(name))
				defer func() { target.Close() }() // also beside an error
				if err != nil || target.Kind != Special {
					t.Errorf("%s is a %v, %v", name, target.Kind, err)
				}
				if _, err := target.Open(); !errors.Is(err, ErrNotRegular) {
					t.Errorf("%s: %v", name, err)
				}
				if _, err := target.Entries(1); !errors.Is(err, ErrNotDir) {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	})
}

func TestCheckNewNames(t *testing.T) {
	y := newYard(t)
	y.folder("odd\x1bfolder")
	y.file("odd\x1bfile", "x")
	y.link("innocent", "bad\u202ename")
	r := NewResolver()
	for name, fine := range map[string]bool{
		"odd\x1bfolder/new": true, // the folder is there already
		"odd\x1bfile":       true,
		"new":               true,
		"new\x1b":           false,
		"n\x1bw/new":        false,
		"d/.../new":         false,
		"innocent":          false,
	} {
		target, err := y.resolve(r, name)
		y.must(err)
		if err := target.CheckNewNames(); (err == nil) != fine {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestParent(t *testing.T) {
	everyWay(t, func(t *testing.T, r *Resolver) {
		y := newYard(t)
		y.file("ws/d/a", "x")
		y.link("ws/l", "d")
		id := func(name string) Stamp {
			var st unix.Stat_t
			y.must(unix.Stat(y.at(name), &st))
			return stampFrom(&st)
		}
		for name, parent := range map[string]string{"ws/d/a": "ws/d", "ws/l/a": "ws/d", "ws/d": "ws", "ws/l/new": "ws/d", "ws/l/x/y/new": "ws/d", "/": "/"} {
			target, err := y.resolve(r, name)
			y.must(err)
			dev, ino, err := target.ParentID()
			want := id(parent)
			if parent == "/" {
				want = target.Stamp
			}
			if err != nil || dev != want.Dev || ino != want.Ino {
				t.Errorf("%s: parent %d:%d, %v", name, dev, ino, err)
			}
			if portable {
				continue
			}
			fd, err := target.ParentFD()
			again, _ := target.ParentFD()
			if err != nil || fd != again {
				t.Errorf("%s: %d and %d, %v", name, fd, again, err)
			}
		}
	})
}

// TestParentMoved: a parent that does not hold the resolved file is not handed out.
func TestParentMoved(t *testing.T) {
	swaps := map[string]func(y yard){
		"replaced by rename": func(y yard) { y.file("other", "y"); y.must(os.Rename(y.at("other"), y.at("ws/d/a"))) },
		"removed":            func(y yard) { y.must(os.Remove(y.at("ws/d/a"))) },
		"folder removed":     func(y yard) { y.must(os.RemoveAll(y.at("ws/d"))) },
		"folder replaced":    func(y yard) { y.must(os.Rename(y.at("ws/d"), y.at("old"))); y.file("ws/d/a", "y") },
		"folder now a link":  func(y yard) { y.must(os.Rename(y.at("ws/d"), y.at("old"))); y.link("ws/d", y.at("old")) },
		"file now a link": func(y yard) {
			y.must(os.Rename(y.at("ws/d/a"), y.at("ws/d/b")))
			y.link("ws/d/a", "b")
		},
	}
	for name, swap := range swaps {
		t.Run(name, func(t *testing.T) {
			everyWay(t, func(t *testing.T, r *Resolver) {
				y := newYard(t)
				y.file("ws/d/a", "x")
				target, err := y.resolve(r, "ws/d/a")
				y.must(err)
				swap(y)
				if _, _, err := target.ParentID(); !errors.Is(err, ErrMoved) && !portable {
					t.Errorf("parent: %v", err)
				}
				if got, err := y.read(target); got != "x" && !errors.Is(err, ErrMoved) {
					t.Errorf("read %q, %v", got, err)
				}
			})
		})
	}
}

func TestResolveNothing(t *testing.T) {
	target, err := NewResolver().Resolve(Path{})
	if !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
	if _, err := target.Open(); err == nil {
		t.Error("opened nothing")
	}
	if got := NewResolver().Names(""); len(got) != 1 {
		t.Error(got)
	}
	target.Close()
}

func TestClosedTarget(t *testing.T) {
	y := newYard(t)
	y.file("a", "x")
	for _, name := range []string{"a", "."} {
		target, err := y.resolve(NewResolver(), name)
		y.must(err)
		target.Close()
		target.Close()
		_, open := target.Open()
		_, parent := target.ParentFD()
		_, entries := target.Entries(1)
		_, siblings := target.Siblings(1)
		for i, err := range []error{open, parent, entries, siblings} {
			if err == nil {
				t.Errorf("%s: use %d of a closed target", name, i)
			}
		}
	}
}

func TestEntries(t *testing.T) {
	y := newYard(t)
	for _, name := range []string{"ws/b", "ws/a", "ws/z/x", "ws/y/x"} {
		y.file(name, "x")
	}
	y.link("ws/l", "z")
	want := []FolderName{{"y", true}, {"z", true}, {"a", false}, {"b", false}, {"l", false}}
	everyWay(t, func(t *testing.T, r *Resolver) {
		for ask, list := range map[string]func(*Target, int) ([]FolderName, error){
			"ws": (*Target).Entries, "ws/a": (*Target).Siblings, "ws/new": (*Target).Siblings, "ws/new/x": (*Target).Siblings,
		} {
			target, err := yard{t, y.dir}.resolve(r, ask)
			y.must(err)
			for _, most := range []int{0, 3, 5, 100} {
				got, err := list(target, most)
				if err != nil || !slices.Equal(got, want[:min(most, len(want))]) {
					t.Errorf("%s, %d: %v, %v", ask, most, got, err)
				}
			}
		}
	})
}

func TestEntriesOfHugeFolder(t *testing.T) {
	y := newYard(t)
	y.folder("ws")
	for i := range maxScan + 500 {
		y.must(os.Link(y.seed(), y.at(fmt.Sprintf("ws/%d", i))))
	}
	target, err := y.resolve(NewResolver(), "ws")
	y.must(err)
	if got, err := target.Entries(50); len(got) != 50 || err != nil {
		t.Errorf("%d, %v", len(got), err)
	}
	if got, err := target.Entries(1 << 20); len(got) != maxScan+500 || err != nil {
		t.Errorf("%d, %v", len(got), err)
	}
}

// seed is a file to make cheap names of.
func (y yard) seed() string {
	name := y.at("seed")
	if _, err := os.Lstat(name); err != nil {
		y.file("seed", "")
	}
	return name
}
