package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// program is the file that the tests start as fsmcp: what buildProgram built, and under
// TestScriptsUnderWine this test, which leads to the program for Windows.
var program string

// withProgram builds the program before the tests run.
type withProgram struct{ *testing.M }

func (m withProgram) Run() int {
	dir, err := os.MkdirTemp("", "fsmcp-program")
	if err == nil {
		defer os.RemoveAll(dir)
		err = buildProgram(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.M.Run()
}

// buildProgram builds the program in dir and puts dir before what PATH says. This test, started as
// the program, would take nearly twice as long to start, for the packages that only tests use.
func buildProgram(dir string) (err error) {
	if os.Getenv("FSMCP_WINE") != "" {
		program, err = os.Executable()
		return err
	}
	program = filepath.Join(dir, "fsmcp")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-tags", "fsmcp_scripts", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if slowdown > 1 {
		build.Args = append(build.Args[:2], append([]string{"-race"}, build.Args[2:]...)...)
		build.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("the program cannot be built: %w\n%s", err, out)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // some scripts start it as another user
		return err
	}
	return os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}
