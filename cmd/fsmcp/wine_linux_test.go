package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/winetest"
	"github.com/rogpeppe/go-internal/testscript"
)

const wineVariable = winetest.Variable

// TestScriptsUnderWine runs the scripts with the program for Windows. With FSMCP_WINE=part
// it runs some of the quick ones, with a word like edit_crlf those whose name matches it as a
// regular expression. Those that testdata/script/differs_windows.txt lists are left out; with
// FSMCP_WINE=all they are run too, and one that passes is an error.
func TestScriptsUnderWine(t *testing.T) {
	mode := os.Getenv("FSMCP_WINE")
	if mode == "" {
		t.Skip("make wine and make wine-part run the scripts under Wine")
	}
	wine := winetest.Find(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	differ, err := differsOnWindows()
	if err != nil {
		t.Fatal(err)
	}
	for name, why := range differ {
		if strings.HasPrefix(why, "native") {
			delete(differ, name)
		}
	}
	begin := time.Now()
	var count wineCount
	t.Run("scripts", func(t *testing.T) {
		for _, file := range files {
			name := scriptName(file)
			reason := differ[name]
			if !isChosen(t, mode, file, reason) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				runUnderWine(t, wine, file, reason, &count)
			})
		}
	})
	if hung := count.hung; len(hung) > 0 {
		fmt.Printf("%s: !!! a process of Wine hung or was late, and the script was run again: %s !!!\n", t.Name(), strings.Join(hung, ", "))
	}
	fmt.Printf("%s: %d scripts passed in %v, %d tries failed because a process of Wine hung or was late; %d of %d scripts differ on Windows\n",
		t.Name(), count.passed, time.Since(begin).Round(time.Second), len(count.hung), len(differ), len(files))
}

var (
	// scriptSteps matches the part of a script before its files.
	scriptSteps = regexp.MustCompile(`(?s)^(.*?)(\n-- |$)`)
	// programStart matches a line that starts a program for Windows.
	programStart = regexp.MustCompile(`(?m)^(\[[^\]\n]*\] ?|! ?|\? ?)*(serve|restart|exec fsmcp|hold-open-for-writing)\b`)
	// slowStep matches a line that waits for an event, measures, reads documents or pictures, or
	// makes something large, and a script with a hook, which starts programs of its own.
	slowStep = regexp.MustCompile(`(?m)^(\[[^\]\n]*\] ?|! ?|\? ?)*(took|spent|resident-at-most|told-of|denies|stderr-says|release|calls|call-until-ready|` +
		`media|office|pdf|drawings|scans|image|picture|pictures|sparse|repeat|numbered)\b|"command": ?\[`)
	// waiting begins the names of scripts whose answers follow changes that fsmcp has to notice,
	// or come after a bounded time.
	waiting = regexp.MustCompile(`^(doctor|reminder|settings)_`)
)

// isChosen reports whether FSMCP_WINE chooses a script.
func isChosen(t *testing.T, mode, file, reason string) bool {
	switch mode {
	case "all":
		return true
	case "part":
		return reason == "" && isInPart(t, file)
	}
	chosen, err := regexp.MatchString(mode, scriptName(file))
	if err != nil {
		t.Fatal(err)
	}
	return chosen
}

// isInPart chooses the scripts that start one program and wait for nothing, and those for
// Windows alone. Scripts that start programs of Unix are slower.
func isInPart(t *testing.T, file string) bool {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	steps := scriptSteps.FindStringSubmatch(string(b))[1]
	quick := !slowStep.Match(b) && !waiting.MatchString(scriptName(file)) && unixProgram(string(b)) == ""
	return isForWindows(file) || quick && len(programStart.FindAllString(steps, -1)) == 1
}

type wineCount struct {
	sync.Mutex
	passed int
	hung   []string
}

// late matches what a script says in which a process was too slow, or hung unnoticed.
var late = regexp.MustCompile(`no answer to request|(answer|served) in time|test timed out|deadline exceeded|did not end within|the server still runs after|\(16 busy\)`)

// whyLate matches the lines that tell what hung, of the proxies and of a script's log.
var whyLate = regexp.MustCompile(`(?m)^.*(wine proxy:| hung, |` + late.String() + `).*$`)

// runUnderWine runs a script again if a process of Wine hung or was late, twice at most.
func runUnderWine(t *testing.T, wine *winetest.Wine, file, reason string, count *wineCount) {
	var try *scriptTry
	for range 3 {
		hangs := filepath.Join(t.TempDir(), "hangs")
		try = tryScript(wine, file, hangs)
		if try.stuck {
			t.Fatalf("the script does not end")
		}
		hung, err := os.ReadFile(hangs)
		if !try.failed || err != nil && !late.MatchString(try.log.String()) {
			break
		}
		why := whyLate.FindAllString(string(hung)+try.log.String(), -1)
		count.Lock()
		count.hung = append(count.hung, fmt.Sprintf("%s %q", scriptName(file), why))
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
const scriptDeadline = 300 * time.Second

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
				if cond == "onwindows" {
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
	d.windows = winePrograms{wine}
	temp := env.Getenv("TMPDIR")
	variable := wine.Proxy(d.home, temp, hangs, []string{d.home, d.outside, d.work, wine.Cache()})
	name, value, _ := strings.Cut(variable, "=")
	env.Setenv(name, value)
	env.Setenv("UID", d.uid())
	return nil
}

// compileUnderWine has the decoder for Windows compile what it needs, once for all scripts. A
// call has half a minute, so that it may take several.
var compileUnderWine = sync.OnceValue(func() error {
	wine, err := winetest.Get()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "compile")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "a.pdf")
	if err := errors.Join(os.MkdirAll(wine.Cache(), 0o700), os.WriteFile(name, samplePDF(1, ""), 0o666)); err != nil {
		return err
	}
	for range 20 {
		cmd := wine.Command(dir, wine.FSMCP(), "call", "--dir", winetest.Name(dir), "Read", `{"file_path":"a.pdf"}`)
		cmd.Env = append(cmd.Env, "FSMCP_MEDIA="+winetest.Name(wine.Media()), "XDG_CACHE_HOME="+winetest.Name(wine.Cache()))
		out, e := cmd.CombinedOutput()
		if e == nil {
			return nil
		}
		err = fmt.Errorf("%w: %s", e, out)
	}
	return err
})

type winePrograms struct{ *winetest.Wine }

func (w winePrograms) media() (path, compiled string, err error) {
	return w.Media(), w.Cache(), compileUnderWine()
}

// hold has a program for Windows open a file for writing.
func (w winePrograms) hold(name string) (io.Closer, error) {
	cmd := w.Command(os.TempDir(), w.Helper(), "serve")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		return nil, err
	}
	answers := bufio.NewReader(out)
	h := windowsHandle{cmd, in, answers}
	return h, h.do("open w rwd " + winetest.Name(name))
}

// windowsHandle is a file that a program for Windows has open.
type windowsHandle struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (h windowsHandle) do(line string) error {
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		return err
	}
	answer, err := h.out.ReadString('\n')
	if err == nil && !strings.HasPrefix(answer, "ok") {
		err = errors.New(answer)
	}
	return err
}

// Close waits for the end of the program, which may hang, no longer than it has to.
func (h windowsHandle) Close() error {
	err := h.do("close")
	h.in.Close()
	timer := time.AfterFunc(10*time.Second, func() { _ = h.cmd.Process.Kill() })
	defer timer.Stop()
	_ = h.cmd.Wait()
	return err
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
