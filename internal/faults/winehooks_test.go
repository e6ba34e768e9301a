//go:build linux

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/winetest"
)

// hook sets the user's only hook, to be run before each change.
func (p winePlace) hook(t *testing.T, command ...string) {
	t.Helper()
	words, err := json.Marshal(command)
	must(t, err)
	p.settings(t, fmt.Sprintf(`{"hooks": {"beforeFileEdited": [{"glob": "**", "command": %s}]}}`, words))
}

// TestWineHooks has hooks go each wrong way: a program of the workspace in place of the named
// one, none of that name, and an argument that cmd.exe would run. The change is refused each
// time, and nothing of the workspace runs. The control arm is a hook that is found.
func TestWineHooks(t *testing.T) {
	t.Parallel()
	p := newWinePlace(t)
	ran := p.file("ran.txt")
	batch := "@echo ran> " + winetest.Name(ran) + "\r\n@exit 0\r\n"
	must(t, os.WriteFile(p.file("guard.cmd"), []byte(batch), 0o644))
	must(t, os.WriteFile(p.file("a.txt"), []byte("text\n"), 0o644))
	beside := filepath.Join(p.home, ".config", "fsmcp", "good.cmd")
	must(t, os.MkdirAll(filepath.Dir(beside), 0o700))
	must(t, os.WriteFile(beside, []byte(batch), 0o644))
	for _, row := range []struct {
		what    string
		command []string
		edited  bool
	}{
		{"a name without a folder, which the workspace has", []string{"guard.cmd"}, false},
		{"the same without its suffix", []string{"guard"}, false},
		{"the file of the workspace in full", []string{winetest.Name(p.file("guard.cmd"))}, false},
		{"by cmd.exe", []string{`C:\windows\system32\cmd.exe`, "/c", `.\guard.cmd`}, false},
		{"a name that nothing has", []string{"nowhere.cmd"}, false},
		{"an argument with a second command", []string{"good.cmd", "a&" + winetest.Name(p.file("guard.cmd"))}, false},
		{"the control arm: beside the settings", []string{"good.cmd", "a"}, true},
	} {
		p.hook(t, row.command...)
		s := p.serve(t, winetest.Name(p.ws))
		mustCall(t, s.Client, "Read", args{"file_path": winetest.Name(p.file("a.txt"))})
		res, err := s.Call("Edit", args{"file_path": winetest.Name(p.file("a.txt")), "old_string": "text", "new_string": "text2"})
		must(t, err)
		s.end()
		_, err = os.Stat(ran)
		if row.edited != !res.IsError || row.edited != (err == nil) || row.edited != (string(read(t, p.file("a.txt"))) != "text\n") {
			t.Errorf("%s: %s %s; a program ran: %v", row.what, res.Slug, clip(res.Text), err == nil)
		}
		_ = os.Remove(ran)
		must(t, os.WriteFile(p.file("a.txt"), []byte("text\n"), 0o644))
	}
}

// TestWineHookEndsWithServer kills fsmcp while a hook runs. The hook ends, too.
func TestWineHookEndsWithServer(t *testing.T) {
	t.Parallel()
	p := newWinePlace(t)
	ticks := filepath.Join(p.home, "ticks")
	p.hook(t, winetest.Name(p.wine.Helper()), "tick", winetest.Name(ticks))
	must(t, os.WriteFile(p.file("a.txt"), []byte("text\n"), 0o644))
	s := p.serve(t, winetest.Name(p.ws))
	defer s.kill()
	mustCall(t, s.Client, "Read", args{"file_path": winetest.Name(p.file("a.txt"))})
	_, err := s.GoCall("Edit", args{"file_path": winetest.Name(p.file("a.txt")), "old_string": "text", "new_string": "text2"})
	must(t, err)
	grown := func(than int64) bool {
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if info, err := os.Stat(ticks); err == nil && info.Size() > than {
				return true
			}
		}
		return false
	}
	if !grown(2) { // the control arm
		t.Fatal("the hook does not run")
	}
	ended := 0
	for _, pid := range winetest.Processes(s.token) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if bytes.Contains(line, []byte("fsmcp.exe")) {
			must(t, syscall.Kill(pid, syscall.SIGKILL))
			ended++
		}
	}
	hook := func() bool {
		return slices.ContainsFunc(winetest.Processes(s.token), func(pid int) bool {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			return strings.Contains(string(line), "tick")
		})
	}
	for end := time.Now().Add(30 * time.Second); hook(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the hook lives on after fsmcp (%d processes killed)", ended)
		}
	}
}

// TestWineMetadata compares attributes and access list of a file before and after an edit, a
// write and a restore, as far as Wine keeps them.
func TestWineMetadata(t *testing.T) {
	t.Parallel()
	p := newWinePlace(t)
	h := p.helper(t)
	name := winetest.Name(p.file("a.txt"))
	must(t, os.WriteFile(p.file("a.txt"), []byte("old\n"), 0o644))
	fresh := h.do("describe %s", name)
	if got := h.do("protect %s", name); !strings.HasPrefix(got, "ok") {
		t.Fatal(got)
	}
	before := h.do("describe %s", name)
	if before == fresh || !strings.HasPrefix(before, "ok 0x6") {
		t.Fatalf("before %s, of a new file %s: the test proves nothing", before, fresh)
	}
	same := func(after string) {
		t.Helper()
		if got := h.do("describe %s", name); got != before {
			t.Errorf("after %s: %s, before %s", after, got, before)
		}
	}
	s := p.serve(t, winetest.Name(p.ws))
	defer s.end()
	mustCall(t, s.Client, "Read", args{"file_path": name})
	mustCall(t, s.Client, "Edit", args{"file_path": name, "old_string": "old", "new_string": "new"})
	same("Edit")
	mustCall(t, s.Client, "Write", args{"file_path": name, "content": "newer\n"})
	same("Write")
	change, _, _ := strings.Cut(p.cli(t, "history", "list", "--dir", winetest.Name(p.ws)), " ")
	if out := p.cli(t, "history", "restore", change); string(read(t, p.file("a.txt"))) != "new\n" {
		t.Errorf("restore: %s", out)
	}
	same("restore")
	report(t, "of a new file: %s; before and after each change: %s", fresh, before)
}
