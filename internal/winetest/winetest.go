//go:build linux

package winetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Wine runs programs for Windows.
type Wine struct {
	script string // .ci/wine
	dir    string // of the programs that were built
	base   string // where the script keeps Wine
}

// FSMCP is the program under test, without Media beside it; Helper is this package's own.
func (w *Wine) FSMCP() string  { return filepath.Join(w.dir, "fsmcp.exe") }
func (w *Wine) Media() string  { return filepath.Join(w.dir, "media", "fsmcp-media.exe") }
func (w *Wine) Helper() string { return filepath.Join(w.dir, "helper.exe") }

// Cache is the folder of what is compiled for Media.
func (w *Wine) Cache() string { return filepath.Join(w.dir, "cache") }

// Get returns Wine with the programs, or why there is none.
var Get = sync.OnceValues(func() (*Wine, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	w := &Wine{script: filepath.Join(root, ".ci", "wine"), dir: filepath.Join(root, "bin", "windows")}
	out, err := exec.Command(w.script, "where").CombinedOutput()
	if err != nil {
		return nil, errors.New(strings.TrimSpace(string(out)))
	}
	_, w.base, _ = strings.Cut(strings.TrimSpace(string(out)), " ")
	return w, errors.Join(w.build(root), w.stay())
})

// Find returns Wine. Where there is none it skips the test loudly.
func Find(t testing.TB) *Wine {
	t.Helper()
	w, err := Get()
	if w == nil {
		t.Skipf("!!! NOT TESTED: no program for Windows can run here: %v !!!", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil && dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
	}
	return "", errors.Join(err, errors.New("no go.mod above"))
}

// build makes the programs. Others that test the same working copy may do so at once.
func (w *Wine) build(root string) error {
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	lock, err := os.Create(filepath.Join(w.dir, "lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	for exe, pkg := range map[string]string{w.FSMCP(): "./cmd/fsmcp", w.Media(): "./cmd/fsmcp-media", w.Helper(): "./internal/winetest/helper"} {
		cmd := exec.Command("go", "build", "-trimpath", "-o", exe, pkg)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
		}
	}
	return w.makeRelayed()
}

// stay starts a program for Windows that waits as long as this process lives, and returns
// once it has answered: then Wine is up. Without one the server of Wine and its services
// start anew for each program. On a busy machine they take minutes.
func (w *Wine) stay() error {
	var err error
	for range 3 {
		if err = w.tryToStay(); err == nil {
			return nil
		}
	}
	return err
}

func (w *Wine) tryToStay() error {
	cmd := w.Command(os.TempDir(), w.Helper(), "serve")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		return err
	}
	timer := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if _, err := io.WriteString(in, "nothing\n"); err != nil {
		return fmt.Errorf("the start of Wine: %w", err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return fmt.Errorf("the start of Wine: %w", err)
	}
	return nil
}

// Words are the program and its first arguments that run a program for Windows under Wine,
// for a user with that home.
func (w *Wine) Words(home, temp, exe string) []string {
	return []string{w.script, "run", w.Helper(), "launch", Name(home), Name(temp), Name(exe)}
}

// baseVariable tells the script where Wine is, if HOME is another.
func (w *Wine) baseVariable() string { return "FSMCP_WINE_DIR=" + w.base }

// Command runs a program with its arguments as they are. It ends with the caller.
func (w *Wine) Command(home, exe string, args ...string) *exec.Cmd {
	words := append(w.Words(home, home, exe), args...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), w.baseVariable())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}
