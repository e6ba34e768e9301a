package access

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/fsmcp/fsmcp/internal/perm"
)

// A deny rule holds for a file under its other spellings and links, and only for it.
func TestNamesOfWindows(t *testing.T) {
	f := newFolder(t)
	f.put(".env", `secret\k.txt`, `open\a.txt`, "a~1.txt", `src\hooks\use.ts`, `lib\config`)
	if err := os.Link(f.path(".env"), f.path("innocent.txt")); err != nil {
		t.Fatal(err)
	}
	var denied *DeniedError
	for _, name := range []string{"innocent.txt", "INNOCENT.TXT", `Secret\K.TXT`, `open\..\.ENV`} {
		for _, op := range []perm.Op{perm.Read, perm.Edit} {
			if _, err := f.open(op, name); !errors.As(err, &denied) {
				t.Errorf("%s of %s: %v", op, name, err)
			}
		}
	}
	for _, name := range []string{"a~1.txt", `src\config\a.ts`, `lib\HEAD`, `OPEN\A.txt`} {
		file, err := f.open(perm.Write, name)
		if err != nil || file.Question != nil {
			t.Errorf("Write of %s: %v", name, err)
		}
	}
	file, err := f.open(perm.Read, `OPEN\A.txt`)
	if err != nil || file.Path != f.path(`open\a.txt`) {
		t.Errorf("%v: %s", err, file.Path)
	}
	other, err := f.open(perm.Edit, `open\A.TXT`)
	if err != nil {
		t.Fatal(err)
	}
	if names := f.Links(other, func(string) bool { return true }); !slices.Equal(names, []string{f.path(`open\a.txt`)}) {
		t.Errorf("names in its folder: %q", names)
	}
}
