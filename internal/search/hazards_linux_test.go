package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

func TestSpecialFilesAreSkipped(t *testing.T) {
	y := newTree(t)
	y.put("plain", "hit\n")
	if err := unix.Mkfifo(y.path("fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", y.path("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := unix.Mknod(y.path("device"), unix.S_IFCHR|0o644, int(unix.Mkdev(1, 5))); err != nil {
		t.Logf("!!! NOT TESTED: no device can be made here: %v !!!", err)
	}
	os.Symlink("plain", y.path("link"))
	os.Symlink("/", y.path("root"))
	y.want("grep", y.grep(y.scope(), GrepQuery{Pattern: "hit"}), "plain:1:hit")
	y.want("glob", y.names(y.scope(), "**"), "plain")
}

// TestLargeFiles searches a sparse file and a line that is longer than any window; "make
// faults" makes them 6 GB and 2 GB.
func TestLargeFiles(t *testing.T) {
	shortrun.Skip(t, "it searches files of 600 MB")
	y := newTree(t)
	y.put("sparse", "hit")
	if err := os.Truncate(y.path("sparse"), int64(number("FSMCP_SEARCH_SPARSE_MB", 600))<<20); err != nil {
		t.Fatal(err)
	}
	line := number("FSMCP_SEARCH_LINE_MB", 40)
	f, err := os.Create(y.path("line"))
	if err != nil {
		t.Fatal(err)
	}
	chunk := []byte(strings.Repeat("word ", 1<<20/5))
	for range line {
		f.Write(chunk)
	}
	f.WriteString("hit\n")
	f.Close()
	for _, pattern := range []string{"hit", "h[i]t"} {
		peak, stop := watchHeap()
		began := time.Now()
		got, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: pattern, Mode: Counts})
		stop()
		t.Logf("%s: %v, peak of the heap %d MB", pattern, time.Since(began), peak.Load()>>20)
		if err != nil || got.TotalFiles != 2 || peak.Load() > 32<<20 {
			t.Errorf("%s: %+v, %v", pattern, got, err)
		}
	}
}

// watchHeap notes the largest heap until stop is called.
func watchHeap() (peak *atomic.Uint64, stop func()) {
	runtime.GC()
	peak = new(atomic.Uint64)
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse+m.StackInuse))
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return peak, func() { close(end); <-done }
}

// nest makes folders, each in the one before, with a file in every tenth, and with siblings
// an empty folder beside each.
func nest(t *testing.T, top string, depth int, siblings bool) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	here, err := unix.Open(top, unix.O_PATH, 0)
	must(err)
	for i := range depth {
		if i%10 == 9 {
			fd, err := unix.Openat(here, "file", unix.O_CREAT|unix.O_WRONLY, 0o644)
			must(err)
			_, err = unix.Write(fd, []byte("hit\n"))
			must(err)
			unix.Close(fd)
		}
		name := strings.Repeat("d", 1+i%20)
		must(unix.Mkdirat(here, name, 0o755))
		if siblings {
			must(unix.Mkdirat(here, "a", 0o755))
			must(unix.Mkdirat(here, "z", 0o755))
		}
		next, err := unix.Openat(here, name, unix.O_PATH, 0)
		must(err)
		unix.Close(here)
		here = next
	}
	unix.Close(here)
}

// A chain of folders, and one with others beside each, are searched with few of them open.
func TestNestedFolders(t *testing.T) {
	shortrun.Skip(t, "it walks through 1,000 nested folders twice")
	const depth = 1000
	for _, siblings := range []bool{false, true} {
		y := newTree(t)
		nest(t, y.dir, depth, siblings)
		most := 0
		scope := y.scope()
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
					entries, _ := os.ReadDir("/proc/self/fd")
					most = max(most, len(entries))
				}
			}
		}()
		before, _ := os.ReadDir("/proc/self/fd")
		got, err := y.Grep(context.Background(), scope, GrepQuery{Pattern: "hit", Mode: Counts})
		after, _ := os.ReadDir("/proc/self/fd")
		close(stop)
		<-done
		if err != nil || got.TotalFiles != depth/10 || most > 60 || len(after) > len(before)+1 {
			t.Errorf("siblings %v: %+v, %v; %d descriptors, %d before, %d after", siblings, got, err, most, len(before), len(after))
		}
	}
}

// TestDepthCostsNothing counts what searches of chains of folders allocate: it grows with the
// number of folders, and not with their depth.
func TestDepthCostsNothing(t *testing.T) {
	const depth = 400
	searches := map[string]func(y *tree, s Scope) error{
		"Grep": func(y *tree, s Scope) error {
			_, err := y.Grep(context.Background(), s, GrepQuery{Pattern: "nothing like it", Mode: Counts})
			return err
		},
		"Glob": func(y *tree, s Scope) error {
			_, err := y.Glob(context.Background(), s, GlobQuery{Pattern: "*.go"})
			return err
		},
	}
	for name, search := range searches {
		var bytes [2]uint64
		for i, times := range []int{1, 4} {
			y := newTree(t, "Read(.env)", "Read(secret/**)", "ask Read(*.pem)")
			nest(t, y.dir, depth*times, false)
			scope := y.scope()
			var before, after runtime.MemStats
			for range 2 { // the first one allocates what is kept
				runtime.ReadMemStats(&before)
				if err := search(y, scope); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
			}
			bytes[i] = after.TotalAlloc - before.TotalAlloc
		}
		t.Logf("%s: %d KB for %d folders, %d KB for %d", name, bytes[0]>>10, depth, bytes[1]>>10, 4*depth)
		if bytes[1] > 6*bytes[0] {
			t.Errorf("%s: %d bytes for %d folders, %d for four times as many", name, bytes[0], depth, bytes[1])
		}
	}
}

// A folder that was left out is named, or where its name is very long, one above it.
func TestLeftOutFoldersAreNamed(t *testing.T) {
	y := newTree(t)
	scope := y.scope()
	roots, err := y.roots(&scope)
	if err != nil {
		t.Fatal(err)
	}
	defer closeRoots(roots)
	r := y.newRun(&scope, &grepper{})
	deep := roots[0].top()
	for range 4000 {
		deep = deep.child("folder", nil)
	}
	r.folders = []*node{deep}
	r.stop()
	if named := r.outcome.NotSearched; len(named) != 1 || !strings.HasPrefix(named[0], y.path("folder/folder")) || len(named[0]) > len(y.dir)+1+maxNamedSize {
		t.Errorf("%.500q", named)
	}
}

// busyTree has files enough for a search to take a while.
func busyTree(t *testing.T, folders, files int) *tree {
	y := newTree(t)
	content := strings.Repeat("some words that do not match the pattern at all\n", 200)
	for i := range folders {
		for j := range files {
			y.put(fmt.Sprintf("d%d/f%d", i, j), content)
		}
	}
	return y
}

func TestCancelledAndLateSearches(t *testing.T) {
	y := busyTree(t, 40, 50)
	scope := y.scope()
	q := GrepQuery{Pattern: "([a-z]+ ){5}[q]x", Mode: Counts}
	whole, err := y.Grep(context.Background(), scope, q)
	if err != nil || whole.Files == nil && whole.Coverage.Files != 2000 || !whole.Complete {
		t.Fatalf("%+v, %v", whole, err)
	}
	for after := time.Duration(0); after < 50*time.Millisecond; after += 5 * time.Millisecond {
		ctx, cancel := context.WithCancel(context.Background())
		var cancelled atomic.Int64
		time.AfterFunc(after, func() { cancelled.Store(time.Now().UnixNano()); cancel() })
		_, err := y.Grep(ctx, scope, q)
		if late := time.Now().UnixNano() - cancelled.Load(); err != nil && time.Duration(late) > 150*time.Millisecond {
			t.Errorf("answered %v after the end", time.Duration(late))
		} else if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cancel()
	}
	late := scope
	late.Within = time.Millisecond
	calls := 0
	late.Progress = func(p SearchCounts) { calls++ }
	got, err := y.Grep(context.Background(), late, q)
	if err != nil || got.Complete || len(got.NotSearched) == 0 || len(got.NotSearched) > maxNamed || got.Coverage.Files >= 2000 {
		t.Errorf("%+v, %v", got, err)
	}
	before := runtime.NumGoroutine()
	open, _ := os.ReadDir("/proc/self/fd")
	for i := range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*10*time.Microsecond)
		y.Glob(ctx, scope, GlobQuery{Pattern: "**"})
		cancel()
	}
	for range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		y.Grep(ctx, scope, q)
		cancel()
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // workers notice the end of a search late
		left, _ := os.ReadDir("/proc/self/fd")
		after := runtime.NumGoroutine()
		if len(left) <= len(open) && after <= before+5 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d descriptors, %d before; %d goroutines, %d before", len(left), len(open), after, before)
		}
	}
}

// TestSearchesYieldByHalves: searches come to their end although other calls never stop to come.
func TestSearchesYieldByHalves(t *testing.T) {
	y := busyTree(t, 10, 20)
	y.Searcher = New(Options{Checker: y.checker, Workers: 2})
	y.put("large", strings.Repeat("some words that do not match the pattern at all\n", 50_000))
	y.yieldUntil.Store(math.MaxInt64)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for range 5 {
		for _, names := range [][]string{nil, {"large"}} {
			if got, err := y.Grep(ctx, y.scope(names...), GrepQuery{Pattern: "p[a]ttern"}); err != nil || !got.Complete || got.TotalFiles == 0 {
				t.Fatalf("%+v, %v", got, err)
			}
		}
	}
}

func TestManySearchesAtOnce(t *testing.T) {
	y := busyTree(t, 10, 20)
	peak, stop := watchHeap()
	var all sync.WaitGroup
	for i := range shortrun.Count(t, 100, 20, "searches") {
		all.Go(func() {
			pattern := []string{"pattern", "p[a]ttern", "(?i)PATTERN", "match the\n?"}[i%4]
			got, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: pattern, Mode: GrepMode(i % 3), Multiline: i%4 == 3, Window: Window{Most: 20}})
			if err != nil || got.TotalFiles != 200 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	all.Wait()
	stop()
	t.Logf("peak of the heap %d MB", peak.Load()>>20)
	if peak.Load() > 64<<20 {
		t.Errorf("the heap grew to %d MB", peak.Load()>>20)
	}
}

// TestSlowPatterns gives patterns to long lines that take the automaton too many states and
// the standard package seconds. The answer does not wait for them.
func TestSlowPatterns(t *testing.T) {
	y := newTree(t)
	y.put("long", strings.Repeat("ab", 1<<20)+"\n")
	y.put("lines", strings.Repeat(strings.Repeat("ab", 50)+"\n", 10_000))
	for _, q := range []GrepQuery{
		{Pattern: "a[ab]{900}(a?b?){300}c"}, {Pattern: "(a?){500}[ab]{400}c"}, {Pattern: "a[ab]{900}[^a]b", Mode: Content}, {Pattern: "a[ab]{800}(a|b)*c", Multiline: true},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		began := time.Now()
		_, err := y.Grep(ctx, y.scope(), q)
		took := time.Since(began)
		cancel()
		t.Logf("%s: answered after %v: %v", q.Pattern, took, err)
		if took > 300*time.Millisecond {
			t.Errorf("%s: answered after %v", q.Pattern, took)
		}
	}
	free := time.Now()
	if _, err := y.Grep(context.Background(), y.scope("lines"), GrepQuery{Pattern: "abc"}); err != nil {
		t.Error(err)
	}
	if took := time.Since(free); took > 5*time.Second {
		t.Errorf("the next search was answered after %v", took)
	}
}
