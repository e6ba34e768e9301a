package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/winetest"
	"github.com/rogpeppe/go-internal/testscript"
)

const wineVariable = winetest.Variable

// hearingOrWine is the program that scripts run: under TestScriptsUnderWine that for Windows.
func hearingOrWine() {
	if os.Getenv(wineVariable) != "" {
		os.Exit(winetest.RunProxy())
	}
	hearing()
}

// TestScriptsUnderWine runs the scripts with the program for Windows. Those that
// testdata/script/differs_windows.txt lists are left out; with FSMCP_WINE=all they are run
// too, and one that passes is an error.
func TestScriptsUnderWine(t *testing.T) {
	mode := os.Getenv("FSMCP_WINE")
	if mode == "" {
		t.Skip("make wine runs the scripts under Wine")
	}
	wine := winetest.Find(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	differ := differsOnWindows(t, files)
	var count wineCount
	t.Run("scripts", func(t *testing.T) {
		for i, file := range files {
			name := scriptName(file)
			reason := differ[name]
			if mode != "all" && (reason != "" || i%3 != 0 && !isForWindows(file)) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				runUnderWine(t, wine, file, reason, &count)
			})
		}
	})
	fmt.Printf("%s: %d scripts passed, %d processes of Wine hung and were tried again; %d scripts differ on Windows\n",
		t.Name(), count.passed, count.hung, len(differ))
}

type wineCount struct {
	sync.Mutex
	passed, hung int
}

func runUnderWine(t *testing.T, wine *winetest.Wine, file, reason string, count *wineCount) {
	var try *scriptTry
	for range 2 {
		hangs := filepath.Join(t.TempDir(), "hangs")
		try = tryScript(wine, file, hangs)
		if try.stuck {
			t.Fatalf("the script does not end")
		}
		if !try.failed {
			break
		}
		if _, err := os.Stat(hangs); err != nil {
			break
		}
		count.Lock()
		count.hung++
		count.Unlock()
	}
	if try.skipped != "" {
		t.Skip(try.skipped)
	}
	if reason != "" {
		if !try.failed {
			t.Errorf("the script passes, but differs_windows.txt lists it: %s", reason)
		}
		return
	}
	if try.failed {
		t.Fatal(try.log.String())
	}
	count.Lock()
	count.passed++
	count.Unlock()
}

// scriptDeadline ends the programs of a script; half a minute later the script is given up.
const scriptDeadline = 100 * time.Second

// tryScript runs one script in a goroutine of its own, which FailNow and Skip end.
func tryScript(wine *winetest.Wine, file, hangs string) *scriptTry {
	try := &scriptTry{}
	try.Run("", func(testscript.T) {
		testscript.RunT(try, testscript.Params{
			Files: []string{file},
			Setup: func(env *testscript.Env) error {
				if err := setUpScript(env); err != nil {
					return err
				}
				return setUpWine(env, wine, hangs)
			},
			Cmds:     scriptCommands(),
			Deadline: time.Now().Add(scriptDeadline),
			Condition: func(cond string) (bool, error) {
				if cond == "wine" {
					return true, nil
				}
				return scriptCondition(cond)
			},
			RequireUniqueNames: true,
		})
	})
	return try
}

func setUpWine(env *testscript.Env, wine *winetest.Wine, hangs string) error {
	d := env.Values[driverKey{}].(*driver)
	d.windows = wine
	temp := env.Getenv("TMPDIR")
	variable := wine.Proxy(d.home, temp, hangs, []string{d.home, d.outside, d.work})
	name, value, _ := strings.Cut(variable, "=")
	env.Setenv(name, value)
	return nil
}

// scriptTry is the testing.T of one script.
type scriptTry struct {
	log     strings.Builder
	failed  bool
	stuck   bool // it runs on, and its log with it
	skipped string
}

func (s *scriptTry) Skip(args ...any) {
	s.skipped = fmt.Sprint(args...)
	runtime.Goexit()
}

func (s *scriptTry) Fatal(args ...any) {
	s.Log(args...)
	s.FailNow()
}

func (s *scriptTry) FailNow() {
	s.failed = true
	runtime.Goexit()
}

func (s *scriptTry) Parallel()       {}
func (s *scriptTry) Log(args ...any) { fmt.Fprintln(&s.log, args...) }
func (s *scriptTry) Verbose() bool   { return true }

func (s *scriptTry) Run(_ string, f func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(s)
	}()
	select {
	case <-done:
	case <-time.After(scriptDeadline + 30*time.Second):
		s.stuck = true
	}
}

// windowsReasons are why a script may differ on Windows. A fault of fsmcp is none.
var windowsReasons = []string{
	"links", "fifos", "owners", "modes", "terminal", "signals", "mounts", "sh hooks",
	"forbidden names", "unix places", "system words", "processes", "wine",
}

// differsOnWindows reads the table of the scripts that cannot pass on Windows, or not under
// Wine: a name and a reason on each line, and after ":" what differs.
func differsOnWindows(t *testing.T, files []string) map[string]string {
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "script", "differs_windows.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		reason, _, _ = strings.Cut(reason, ":")
		if !slices.Contains(windowsReasons, strings.TrimSpace(reason)) {
			t.Errorf("differs_windows.txt: %s: the reason %q is none of %q", name, reason, windowsReasons)
		}
		if out[name] != "" || !slices.ContainsFunc(files, func(f string) bool { return scriptName(f) == name }) {
			t.Errorf("differs_windows.txt: %s is no script, or is listed twice", name)
		}
		out[name] = reason
	}
	return out
}
