package fsys

import (
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// drawSegments draws the text of a link, or a name.
func drawSegments(r *rand.Rand, all []string) string {
	var segments []string
	for range 1 + r.IntN(4) {
		segments = append(segments, all[r.IntN(len(all))])
	}
	return strings.Join(segments, "/")
}

// drawTree makes files, folders and links with a few names. Nothing is made outside of the yard,
// also if a link leads there.
func drawTree(y yard, r *rand.Rand) {
	top, err := os.OpenRoot(y.at(""))
	y.must(err)
	defer top.Close()
	names := []string{"a", "b", "A", "ß", "d"}
	for range 4 + r.IntN(20) {
		name := drawSegments(r, names)
		if top.MkdirAll(path.Dir(name), 0o755) != nil { // a file is on the way
			continue
		}
		switch r.IntN(5) {
		case 0:
			_ = top.WriteFile(name, []byte(name), 0o644)
		case 1:
			_ = top.Mkdir(name, 0o755)
		default:
			text := drawSegments(r, append([]string{"..", "..", ".", ""}, names...))
			switch r.IntN(6) {
			case 0:
				text = y.at("") + "/" + text
			case 1:
				text += "/"
			}
			if text != "" {
				_ = top.Symlink(text, name)
			}
		}
	}
}

// TestDrawnTrees compares what a name leads to with what the system and filepath.EvalSymlinks say.
func TestDrawnTrees(t *testing.T) {
	found, linked, missing, loops := 0, 0, 0, 0
	for round := range shortrun.Count(t, 60, 15, "trees") {
		r := rand.New(rand.NewPCG(uint64(round), 41))
		y := newYard(t)
		drawTree(y, r)
		for range 40 {
			name := y.at(drawSegments(r, []string{"a", "b", "A", "ß", "d"}))
			want, wantErr := filepath.EvalSymlinks(name)
			info, err := os.Stat(name)
			if (err == nil) != (wantErr == nil) {
				continue // one of them follows more links
			}
			if real, realErr := RealName(name); real != want || (realErr == nil) != (wantErr == nil) {
				t.Errorf("round %d: %s is %s, %v; want %s, %v", round, name, real, realErr, want, wantErr)
			}
			for _, way := range ways() {
				target, resolveErr := way.resolver().Resolve(y.path(name))
				fail := func(why string) {
					t.Errorf("round %d, %s: %s: %s: %v %s, %v; the system: %s, %v", round, way.name, name, why, target.Kind, target.Path, resolveErr, want, err)
				}
				switch {
				case err == nil && (resolveErr != nil || target.Kind == Missing):
					fail("it exists")
				case err == nil && target.Path != want:
					fail("it is another name")
				case err == nil && (target.Kind == Directory) != info.IsDir():
					fail("it is another kind")
				case err == nil:
					found++
					if want != name {
						linked++
					}
					for _, one := range target.Names {
						if other, err := os.Stat(one); err != nil || !os.SameFile(other, info) {
							fail("it has the wrong name " + one)
						}
					}
				case resolveErr == nil && target.Kind != Missing:
					fail("it does not exist")
				case errors.Is(err, unix.ELOOP) != errors.Is(resolveErr, ErrLoop):
					fail("it is a loop, or none")
				case errors.Is(err, unix.ELOOP):
					loops++
				case resolveErr == nil:
					missing++
					if _, err := os.Lstat(target.Path); !errors.Is(err, os.ErrNotExist) {
						fail("the path is that of a link")
					}
				}
				target.Close()

				entry, entryErr := way.resolver().ResolveEntry(y.path(name))
				dir, dirErr := filepath.EvalSymlinks(filepath.Dir(name))
				at := filepath.Join(dir, filepath.Base(name))
				if info, err := os.Lstat(name); err == nil && dirErr == nil {
					kind := map[bool]Kind{true: Directory, false: Regular}[info.IsDir()]
					if info.Mode()&os.ModeSymlink != 0 {
						kind = Link
					}
					if entryErr != nil || entry.Path != at || entry.Kind != kind {
						t.Errorf("round %d, %s: the entry %s: %v %s, %v; want %v %s", round, way.name, name, entry.Kind, entry.Path, entryErr, kind, at)
					}
				} else if entryErr == nil && entry.Kind != Missing {
					t.Errorf("round %d, %s: the entry %s: %v %s; it does not exist", round, way.name, name, entry.Kind, entry.Path)
				}
				entry.Close()
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d found, %d of them by a link; %d missing, %d loops", found, linked, missing, loops)
	if linked == 0 || missing == 0 || loops == 0 {
		t.Error("the comparison says little")
	}
}
