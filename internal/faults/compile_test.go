//go:build linux

package faults

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/media/pdftest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// kiln is a cache of compiled code, and servers that read the same PDF by way of it.
type kiln struct {
	t     *testing.T
	cache string
	env   []string

	mu      sync.Mutex
	right   int
	refused int
	text    time.Duration // the longest that a text took meanwhile
}

func newKiln(t *testing.T, cache string) *kiln {
	t.Helper()
	return &kiln{t: t, cache: cache, env: append(unready(t), "XDG_CACHE_HOME="+cache, "FSMCP_PDF_WARM=false")}
}

// potter is one server, with a PDF and a text to read.
type potter struct {
	k *kiln
	c *mcptest.Client
	p place
}

func (k *kiln) server() *potter {
	k.t.Helper()
	p := newPlace(k.t)
	p.settings(k.t, `{"pdf": {"images": "always"}}`) // pages of text alone come without a picture
	must(k.t, os.WriteFile(p.file("a.pdf"), pdftest.Pages(2, "", func(page int) string {
		return fmt.Sprintf("BT /F1 24 Tf 72 700 Td (This is page %d.) Tj ET", page)
	}), 0o666))
	must(k.t, os.WriteFile(p.file("a.txt"), []byte("a text\n"), 0o666))
	return &potter{k, p.start(k.t, k.env...), p}
}

// reads asks for the PDF until it is shown: each answer is the right one, or a
// clear error that says to ask again. It returns false where the server is gone.
func (s *potter) reads() bool {
	for range 8 {
		res, err := s.c.Call("Read", args{"file_path": s.p.file("a.pdf")})
		if err != nil {
			return false
		}
		if s.k.judge(res) {
			return true
		}
	}
	s.k.t.Error("the PDF was never read")
	return true
}

// judge reports whether an answer is the PDF.
func (k *kiln) judge(res mcptest.Result) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	again := strings.Contains(res.Text, "ake the same call again") ||
		res.Slug == "busy" && strings.Contains(res.Text, "try again later") // by the watch over all calls, as after a freeze
	switch {
	case res.IsError && again && (res.Slug == "io" || res.Slug == "busy"):
		k.refused++
		return false
	case res.IsError || !strings.Contains(res.Text, "This is page 1.") || !strings.Contains(res.Text, "This is page 2.") || bytes.Count(res.Raw, []byte(`"image/jpeg"`)) != 2:
		k.t.Errorf("%d %s: %s", res.Code, res.Slug, clip(res.Text))
	}
	k.right++
	return true
}

// texts reads the text again and again until over is closed, if the server lives.
func (s *potter) texts(over chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(50 * time.Millisecond):
		}
		begin := time.Now()
		res, err := s.c.Call("Read", args{"file_path": s.p.file("a.txt")})
		if err != nil {
			return
		}
		s.k.mu.Lock()
		s.k.text = max(s.k.text, time.Since(begin))
		s.k.mu.Unlock()
		if res.IsError || !strings.Contains(res.Text, "a text") && !strings.Contains(res.Text, "unchanged") {
			s.k.t.Errorf("%d %s: %s", res.Code, res.Slug, clip(res.Text))
			return
		}
	}
}

func (k *kiln) dir() string { return filepath.Join(k.cache, "fsmcp", "pdfium") }

// files are the names and sizes of all that lies there.
func (k *kiln) files() map[string]int64 {
	all := map[string]int64{}
	filepath.WalkDir(k.dir(), func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		short, _ := filepath.Rel(k.dir(), name)
		if info, err := e.Info(); err == nil {
			all[short] = info.Size()
		}
		return nil
	})
	return all
}

// half returns the unfinished bytes in the cache.
func (k *kiln) half() (files int, size int64) {
	for name, n := range k.files() {
		if strings.HasSuffix(name, ".tmp") {
			files++
			size += n
		}
	}
	return files, size
}

// sealed asks that one file lies there as it is listed, and nothing else: no more
// than that may be run. What tries whether a file can be made may lie there for a
// moment, and is empty.
func (k *kiln) sealed() bool {
	files := k.files()
	list, err := os.ReadFile(filepath.Join(k.dir(), "list"))
	if err != nil {
		return false
	}
	lines := bufio.NewScanner(bytes.NewReader(list))
	lines.Scan()
	n := 0
	for ; lines.Scan(); n++ {
		var sum uint32
		var size int64
		var name string
		fmt.Sscanf(lines.Text(), "%08x %d %s", &sum, &size, &name)
		b, err := os.ReadFile(filepath.Join(k.dir(), name))
		if err != nil || int64(len(b)) != size || crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) != sum {
			return false
		}
		delete(files, name)
	}
	delete(files, "list")
	for name, size := range files {
		if strings.HasPrefix(name, ".try") && size == 0 {
			delete(files, name)
		}
	}
	return n == 1 && len(files) == 0
}

// cold makes the next server compile: the cache's files are no longer listed.
func (k *kiln) cold() { os.Remove(filepath.Join(k.dir(), "list")) }

// processorTime returns the CPU time of a process.
func processorTime(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	var user, system int64
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// used returns the CPU time of a server's workers.
func (s *potter) used() (sum time.Duration) {
	for _, pid := range mcptest.Children(s.c.PID()) {
		sum += processorTime(pid)
	}
	return sum
}

// until waits for something, or for the end of a while.
func until(is func() bool, atMost time.Duration) bool {
	for end := time.Now().Add(atMost); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

// The blows that a first compile is struck with.
const (
	killWorker = iota
	freezeAll  // as a container is paused, and goes on much later
	killAll
	killServer
	stopWorker
	blows
)

// TestFirstCompileMayBeKilledAtAnyTime has two servers read a PDF at once by way of a
// cache in which nothing is compiled, and kills, stops or freezes one of them, its worker,
// or both, at a random moment, or just when what was compiled is being written. A living
// server gives the right answer or a clear error, and then the right answer; texts are
// read meanwhile; in the end what is compiled is there, whole, and nothing that the dead
// have left. What they leave is counted when they are struck: without a later process it
// would stay for good.
func TestFirstCompileMayBeKilledAtAnyTime(t *testing.T) {
	shortrun.Leave(t, "it compiles PDFium many times")
	n := count(t, "FSMCP_COMPILE_KILLS", 1)
	r := rand.New(rand.NewPCG(61, 62))
	k := newKiln(t, t.TempDir())
	var long time.Duration // processor time that a compile takes
	struck, compiling, leftFiles := 0, 0, 0
	var leftBytes int64
	for i := 0; i < n || (leftFiles == 0 || compiling < n/2) && i < 10*n; i++ { // more, if none came in time
		how := i % blows
		one, two := k.server(), k.server()
		over := make(chan struct{})
		var calls, texts sync.WaitGroup
		calls.Go(func() { one.reads() })
		until(func() bool { return one.used() > 0 }, time.Minute)
		calls.Go(func() { two.reads() })
		texts.Go(func() { two.texts(over) })

		at := time.Duration(r.Int64N(int64(max(long, 3*time.Second))))
		writing := i/blows%2 == 0 && (how == killWorker || how == killServer || how == killAll)
		until(func() bool {
			files, _ := k.half()
			return k.sealed() || (writing && files > 0 || !writing && one.used()+two.used() > at)
		}, time.Minute)
		if !k.sealed() {
			compiling++
		}
		frozen := one.strike(how, two)
		struck++
		files, size := k.half()
		leftFiles, leftBytes = leftFiles+files, leftBytes+size
		if how == freezeAll { // the other one goes on alone
			begin := time.Now()
			if !two.reads() {
				t.Error("the server that was left alone is gone")
			}
			if took := time.Since(begin); took > 100*time.Second {
				t.Errorf("%v went by until a PDF was read beside one who was stopped", took)
			}
			for _, pid := range frozen {
				syscall.Kill(pid, syscall.SIGCONT)
			}
		}
		calls.Wait()
		if how == killAll {
			two.c.Wait(time.Second)
			two = k.server()
		}
		if !two.reads() {
			t.Errorf("blow %d: the server is gone", how)
		}
		long = max(long, two.used())
		close(over)
		texts.Wait()
		must(t, two.c.Close())
		if how != killAll && how != killServer {
			if !one.reads() {
				t.Errorf("blow %d: the server is gone", how)
			}
			must(t, one.c.Close())
		}
		next := k.server()
		if !next.reads() {
			t.Error("the next server is gone")
		}
		must(t, next.c.Close())
		if !k.sealed() {
			t.Errorf("blow %d: in the end there are %v", how, k.files())
		}
		k.cold()
	}
	report(t, "%d blows, %d of them while something was compiled; %d right answers, %d clear errors, a text took %v at most; the dead left %d files of %d MB, which are gone",
		struck, compiling, k.right, k.refused, k.text.Round(time.Millisecond), leftFiles, leftBytes>>20)
	if compiling < n/2 || leftFiles == 0 {
		t.Errorf("%d of %d blows came in time, and left %d files: the run shows nothing", compiling, struck, leftFiles)
	}
	if k.text > slowestAnswer {
		t.Errorf("a text took %v", k.text)
	}
}

// strike strikes a server, its workers, or all there are. It returns those that go
// on later.
func (s *potter) strike(how int, other *potter) (frozen []int) {
	workers := mcptest.Children(s.c.PID())
	all := func(pids []int, signal syscall.Signal) {
		for _, pid := range pids {
			syscall.Kill(pid, signal)
		}
	}
	switch how {
	case killWorker:
		all(workers, syscall.SIGKILL)
	case stopWorker:
		all(workers, syscall.SIGSTOP)
	case freezeAll:
		frozen = append([]int{s.c.PID()}, workers...)
		all(frozen, syscall.SIGSTOP)
	case killServer:
		all([]int{s.c.PID()}, syscall.SIGKILL)
	case killAll:
		all(append(append(workers, mcptest.Children(other.c.PID())...), s.c.PID(), other.c.PID()), syscall.SIGKILL)
	}
	return frozen
}

// TestTheDiskUnderTheCacheIsFull reads a PDF where there is no room for what is compiled,
// where the room goes while it is compiled, and where nothing can be written: it is shown,
// in the time of one compile, nothing is left there, and as soon as there is room it is
// kept. The first one, with room enough, bounds the others' time.
func TestTheDiskUnderTheCacheIsFull(t *testing.T) {
	shortrun.Leave(t, "it compiles PDFium on small disks")
	if os.Geteuid() != 0 {
		t.Skip("!!! NOT TESTED: it needs root, to mount a small disk !!!")
	}
	all := []string{"fills up"}
	if count(t, "FSMCP_COMPILE_KILLS", 2) > 3 {
		all = []string{"room", "fills up", "too small", "full", "read-only", "read-only and damaged"}
	}
	var once time.Duration
	for i, tries := 0, 1; i < len(all); i++ {
		what, late := all[i], false
		disk := t.TempDir()
		size := map[string]string{"too small": "size=8m", "full": "size=64k"}[what]
		if size == "" {
			size = "size=40m"
		}
		if err := unix.Mount("tmpfs", disk, "tmpfs", 0, size); err != nil {
			t.Skipf("!!! NOT TESTED: nothing can be mounted: %v !!!", err)
		}
		t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
		k := newKiln(t, disk)
		filler := filepath.Join(disk, "filler")
		fill := func() { os.WriteFile(filler, make([]byte, 41<<20), 0o600) } // as far as it goes
		switch what {
		case "full":
			fill()
		case "read-only and damaged":
			must(t, os.MkdirAll(k.dir(), 0o700))
			must(t, os.WriteFile(filepath.Join(k.dir(), "list"), []byte("fsmcp\n"), 0o600))
			must(t, os.WriteFile(filepath.Join(k.dir(), "half"), make([]byte, 1<<20), 0o600))
			fallthrough
		case "read-only":
			must(t, unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, size))
		}
		s := k.server()
		over := make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() {
			if !s.reads() {
				t.Errorf("%s: the server is gone", what)
			}
		})
		both.Go(func() { s.texts(over) })
		if what == "fills up" {
			until(func() bool { return s.used() > time.Second }, time.Minute)
			workers := mcptest.Children(s.c.PID())
			for _, pid := range workers { // so that nothing is finished before the room is gone
				syscall.Kill(pid, syscall.SIGSTOP)
			}
			late = k.sealed()
			fill()
			for _, pid := range workers {
				syscall.Kill(pid, syscall.SIGCONT)
			}
		}
		until(func() bool { k.mu.Lock(); defer k.mu.Unlock(); return k.right > 0 }, 5*time.Minute)
		took := s.used()
		close(over)
		both.Wait()
		must(t, s.c.Close())
		if late && tries < 5 { // all was compiled before the room was gone: once more
			tries++
			i--
			continue
		}
		files, half := k.half()
		report(t, "%s: a PDF was read with %v of a processor, %d files of %d bytes are left", what, took, files, half)
		if what == "room" {
			once = took
			if !k.sealed() {
				t.Errorf("what was compiled is not there: %v", k.files())
			}
			continue
		}
		if len(all) > 1 && took > once*3/2 { // a short run has others beside it
			t.Errorf("%s: it took %v, with room %v", what, took, once)
		}
		if k.sealed() || files > 0 {
			t.Errorf("%s: there are %v", what, k.files())
		}
		if k.text > 12*time.Second {
			t.Errorf("%s: a text took %v", what, k.text)
		}
		if what != "fills up" {
			continue
		}
		must(t, os.Remove(filler))
		next := k.server()
		if !next.reads() {
			t.Error("the next server is gone")
		}
		must(t, next.c.Close())
		if !k.sealed() {
			t.Errorf("with room again there are %v", k.files())
		}
	}
}
