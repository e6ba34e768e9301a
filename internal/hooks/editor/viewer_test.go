//go:build unix

package editor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// machine is a user's: a folder of programs, a state folder, a clock.
type machine struct {
	t                *testing.T
	bin, state, said string
	env              map[string]string
	now              time.Time
}

func newMachine(t *testing.T, programs ...string) *machine {
	t.Helper()
	top := t.TempDir()
	d := &machine{t: t, bin: top + "/bin", state: top + "/state", said: top + "/said", env: map[string]string{}, now: time.Now()}
	for _, dir := range []string{d.bin, d.state} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range programs {
		if err := mcptest.WriteProgram(filepath.Join(d.bin, name), `echo "$0 $*" >>`+d.said); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *machine) viewer() *Viewer {
	return New(Options{
		Dir:    func(context.Context) (string, error) { return d.state, nil },
		Getenv: func(name string) string { return d.env[name] },
		LookPath: func(name string) (string, error) {
			if !strings.Contains(name, "/") {
				name = filepath.Join(d.bin, name)
			}
			return exec.LookPath(name)
		},
		Now: func() time.Time { return d.now },
	})
}

// shows shows a change of a file whose old text is the time.
func (d *machine) shows(path string, command ...string) error {
	before := filepath.Join(filepath.Dir(d.bin), "before")
	if err := os.WriteFile(before, []byte(d.now.String()), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return d.viewer().Show(d.t.Context(), hooks.HookInput{Event: hooks.AfterEdit, Path: path, Session: "s", Before: before}, command)
}

// windows waits for so many lines of editors, and returns all that there are.
func (d *machine) windows(n int) []string {
	d.t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		b, _ := os.ReadFile(d.said)
		if lines := strings.SplitAfter(string(b), "\n"); len(lines)-1 >= n {
			return lines[:len(lines)-1]
		}
		if time.Since(began) > time.Minute {
			d.t.Fatalf("%d editors: not after a minute; so far %q", n, b)
		}
	}
}

func TestFind(t *testing.T) {
	all := []string{"code", "cursor", "zed", "idea", "nvim", "tmux", "zellij", "screen"}
	for _, c := range []struct {
		programs []string
		env      string
		given    []string
		want     string // without the folder of the programs; "": none
	}{
		{all, "", nil, "code --diff"},
		{all[1:], "", nil, "cursor --diff"},
		{all[2:], "", nil, "zed --diff"},
		{all[3:], "TMUX", nil, "idea diff"},
		{all[4:], "TMUX", nil, "tmux new-window -d nvim -d"},
		{all[4:], "ZELLIJ", nil, "zellij run --close-on-exit -- nvim -d"},
		{all[4:], "STY", nil, "screen nvim -d"},
		{all[4:], "", nil, ""},
		{all[4:5], "TMUX", nil, ""},
		{nil, "TMUX", nil, ""},
		{all, "", []string{"zed"}, "zed --diff"},
		{all, "", []string{"zed", "--wait"}, "zed --wait"},
		{all, "", []string{"nvim"}, ""},
		{all, "TMUX", []string{"nvim", "-d", "-R"}, "tmux new-window -d nvim -d -R"},
		{all, "", []string{"meld"}, ""},
		{[]string{"meld"}, "", []string{"meld"}, "meld"},
		{[]string{"meld"}, "", nil, ""},
	} {
		d := newMachine(t, c.programs...)
		if c.env != "" {
			d.env[c.env] = "1"
		}
		got, err := d.viewer().find(c.given)
		if text := strings.ReplaceAll(strings.Join(got, " "), d.bin+"/", ""); text != c.want || (err == nil) != (c.want != "") || err != nil && !errors.Is(err, errNoEditor) {
			t.Errorf("%q of %q, %s: %q, %v", c.given, c.programs, c.env, text, err)
		}
	}
}

// A burst has one window, and the pause after it a new one; the first one's old text stays.
func TestBursts(t *testing.T) {
	d := newMachine(t, "code", "cursor")
	first := d.now.String()
	for range 5 {
		if err := d.shows("/p/a.go"); err != nil {
			t.Fatal(err)
		}
		d.now = d.now.Add(burst)
	}
	if got := d.windows(1); len(got) != 1 {
		t.Errorf("%q", got)
	}
	d.now = d.now.Add(time.Second)
	for _, show := range []struct {
		path   string
		editor []string
	}{{"/p/a.go", nil}, {"/p/b.go", nil}, {"/p/a.go", []string{"cursor"}}} {
		if err := d.shows(show.path, show.editor...); err != nil {
			t.Fatal(err)
		}
	}
	got := d.windows(4)
	if len(got) != 4 {
		t.Errorf("%q", got)
	}
	b, err := os.ReadFile(strings.Fields(got[0])[2])
	if err != nil || string(b) != first {
		t.Errorf("%q, %v", b, err)
	}
}

// An editor that appears after it was reported as missing is used. The next session gets
// the error again.
func TestMissingIsReportedOnce(t *testing.T) {
	d := newMachine(t)
	if err := d.shows("/p/a.go"); !errors.Is(err, errNoEditor) {
		t.Errorf("%v", err)
	}
	if err := d.shows("/p/b.go"); err != nil {
		t.Error(err)
	}
	e := hooks.HookInput{Event: hooks.AfterEdit, Path: "/p/a.go", Session: "another"}
	if err := d.viewer().Show(t.Context(), e, nil); !errors.Is(err, errNoEditor) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(d.bin+"/code", []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	e.Session = "third"
	if err := d.viewer().Show(t.Context(), e, nil); !errors.Is(err, errNoEditor) || !strings.Contains(err.Error(), "could not be started") {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(d.state + "/diff/*/*"); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if err := mcptest.WriteProgram(d.bin+"/code", "echo >>"+d.said); err != nil {
		t.Fatal(err)
	}
	if err := d.shows("/p/a.go"); err != nil {
		t.Error(err)
	}
	d.windows(1)
}

func TestSweep(t *testing.T) {
	d := newMachine(t, "code")
	if err := d.shows("/p/a.go"); err != nil {
		t.Fatal(err)
	}
	old, err := filepath.Glob(d.state + "/diff/*")
	if err != nil || len(old) != 2 { // the text and the mark
		t.Fatalf("%q, %v", old, err)
	}
	d.now = d.now.Add(keepCopies - time.Hour)
	if err := d.shows("/p/b.go"); err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	d.now = d.now.Add(2 * time.Hour)
	if err := d.shows("/p/b.go"); err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	d.windows(3) // the editors have ended
}

// What is no event of a change that was made opens nothing.
func TestNoChange(t *testing.T) {
	d := newMachine(t, "code")
	for _, e := range []hooks.HookInput{{}, {Event: hooks.BeforeEdit, Path: "/p/a"}, {Event: hooks.AfterEdit, Path: "a"}} {
		if err := d.viewer().Show(t.Context(), e, nil); err == nil {
			t.Errorf("%+v passes", e)
		}
	}
	gone := hooks.HookInput{Event: hooks.AfterEdit, Path: "/p/a", Before: d.bin + "/gone"}
	if err := d.viewer().Show(t.Context(), gone, nil); err == nil || !strings.Contains(err.Error(), "old text") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(d.said); err == nil {
		t.Error("an editor was started")
	}
}
