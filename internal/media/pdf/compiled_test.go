package pdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

const naive = "FSMCP_TEST_NAIVE_START"

func TestMain(m *testing.M) {
	if dir := os.Getenv(naive); dir != "" { // what lies there is run as it is
		r := New("")
		kept, err := wazero.NewCompilationCacheWithDir(dir)
		if err != nil {
			os.Exit(3)
		}
		pool, err := start(kept)
		if err != nil {
			os.Exit(3)
		}
		r.pool = pool
		if res, err := r.Read(sample(1, ""), ask(""), quiet); err != nil || !strings.Contains(res.Pages[0].Text, "page 1 of") {
			os.Exit(4)
		}
		return
	}
	code := m.Run()
	if one != nil {
		one.Close()
	}
	os.Exit(code)
}

// one is the Reader of warmed.
var one *Reader

// warmed returns a Reader whose PDFium has started: each start loads 19 megabytes of code. The
// tests use it one after the other, as documents follow each other in a worker.
func warmed(t *testing.T) *Reader {
	t.Helper()
	if one == nil {
		one = New(cache())
	}
	if err := one.Warm(quiet); err != nil {
		t.Fatal(err)
	}
	return one
}

// compiledOnce is a folder with PDFium compiled, and the name of its one file.
func compiledOnce(t *testing.T) (dir, file string) {
	t.Helper()
	warmed(t)
	files := compiled(cache()).files()
	dir = copied(t, cache())
	for _, older := range files[1:] {
		if err := os.Remove(filepath.Join(dir, older)); err != nil {
			t.Fatal(err)
		}
	}
	compiled(dir).clean()
	if err, known := compiled(dir).writeList(), compiled(dir).files(); err != nil || len(known) != 1 {
		t.Fatalf("%v: %v", known, err)
	}
	return dir, files[0]
}

func copied(t *testing.T, from string) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "pdfium")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// reads asks that a document is read by way of a folder, and that the folder
// then holds what later processes need.
func reads(t *testing.T, dir string) {
	t.Helper()
	readsAtOnce(t, dir, 1)
}

// readsAtOnce is reads by so many Readers at once.
func readsAtOnce(t *testing.T, dir string, readers int) {
	t.Helper()
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			r := New(dir)
			defer r.Close()
			if res, err := r.Read(sample(1, ""), ask(""), quiet); err != nil || !strings.Contains(res.Pages[0].Text, "page 1 of") {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if !compiled(dir).sound() {
		t.Error("it is not ready for the next")
	}
}

// What was kept is used by the next; where it is damaged, it is made anew, once for two that
// start at once, wherever the damage is. To run it as it is would be death: the control.
func TestADamagedCacheIsMadeAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	dir, file := compiledOnce(t)
	whole, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(filepath.Join(dir, file))
	reads(t, dir)
	if after, err := os.Stat(filepath.Join(dir, file)); err != nil || !os.SameFile(before, after) {
		t.Error("it was compiled again: ", err)
	}
	// Behind the name of the version: how many functions, and where each begins.
	functions := 6 + 1 + int(whole[6])
	table := functions + 4
	n := int(binary.LittleEndian.Uint32(whole[functions:]))
	moved := bytes.Clone(whole)
	for i := range n {
		at := moved[table+8*i:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+5)
	}
	code := bytes.Clone(whole)
	code[len(code)/2] ^= 0x55
	for what, b := range map[string][]byte{"functions elsewhere": moved, "code": code, "half": whole[:len(whole)/2], "nothing": {}} {
		bad := copied(t, dir)
		if err := os.WriteFile(filepath.Join(bad, file), b, 0o600); err != nil {
			t.Fatal(err)
		}
		control := exec.Command(os.Args[0])
		control.Env = append(os.Environ(), naive+"="+copied(t, bad))
		if control.Run() == nil {
			t.Errorf("%s: run as it is, it does no harm", what)
		}
		if compiled(bad).sound() {
			t.Errorf("%s: it passes for sound", what)
		}
		if what == "functions elsewhere" { // the others take the same way
			readsAtOnce(t, bad, 2)
			if got := compiled(bad).files(); len(got) != 1 {
				t.Errorf("%q was left", got)
			}
		}
	}
}

// A file that a killed process left half done is cleared away; older versions go
// when there are too many.
func TestLeftoversGo(t *testing.T) {
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	dir, file := compiledOnce(t)
	stray := filepath.Join(dir, filepath.Dir(file), "half.tmp")
	if err := os.WriteFile(stray, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A young file of the test whether one can be made may be in use.
	old, young := filepath.Join(dir, tryName+"1"), filepath.Join(dir, tryName+"2")
	long := time.Now().Add(-2 * tryOld)
	if os.WriteFile(old, nil, 0o600) != nil || os.WriteFile(young, nil, 0o600) != nil || os.Chtimes(old, long, long) != nil {
		t.Fatal("cannot write")
	}
	reads(t, dir)
	for _, name := range []string{stray, old} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
	compiled(dir).clean()
	for i, name := range []string{"a", "b", "c"} {
		path := filepath.Join(dir, name)
		when := time.Now().Add(time.Duration(i-10) * time.Hour)
		if os.WriteFile(path, []byte(name), 0o600) != nil || os.Chtimes(path, when, when) != nil {
			t.Fatal("cannot write")
		}
	}
	if err := compiled(dir).writeList(); err != nil {
		t.Fatal(err)
	}
	if got := compiled(dir).files(); len(got) != keptFiles || got[0] != file || got[1] != "c" || got[2] != "b" {
		t.Errorf("%q are kept", got)
	}
}

// The folder may be a link to where there is more room, and stays one.
func TestTheFolderMayBeALink(t *testing.T) {
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	dir, file := compiledOnce(t)
	link := filepath.Join(t.TempDir(), "pdfium")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("!!! NOT TESTED: no links here: %v !!!", err)
	}
	if !compiled(link).sound() {
		t.Error("what lies behind it does not pass for sound")
	}
	if err := os.WriteFile(filepath.Join(dir, "half.tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reads(t, link)
	compiled(link).empty()
	if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
		t.Error("it cannot be emptied")
	}
	if to, err := os.Readlink(link); err != nil || to != dir {
		t.Errorf("the link is gone: %v", err)
	}
}

// What passes for sound and cannot be loaded is made anew, and kept, at once: a folder
// in the place of the file.
func TestWhatCannotBeLoadedIsMadeAnew(t *testing.T) {
	shortrun.Leave(t, "it compiles PDFium")
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	dir, file := compiledOnce(t)
	if err := os.Remove(filepath.Join(dir, file)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, file), 0o700); err != nil {
		t.Fatal(err)
	}
	reads(t, dir)
}

// A file that was never that long is not read to its end.
func TestAnEndlessFileIsNotRead(t *testing.T) {
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	dir, file := compiledOnce(t)
	if err := os.Truncate(filepath.Join(dir, file), 4<<40); err != nil {
		t.Skipf("!!! NOT TESTED: no file can be that long here: %v !!!", err)
	}
	begin := time.Now()
	clean := compiled(dir).clean()
	known := compiled(dir).files()
	if took := time.Since(begin); len(known) != 0 || !clean || took > 10*time.Second {
		t.Errorf("%v: known %v, clean %v", took, known, clean)
	}
}

// Two that start at once in a new folder compile once.
func TestOneCompilesForAll(t *testing.T) {
	shortrun.Leave(t, "PDFium compiled in a new folder beside a damaged one")
	dir := filepath.Join(t.TempDir(), "new", "pdfium")
	var reported atomic.Int64
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			r := New(dir)
			defer r.Close()
			if err := r.Prepare(func(int64, int64, string) { reported.Add(1) }); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if got := compiled(dir).files(); len(got) != 1 || !compiled(dir).sound() {
		t.Errorf("%q was left", got)
	}
	before := reported.Load()
	if err := New(dir).Prepare(func(int64, int64, string) { reported.Add(1) }); err != nil || reported.Load() != before {
		t.Error("what is ready was readied again")
	}
}

// Where nothing can be kept, nothing is compiled for later, and each compiles for itself, as
// TestUntrustedCodeIsNotRun has it also do.
func TestNothingCanBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", filepath.Join(file, "pdfium")} {
		r := New(dir)
		if err := r.Prepare(quiet); !errors.Is(err, ErrNotKept) || !strings.Contains(err.Error(), dir) || r.pool != nil {
			t.Errorf("%q: it is not told that nothing can be kept: %v", dir, err)
		}
	}
	shortrun.Leave(t, "PDFium compiled without a place to keep it")
	r := New(filepath.Join(file, "pdfium"))
	defer r.Close()
	if res, err := r.Read(sample(1, ""), ask(""), quiet); err != nil || len(res.Pages) != 1 {
		t.Errorf("without a place to keep anything: %v", err)
	}
}
