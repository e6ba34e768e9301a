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

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
)

// faults are the errors that the matrix tries at every call.
var faults = []unix.Errno{
	unix.ENOSPC, unix.EDQUOT, unix.EIO, unix.EACCES, unix.EPERM, unix.EROFS, unix.EXDEV, unix.EBUSY,
	unix.EMFILE, unix.EINTR, unix.ENOMEM, unix.EINVAL, unix.EOPNOTSUPP, unix.ENAMETOOLONG, unix.ESTALE,
}

// someFaults returns count of them, others at each call, or all in the long run.
func someFaults(n, count int) []unix.Errno {
	if long() {
		return faults
	}
	some := make([]unix.Errno, count)
	for i := range some {
		some[i] = faults[(n+3*i)%len(faults)]
	}
	return some
}

// faultCase is a write and the system it happens on.
type faultCase struct {
	name    string
	file    string
	old     string // "(missing)" for a new file
	new     string // "(missing)" to remove it
	system  poorer
	network bool
	links   bool
	xattr   bool
	early   bool // the new bytes are begun beforehand, by Stage
}

var faultCases = []faultCase{
	{name: "replace", file: "f", old: "old content\n", new: "new\n"},
	{name: "early", file: "f", old: "old content\n", new: "new\n", early: true},
	{name: "early, no lease", file: "f", old: "old content\n", new: "new\n", early: true, system: poorer{noLease: true}},
	{name: "early, no exchange", file: "f", old: "old content\n", new: "new\n", early: true, system: poorer{noExchange: true, noUnnamed: true}},
	{name: "early, in place", file: "f", old: "old content\n", new: "new\n", early: true, system: poorer{busy: true}},
	{name: "early, given up", file: "f", old: "old content\n", new: "old content\n", early: true},
	{name: "create", file: "f", old: "(missing)", new: "new\n"},
	{name: "create with folders", file: "a/b/f", old: "(missing)", new: "new\n"},
	{name: "attributes", file: "f", old: "old content\n", new: "new\n", xattr: true},
	{name: "no lease", file: "f", old: "old content\n", new: "new\n", system: poorer{noLease: true}},
	{name: "no unnamed files", file: "f", old: "old content\n", new: "new\n", system: poorer{noUnnamed: true}},
	{name: "no unnamed new file", file: "a/f", old: "(missing)", new: "new\n", system: poorer{noUnnamed: true}},
	{name: "no links by descriptor", file: "f", old: "old content\n", new: "new\n", system: poorer{noProc: true}},
	{name: "no exchange", file: "f", old: "old content\n", new: "new\n", system: poorer{noExchange: true}},
	{name: "two renames", file: "f", old: "old content\n", new: "new\n", system: poorer{noExchange: true, noReplace: true}},
	{name: "two renames, no lease", file: "f", old: "old content\n", new: "new\n", system: poorer{noExchange: true, noReplace: true, noUnnamed: true, noLease: true}},
	{name: "nothing", file: "f", old: "old content\n", new: "new\n", system: poorer{noUnnamed: true, noExchange: true, noLease: true}},
	{name: "nothing, new file", file: "f", old: "(missing)", new: "new\n", system: poorer{noUnnamed: true, noExchange: true}},
	{name: "network", file: "f", old: "old content\n", new: "new\n", network: true, system: poorer{noUnnamed: true, noExchange: true, noLease: true}},
	{name: "network, exchange", file: "f", old: "old content\n", new: "new\n", network: true},
	{name: "network, new file", file: "f", old: "(missing)", new: "new\n", network: true},
	{name: "in place, shorter", file: "f", old: "old content\n", new: "new\n", system: poorer{busy: true}},
	{name: "in place, longer", file: "f", old: "old\n", new: "new content\n", system: poorer{busy: true}},
	{name: "hard links in place", file: "f", old: "old content\n", new: "new\n", links: true},
	{name: "portable", file: "f", old: "old content\n", new: "new\n", system: poorer{portable: true}},
	{name: "mac", file: "f", old: "old content\n", new: "new\n", system: poorer{mac: true}},
	{name: "mac, no clones", file: "f", old: "old content\n", new: "new\n", system: poorer{mac: true, noClone: true}},
	{name: "mac, no exchange", file: "f", old: "old content\n", new: "new\n", system: poorer{mac: true, noExchange: true}},
	{name: "mac, new file", file: "a/b/f", old: "(missing)", new: "new\n", system: poorer{mac: true}},
	{name: "mac, remove", file: "f", old: "old content\n", new: "(missing)", system: poorer{mac: true}},
	{name: "mac, in place", file: "f", old: "old content\n", new: "new\n", system: poorer{mac: true, busy: true}},
	{name: "portable, new file", file: "a/b/f", old: "(missing)", new: "new\n", system: poorer{portable: true}},
	{name: "portable, remove", file: "f", old: "old content\n", new: "(missing)", system: poorer{portable: true}},
	{name: "remove", file: "f", old: "old content\n", new: "(missing)"},
	{name: "remove, no lease", file: "f", old: "old content\n", new: "(missing)", system: poorer{noLease: true}},
	{name: "remove, network", file: "f", old: "old content\n", new: "(missing)", network: true, system: poorer{noUnnamed: true, noExchange: true, noLease: true}},
}

// Every error at every call leaves the old or the new content, says which, and
// leaves no temporary file.
func TestFaultAtEveryCall(t *testing.T) {
	cells, cases := 0, 0
	perCall, step := shortrun.Count(t, 3, 1, "errors at each call"), shortrun.Step(t, 2, "calls that fail")
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			cases++
			parent := memory(t)
			calls := c.count(t, parent)
			if testing.Verbose() {
				t.Logf("%d calls", calls)
			}
			for n := cases % step; n < calls; n += step {
				for _, errno := range someFaults(n, perCall) {
					cells++
					c.try(t, parent, fmt.Sprintf("%v at call %d", errno, n), false, func(at int, _ call) error {
						if at == n {
							return errno
						}
						return nil
					})
				}
			}
		})
	}
	t.Logf("%d cells", cells)
	if cells < 60*perCall && cases == len(faultCases) {
		t.Errorf("only %d cells", cells)
	}
}

// The same for errors that stay: the disk is full from then on, the file system
// went read-only.
func TestFaultFromSomeCallOn(t *testing.T) {
	step := shortrun.Step(t, 8, "calls from which on an error stays")
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			parent := memory(t)
			calls := c.count(t, parent)
			for n := 0; n < calls; n += step {
				for errno, changing := range map[unix.Errno]string{
					unix.ENOSPC: "Pwrite Reserve Link Mkdir Setxattr",
					unix.EROFS:  "Link Mkdir Setxattr Chmod Chown Unlink Rename Truncate",
					unix.EIO:    "Pwrite Pread Sync Link Unlink Rename Truncate CopyRange",
					unix.EMFILE: "Openat",
				} {
					c.try(t, parent, fmt.Sprintf("%v from call %d on", errno, n), true, func(at int, k call) error {
						if at >= n && strings.Contains(changing, k.name) {
							return errno
						}
						return nil
					})
				}
			}
		})
	}
}

// count returns the number of calls of a write without failures.
func (c faultCase) count(t *testing.T, parent string) int {
	t.Helper()
	calls := 0
	c.try(t, parent, "no fault", false, func(at int, _ call) error {
		calls = at + 1
		return nil
	})
	return calls
}

// try runs one cell. Where the error stays, a temporary file may, too, until the
// next start.
func (c faultCase) try(t *testing.T, parent, name string, stays bool, fault func(at int, k call) error) {
	t.Helper()
	fds := openFiles(t)
	d, done := c.folder(t, parent)
	defer done()
	at := -1
	d.open(func(o *Options) {
		o.Durability = Full
		o.KeepHardLinks = c.links
		o.Sys = unsynced{hooked{base: c.system.base(), network: c.network, before: func(k call) error {
			if err := c.system.before(k); err != nil {
				return err
			}
			at++
			return fault(at, k)
		}}}
	})
	do := whole
	if c.new == "(missing)" {
		do = func(s *Saver, path, _ string) (Written, error) { return removeFile(s, path) }
	}
	if c.early {
		do = c.begunEarly
	}
	out, err := do(d.save, d.path(c.file), c.new)
	closed := d.save.Close()
	c.judge(t, d, name, out, err, stays)
	if got := openFiles(t); got != fds {
		t.Errorf("%s: %d descriptors stay open", name, got-fds)
	}

	// The next start finds nothing, or makes it good.
	d.open()
	report, serr := d.save.Sweep(t.Context())
	d.save.Close()
	if serr != nil || len(report.Torn) > 0 {
		t.Errorf("%s: sweep: %+v, %v (close: %v)", name, report, serr, closed)
	}
	content := d.get(c.file)
	if content != c.old && content != c.new || err == nil && content != c.new {
		t.Errorf("%s: after the sweep %q (error %v)", name, content, err)
	}
	c.noStray(t, d, name, out, stays)
}

// begunEarly replaces the content by way of Stage, or gives that up.
func (c faultCase) begunEarly(s *Saver, path, content string) (Written, error) {
	return transact(s, path, func(x *Txn) (Written, error) {
		splices := []span.Splice{{End: int64(len(c.old)), New: []byte(content)}}
		x.Stage(splices)
		if c.old == c.new {
			return Written{}, nil
		}
		return x.Replace(context.Background(), splices)
	})
}

// desk makes the old file; testing's own temporary folders would be too slow for
// thousands of cells.
func (c faultCase) folder(t *testing.T, parent string) (*testFolder, func()) {
	d := newTestFolderIn(t, parent)
	if c.old != "(missing)" {
		d.put(c.file, c.old)
	}
	if c.links {
		os.Link(d.path(c.file), d.path("other"))
	}
	if c.xattr {
		os.Chmod(d.path(c.file), 0o640)
		if err := unix.Setxattr(d.path(c.file), "user.fsmcp.test", []byte("x"), 0); err != nil {
			t.Skipf("!!! NOT TESTED: this file system has no attributes: %v !!!", err)
		}
	}
	return d, func() { os.RemoveAll(filepath.Dir(d.dir)) }
}

func (c faultCase) judge(t *testing.T, d *testFolder, name string, out Written, err error, stays bool) {
	t.Helper()
	content := d.get(c.file)
	var ioerr *IOError
	switch {
	case err == nil:
		if content != c.new {
			t.Errorf("%s: success, but the file holds %q", name, content)
		}
	case errors.As(err, &ioerr) && ioerr.Missing:
		if content != "(missing)" || !stays {
			t.Errorf("%s: %v: the file is said to be missing and holds %q", name, err, content)
		}
	case errors.As(err, &ioerr) && ioerr.Changed:
		if content != c.new && !(stays && out.InPlace) && !c.inPlace() {
			t.Errorf("%s: %v: the file is said to have changed and holds %q", name, err, content)
		}
		if !ioerr.Mixed && content != c.old && content != c.new {
			t.Errorf("%s: %v: the file is not said to hold parts of both: %q", name, err, content)
		}
	default:
		if content != c.old {
			t.Errorf("%s: %v: the file should be as it was and holds %q", name, err, content)
		}
	}
	noJournal := (c.inPlace() || c.system.noReplace) && errors.As(err, new(*NoJournalError))
	if err != nil && !errors.As(err, &ioerr) && !errors.Is(err, ErrNoState) && !noJournal {
		t.Errorf("%s: %v: no other program was there", name, err)
	}
	if !stays {
		c.noStray(t, d, name, out, false)
	}
}

func (c faultCase) inPlace() bool { return c.system.busy || c.links }

// noStray: nothing but the file, its folders, and what was reported. Folders stay
// where none can be removed.
func (c faultCase) noStray(t *testing.T, d *testFolder, name string, out Written, folders bool) {
	t.Helper()
	filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		rel, _ := filepath.Rel(d.dir, path)
		switch {
		case err != nil:
			t.Error(err)
		case rel == "." || rel == c.file || rel == "other" && c.links:
		case e.IsDir() && strings.HasPrefix(c.file, rel+"/") && (folders || d.get(c.file) == c.new):
		case strings.Contains(strings.Join(slices.Concat(out.Saved, out.Left), " "), path):
		default:
			t.Errorf("%s: %s is left behind", name, rel)
		}
		return nil
	})
}

// unsynced takes every sync for done.
type unsynced struct{ hooked }

func (u unsynced) Sync(fd int) error { return u.hook(call{"Sync", 0, fd}) }

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
