package hooks

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A batch file named without a folder is the one in PATH or beside the settings, never the
// one in the workspace where it runs. If there is none, the change is refused.
func TestBatchFileIsNeverTheWorkspaces(t *testing.T) {
	top := t.TempDir()
	ws, settings, bin := filepath.Join(top, "ws"), filepath.Join(top, "R&D settings"), filepath.Join(top, "bin")
	t.Cleanup(func() { // the console of a hook may end after it, and holds the folder until then
		for end := time.Now().Add(20 * time.Second); os.RemoveAll(ws) != nil && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"beside.cmd", "inpath.cmd", "nowhere.cmd"} {
		write(filepath.Join(ws, name), "@echo HIJACK 1>&2\r\n@exit 0\r\n")
	}
	write(filepath.Join(settings, "beside.cmd"), "@echo good %1 1>&2\r\n@exit 2\r\n")
	write(filepath.Join(settings, "calls.cmd"), "@exit 9009\r\n")
	write(filepath.Join(bin, "inpath.bat"), "@echo good %1 1>&2\r\n@exit 2\r\n")
	system := os.Getenv("SystemRoot")
	r := New(Options{Env: []string{"Path=.;" + bin + ";" + ws, "SystemRoot=" + system, "PATHEXT=" + os.Getenv("PATHEXT"), "ComSpec=" + os.Getenv("ComSpec")}})
	defer r.Close()
	inWorkspace := func(name string) bool { return strings.HasPrefix(strings.ToLower(name), strings.ToLower(ws)) }
	for _, row := range []struct {
		command string
		ending  Ending
		said    string
	}{
		{"beside.cmd", Refused, "good one"}, {"beside", Refused, "good one"}, {"BESIDE.CMD", Refused, "good one"}, {`.\beside.cmd`, Refused, "good one"},
		{"inpath", Refused, "good one"}, {"inpath.bat", Refused, "good one"}, {filepath.Join(bin, "inpath.bat"), Refused, "good one"},
		{"nowhere.cmd", NotRun, ""}, {"nowhere", NotRun, ""}, {filepath.Join(ws, "nowhere.cmd"), NotRun, ""},
		{"calls.cmd", NotRun, ""}, // as if what it calls were nowhere; cmd.exe of Wine ends otherwise
	} {
		h := Hook{Glob: "**", Command: []string{row.command, "one"}, Timeout: time.Minute, From: filepath.Join(settings, "settings.json")}
		all, stop, err := r.Before(t.Context(), Round{Hooks: List{h}, Dir: ws, Barred: inWorkspace})
		if err != nil || stop == nil || stop.Ending != row.ending || !strings.Contains(stop.Said, row.said) || strings.Contains(all[0].Said, "HIJACK") {
			t.Errorf("%s: %+v, %v", row.command, all, err)
		}
	}
	h := Hook{Command: []string{"beside.cmd", "a&b"}, Timeout: time.Minute, From: filepath.Join(settings, "settings.json")}
	if _, stop, err := r.Before(t.Context(), Round{Hooks: List{h}, Dir: ws}); err != nil || stop == nil || stop.Ending != NotRun || !strings.Contains(stop.Why, "syntax") {
		t.Errorf("%+v, %v", stop, err)
	}
}

// What cmd.exe is given to run is no file of the workspace, either.
func TestCommandLineOfCmd(t *testing.T) {
	ws, bin := t.TempDir(), t.TempDir()
	cmd := filepath.Join(bin, "cmd.exe")
	for _, name := range []string{cmd, filepath.Join(ws, "guard.cmd"), filepath.Join(ws, "guard.py")} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inWorkspace := func(name string) bool { return strings.HasPrefix(strings.ToLower(name), strings.ToLower(ws)) }
	r := New(Options{Env: []string{"PATH=" + bin}})
	for _, row := range []struct {
		barred bool
		words  []string
	}{
		{true, []string{"/c", `.\guard.cmd`}}, {true, []string{"/d", "/s", "/c", `.\guard`}}, {true, []string{"/c", "echo x& " + ws + `\guard.cmd`}}, {true, []string{"/c", `call .\guard.cmd`}},
		{true, []string{"/c", "(.\\guard.cmd)"}}, {true, []string{"/c", "%CD%\\guard.cmd"}}, {true, []string{"/c", "python guard.py"}}, {true, []string{"/c", `"` + ws + `\guard.cmd" x`}},
		{false, []string{"/c", "type guard.cmd"}}, {false, []string{"/d", "/c", "guard.cmd"}}, {false, []string{"/c", "findstr /r x"}}, {false, []string{"/c", "exit", "2"}}, {false, nil},
	} {
		_, err := r.Check(Hook{Command: append([]string{"cmd"}, row.words...)}, ws, inWorkspace)
		if errors.As(err, new(*BarredError)) != row.barred || !row.barred && err != nil {
			t.Errorf("%q: %v", row.words, err)
		}
	}
	if _, err := r.Check(Hook{Command: []string{"guard"}}, ws, inWorkspace); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}
