//go:build !fsys_portable

package fsys

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// spelt is everything that a caller can learn of a resolved name.
func spelt(t *Target, err error) string {
	defer t.Close()
	text := fmt.Sprintf("%v %q %q %v %+v %q", t.Kind, t.Path, t.Names, err, t.Stamp, t.MissingDirs())
	dev, ino, err := t.ParentID()
	text += fmt.Sprintf(" in %d %d %v", dev, ino, err)
	f, err := t.Open()
	if err != nil {
		return text + " " + err.Error()
	}
	defer f.Close()
	b, _, err := f.ReadAll(1 << 20)
	return text + fmt.Sprintf(" %q %v", b, err)
}

// Names that are resolved together are resolved as each alone is, in folders of any shape.
func TestFoldersResolveAsEachAlone(t *testing.T) {
	for seed := range uint64(12) {
		y := newYard(t)
		rng := rand.New(rand.NewPCG(seed, 3))
		dirs := []string{"a", "b", "a/c", "a/c/d", "to-a", "to-c", "round", "up", "file", "gone", "gone/deep"}
		bases := []string{"f", "g", "link", "to-dir", "pipe", "none", "c", "d"}
		for _, dir := range dirs[:4] {
			y.folder(dir)
			for _, base := range bases[:2] {
				if rng.IntN(3) > 0 {
					y.file(dir+"/"+base, dir+base)
				}
			}
			for base, texts := range map[string][]string{"link": {"f", "nothing", "../b/f", "link"}, "to-dir": {"../b", "/", ".."}} {
				if rng.IntN(2) == 0 {
					y.link(dir+"/"+base, texts[rng.IntN(len(texts))])
				}
			}
		}
		y.must(unix.Mkfifo(y.at("a/pipe"), 0o600))
		y.file("file", "x")
		y.link("to-a", []string{"a", y.at("a"), "b/../a/", "./a"}[rng.IntN(4)])
		y.link("to-c", "to-a/c")
		y.link("round", "round")
		y.link("up", "a/c/../../b")
		everyWay(t, func(t *testing.T, r *Resolver) {
			folders := r.Folders()
			defer folders.Close()
			for range 60 {
				name := dirs[rng.IntN(len(dirs))] + "/" + bases[rng.IntN(len(bases))]
				together, alone := spelt(folders.ResolveEntry(y.path(name))), spelt(r.ResolveEntry(y.path(name)))
				if together != alone {
					t.Errorf("seed %d: %s\ntogether %s\nalone    %s", seed, name, together, alone)
				}
			}
			for _, name := range []string{"/", y.dir, y.at("a")} {
				if together, alone := spelt(folders.ResolveEntry(y.path(name))), spelt(r.ResolveEntry(y.path(name))); together != alone {
					t.Errorf("seed %d: %s\ntogether %s\nalone    %s", seed, name, together, alone)
				}
			}
		})
	}
}

// A folder that is swapped for a link to another one stays the one that was resolved first until
// Close, and its targets name that one. The next step sees the link.
func TestFoldersStayTheSameUntilClose(t *testing.T) {
	y := newYard(t)
	y.file("inside/f", "inside")
	y.file("outside/f", "outside")
	y.link("l", "outside")
	r := NewResolver()
	step := r.Folders()
	first, err := step.ResolveEntry(y.path("inside/f"))
	y.must(err)
	y.must(unix.Renameat2(unix.AT_FDCWD, y.at("inside"), unix.AT_FDCWD, y.at("l"), unix.RENAME_EXCHANGE))
	second, err := step.ResolveEntry(y.path("inside/f"))
	y.must(err)
	for _, target := range []*Target{first, second} {
		if text, err := y.read(target); text != "inside" || !slices.Equal(target.Names, []string{y.at("inside/f")}) {
			t.Errorf("%q, %v, %q", text, err, target.Names)
		}
	}
	step.Close()
	if text, err := y.read(second); text != "inside" { // it holds its folder
		t.Errorf("%q, %v", text, err)
	}
	first.Close()
	second.Close()
	next := r.Folders()
	defer next.Close()
	now, err := next.ResolveEntry(y.path("inside/f"))
	y.must(err)
	defer now.Close()
	if text, err := y.read(now); text != "outside" || !slices.Equal(now.Names, []string{y.at("inside/f"), y.at("outside/f")}) {
		t.Errorf("%q, %v, %q", text, err, now.Names)
	}
}

// A target of an earlier step is known again as long as nothing changes that the rules decide on.
func TestFoldersKnowAFileAgain(t *testing.T) {
	for what, change := range map[string]func(y yard){
		"":                            func(yard) {},
		"another file in the folder":  func(y yard) { y.file("a/other", "x") },
		"new bytes":                   func(y yard) { y.file("a/f", "longer than it was") },
		"file: another file":          func(y yard) { y.file("a/g", "x"); y.must(os.Rename(y.at("a/g"), y.at("a/f"))) },
		"file: a second hard link":    func(y yard) { y.must(os.Link(y.at("a/f"), y.at("a/h"))) },
		"file: gone":                  func(y yard) { y.must(os.Remove(y.at("a/f"))) },
		"file: a link":                func(y yard) { y.must(os.Rename(y.at("a/f"), y.at("a/h"))); y.link("a/f", "h") },
		"folder: another one":         func(y yard) { y.must(os.Rename(y.at("a"), y.at("was"))); y.file("a/f", "f") },
		"folder: moved away":          func(y yard) { y.must(os.Rename(y.at("a"), y.at("was"))) },
		"folder: the same, by a link": func(y yard) { y.must(os.Rename(y.at("a"), y.at("was"))); y.link("a", "was") },
		"folder: the same file by one": func(y yard) {
			y.folder("b")
			y.must(os.Rename(y.at("a/f"), y.at("b/f")))
			y.must(os.RemoveAll(y.at("a")))
			y.link("a", "b")
		},
	} {
		y := newYard(t)
		y.file("a/f", "f")
		r := NewResolver()
		first := r.Folders()
		file, err := first.ResolveEntry(y.path("a/f"))
		y.must(err)
		free, err := first.ResolveEntry(y.path("a/none"))
		y.must(err)
		first.Close()
		change(y)
		next := r.Folders()
		isFile, isFolder := next.SameFile(file), next.SameFolder(free)
		if next.SameFile(free) {
			t.Errorf("%s: a missing file is known", what)
		}
		next.Close()
		wantFolder := !strings.HasPrefix(what, "folder:")
		if wantFile := wantFolder && !strings.HasPrefix(what, "file:"); isFile != wantFile || isFolder != wantFolder {
			t.Errorf("%s: the file is known %v, and its folder %v", what, isFile, isFolder)
		}
		file.Close()
		free.Close()
	}
}

// Folders and their targets leave nothing open.
func TestFoldersCloseEverything(t *testing.T) {
	y := newYard(t)
	y.file("a/f", "x")
	y.link("b", "a")
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		y.must(err)
		return len(list)
	}
	before, r := count(), NewResolver()
	for range 3 {
		step := r.Folders()
		var all []*Target
		for _, name := range strings.Fields("a/f a/none b/f b/none none/f a/f/g") {
			target, _ := step.ResolveEntry(y.path(name))
			all = append(all, target)
		}
		step.Close()
		for _, target := range all {
			target.Close()
			target.Close()
		}
	}
	if after := count(); after != before {
		t.Errorf("%d files were open, and %d are", before, after)
	}
}
