//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// speaks has the fake language server serve *.x files in a mode. The folder of its notes
// is outside the workspace.
func (f *fort) speaks(mode string) {
	f.t.Helper()
	f.check(os.MkdirAll(f.notes(), 0o755))
	f.lsp(map[string]any{"fake": map[string]any{"command": []string{"fake-language-server", mode, f.notes()}, "extensions": map[string]string{".x": "x"}}})
}

func (f *fort) lsp(value any) {
	f.t.Helper()
	text, err := json.Marshal(map[string]any{"lsp": value})
	f.check(err)
	f.put(f.home+"/.config/fsmcp/settings.json", string(text))
}

// notes is the folder of the fake language server's notes.
func (f *fort) notes() string { return f.outside + "/notes" }

// received returns what the fake language server was told.
func (f *fort) received() string {
	text, err := os.ReadFile(f.notes() + "/said")
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	return string(text)
}

// servers returns the processes that language servers have started, themselves included.
func (f *fort) servers() (pids []int) {
	names, err := filepath.Glob(f.notes() + "/[0-9]*")
	f.check(err)
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		f.check(err)
		pids = append(pids, pid)
	}
	return pids
}

// noServerLeft fails if a process of a language server outlives fsmcp.
func (f *fort) noServerLeft() {
	f.t.Helper()
	for _, pid := range f.servers() {
		if lives(pid) {
			f.t.Errorf("process %d is left", pid)
		}
	}
}

// peak is the most memory that the server has had, in MB; 0 where the system does not say.
func (f *fort) peak() (megabytes int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.client.PID()))
	_, text, _ := strings.Cut(string(b), "VmHWM:")
	fmt.Sscan(text, &megabytes)
	return megabytes >> 10
}

// later makes calls until an answer holds a text, which a language server may say late. It
// returns that answer.
func (f *fort) later(text string) string {
	f.t.Helper()
	var all []string
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(50 * time.Millisecond) {
		answer := f.call("Read", map[string]any{"file_path": f.abs("plain.txt")}).Text
		if strings.Contains(answer, text) {
			return answer
		}
		if strings.Contains(answer, "report") {
			all = append(all, answer)
		}
	}
	f.t.Fatalf("no answer says %q: %q\ntold: %s\nstandard error: %s", text, all, f.received(), f.stderr)
	return ""
}

// slowest is the most that one edit may take because of language servers.
const slowest = 1600*time.Millisecond + (slowdown-1)*200*time.Millisecond

// hostileModes are the ways in which the fake language server goes wrong: a part of them,
// and then the rest, for "make faults".
var hostileModes = [2][]string{
	{"hang-start+stubborn+child", "hang-initialize", "hang-change", "crash-initialize", "crash-change+child", "slow", "flood", "swarm", "other", "late+stubborn", "garbage", "header"},
	{
		"hang-start", "hang-initialized", "hang-open", "hang-save", "hang-shutdown", "hang-change+stubborn+child",
		"crash-start", "crash-initialized", "crash-open", "crash-change", "crash-save", "crash-shutdown",
		"silent", "flood-many", "late", "huge", "stderr",
	},
}

// stepWords name the notes of the fake language server at each step.
var stepWords = map[string]string{"start": "start", "initialize": "initialize ", "initialized": "initialized", "open": "didOpen", "change": "didChange ", "save": "didSave"}

// Whatever a language server does, no edit takes long or fails, memory is bounded, nothing
// denied is told, and no process is left after the session.
func TestHostileLanguageServers(t *testing.T) {
	t.Parallel()
	modes := hostileModes[0]
	if os.Getenv("FSMCP_HOSTILE_SERVERS") != "" {
		modes = append(modes, hostileModes[1]...)
	}
	var all sync.WaitGroup
	places := make(chan bool, 8) // subtests would run two at a time, and they wait for the most part
	for _, mode := range modes {
		all.Go(func() {
			places <- true
			defer func() { <-places }()
			took := withHostile(t, mode)
			for again := 0; took > slowest && again < 2; again++ { // the machine may have been busy for a moment
				took = min(took, withHostile(t, mode))
			}
			if took > slowest {
				t.Errorf("%s: an edit took %v more than one without a language server", mode, took)
			}
		})
	}
	all.Wait()
}

// withHostile makes edits beside a fake language server, and returns how much longer one
// took than the slowest of those of a file that is of no language.
func withHostile(t *testing.T, mode string) (most time.Duration) {
	f := newFort(t)
	f.speaks(mode)
	f.put("plain.txt", "plain\n")
	f.put("other.x", "other\n")
	f.put("secret.x", canary+"\n")
	f.serve("--deny", "Read(secret.x)")
	var control time.Duration
	timed := func(tool string, args map[string]any) {
		t.Helper()
		began := time.Now()
		f.call("Write", map[string]any{"file_path": f.abs("control.txt"), "content": began.String()})
		control = max(control, time.Since(began))
		began = time.Now()
		res := f.call(tool, args)
		most = max(most, time.Since(began))
		if res.IsError || len(res.Text) > 20_000 {
			t.Errorf("%s: %s", tool, clipText(res.Text))
		}
	}
	timed("Write", map[string]any{"file_path": f.abs("a.x"), "content": "line 0\n"})
	f.until("the server starts", func() bool { return f.received() != "" })
	time.Sleep(1200 * time.Millisecond) // the problems before the first change are known then
	for i := range 7 {
		timed("Edit", map[string]any{"file_path": f.abs("a.x"), "old_string": fmt.Sprint("line ", i), "new_string": fmt.Sprint("line ", i+1)})
		time.Sleep(150 * time.Millisecond) // a server may start or crash
	}
	timed("Write", map[string]any{"file_path": f.abs("b.x"), "content": "ERROR in b\n"})
	f.holds("a.x", "line 7\n")
	if what, step, _ := strings.Cut(strings.Split(mode, "+")[0], "-"); (what == "hang" || what == "crash") && step != "shutdown" && !strings.Contains(f.received(), stepWords[step]) {
		t.Errorf("it was not told to %s: %s", step, f.received())
	}
	peak := f.peak()
	if peak > 150*slowdown {
		t.Errorf("the server took %d MB", peak)
	}
	starts := strings.Count(f.received(), "start \n")
	if starts < 1 || starts > 4 {
		t.Errorf("the language server was started %d times", starts)
	}
	began := time.Now()
	f.close()
	if took := time.Since(began); took > 2*time.Second*slowdown {
		t.Errorf("the end took %v", took)
	}
	f.noServerLeft()
	f.noCanary()
	t.Logf("%s: longest edit %v (control %v), peak %d MB, %d starts, end %v", mode, most.Round(time.Millisecond), control.Round(time.Millisecond), peak, starts, time.Since(began).Round(time.Millisecond))
	return most - control
}

// The control: a language server that does nothing wrong is heard, in each way of the
// protocol, and told what the disk holds.
func TestLanguageServer(t *testing.T) {
	for _, mode := range []string{"normal", "full", "pull", "asks", "asks+pull+child"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			f := newFort(t)
			f.speaks(mode)
			f.put("plain.txt", "plain\n")
			path := f.put("a.x", "one\nERROR old\nthree 𝄞 é\nfour\n")
			f.serve("PATH=" + f.ws + "/bin:bin:" + os.Getenv("PATH"))
			f.call("Read", map[string]any{"file_path": path})
			f.edit("a.x", "one\n", "one\nnew line\n")
			f.until("the server is told", func() bool { return strings.Contains(f.received(), "didOpen") })
			time.Sleep(100 * time.Millisecond * slowdown)
			if answer := f.call("Read", map[string]any{"file_path": f.abs("plain.txt")}).Text; strings.Contains(answer, "found old") {
				t.Errorf("an old problem: %s", answer)
			}
			answer := f.edit("a.x", "three 𝄞 é", "three 𝄞 é and ERROR fresh")
			if !strings.Contains(answer, "found fresh") {
				answer = f.later("found fresh")
			}
			if strings.Contains(answer, "found old") || strings.Count(answer, "found fresh") > 1 {
				t.Errorf("%s", answer)
			}
			answer = f.edit("a.x", "𝄞 é and ERROR fresh", "𝄞")
			if !strings.Contains(answer, "found fresh") {
				answer = f.later("found fresh")
			}
			if at := strings.Index(answer, "fake no longer reports in a.x: found fresh"); at < 0 || strings.Contains(answer, "found old") || strings.Contains(answer[at:], "\n") {
				t.Errorf("%s", answer)
			}
			f.close()
			f.noServerLeft()
			for _, wrong := range []string{"a range, not", "another text", "PATH bin:", "PATH " + f.ws, ":bin:", f.ws + "/bin"} {
				if strings.Contains(f.received(), wrong) {
					t.Errorf("%s", f.received())
				}
			}
			if said := f.received(); mode == "asks" && !strings.Contains(said, "answered no/such/method") || !strings.Contains(said, "shutdown") || !strings.Contains(said, "exit") {
				t.Errorf("%s", said)
			}
		})
	}
}

// The answers are those of docs/language-servers.md.
func TestThePagesProblems(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	f.speaks("normal")
	f.lsp(map[string]any{"gopls": map[string]any{"command": []string{"fake-language-server", "normal", f.notes()}}})
	f.put(f.notes()+"/rules", "word }\tundefined: word\nOld int\tan old error\nSum(1, 2)\tundefined: Sum\n")
	f.put("plain.txt", "plain\n")
	f.put("go.mod", "module example.com/shop\n")
	f.put("total.go", "package shop\n\nvar Old int = \"old\"\n\nfunc Total() int { return Sum(2, 1) }\n")
	f.serve()
	f.call("Read", map[string]any{"file_path": f.abs("total.go")})
	f.edit("total.go", "func Total", "// Total is three.\nfunc Total")
	f.until("the server is told", func() bool { return strings.Contains(f.received(), "didOpen") })
	broken := strings.Join([]string{
		"gopls reports 1 new error:",
		"total.go:6:39: undefined: word",
	}, "\n")
	answer := f.edit("total.go", "Sum(2, 1) }", "Sum(1, 1) + word }")
	if !strings.Contains(answer, broken) {
		answer = f.later(broken)
	}
	if !strings.HasSuffix(answer, broken) {
		t.Errorf("%s", answer)
	}
	mended := "gopls no longer reports in total.go: undefined: word"
	if answer = f.edit("total.go", " + word", ""); !strings.Contains(answer, mended) {
		answer = f.later(mended)
	}
	if !strings.HasSuffix(answer, mended) {
		t.Errorf("%s", answer)
	}
}

// A change of the setting holds from the next change of a file on.
func TestLanguageServersAreReloaded(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	f.speaks("normal")
	f.put("plain.txt", "0\n")
	f.serve()
	f.call("Write", map[string]any{"file_path": f.abs("a.x"), "content": "0\n"})
	f.until("a server runs", func() bool { return strings.Contains(f.received(), "didOpen") })
	text := 0
	edit := func() {
		f.edit("a.x", strconv.Itoa(text), strconv.Itoa(text+1))
		text++
	}
	f.lsp("off")
	f.until("it ends", func() bool {
		edit()
		return !lives(f.servers()[0])
	})
	f.speaks("normal+child")
	f.until("another one runs", func() bool {
		edit()
		return len(f.servers()) == 3
	})
	f.speaks("silent")
	f.until("it is replaced", func() bool {
		edit()
		running := 0
		for _, pid := range f.servers() {
			if lives(pid) {
				running++
			}
		}
		return len(f.servers()) == 4 && running == 1
	})
	f.close()
	f.noServerLeft()
}

// Nothing is started without the setting, by a project's setting, from the workspace, or
// for files that the rules deny or ask about.
func TestNoLanguageServer(t *testing.T) {
	edits := func(f *fort) {
		f.t.Helper()
		f.put("a.x", "ERROR one\n")
		f.call("Read", map[string]any{"file_path": f.abs("a.x")})
		f.call("Edit", map[string]any{"file_path": f.abs("a.x"), "old_string": "one", "new_string": "two"})
		f.call("Write", map[string]any{"file_path": f.abs("new.x"), "content": "ERROR\n"})
	}
	quiet := func(f *fort) {
		f.t.Helper()
		f.close()
		if said, pids := f.received(), f.servers(); said != "" || len(pids) > 0 {
			f.t.Errorf("started: %s %v", said, pids)
		}
	}
	t.Run("without the setting", func(t *testing.T) {
		f := newFort(t)
		f.speaks("normal")
		f.lsp("off")
		f.serve()
		edits(f)
		quiet(f)
	})
	t.Run("by a command", func(t *testing.T) {
		f := newFort(t)
		f.speaks("normal")
		cmd := exec.Command("fsmcp", "call", "--dir", f.ws, "Write", `{"file_path": "a.x", "content": "ERROR\n"}`, "Write", `{"file_path": "b.x", "content": "ERROR\n"}`)
		cmd.Env = append(os.Environ(), "HOME="+f.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")
		out, err := cmd.CombinedOutput()
		f.check(err)
		if said := f.received(); said != "" {
			t.Errorf("started: %s\n%s", said, out)
		}
		f.holds("b.x", "ERROR\n")
	})
	t.Run("by a project", func(t *testing.T) {
		f := newFort(t)
		f.speaks("normal")
		own, err := os.ReadFile(f.home + "/.config/fsmcp/settings.json")
		f.check(err)
		f.check(os.Remove(f.home + "/.config/fsmcp/settings.json"))
		f.put(".fsmcp/settings.json", string(own))
		f.put(".fsmcp/settings.local.json", string(own))
		f.serve("--trust-project")
		edits(f)
		quiet(f)
	})
	t.Run("from the workspace", func(t *testing.T) {
		f := newFort(t)
		f.speaks("normal")
		program := f.put("bin/planted", "#!/bin/sh\ntouch "+f.notes()+"/4711\n")
		f.check(os.Chmod(program, 0o755))
		for _, command := range [][]string{{program}, {"planted"}, {"sh", program}, {"./bin/planted"}} {
			f.lsp(map[string]any{"fake": map[string]any{"command": command, "extensions": map[string]string{".x": "x"}}})
			f.serve("PATH=" + f.ws + "/bin:bin:.:" + os.Getenv("PATH"))
			edits(f)
			quiet(f)
		}
	})
	t.Run("for denied files", func(t *testing.T) {
		f := newFort(t)
		f.speaks("normal")
		f.serve("--deny", "Read(*.x)")
		edits(f)
		quiet(f)
	})
	t.Run("for files that are asked about", func(t *testing.T) {
		home, ws := t.TempDir(), t.TempDir()
		f := &fort{t: t, ws: ws, home: home, outside: t.TempDir()}
		f.speaks("normal")
		p := scene{revision: mcptest.Latest, dir: ws, home: home}.meet(t, "--ask", "Read(*.x)")
		p.will("accept", "once")
		f.put("a.x", "ERROR one\n")
		if a := p.try("Read", map[string]any{"file_path": f.abs("a.x")}); a.isError {
			t.Fatalf("%s", a.text)
		}
		if a := p.try("Edit", map[string]any{"file_path": f.abs("a.x"), "old_string": "one", "new_string": "two"}); a.isError {
			t.Fatalf("%s", a.text)
		}
		if said, pids := f.received(), f.servers(); said != "" || len(pids) > 0 {
			t.Errorf("started: %s %v", said, pids)
		}
	})
}
