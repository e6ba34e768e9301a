//go:build !fsys_portable

package sys

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// side is a folder and the calls that are made in it.
type side struct {
	Sys
	path string
	dir  int
	open []int
}

func newSide(t *testing.T, calls Sys) *side {
	t.Helper()
	s := &side{Sys: calls, path: t.TempDir()}
	if err := os.Symlink("a", s.path+"/link"); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.dir, err = calls.Openat(CWD, s.path, Folder, 0); err != nil {
		t.Fatal(err)
	}
	return s
}

// Portable answers as the Kernel does: the same calls, drawn at random, return the same error
// numbers and bytes, and leave the same files.
func TestPortableLikeKernel(t *testing.T) {
	for seed := range uint64(40) {
		// As "darwin" it also has attributes, and renames with flags.
		mac := seed%2 == 1
		plain, other := newSide(t, Kernel{}), newSide(t, &Portable{Mac: Mac{As: map[bool]string{true: "darwin"}[mac]}})
		rng := rand.New(rand.NewPCG(seed, 1))
		for n := range 300 {
			call := drawCall(rng, len(plain.open), mac)
			if want, got := call(plain), call(other); want != got {
				t.Fatalf("seed %d, call %d: %s, want %s", seed, n, got, want)
			}
		}
		if want, got := plain.content(), other.content(); want != got {
			t.Errorf("seed %d: %s, want %s", seed, got, want)
		}
		for _, s := range []*side{plain, other} {
			for _, fd := range append(s.open, s.dir) {
				if err := s.Close(fd); err != nil {
					t.Error(err)
				}
			}
		}
		if left := other.Sys.(*Portable).open.all; len(left) > 0 {
			t.Errorf("seed %d: %v stay open", seed, left)
		}
	}
}

// drawCall returns a call, on one of so many open files, that describes its results.
func drawCall(rng *rand.Rand, open int, mac bool) func(s *side) string {
	names := []string{"a", "b", "c", "link", "folder", "folder/d"}
	name, from, to := names[rng.IntN(6)], names[rng.IntN(4)], names[rng.IntN(3)]
	how := []int{Read, ReadWrite | NoFollow, Create, Lock, Folder, Folder | NoFollow}[rng.IntN(6)]
	at, size, off := rng.IntN(max(open, 1)), 1+rng.IntN(100), rng.Int64N(100)
	mode := uint32(0o600 | rng.IntN(0o100))
	kind, flags := rng.IntN(14), uint(0)
	if mac {
		kind, flags = rng.IntN(16), uint(rng.IntN(3))
	}
	return func(s *side) string {
		fd := -1
		if open > 0 {
			fd = s.open[at]
		}
		switch kind {
		case 0, 1:
			fd, err := s.Openat(s.dir, name, how, mode&^0o022)
			if err == nil {
				s.open = append(s.open, fd)
			}
			return fmt.Sprint("open ", name, how, err)
		case 2:
			n, err := s.Pwrite(fd, make([]byte, size), off)
			return fmt.Sprint("write ", max(n, 0), err != nil)
		case 3:
			b := make([]byte, size)
			n, err := s.Pread(fd, b, off)
			return fmt.Sprint("read ", b[:max(n, 0)], err != nil)
		case 4:
			return fmt.Sprint("truncate ", s.Truncate(fd, off) != nil)
		case 5:
			return fmt.Sprint("chmod ", s.Chmod(fd, mode) != nil)
		case 6:
			return fmt.Sprint("rename ", from, to, flags, s.Rename(s.dir, from, to, flags))
		case 7:
			return fmt.Sprint("link ", from, to, s.Link(s.dir, from, to, 0))
		case 8:
			return fmt.Sprint("unlink ", name, s.Unlink(s.dir, name, 0))
		case 9:
			return fmt.Sprint("mkdir ", s.Mkdir(s.dir, "folder", 0o700), s.Mkdir(s.dir, "folder/d", 0o700))
		case 10:
			now, err := s.Fstatat(s.dir, name)
			return fmt.Sprint("stat ", name, known(now), err)
		case 11:
			now, err := s.Fstat(fd)
			return fmt.Sprint("fstat ", known(now), err)
		case 12:
			return fmt.Sprint("sync ", s.Sync(fd) != nil)
		case 14:
			return fmt.Sprint("set ", s.Setxattr(fd, "user."+from, []byte(to)) != nil)
		case 15:
			value, err := s.Getxattr(fd, "user."+from)
			names, none := s.Listxattr(fd)
			return fmt.Sprintf("get %q %v %q %v", value, err != nil, names, none != nil)
		}
		list, err := s.Names(s.dir)
		slices.Sort(list)
		return fmt.Sprint("list ", list, err)
	}
}

// known is the part of a stamp that is alike in two folders.
func known(s fsys.Stamp) string {
	if !IsRegular(s) {
		return fmt.Sprintf("%o", s.Mode)
	}
	return fmt.Sprintf("%o %d %d", s.Mode, s.Size, s.Nlink)
}

// content describes every file.
func (s *side) content() (all string) {
	entries, _ := os.ReadDir(s.path)
	for _, e := range entries {
		b, _ := os.ReadFile(s.path + "/" + e.Name())
		all += fmt.Sprintf("%s %v %q\n", e.Name(), e.Type(), b)
	}
	return all
}
