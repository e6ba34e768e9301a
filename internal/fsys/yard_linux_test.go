package fsys

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// everyWay runs a test on each of them.
func everyWay(t *testing.T, test func(t *testing.T, r *Resolver)) {
	t.Helper()
	for _, way := range ways() {
		t.Run(way.name, func(t *testing.T) { test(t, way.resolver()) })
	}
}

// A yard is a folder for one test; its names are relative to it.
type yard struct {
	t   *testing.T
	dir string
}

func newYard(t *testing.T) yard {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return yard{t, dir}
}

func (y yard) must(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

func (y yard) at(name string) string { return filepath.Join(y.dir, name) }

func (y yard) file(name, content string) {
	y.t.Helper()
	y.folder(filepath.Dir(name))
	y.must(os.WriteFile(y.at(name), []byte(content), 0o644))
}

func (y yard) folder(name string) {
	y.t.Helper()
	y.must(os.MkdirAll(y.at(name), 0o755))
}

// link makes a link with exactly this text.
func (y yard) link(name, text string) {
	y.t.Helper()
	y.folder(filepath.Dir(name))
	y.must(os.Symlink(text, y.at(name)))
}

func (y yard) path(name string) Path {
	y.t.Helper()
	p, err := Lexer{OS: runtime.GOOS, Base: y.dir}.Parse(name)
	y.must(err)
	return p
}

// resolve closes the target when the test ends.
func (y yard) resolve(r *Resolver, name string) (*Target, error) {
	y.t.Helper()
	target, err := r.Resolve(y.path(name))
	if target == nil {
		y.t.Fatal("no target")
	}
	y.t.Cleanup(target.Close)
	return target, err
}

func (y yard) read(target *Target) (string, error) {
	f, err := target.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, _, err := f.ReadAll(1 << 20)
	return string(content), err
}

// inTime fails the test when something takes longer than so. It is judged by the
// fastest of several tries: what waits does so at each, the machine holds up only some.
func inTime(t *testing.T, limit time.Duration, what string, do func()) {
	t.Helper()
	best := time.Duration(math.MaxInt64)
	for n := 0; n < 10 && best > limit; n++ {
		done, start := make(chan time.Time, 1), time.Now()
		go func() { do(); done <- time.Now() }()
		select {
		case end := <-done:
			best = min(best, end.Sub(start))
		case <-time.After(time.Minute):
			t.Fatalf("%s blocks", what)
		}
	}
	if best > limit {
		t.Errorf("%s took %v at best", what, best)
	}
}
