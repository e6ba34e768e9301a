//go:build !fsys_portable

package save

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// rescuing is a Rescue that remembers what it was handed.
func rescuing(into *[]string) func(string, io.ReaderAt, int64) (string, error) {
	return func(_ string, content io.ReaderAt, size int64) (string, error) {
		b := make([]byte, size)
		if _, err := content.ReadAt(b, 0); err != nil && err != io.EOF {
			return "", err
		}
		*into = append(*into, string(b))
		return "id", nil
	}
}

// Whatever another program does, and before whichever of our system calls: a file
// that was removed is the one that was compared, and no line of the other's is lost.
func TestForeignWhileRemoving(t *testing.T) {
	for _, f := range foreigners {
		t.Run(f.name, func(t *testing.T) {
			results := map[string]int{}
			parent := memory(t)
			for n := 0; ; n++ {
				r := meetDoing(t, parent, poorer{}, true, removeFile, meeting{n, f})
				if !r.met {
					break
				}
				results[r.String()]++
				theirs := strings.Contains(r.file+strings.Join(r.saved, ""), foreignLine)
				var busy *BusyError
				switch {
				case len(r.strays) > 0:
					t.Errorf("before call %d something is left behind: %s", n, r.detail())
				case r.err != nil && !errors.Is(r.err, ErrModified) && !errors.As(r.err, &busy):
					t.Errorf("before call %d: a strange error: %s", n, r.detail())
				case r.err != nil && r.file == "(missing)":
					t.Errorf("before call %d: it failed, and the file is gone: %s", n, r.detail())
				// One that found no file any more, and makes none, had nothing to write to.
				case r.err != nil && !theirs:
					t.Errorf("before call %d: the other program's line is lost: %s", n, r.detail())
				case r.err == nil && r.file != "(missing)" && !strings.Contains(r.file, "foreign line"):
					t.Errorf("before call %d: it succeeded, and the file is there: %s", n, r.detail())
				}
			}
			t.Log(results)
		})
	}
}

// Bytes that are known nowhere else are handed over instead of being left about,
// whatever the other program does and when.
func TestRescue(t *testing.T) {
	for _, f := range foreigners {
		t.Run(f.name, func(t *testing.T) {
			parent := memory(t)
			for n := 0; ; n++ {
				r := meetDoing(t, parent, poorer{}, true, func(s *Saver, path string) (Written, error) {
					return change(s, path, func([]byte) ([]span.Splice, error) {
						return []span.Splice{{Start: 0, End: 0, New: []byte(ourLine)}}, nil
					})
				}, meeting{n, f})
				if !r.met {
					break
				}
				if why := r.wrong(); why != "" {
					t.Errorf("before call %d: %s: %s", n, why, r.detail())
				}
			}
		})
	}
}

// In the worst case the displaced file goes to Rescue; if Rescue fails, or a program still
// writes to the file, it stays a file.
func TestRescueOrSave(t *testing.T) {
	displace := func(t *testing.T, refuse error, act func(path string) func()) (d *testFolder, out Written, rescued []string, later func()) {
		d = newTestFolderIn(t, memory(t))
		path := d.put("f", "old")
		renames := 0
		d.open(func(o *Options) {
			keep := rescuing(&rescued)
			o.Rescue = func(path string, content io.ReaderAt, size int64) (string, error) {
				if refuse != nil {
					return "", refuse
				}
				if path != d.path("f") {
					t.Errorf("rescued as %s", path)
				}
				return keep(path, content, size)
			}
			o.Sys = hooked{before: func(k call) error {
				if k.name == "Rename" && k.flags == unix.RENAME_EXCHANGE {
					if renames++; renames == 1 {
						renameOnto(path, "first")
						later = act(path)
					} else if renames == 2 {
						renameOnto(path, "second")
					}
				}
				return nil
			}}
		})
		out, err := whole(d.save, path, "new")
		if !errors.Is(err, ErrModified) {
			t.Errorf("%v", err)
		}
		d.want("f", "second")
		return d, out, rescued, later
	}
	nothing := func(string) func() { return func() {} }

	d, out, rescued, _ := displace(t, nil, nothing)
	if len(out.Saved) > 0 || len(out.Rescued) != 1 || len(rescued) != 1 || rescued[0] != "first" {
		t.Errorf("%+v, %q", out, rescued)
	}
	d.wantNames("f")

	d, out, _, _ = displace(t, errors.New("full"), nothing)
	if len(out.Saved) != 1 || len(out.Rescued) != 0 {
		t.Errorf("%+v", out)
	}
	d.want("f.fsmcp-saved", "first")

	d, out, _, later := displace(t, nil, func(path string) func() { return appendLine(path, 0) })
	later()
	if len(out.Saved) != 1 || len(out.Rescued) != 0 {
		t.Errorf("while somebody writes to it: %+v", out)
	}
	d.want("f.fsmcp-saved", "first"+foreignLine)
}

// The next start rescues what a dead process left, too.
func TestSweepRescues(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	d.dead()
	name := d.leave("content", func(_ fsys.Stamp) tempName {
		return tempName{Base: "f", Kind: byStamp, ID: "01234567", New: "zzzzzzzzzzzz", Old: "zzzzzzzzzzzz"}
	})
	var rescued []string
	d.open(func(o *Options) { o.Rescue = rescuing(&rescued) })
	r, err := d.save.Sweep(t.Context())
	if err != nil || len(r.Saved) != 0 || len(r.Rescued) != 1 || len(rescued) != 1 || rescued[0] != "content" {
		t.Errorf("%+v, %v, %q", r, err, rescued)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("the file is still there")
	}
}
