package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildWithoutCompiler runs "make build" with a C compiler that fails and a stand-in for
// Go, which names what it was asked to build: everything but fsmcp-vips.
func TestBuildWithoutCompiler(t *testing.T) {
	for _, program := range []string{"make", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("!!! NOT TESTED: %s is missing !!!", program)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go":         `if [ "$1" = env ]; then echo "$CC"; else echo "built: $*"; fi`,
		"pkg-config": "exit 0",
		"works":      `cat >/dev/null; exit 0`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	build := func(compiler string) string {
		t.Helper()
		cmd := exec.Command("make", "--no-print-directory", "-C", filepath.Join("..", ".."), "build", "GO="+filepath.Join(dir, "go"), "BIN="+filepath.Join(dir, "fsmcp"))
		cmd.Env = append(os.Environ(), "CC="+compiler, "PATH="+dir+":"+os.Getenv("PATH"), "MAKEFLAGS=", "missing=x")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("make build with CC=%s: %v\n%s", compiler, err, out)
		}
		return string(out)
	}
	for _, broken := range []string{"/bin/false", filepath.Join(dir, "absent")} {
		got := build(broken)
		if !strings.Contains(got, "without fsmcp-vips") || !strings.Contains(got, broken+" does not work") || strings.Contains(got, "-tags vips") {
			t.Errorf("with CC=%s:\n%s", broken, got)
		}
		if strings.Count(got, "built: build") != 2 {
			t.Errorf("with CC=%s the other programs are not built:\n%s", broken, got)
		}
	}
	// The control: with a compiler all three are built.
	if got := build(filepath.Join(dir, "works")); !strings.Contains(got, "built: build -tags vips") || strings.Contains(got, "without") {
		t.Errorf("with a compiler:\n%s", got)
	}
}
