package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmcp/fsmcp/internal/worker"
)

// planted builds a decoder that does what an attacker would, once for all scripts.
var planted = sync.OnceValues(func() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("fsmcp-planted-test-%d-%08x", os.Getuid(), crc32.ChecksumIEEE([]byte(here))))
	cmd := exec.Command("go", "build", "-o", path, "github.com/fsmcp/fsmcp/internal/worker/sandbox/planted")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// usePlanted sets $PLANTED to that decoder.
func usePlanted(ts *testscript.TestScript, neg bool, args []string) {
	path, err := planted()
	ts.Check(err)
	ts.Setenv("PLANTED", path)
}

// canSandbox reports whether the kernel limits the files and system calls of decoders.
func canSandbox() bool {
	if runtime.GOOS != "linux" {
		return false
	}
	path, err := planted()
	if err != nil {
		return false
	}
	out, err := exec.Command(path, "media-worker", worker.SandboxWord).Output()
	return err == nil && strings.Contains(string(out), `"files":true,"calls":true`)
}
