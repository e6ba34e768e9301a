package save

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// testFolder is a Saver with a folder to work in and a state folder of its own.
type testFolder struct {
	t     testing.TB
	dir   string
	state string
	save  *Saver
}

func newTestFolder(t testing.TB, change ...func(*Options)) *testFolder {
	t.Helper()
	d := newTestFolderIn(t, t.TempDir())
	d.open(change...)
	return d
}

// newTestFolderIn makes the folders in a folder of their own, and no Saver yet.
func newTestFolderIn(t testing.TB, parent string) *testFolder {
	t.Helper()
	top, err := os.MkdirTemp(parent, "")
	if err != nil {
		t.Fatal(err)
	}
	d := &testFolder{t: t, dir: filepath.Join(top, "work"), state: filepath.Join(top, "state")}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return d
}

// open makes a new Saver on the same folders, as after a restart. It waits for a lock
// for as long as a busy machine may take to let go of it.
func (d *testFolder) open(change ...func(*Options)) {
	o := Options{StateDir: d.state, TempDir: filepath.Dir(d.state), Durability: None, LockWait: time.Minute}
	for _, f := range change {
		f(&o)
	}
	d.save = New(o)
	d.t.Cleanup(func() { d.save.Close() })
}

func (d *testFolder) path(name string) string { return filepath.Join(d.dir, name) }

func (d *testFolder) put(name, content string) string {
	d.t.Helper()
	path := d.path(name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		d.t.Fatal(err)
	}
	return path
}

func (d *testFolder) get(name string) string {
	d.t.Helper()
	b, err := os.ReadFile(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "(missing)"
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

// names lists the work folder.
func (d *testFolder) names() []string {
	d.t.Helper()
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (d *testFolder) want(name, content string) {
	d.t.Helper()
	if got := d.get(name); got != content {
		d.t.Errorf("%s holds %q, want %q", name, short(got), short(content))
	}
}

func (d *testFolder) wantNames(want ...string) {
	d.t.Helper()
	if got := d.names(); strings.Join(got, " ") != strings.Join(want, " ") {
		d.t.Errorf("the folder holds %q, want %q", got, want)
	}
}

func short(s string) string {
	if len(s) > 120 {
		return s[:120] + "..."
	}
	return s
}

func target(t testing.TB, path string) *fsys.Target {
	t.Helper()
	target, err := resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	return target
}

func resolve(path string) (*fsys.Target, error) {
	p, err := fsys.Lexer{OS: runtime.GOOS}.Parse(path)
	if err != nil {
		return nil, err
	}
	target, err := fsys.NewResolver().Resolve(p)
	if err != nil && target != nil {
		target.Close()
	}
	return target, err
}

// whole writes a file as Write does: lock, look, replace everything.
func whole(s *Saver, path, content string) (Written, error) {
	return change(s, path, func(old []byte) ([]span.Splice, error) {
		return []span.Splice{{Start: 0, End: int64(len(old)), New: []byte(content)}}, nil
	})
}

// change is one careful edit: what f makes of the old bytes is put in their place.
func change(s *Saver, path string, f func(old []byte) ([]span.Splice, error)) (Written, error) {
	return transact(s, path, func(x *Txn) (Written, error) {
		var old []byte
		var err error
		if x.Old() != nil {
			if old, _, err = x.Old().ReadAll(1 << 30); err != nil {
				return Written{}, err
			}
		}
		c, err := f(old)
		if err != nil {
			return Written{}, err
		}
		return x.Replace(context.Background(), c)
	})
}

// removeFile takes a file away.
func removeFile(s *Saver, path string) (Written, error) {
	return transact(s, path, func(x *Txn) (Written, error) { return x.Remove(context.Background()) })
}

func transact(s *Saver, path string, do func(x *Txn) (Written, error)) (Written, error) {
	ctx := context.Background()
	t, err := resolve(path)
	if err != nil {
		return Written{}, err
	}
	l, err := s.Lock(ctx, t)
	t.Close()
	if err != nil {
		return Written{}, err
	}
	defer l.Unlock()
	if t, err = resolve(path); err != nil {
		return Written{}, err
	}
	defer t.Close()
	x, err := s.Begin(ctx, t)
	if err != nil {
		return Written{}, err
	}
	defer x.Close()
	return do(x)
}

// skipWithoutReplace skips a test without a state folder where no open file can be replaced,
// as under Wine: then a change is refused.
func skipWithoutReplace(t *testing.T, err error) {
	if no := (*NoJournalError)(nil); errors.As(err, &no) && no.Why == errNoReplace {
		t.Skip("this volume replaces no open file")
	}
}

// runs returns the number of repeats of a random test: few in a usual run, FSMCP_FAULTS_N
// in a long one.
func runs(few int) int {
	if n, err := strconv.Atoi(os.Getenv("FSMCP_FAULTS_N")); err == nil && n > 0 {
		return n
	}
	return few
}

func long() bool { return runs(0) > 0 }

// memory is a folder in main memory if there is one: thousands of cases would
// wear on a disk, and none of them looks at what it keeps.
func memory(t testing.TB) string {
	t.Helper()
	top, err := os.MkdirTemp("/dev/shm", "fsmcp-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	return top
}

// promptly requires the fastest of several tries to be within a time: a wait without need
// happens in each, and a busy machine delays only some.
func promptly(t *testing.T, within time.Duration, try func() time.Duration) {
	t.Helper()
	best := try()
	for n := 1; n < 10 && best > within; n++ {
		best = min(best, try())
	}
	if best > within {
		t.Errorf("waited %v at best", best)
	}
}

// until waits for something that is to come true.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	for begun := time.Now(); !true(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			t.Fatal("never: ", what)
		}
	}
}

// settle waits until the stamps of what was just made prove something.
func settle() { time.Sleep(25 * time.Millisecond) }
