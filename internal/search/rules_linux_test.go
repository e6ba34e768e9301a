package search

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// denials are the rules of the tests, and hidden names that they deny or ask about.
var (
	denials = []string{
		"Read(.env)", "Read(*.pem)", "Read(secret/**)", "Read(/vault/**)", "Read(private-*/)", "Read(deep/**/key.txt)", "Read([k]ey.json)", "Read(./top.txt)", "Read(Größe.txt)",
		"ask Read(asked.txt)", "ask Read(asking/**)",
	}
	hidden = []string{
		".env", "a/.env", "a/b/.ENV", "cert.pem", "a/CERT.PEM", "secret/one", "secret/two/three", "a/secret/four", "Secret/five", "vault/six", "vault/x/y/seven",
		"private-keys/eight", "a/private-x/nine", "deep/key.txt", "deep/a/b/key.txt", "key.json", "a/key.json", "KEY.json", "top.txt", "a/top.txt", "GRÖSSE.TXT", "größe.txt",
		"asked.txt", "a/asked.txt", "asking/ten", "a/asking/eleven", "secret/.gitignore", "b/.env", "b/x.pem", "b/secret/a.txt", "b/SECRET/b.txt", "b/private-/c", "c/.env", "c/.Env",
		"c/x.Pem", "d/vault.pem", "d/secret/x/y/z", "d/asking/y", "d/asked.txt", "own/state",
	}
)

// TestHiddenNamesLeaveNoTrace compares a tree with hidden files and folders with the same
// tree without them: names, lines, counts and outcomes have to be equal.
func TestHiddenNamesLeaveNoTrace(t *testing.T) {
	if len(hidden) != 40 {
		t.Fatal(len(hidden))
	}
	stamp := time.Unix(1_700_000_000, 0)
	build := func(with bool) *tree {
		y := newTree(t, denials...)
		for _, name := range []string{"a/x", "a/b/x", "b/x", "c/x", "d/x", "deep/x", "deep/a/b/x", "plain.txt", "vault.txt", "asked"} {
			y.put(name, "a canary sings\n")
		}
		if with {
			for _, name := range hidden {
				y.put(name, "a canary sings\n*\n")
			}
			for link, file := range map[string]string{"hard": ".env", "a/hard": "top.txt", "b/hard.txt": ".env"} {
				if err := os.Link(y.path(file), y.path(link)); err != nil {
					t.Fatal(err)
				}
			}
			for _, link := range []string{"a/soft", "c/soft"} {
				if err := os.Symlink(y.path("secret"), y.path(link)); err != nil {
					t.Fatal(err)
				}
			}
		}
		y.put("soft", "canary\n")
		err := filepath.Walk(y.dir, func(name string, info os.FileInfo, err error) error { return os.Chtimes(name, stamp, stamp) })
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	with, without := build(true), build(false)
	trace := func(y *tree, lift bool) (all []string) {
		note := func(result any, err error) {
			all = append(all, strings.ReplaceAll(fmt.Sprintf("%+v, %v", result, err), y.dir, ""))
		}
		s := y.scope()
		s.IncludeIgnored = lift
		for _, pattern := range []string{"**", "*/", "**/*", "secret/**", ".env", "*.pem", "vault/*"} {
			found, err := y.Glob(context.Background(), s, GlobQuery{Pattern: pattern})
			note(*found, err)
		}
		for _, mode := range []GrepMode{FilesOnly, Counts, Content} {
			got, err := y.Grep(context.Background(), s, GrepQuery{Pattern: "canary|^\\*", Mode: mode, Before: 1})
			for i := range got.Files {
				got.Files[i].Record.Stamp = fsys.Stamp{}
				got.Files[i].Record.Settled = true
			}
			note(*got, err)
		}
		return all
	}
	for _, lift := range []bool{false, true} {
		if a, b := trace(with, lift), trace(without, lift); !reflect.DeepEqual(a, b) {
			for i := range a {
				if a[i] != b[i] {
					t.Errorf("with hidden names\n%.500s\nwithout\n%.500s", a[i], b[i])
				}
			}
		}
	}
	control := build(true)
	control.deny()
	if a, b := trace(control, false), trace(without, false); reflect.DeepEqual(a, b) {
		t.Error("the comparison does not see names that are not hidden")
	}
}

// besideHidden returns a tree of 200 files with the rules, beside as many files in a folder and
// one of 5 MB. With hidden not set these two lie elsewhere, so that the kernel has as many
// files to remember.
func besideHidden(t *testing.T, hidden bool, rules ...string) *tree {
	y := newTree(t, rules...)
	for i := range 200 {
		y.put(fmt.Sprintf("src/f%d", i), "text\n")
		y.put(fmt.Sprintf("secret/f%d", i), "text\n")
	}
	y.put("big", strings.Repeat("text ", 1<<20))
	if !hidden {
		away := t.TempDir()
		for _, name := range []string{"secret", "big"} {
			if err := os.Rename(y.path(name), filepath.Join(away, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return y
}

var hideBoth = []string{"Read(secret/**)", "Read(big)"}

// TestWorkTellsNothing compares the work of a search beside a hidden folder and a hidden file
// with its work without them: the bytes and calls of its reads, by /proc/self/io, and its
// allocations: each name of a listed folder needs one. It counts where
// TestTimeTellsNothing measures, so that other programs do not change the result. The control
// arm is the same tree without rules.
func TestWorkTellsNothing(t *testing.T) {
	type work struct{ bytes, calls, allocations int }
	// The least of ten searches: a buffer is allocated anew if the pool has lost it.
	measure := func(y *tree) work {
		now := func() (w work) {
			data, err := os.ReadFile("/proc/self/io")
			if err != nil {
				t.Skip("!!! NOT TESTED: the kernel does not count reads: ", err)
			}
			if _, err := fmt.Sscanf(string(data), "rchar: %d\nwchar: %d\nsyscr: %d", &w.bytes, new(int), &w.calls); err != nil {
				t.Fatal(err)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			w.allocations = int(m.Mallocs)
			return w
		}
		least := work{math.MaxInt, math.MaxInt, math.MaxInt}
		for range 10 {
			s := y.scope()
			before := now()
			if _, err := y.Grep(context.Background(), s, GrepQuery{Pattern: "[n]eedle", Mode: Counts}); err != nil {
				t.Fatal(err)
			}
			after := now()
			least.bytes = min(least.bytes, after.bytes-before.bytes)
			least.calls = min(least.calls, after.calls-before.calls)
			least.allocations = min(least.allocations, after.allocations-before.allocations)
		}
		return least
	}
	near := func(a, b int) bool { return max(a-b, b-a) < 50 }
	// The counters are read as text, whose length grows with them.
	equal := func(a, b work) bool {
		return near(a.bytes, b.bytes) && a.calls == b.calls && near(a.allocations, b.allocations)
	}
	with, without := measure(besideHidden(t, true, hideBoth...)), measure(besideHidden(t, false, hideBoth...))
	t.Logf("%+v beside hidden names, %+v without", with, without)
	if !equal(with, without) {
		t.Errorf("the search does other work beside hidden names: %+v, %+v without", with, without)
	}
	if control := measure(besideHidden(t, true)); equal(control, without) {
		t.Errorf("the control arm does no other work: %+v", control)
	}
}

// TestTimeTellsNothing compares the times of searches beside a hidden folder of many files and
// without it, where a single name more has to be decided on. Other programs change these times,
// so only make faults, which sets FSMCP_SEARCH_TIMES, runs it.
func TestTimeTellsNothing(t *testing.T) {
	rounds := number("FSMCP_SEARCH_TIMES", 0)
	if rounds == 0 {
		t.Skip("it compares times; make faults runs it, and TestWorkTellsNothing counts the work")
	}
	build := func(hidden bool) func() time.Duration {
		y := besideHidden(t, hidden, hideBoth...)
		s := y.scope()
		return func() time.Duration {
			began := time.Now()
			if _, err := y.Grep(context.Background(), s, GrepQuery{Pattern: "[n]eedle", Mode: Counts}); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
	}
	with, without := build(true), build(false)
	var a, b []time.Duration
	for i := range rounds {
		if i%2 == 0 {
			a, b = append(a, with()), append(b, without())
		} else {
			b, a = append(b, without()), append(a, with())
		}
	}
	slices.Sort(a)
	slices.Sort(b)
	t.Logf("least %v and %v, median %v and %v", a[0], b[0], a[len(a)/2], b[len(b)/2])
	if ratio := float64(a[0]) / float64(b[0]); ratio > 1.3 || ratio < 0.7 {
		t.Errorf("least times: %v beside a hidden folder, %v without", a[0], b[0])
	}
}

// TestDenyDuringASearchHolds swaps the rules at every place of a search.
func TestDenyDuringASearchHolds(t *testing.T) {
	y := newTree(t)
	for i := range 40 {
		y.put(fmt.Sprintf("secret/f%d", i), "hit\n")
		y.put(fmt.Sprintf("other/f%d", i), "hit\n")
	}
	y.deny("Read(secret/**)")
	after := y.policy.Load()
	y.deny()
	before := y.policy.Load()
	seen := map[int]bool{}
	for at := int64(0); at < 120; at += 3 {
		var asked atomic.Int64
		y.checker.Policy = func() *perm.Policy {
			if asked.Add(1) > at+4 {
				return after
			}
			return before
		}
		s := New(Options{Checker: y.checker, Workers: 1})
		scope := y.scope()
		asked.Store(0)
		got, err := s.Grep(context.Background(), scope, GrepQuery{Pattern: "hit", Mode: Content})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range got.Files {
			if strings.Contains(f.Path, "secret") {
				t.Fatalf("denied at question %d: %s", at, f.Path)
			}
		}
		seen[got.TotalFiles] = true
	}
	if len(seen) < 5 {
		t.Errorf("the rule came at the same place each time: %v", seen)
	}
}

// TestLinkRaces has other goroutines put links to an outside folder in the place of folders
// and files, and hard links of a denied file, while searches run. The control arm is a
// walk by names, which has to be fooled.
func TestLinkRaces(t *testing.T) {
	y := newTree(t, "Read(.env)")
	outside := t.TempDir()
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(outside, fmt.Sprintf("f%d", i)), []byte("outside line\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		y.put(fmt.Sprintf("d/sub/f%d", i), "inside line\n")
	}
	y.put("file", "inside line\n")
	y.put(".env", "outside line of the denied file\n")
	stop := make(chan struct{})
	var workers sync.WaitGroup
	var swaps atomic.Int64
	loop := func(f func()) {
		workers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f()
					swaps.Add(1)
					runtime.Gosched()
				}
			}
		})
	}
	swap := func(name, to string) {
		real, link := y.path(name), y.path(name+"-")
		os.Symlink(to, link)
		aside := real + "~"
		os.Rename(real, aside)
		os.Rename(link, real)
		runtime.Gosched()
		os.Remove(real)
		os.Rename(aside, real)
	}
	loop(func() { swap("d/sub", outside) })
	loop(func() { swap("file", filepath.Join(outside, "f0")) })
	loop(func() { os.Link(y.path(".env"), y.path("d/hard")); os.Remove(y.path("d/hard")) })
	fooled := 0
	searches, lines := 0, 0
	scope := y.scope()
	for end := time.Now().Add(time.Duration(number("FSMCP_SEARCH_SECONDS", 1)) * time.Second); time.Now().Before(end); searches++ {
		got, err := y.Grep(context.Background(), scope, GrepQuery{Pattern: "line", Mode: Content})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range got.Files {
			for _, l := range f.Lines {
				if lines++; bytes.Contains(l.Parts[0].Text, []byte("outside")) {
					t.Errorf("%s: %s", f.Path, l.Parts[0].Text)
				}
			}
		}
		found, err := y.Glob(context.Background(), scope, GlobQuery{Pattern: "**"})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found.Matches {
			if m.Path == y.path("d/hard") || !fsys.Within(y.dir, m.Path) {
				t.Errorf("%s was named", m.Path)
			}
		}
		entries, _ := os.ReadDir(y.path("d"))
		for _, e := range entries {
			if e.IsDir() {
				if raw, _ := os.ReadFile(y.path("d/sub/f1")); bytes.Contains(raw, []byte("outside")) {
					fooled++
				}
			}
		}
	}
	close(stop)
	workers.Wait()
	t.Logf("%d searches, %d lines, %d swaps; the control arm was fooled %d times", searches, lines, swaps.Load(), fooled)
	if lines == 0 || swaps.Load() < 100 {
		t.Error("nothing was tried")
	}
}
