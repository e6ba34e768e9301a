//go:build linux

package winetest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Wine runs programs for Windows.
type Wine struct {
	script string    // .ci/wine
	dir    string    // of the programs that were built
	base   string    // where the script keeps Wine
	stays  io.Closer // the input of the program that stays: it ends when this is closed
	ns     string    // the mount namespace of the program that stays, if it has one of its own
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
		built := filepath.Join(w.dir, "built", filepath.Base(exe))
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", built, pkg)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
		}
		if err := install(exe, built); err != nil {
			return err
		}
	}
	return w.makeRelayed()
}

// install puts the program in place, its sections at whole pages, unless it is there: another
// process may run it.
func install(exe, built string) error {
	program, err := os.ReadFile(built)
	if err != nil {
		return err
	}
	if program, err = alignSections(program); err != nil {
		return fmt.Errorf("%s: %w", built, err)
	}
	if before, err := os.ReadFile(exe); err == nil && bytes.Equal(before, program) {
		return nil
	}
	return errors.Join(os.MkdirAll(filepath.Dir(exe), 0o755), os.WriteFile(exe+".new", program, 0o755), os.Rename(exe+".new", exe))
}

// stay starts a program for Windows that waits as long as this process lives, and returns
// once it has answered: then Wine is up, and takes each program's environment from the one
// that starts it. Without it the server of Wine and its services start anew for each
// program. On a busy machine they take minutes.
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
	cmd := w.Command(os.TempDir(), w.Helper(), "stay")
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
	if _, err := io.WriteString(in, "\n"); err != nil {
		return fmt.Errorf("the start of Wine: %w", err)
	}
	answer, err := bufio.NewReader(out).ReadString('\n')
	if err == nil && strings.TrimSpace(answer) != "ok" {
		err = errors.New(answer)
	}
	if err != nil {
		return fmt.Errorf("the start of Wine: %w", err)
	}
	go reap(testerToken)
	w.stays = in
	return w.enter(cmd.Process.Pid)
}

// testerToken is in the environment of the programs that Command starts.
var testerToken = fmt.Sprintf("FSMCP_WINE_TESTER=%d.", os.Getpid())

// enter has other programs start in the mount namespace of the one that stays: to make one
// for each took longer than the start of a small program.
func (w *Wine) enter(pid int) error {
	ns := fmt.Sprintf("/proc/%d/ns/mnt", pid)
	theirs, err := os.Readlink(ns)
	own, err2 := os.Readlink("/proc/self/ns/mnt")
	if err == nil && err2 == nil && theirs != own {
		w.ns = ns
	}
	return errors.Join(err, err2)
}

// words are the program and its first arguments that run a program for Windows under Wine.
func (w *Wine) words(exe string) []string { return []string{w.script, "run", exe} }

// variables tell the script where Wine is, whatever HOME is.
func (w *Wine) variables() []string {
	return []string{"FSMCP_WINE_DIR=" + w.base, "FSMCP_WINE_NAMESPACE=" + w.ns}
}

// user returns the environment of a user with a home and a folder for temporary files.
func user(home, temp string) []string {
	home = Name(home)
	return []string{"USERPROFILE=" + home, "APPDATA=" + home + `\AppData\Roaming`, "LOCALAPPDATA=" + home + `\AppData\Local`,
		"WINETMP=" + Name(temp), "WINETEMP=" + Name(temp)}
}

// Command runs a program with its arguments as they are. It ends with the caller, and is
// killed if Wine lets it hang when it ends.
func (w *Wine) Command(home, exe string, args ...string) *exec.Cmd {
	words := append(w.words(exe), args...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = slices.Concat(os.Environ(), user(home, home), w.variables(), []string{testerToken})
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}
