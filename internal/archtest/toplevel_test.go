package archtest

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
)

// topLevel are the names at the top of the repository.
var topLevel = []string{
	".ci", ".gitattributes", ".github", ".gitignore", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
	"cmd", "docs", "go.mod", "go.sum", "internal", "packaging", "schemas", "testdata", "testkit",
}

// TestTopLevel looks that nothing that a test left behind is committed.
func TestTopLevel(t *testing.T) {
	nativetest.NeedProgram(t, "git")
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		t.Skipf("!!! NOT TESTED: this is no repository of git: %v !!!", err)
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		name, _, _ = strings.Cut(name, "/")
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !slices.Contains(topLevel, name) {
			t.Errorf("%s is committed at the top of the repository: remove it, or add it to topLevel", name)
		}
	}
}
