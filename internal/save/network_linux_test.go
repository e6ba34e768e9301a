//go:build !fsys_portable

package save

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// On the network, what another program writes into the new file before that is read
// back is not taken for a fault of the file system and removed.
func TestReadBackKeepsWhatOthersWrote(t *testing.T) {
	for name, system := range systems {
		if name == "in-place" {
			continue
		}
		for _, old := range []string{"old", ""} {
			t.Run(name+", "+old, func(t *testing.T) {
				d := newTestFolderIn(t, t.TempDir())
				path := d.path("f")
				if old != "" {
					d.put("f", old)
				}
				wrote := false
				d.open(func(o *Options) {
					o.Sys = hooked{network: true, before: func(c call) error {
						if b, err := os.ReadFile(path); !wrote && err == nil && string(b) == "new content" {
							wrote = true
							f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
							if err != nil {
								t.Fatal(err)
							}
							settle() // or the stamp would not show it
							f.WriteString(foreignLine)
							f.Close()
						}
						return system.before(c)
					}}
				})
				out, err := whole(d.save, path, "new content")
				if !wrote {
					t.Fatal("the other program had no turn")
				}
				all := ""
				for _, n := range d.names() {
					all += d.get(n)
				}
				if !strings.Contains(all, foreignLine) {
					t.Errorf("the other program's line is lost (%v): %q", err, d.names())
				}
				if errors.Is(err, ErrReadBack) && len(out.Saved) != 1 {
					t.Errorf("%q is not reported: %+v", d.names(), out)
				}
				if got := d.get("f"); err != nil && old != "" && got != "old" && !strings.Contains(got, foreignLine) {
					t.Errorf("the file holds %q", got)
				}
			})
		}
	}
}

// unsteady is a file system that numbers files by their names, as some in user space
// do, so that a file has another number once it is renamed.
type unsteady struct{ hooked }

func numbered(s fsys.Stamp, err error, name string) (fsys.Stamp, error) {
	for _, b := range []byte(name) {
		s.Ino = s.Ino*131 + uint64(b)
	}
	return s, err
}

func (u unsteady) Fstatat(dir int, name string) (fsys.Stamp, error) {
	s, err := u.hooked.Fstatat(dir, name)
	return numbered(s, err, name)
}

func (u unsteady) Fstat(fd int) (fsys.Stamp, error) {
	s, err := u.hooked.Fstat(fd)
	if s.Mode&unix.S_IFMT != unix.S_IFREG {
		return s, err
	}
	name, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	return numbered(s, err, filepath.Base(strings.TrimSuffix(name, " (deleted)")))
}

// There, too, a write that is refused leaves nothing behind.
func TestNothingStaysWhereNumbersFollowNames(t *testing.T) {
	for _, refused := range []bool{false, true} {
		d := newTestFolderIn(t, t.TempDir())
		path := d.put("f", "old")
		system := poorer{noUnnamed: true, noExchange: true}
		d.open(func(o *Options) {
			o.Sys = unsteady{hooked{network: true, before: func(c call) error {
				if refused && c.name == "Rename" && c.flags == unix.RENAME_EXCHANGE {
					renameOnto(path, "theirs")
				}
				return system.before(c)
			}}}
		})
		_, err := whole(d.save, path, "new")
		want := "new"
		if refused {
			want = "theirs"
		}
		if errors.Is(err, ErrModified) != refused {
			t.Errorf("refused %v: %v", refused, err)
		}
		d.want("f", want)
		d.wantNames("f")
	}
}
