package pdf

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// small mounts a disk of so many bytes for the length of the test.
func small(t *testing.T, size string) (dir string) {
	t.Helper()
	disk := t.TempDir()
	mount(t, disk, size)
	return filepath.Join(disk, "pdfium")
}

func mount(t *testing.T, disk, size string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("!!! NOT TESTED: it needs root !!!")
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("!!! NOT TESTED: nothing can be mounted: %v !!!", err)
	}
	t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
}

// spent is the memory that something asks for, in bytes: two compiles ask for twice
// what one does, however busy the machine is.
func spent(do func()) int {
	asked := func() int {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.TotalAlloc)
	}
	before := asked()
	do()
	return asked() - before
}

// What is compiled and cannot be written is used all the same, not compiled once
// more, as without the cache that has it in memory it would be: the control. Nothing
// of it stays on the disk.
func TestADiskThatFillsUp(t *testing.T) {
	shortrun.Leave(t, "it compiles PDFium on a small disk")
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	dir := small(t, "8m")
	kept, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	compiling := spent(func() { _, err = start(kept) })
	if err == nil || !strings.Contains(err.Error(), "no space") {
		t.Fatalf("the disk is not full: %v", err)
	}
	r := New(dir)
	defer r.Close()
	once := spent(func() { r.pool, err = r.cache.start(&folderLock{}) })
	if err != nil {
		t.Fatal(err)
	}
	again := spent(func() {
		pool, err := start(nil)
		if err != nil {
			t.Fatal(err)
		}
		pool.Close()
	})
	t.Logf("in vain %d MB, by way of a full disk %d, in memory alone %d", compiling>>20, once>>20, again>>20)
	if once > again*3/2 || compiling+again < once*3/2 {
		t.Errorf("by way of a full disk it takes %d bytes, alone %d, one after the other %d", once, again, compiling+again)
	}
	if res, err := r.Read(sample(1, ""), ask(""), quiet); err != nil || !strings.Contains(res.Pages[0].Text, "page 1 of") {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v was left", left)
	}
}

// Where there is no room nothing is prepared, and nothing is left; what a killed
// process has left there makes room.
func TestNothingIsPreparedOnAFullDisk(t *testing.T) {
	dir := small(t, "30m")
	if !compiled(dir).usable() {
		t.Fatal("30 MB are not enough")
	}
	stray := filepath.Join(dir, "wazero", "half.tmp")
	if os.Mkdir(filepath.Dir(stray), 0o700) != nil || os.WriteFile(stray, make([]byte, 10<<20), 0o600) != nil {
		t.Fatal("cannot write")
	}
	if compiled(dir).usable() {
		t.Fatal("20 MB are enough")
	}
	if !compiled(dir).clean() || !compiled(dir).usable() {
		t.Error("what was left half done is in the way")
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "filler"), make([]byte, 29<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	r := New(dir)
	if err := r.Prepare(quiet); !errors.Is(err, ErrNotKept) || r.pool != nil {
		r.Close()
		t.Errorf("something was prepared that cannot be kept: %v", err)
	}
	if left := compiled(dir).files(); len(left) > 0 {
		t.Errorf("%q was left", left)
	}
}

// Where it shows only in the end that what was compiled cannot be kept, that is said.
func TestItIsSaidThatNothingWasKept(t *testing.T) {
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	dir, file := compiledOnce(t)
	compiled(dir).empty()
	within := filepath.Join(dir, filepath.Dir(file))
	if err := os.Mkdir(within, 0o700); err != nil {
		t.Fatal(err)
	}
	mount(t, within, "1m")
	r := New(dir)
	defer r.Close()
	if err := r.Prepare(quiet); !errors.Is(err, ErrNotKept) {
		t.Errorf("%v", err)
	}
	if left := compiled(dir).files(); len(left) > 0 {
		t.Errorf("%q was left", left)
	}
}
