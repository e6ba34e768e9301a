package volumetest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The folding volume takes every spelling of a name for one, lists the first, and otherwise
// answers as other file systems do.
func TestFolding(t *testing.T) {
	top := Folding(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(top+"/Stra\u00dfe", 0o755))
	content := bytes.Repeat([]byte("0123456789"), 1<<18)
	must(os.WriteFile(top+"/STRASSE/Caf\u00e9", content, 0o640))
	for _, spelling := range []string{"Caf\u00e9", "cafe\u0301", "CAFE\u0301", "CAF\u00c9"} {
		got, err := os.ReadFile(top + "/stra\u00dfe/" + spelling)
		if must(err); !bytes.Equal(got, content) {
			t.Errorf("%q holds %d other bytes", spelling, len(got))
		}
		if _, err := os.OpenFile(top+"/Stra\u00dfe/"+spelling, os.O_CREATE|os.O_EXCL, 0o600); !os.IsExist(err) {
			t.Errorf("%q can be made beside the file: %v", spelling, err)
		}
	}
	entries, err := os.ReadDir(top + "/STRASSE")
	if must(err); len(entries) != 1 || entries[0].Name() != "Caf\u00e9" {
		t.Errorf("the folder holds %v", entries)
	}
	must(os.WriteFile(top+"/b", []byte("b"), 0o644))
	must(unix.Renameat2(unix.AT_FDCWD, top+"/B", unix.AT_FDCWD, top+"/strasse/CAF\u00c9", unix.RENAME_EXCHANGE))
	if got, _ := os.ReadFile(top + "/Stra\u00dfe/caf\u00e9"); string(got) != "b" {
		t.Errorf("after the exchange: %.20q", got)
	}
	if err := unix.Renameat2(unix.AT_FDCWD, top+"/b", unix.AT_FDCWD, top+"/Strasse/CAF\u00c9", unix.RENAME_NOREPLACE); err != unix.EEXIST {
		t.Errorf("a rename over the name: %v", err)
	}
	must(os.Link(top+"/B", top+"/c"))
	must(unix.Setxattr(top+"/c", "user.a", []byte("value"), 0))
	value := make([]byte, 9)
	if n, err := unix.Getxattr(top+"/b", "user.a", value); err != nil || string(value[:n]) != "value" {
		t.Errorf("attribute %q, %v", value[:max(n, 0)], err)
	}
	must(os.Remove(top + "/B"))
	must(os.Symlink("STRASSE", top+"/link"))
	must(os.Rename(top+"/C", top+"/LINK/d"))
	must(os.Truncate(top+"/strasse/D", 5))
	must(os.Chmod(top+"/strasse/D", 0o600))
	info, err := os.Stat(filepath.Join(top, "Stra\u00dfe", "d"))
	if must(err); info.Size() != 5 || info.Mode() != 0o600 {
		t.Errorf("%d bytes, mode %v", info.Size(), info.Mode())
	}
	must(os.RemoveAll(top + "/STRASSE"))
	if _, err := os.Stat(top + "/Stra\u00dfe"); !os.IsNotExist(err) {
		t.Errorf("after the removal: %v", err)
	}
}

// Control: the system's own file system keeps the spellings apart.
func TestFoldingControl(t *testing.T) {
	top := t.TempDir()
	if err := os.WriteFile(top+"/a", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(top + "/A"); !os.IsNotExist(err) {
		t.Errorf("a is found as A: %v", err)
	}
}

func TestReflinks(t *testing.T) {
	top := Reflinks(t)
	if err := os.WriteFile(top+"/a", []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(top + "/a")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.Create(top + "/b")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if err := unix.IoctlFileClone(int(to.Fd()), int(from.Fd())); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(top + "/b"); string(got) != "content" {
		t.Errorf("the clone holds %q", got)
	}
}
