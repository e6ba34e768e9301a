package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// program is the file that the tests start as fsmcp: what buildProgram built. Under
// TestScriptsUnderWine it is internal/winetest/proxy, which starts the program for Windows.
var program string

// withProgram builds the program before the tests run.
type withProgram struct{ *testing.M }

func (m withProgram) Run() int {
	defer watchTempParents()()
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

// buildProgram builds the program in dir and puts dir at the front of PATH. The test binary could
// act as the program too, but takes nearly twice as long to start (41 beside 25 ms), because of the
// packages that only tests use.
func buildProgram(dir string) (err error) {
	program = filepath.Join(dir, "fsmcp")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	raced := slowdown > 1
	source := "."
	if os.Getenv("FSMCP_WINE") != "" {
		source = "../../internal/winetest/proxy"
	}
	build := exec.Command("go", "build", fmt.Sprintf("-race=%t", raced), "-ldflags=-s -w", "-tags", "fsmcp_scripts", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if raced { // the detector is C code
		build.Env = append(build.Env, "CGO_ENABLED=1")
	}
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("the program cannot be built: %w\n%s", err, out)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // some scripts start it as another user
		return err
	}
	return os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}
