//go:build unix

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

// yard is a workspace, the folder of the user's settings and a folder of PATH.
type yard struct {
	t                        *testing.T
	ws, settings, bin, elder string
	env                      []string
}

func newYard(t *testing.T) *yard {
	t.Helper()
	top := t.TempDir()
	y := &yard{t: t, ws: top + "/ws", settings: top + "/home/.config/fsmcp", bin: top + "/bin", elder: top + "/elder"}
	for _, dir := range []string{y.ws + "/sub", y.ws + "/lib", y.settings, y.bin, y.elder} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	y.env = []string{"PATH=:.:bin:" + y.ws + "/bin:" + y.bin, "HOME=" + top + "/home", "WS=" + y.ws, "TOOL=" + y.bin + "/tool", "TWO=sh " + y.ws + "/guard", "FLAT=guard"}
	return y
}

// program makes a file that can be run.
func (y *yard) program(name string) {
	y.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755); err != nil {
		y.t.Fatal(err)
	}
}

// inWorkspace compares names without links.
func (y *yard) inWorkspace(name string) bool {
	if real, err := filepath.EvalSymlinks(name); err == nil && strings.HasPrefix(real+"/", y.ws+"/") {
		return true
	}
	return strings.HasPrefix(name+"/", y.ws+"/")
}

func (y *yard) check(trusted bool, command ...string) (string, error) {
	barred := y.inWorkspace
	if trusted {
		barred = nil
	}
	return New(Options{Env: y.env}).Check(Hook{Command: command, From: filepath.Join(y.settings, "settings.json")}, y.ws, barred)
}

// A command is found in PATH or beside the settings, never in the workspace where it
// runs. Programs of its name lie there in every way in which PATH could lead to them.
func TestProgramIsNeverTheWorkspaces(t *testing.T) {
	y := newYard(t)
	for _, name := range []string{"inPath", "beside", "nowhere", "sub/beside"} {
		for _, dir := range []string{y.ws, y.ws + "/bin"} {
			y.program(dir + "/" + name)
		}
	}
	y.program(y.bin + "/inPath")
	y.program(y.settings + "/inPath")
	y.program(y.settings + "/beside")
	y.program(y.settings + "/sub/beside")
	for command, want := range map[string]string{
		"inPath": y.bin + "/inPath", "beside": y.settings + "/beside", "./beside": y.settings + "/beside", "sub/beside": y.settings + "/sub/beside",
		"../fsmcp/beside": y.settings + "/beside", y.bin + "/inPath": y.bin + "/inPath",
	} {
		if got, err := y.check(false, command); got != want || err != nil {
			t.Errorf("%s is %s, %v; want %s", command, got, err, want)
		}
	}
	barred := (*BarredError)(nil)
	for _, trusted := range []bool{false, true} {
		if got, err := y.check(trusted, "./nowhere"); err == nil || errors.As(err, &barred) {
			t.Errorf("./nowhere is %s, %v", got, err)
		}
	}
	if _, err := y.check(false, "nowhere"); !errors.As(err, &barred) || barred.File != y.ws+"/bin/nowhere" {
		t.Errorf("it lies in the workspace alone: %v", err)
	}
	if got, err := y.check(true, "nowhere"); err != nil || got != y.ws+"/bin/nowhere" {
		t.Errorf("of a trusted project: %s, %v", got, err)
	}
	if _, err := y.check(true, "missing"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// What a command would run in a workspace directory, by whatever words, is barred. Each
// of them runs where the project is trusted: the control arm.
func TestWhatLiesInTheWorkspaceIsBarred(t *testing.T) {
	y := newYard(t)
	t.Chdir(y.elder) // a name that starts in the working directory of the server leads nowhere
	for _, name := range []string{"/guard", "/guard.py", "/guard.js", "/lib/hook.js", "/black.py", "/-guard"} {
		y.program(y.ws + name)
	}
	for _, name := range []string{"sh", "bash", "python3.12", "node", "env", "perl", "ruby", "java", "timeout", "nice", "xargs", "sudo", "tool", "go", "awk", "make", "flock", "deno"} {
		y.program(y.bin + "/" + name)
	}
	link := func(to, name string) {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	link(y.ws+"/guard", y.bin+"/linked")
	link(y.ws+"/guard", y.settings+"/linkedBeside")
	link(y.bin+"/tool", y.ws+"/linkOut")
	link(y.ws, y.elder+"/other")
	for _, command := range [][]string{
		{y.ws + "/guard"}, {y.ws + "/sub/../guard"}, {"linked"}, {"./linkedBeside"}, {"linkedBeside"}, {y.ws + "/linkOut"}, {y.elder + "/other/guard"}, {"../../../ws/guard"},
		{"sh", "guard"}, {"sh", "./guard"}, {"sh", "-eu", "--", "guard"}, {"bash", "--rcfile", "guard", "-i"}, {"bash", "--init-file=guard"}, {"bash", "-o", "pipefail", "guard"}, {"sh", y.bin + "/linked"},
		{"python3.12", "guard.py"}, {"python3.12", "-W", "ignore", "guard.py"}, {"python3.12", "-Werror", "-u", "guard.py"}, {"python3.12", "-m", "black"}, {"python3.12", "-mblack.cli"},
		{"node", "guard.js"}, {"node", "-r", "./lib/hook.js", y.bin + "/tool"}, {"node", "--require=./lib/hook.js", y.bin + "/tool"}, {"node", "--import", "./lib/hook.js", y.bin + "/tool"},
		{"perl", "-Ilib", "-e", "1"}, {"perl", "-w", "guard"}, {"ruby", "-I", "lib", y.bin + "/tool"}, {"java", "-jar", "guard"}, {"go", "run", "./sub"}, {"deno", "run", "guard.js"}, {"awk", "-f", "guard"}, {"make", "-f", "guard"},
		{"env", "./guard"}, {"env", "-i", "A=b/c", "./guard"}, {"env", "-u", "A", "sh", "guard"}, {"env", "-S", "sh guard"}, {"env", "-S./guard x"}, {"env", "--split-string=sh './guard'"}, {"env", "PATH=" + y.ws + "/bin", "guard"}, {"env", "PATH=sub", "guard"},
		{"timeout", "-k", "1", "5", "./guard"}, {"nice", "-n", "5", "sh", "guard"}, {"sudo", "-u", "me", "./guard"}, {"xargs", "-n", "1", "./guard"}, {"flock", "/dev/null", "./guard"}, {"flock", "/dev/null", "-c", "./guard"},
		{"sh", "-c", "./guard"}, {"sh", "-ec", "./guard"}, {"sh", "-c", "-e", "./guard"}, {"sh", "-c", "sub/../guard"}, {"sh", "-c", "true; ./guard"}, {"sh", "-c", "true && ./guard || exit 2"}, {"sh", "-c", "jq . | ./guard"},
		{"sh", "-c", "if ./guard; then exit 2; fi"}, {"sh", "-c", "f() { ./guard; }; f"}, {"sh", "-c", "(./guard)"}, {"sh", "-c", `x=$(./guard)`}, {"sh", "-c", `echo "$(./guard)"`}, {"sh", "-c", "echo `./guard`"}, {"sh", "-c", "cat <<E\n$(./guard)\nE\n"},
		{"sh", "-c", "exec ./guard"}, {"sh", "-c", ". ./guard"}, {"bash", "-c", "source guard"}, {"sh", "-c", "A=b ./guard"}, {"sh", "-c", "sh guard"}, {"sh", "-c", "sh <guard"}, {"sh", "-c", "eval ./guard"}, {"sh", "-c", "trap ./guard EXIT"},
		{"sh", "-c", `'./guard'`}, {"sh", "-c", `"./guard"`}, {"sh", "-c", `.\/guard`}, {"sh", "-c", `"$PWD/guard"`}, {"sh", "-c", `$PWD/guard`}, {"sh", "-c", `"${WS}"/guard`}, {"sh", "-c", `"$0"`, "./guard"}, {"sh", "-c", `"$1"`, "x", y.ws + "/guard"}, {"sh", "-c", `$TWO`}, {"sh", "-c", `$FLAT/x`},
		{"sh", "-c", `"$(git rev-parse --show-toplevel)/guard"`}, {"sh", "-c", `x=./guard; $x`}, {"sh", "-c", `WS=/; "$WS/guard"`}, {"sh", "-c", `for p in ./guard; do $p; done`}, {"sh", "-c", `read -r p; "$p"`}, {"sh", "-c", `"${WS#x}/guard"`}, {"sh", "-c", `python3 "$(cat name)"`}, {"sh", "-c", `eval "$(cat)"`},
		{"sh", "-c", "PATH=$PWD/bin:$PATH guard"}, {"sh", "-c", "export PATH=.:$PATH; guard"}, {"sh", "-c", "PATH=$(pwd) guard"}, {"sh", "-c", "cd sub && ./guard"}, {"sh", "-c", "cd sub; exec env ./guard"},
		{"sh", "-c", "if"}, {"sh", "-c", "sh -c 'sh -c ./guard'"}, {"env", "sh", "-c", "nice ./guard"},
	} {
		barred := (*BarredError)(nil)
		if _, err := y.check(false, command...); !errors.As(err, &barred) {
			t.Errorf("%q runs: %v", command, err)
		}
		if _, err := y.check(true, command...); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q of a trusted project: %v", command, err)
		}
	}
}

// Most hooks work on files of the workspace; only what they run there is barred.
func TestWhatMerelyReadsTheWorkspaceRuns(t *testing.T) {
	y := newYard(t)
	for _, name := range []string{"/a.py", "/ran", "/sub/x", "/README.md", "/5"} {
		y.program(y.ws + name)
	}
	for _, name := range []string{"sh", "python3", "node", "env", "perl", "timeout", "tool", "gofmt", "go", "sed", "awk", "jq", "prettier"} {
		y.program(y.bin + "/" + name)
	}
	for _, command := range [][]string{
		{"gofmt", "-w"}, {"tool", "./sub/x"}, {y.bin + "/tool", y.ws + "/a.py"}, {"go", "vet", "./sub"}, {"jq", "-r", ".path"}, {"sed", "-i", "s/a/b/", "README.md"}, {"awk", "{print $1/2}", "README.md"},
		{"python3", y.bin + "/tool", "a.py"}, {"python3", "-m", "black", "a.py"}, {"python3", "-c", "import sys", "a.py"}, {"perl", "-pi", "-e", "s/x/y/", "README.md"}, {"perl", "-ne", "print", "README.md"}, {"node", y.bin + "/prettier", "--write", "README.md"}, {"node", "-e", "1", "a.py"},
		{"timeout", "5", "gofmt", "-l", "sub"}, {"env", "A=sub/x", "B=" + y.ws, "gofmt", "README.md"}, {"env", "PATH=/usr/bin:" + y.bin, "gofmt"}, {"env", "gofmt"},
		{"sh", "-c", `gofmt -w "$(jq -r .path)"`}, {"sh", "-c", "echo yes >>ran"}, {"sh", "-c", "cat sub/x >>./ran"}, {"sh", "-c", `read -r line; p=${line#*'"path":"'}; p=${p%%'"'*}; tr a-z A-Z <"$p" >new && mv new "$p"`},
		{"sh", "-c", `[ -e ./ran ] || exit 0; echo $$ >pid; sleep 300`}, {"sh", "-c", "exec <&- >&- 2>&-; sleep 0.1"}, {"sh", "-c", "until [ -e go ]; do sleep 0.05; done"}, {"sh", "-c", `case $(jq -r .path) in */sub/*) echo no >&2; exit 2;; esac`},
		{"sh", "-c", "~/bin/x"}, {"sh", "-c", "$TOOL x"}, {"sh", "-c", `"$TOOL" x`}, {"sh", "-c", "PATH=/opt/bin:$PATH gofmt"}, {"sh", "-c", "export PATH; gofmt"}, {"sh", "-c", `python3 -m black "$(jq -r .path)"`}, {"sh", "-c", `node /opt/x.js "$(jq -r .path)"`}, {"sh", "-c", "perl -e 1 <sub/x"},
		{"sh", "-c", "guard() { true; }; guard"}, {"sh", "-c", "trap - EXIT"}, {"sh", "-c", "cd sub && gofmt -l ."},
	} {
		if _, err := y.check(false, command...); err != nil {
			t.Errorf("%q: %v", command, err)
		}
	}
}

// What a shell looks for in PATH is not found in the workspace, either.
func TestPathOfACommand(t *testing.T) {
	y := newYard(t)
	y.program(y.ws + "/bin/tool")
	y.program(y.ws + "/tool")
	run := func(env string, barred func(string) bool) string {
		r := New(Options{Env: []string{env}})
		defer r.Close()
		h := Hook{Command: []string{"/bin/sh", "-c", `command -v tool; /bin/pwd; echo "$PATH $PWD"`}, Timeout: time.Minute}
		all, _, err := r.Before(t.Context(), Round{Hooks: List{h}, Dir: y.ws, Barred: barred})
		if err != nil || all[0].Ending > Failed {
			t.Fatalf("%+v, %v", all, err)
		}
		return all[0].Said
	}
	for _, c := range []struct{ path, want string }{
		{y.ws + "/bin:" + y.bin, y.ws + "\n" + y.bin + " " + y.ws + "\n"},
		{":.:bin:" + y.bin + ":", y.ws + "\n" + y.bin + " " + y.ws + "\n"},
		{y.ws, y.ws + "\n/dev/null " + y.ws + "\n"},
		{"", y.ws + "\n/dev/null " + y.ws + "\n"},
	} {
		if got := run("PATH="+c.path, y.inWorkspace); got != c.want {
			t.Errorf("%q: %q, want %q", c.path, got, c.want)
		}
	}
	if got := run("PATH="+y.ws+"/bin", nil); !strings.HasPrefix(got, y.ws+"/bin/tool\n") {
		t.Errorf("of a trusted project: %q", got)
	}
}
