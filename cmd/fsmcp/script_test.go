package main

import (
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

var update = flag.Bool("update", false, "rewrite what scripts and transcripts expect")

func TestMain(m *testing.M) {
	// The race detector sleeps a second at every exit, and scripts exit often.
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	testscript.Main(withProgram{m}, map[string]func(){"fake-language-server": fakeLanguageServer})
}

// TestScripts runs testdata/script: one file for each promise, over the real
// program in a process of its own.
func TestScripts(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) { // nohup started the tests: programs must not inherit that
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Run(t, testscript.Params{
		Files:              scriptFiles(t),
		Setup:              setUpScript,
		Cmds:               scriptCommands(),
		Condition:          scriptCondition,
		UpdateScripts:      *update,
		RequireUniqueNames: true,
	})
}

// scriptFiles returns the scripts but for those that differ on this system.
func scriptFiles(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts")
	}
	all := len(files)
	files = slices.DeleteFunc(files, func(name string) bool {
		return differs[scriptName(name)] != ""
	})
	if len(differs) > 0 {
		t.Logf("!!! NOT TESTED: %d of %d scripts are left out on this system !!!", len(differs), all)
	}
	if all-len(files) != len(differs) {
		t.Errorf("%d scripts are left out, not %d", all-len(files), len(differs))
	}
	if runtime.GOOS != "windows" {
		files = slices.DeleteFunc(files, isForWindows)
	}
	if !quick() {
		return files
	}
	all = len(files)
	files = quickScripts(t, files)
	t.Logf("!!! SHORT: %d of %d scripts are NOT TESTED: those that start more than one program, but for one of each topic, or take long; make test runs all, go test -run TestScripts/NAME ./cmd/fsmcp one !!!", all-len(files), all)
	return files
}

// startsAProgram matches a line of a script that starts a program: a server, another one, or
// what reads PDFs.
var startsAProgram = regexp.MustCompile(`(?m)^(\[[^\]]*\] )*(! )?(serve|restart|exec|media)\b`)

// quick reports whether make quick runs the tests. go test -short alone, which runs them on other
// systems, leaves out fewer scripts.
func quick() bool { return os.Getenv("FSMCP_QUICK") != "" }

// quickScripts returns the scripts that make quick runs: those that start one program at most, since
// a script takes as long as the programs that it starts, and the one that starts fewest of each topic
// that has none of them. The topic is the first word of a name. Left out are scripts that skip
// themselves in a short run and, of those that start more, those that need the decoder.
func quickScripts(t *testing.T, files []string) (quick []string) {
	type choice struct {
		starts int
		file   string
	}
	fewest := map[string]choice{} // by topic
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(b), "\n-- ") // the files that it needs follow
		if strings.Contains(script, "\n[short] skip") || strings.Contains(script, "\n[quick] skip") {
			continue
		}
		topic, _, _ := strings.Cut(scriptName(file), "_")
		starts := len(startsAProgram.FindAllString(script, -1))
		if starts < 2 {
			quick = append(quick, file)
		} else if strings.Contains(script, "\nmedia\n") {
			continue
		}
		if c, ok := fewest[topic]; !ok || starts < c.starts {
			fewest[topic] = choice{starts, file}
		}
	}
	for _, c := range fewest {
		if c.starts > 1 {
			quick = append(quick, c.file)
		}
	}
	return quick
}

func scriptName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

// isForWindows reports whether a script says in the words of Windows what another one
// promises, or tests what Windows alone does: see TestScriptsUnderWine.
func isForWindows(file string) bool { return strings.HasSuffix(scriptName(file), "_on_windows") }

// setUpScript gives a script a home and a folder outside its workspace, both
// beside $WORK, so that neither is inside the other.
func setUpScript(env *testscript.Env) error {
	d := &driver{work: env.WorkDir, home: env.WorkDir + ".home", outside: env.WorkDir + ".outside"}
	for _, dir := range []string{d.home, d.outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	env.Setenv("HOME", d.home)
	if runtime.GOOS == "windows" {
		env.Setenv("USERPROFILE", d.home)
		env.Setenv("APPDATA", filepath.Join(d.home, "AppData", "Roaming"))
		env.Setenv("LOCALAPPDATA", filepath.Join(d.home, "AppData", "Local"))
		for _, name := range []string{"SYSTEMROOT", "PATHEXT", "COMSPEC"} {
			env.Setenv(name, os.Getenv(name))
		}
	}
	env.Setenv("OUTSIDE", d.outside)
	if program, err := exec.LookPath("fsmcp"); err == nil {
		env.Setenv("FSMCP", program)
	}
	env.Setenv("UID", d.uid())
	env.Values[driverKey{}] = d
	env.Defer(func() {
		err := d.cleanUp()
		os.RemoveAll(d.home)
		os.RemoveAll(d.outside)
		if err != nil {
			env.T().Log("when the server was shut down: ", err)
			env.T().FailNow()
		}
	})
	return nil
}

func scriptCondition(cond string) (bool, error) {
	switch cond {
	case "onwindows": // the program is that for Windows
		return runtime.GOOS == "windows", nil
	case "root":
		return os.Geteuid() == 0, nil
	case "mount":
		return canMount(), nil
	case "sandbox":
		return canSandbox(), nil
	case "race":
		return slowdown > 1, nil
	case "quick": // make quick
		return quick(), nil
	case "full": // make faults runs it
		return shortrun.Full(), nil
	}
	return false, nil
}

// canMount reports whether a small tmpfs can be mounted, which a full disk is
// made of.
func canMount() bool {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return false
	}
	dir, err := os.MkdirTemp("", "can-mount")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).Run() != nil {
		return false
	}
	return exec.Command("umount", dir).Run() == nil
}
