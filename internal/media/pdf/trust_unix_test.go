//go:build unix

package pdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/owndir"
)

// tampered is a folder whose compiled code ends the process that runs it. All
// checksums fit: that of the code, which wazero keeps, and that of the list.
func tampered(t *testing.T) (dir, file string) {
	t.Helper()
	dir, file = compiledOnce(t)
	path := filepath.Join(dir, file)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Behind the name of the version: how many functions, where each begins, how
	// long the code is, the code, its checksum.
	at := 6 + 1 + int(b[6])
	at += 4 + 8*int(binary.LittleEndian.Uint32(b[at:]))
	code := b[at+8:][:binary.LittleEndian.Uint64(b[at:])]
	for i := range code {
		code[i] = 0xcc // a breakpoint on x86, nothing that is of use elsewhere
	}
	sum := crc32.Checksum(code, crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(b[at+8+len(code):], sum)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := compiled(dir).writeList(); err != nil || !compiled(dir).sound() {
		t.Fatalf("it does not pass for sound: %v", err)
	}
	return dir, file
}

// Compiled code that others may have written is not run, whatever its checksum. To
// run it would be death: the control.
func TestUntrustedCodeIsNotRun(t *testing.T) {
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	dir, file := tampered(t)
	control := exec.Command(os.Args[0])
	control.Env = append(os.Environ(), naive+"="+dir)
	died := new(exec.ExitError)
	if out, err := control.CombinedOutput(); !errors.As(err, &died) || !bytes.Contains(out, []byte("SIG")) {
		t.Fatalf("it was not run: %v: %s", err, out)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r := New(dir)
	defer r.Close()
	if res, err := r.Read(sample(1, ""), ask(""), quiet); err != nil || !strings.Contains(res.Pages[0].Text, "page 1 of") {
		t.Errorf("%v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
		t.Errorf("the folder of others was changed: %v", err)
	}
}

// One file or folder that others may have written is enough. It is named, and
// nothing is compiled for a folder that is not used.
func TestUntrustedFolderIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	dir, file := compiledOnce(t)
	for _, at := range []string{".", filepath.Dir(file), file, listName} {
		path := filepath.Join(dir, at)
		was, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []os.FileMode{0o020, 0o002} {
			if err := os.Chmod(path, was.Mode()|mode); err != nil {
				t.Fatal(err)
			}
			wantNamed(t, dir, path)
		}
		if err := os.Chmod(path, was.Mode()); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 {
			os.Chown(path, 65534, 65534)
			wantNamed(t, dir, path)
			os.Chown(path, 0, 0)
		}
		if err := New(dir).Prepare(quiet); err != nil {
			t.Errorf("control: %v", err)
		}
	}
}

func wantNamed(t *testing.T, dir, path string) {
	t.Helper()
	r := New(dir)
	defer r.Close()
	own := (*owndir.Error)(nil)
	if err := r.Prepare(quiet); !errors.Is(err, ErrNotKept) || !errors.As(err, &own) || own.Path != path || r.pool != nil {
		t.Errorf("%s: %v", path, err)
	}
}

// A user that may write the folder above replaces the folder after it was checked: the new
// one is not used. The control arm goes by the name.
func TestTheFolderIsNotExchanged(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("!!! NOT TESTED: only Linux names what is open !!!")
	}
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	dir, _ := compiledOnce(t)
	r := New(dir)
	defer r.Close()
	c, err := r.openFolder()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if again, err := r.openFolder(); err != nil || again != c || !c.sound() || compiled(dir).sound() {
		t.Errorf("%v: %s is sound: %v; by its name: %v", err, again, c.sound(), compiled(dir).sound())
	}
}
