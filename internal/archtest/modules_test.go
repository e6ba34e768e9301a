package archtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
)

// TestModules compares go.mod with the programs: its first block has the modules that a
// program imports, its second block those of tests alone.
func TestModules(t *testing.T) {
	nativetest.NeedProgram(t, "go")
	text, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`(?s)require \(\n(.*?)\n\)`).FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 3 {
		t.Fatalf("go.mod has %d blocks of modules, not 3: those of the programs, of tests alone, indirect ones", len(blocks))
	}
	linked := make(map[string]bool)
	for _, system := range []string{"linux", "windows", "darwin"} {
		list := exec.Command("go", "list", "-deps", "-tags", "vips", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/...")
		list.Dir, list.Env = filepath.Join("..", ".."), append(os.Environ(), "GOOS="+system, "CGO_ENABLED=1")
		said := new(bytes.Buffer)
		list.Stderr = said
		out, err := list.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v\n%s", system, err, said)
		}
		for path := range strings.FieldsSeq(string(out)) {
			linked[path] = true
		}
	}
	for i, block := range blocks {
		for line := range strings.Lines(block[1]) {
			path, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch {
			case strings.Contains(rest, "// indirect") != (i == 2):
				t.Errorf("%s is in block %d of go.mod: the last one, and no other, has the indirect modules", path, i+1)
			case i == 0 && !linked[path]:
				t.Errorf("no program imports %s: it belongs in the second block of go.mod", path)
			case i == 1 && linked[path]:
				t.Errorf("a program imports %s, which is for tests alone", path)
			}
		}
	}
}
