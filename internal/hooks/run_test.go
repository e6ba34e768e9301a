//go:build unix

package hooks

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sh is a hook that the shell runs.
func sh(script string) Hook {
	return Hook{Glob: "**", Command: []string{"/bin/sh", "-c", script}, Timeout: time.Minute}
}

func within(h Hook, d time.Duration) Hook {
	h.Timeout = d
	return h
}

// once runs one command before a change.
func once(t *testing.T, h Hook) (Report, *Report) {
	t.Helper()
	r := New(Options{})
	defer r.Close()
	all, stop, err := r.Before(t.Context(), Round{Hooks: List{h}, Event: HookInput{Event: BeforeEdit, Path: "/p/a.go"}, Dir: t.TempDir()})
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	return all[0], stop
}

func TestEventIsOneLine(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	r := New(Options{})
	defer r.Close()
	e := HookInput{Event: AfterEdit, Tool: "Edit", Path: `/p/a & <b> "ü".go`, Session: "s1", Call: "c1"}
	round := Round{Hooks: List{sh(`read -r line; printf '%s' "$line" >` + out + `; if read -r more; then exit 3; fi; pwd >>` + out)}, Event: e, Dir: dir}
	if all, _ := r.After(t.Context(), round); len(all) != 1 || all[0].Ending != Passed || all[0].Took <= 0 {
		t.Fatalf("%+v", all)
	}
	got, err := os.ReadFile(out)
	want := `{"event":"afterFileEdited","tool":"Edit","path":"/p/a & <b> \"ü\".go","session":"s1","call":"c1"}` + dir + "\n"
	if err != nil || string(got) != want {
		t.Errorf("%v: %s\nwant %s", err, got, want)
	}
}

func TestEndings(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	program := func(name string) Hook { return Hook{Command: []string{name}, Timeout: time.Minute} }
	for _, c := range []struct {
		name string
		hook Hook
		want Ending
		why  string
		said string
		stop bool
	}{
		{"passes", sh("echo fine"), Passed, "", "fine\n", false},
		{"refuses", sh("echo ignored; echo 'not here' >&2; exit 2"), Refused, "refused", "not here\n", true},
		{"refuses by standard output", sh("echo 'not here'; exit 2"), Refused, "refused", "not here\n", true},
		{"refuses without a word", sh("exit 2"), Refused, "refused", "", true},
		{"fails", sh("echo oh >&2; exit 1"), Failed, "failed (exit status 1)", "oh\n", false},
		{"fails with 3", sh("exit 3"), Failed, "failed (exit status 3)", "", false},
		{"by signal", sh("kill -SEGV $$"), Failed, "failed (signal: segmentation fault", "", false},
		{"no such program", program("no-such-program-of-anybody"), NotRun, "could not be started: executable file not found", "", true},
		{"no such file", program("/no/such/program"), NotRun, "could not be started: no such file or directory", "", true},
		{"no program", program(plain), NotRun, "could not be started: permission denied", "", true},
		{"late", within(sh("echo slow >&2; sleep 60"), 1500*time.Millisecond), Late, "did not end within 1.5s", "slow\n", true},
		{"deaf", sh("exec <&-; exit 0"), Passed, "", "", false},
	} {
		got, stop := once(t, c.hook)
		for n := 0; n < 10 && c.want == Late && got.Ending == Late && got.Said == ""; n++ {
			got, stop = once(t, c.hook) // on a busy machine its time may be over before it begins
		}
		if got.Ending != c.want || !strings.HasPrefix(got.Why, c.why) || (c.why == "") != (got.Why == "") || got.Said != c.said {
			t.Errorf("%s: %d %q, said %q", c.name, got.Ending, got.Why, got.Said)
		}
		if (stop != nil) != c.stop {
			t.Errorf("%s: stops the change: %v", c.name, stop)
		}
	}
}

// The first that refuses is the last that runs; failures let the next one run.
func TestBeforeStopsAtARefusal(t *testing.T) {
	r := New(Options{})
	defer r.Close()
	all, stop, err := r.Before(t.Context(), Round{Hooks: List{sh("exit 1"), sh("exit 2"), sh("exit 0")}, Dir: t.TempDir()})
	if err != nil || len(all) != 2 || stop == nil || stop.Ending != Refused || all[0].Ending != Failed {
		t.Errorf("%+v, %+v, %v", all, stop, err)
	}
	after, _ := r.After(t.Context(), Round{Hooks: List{sh("exit 1"), sh("exit 2"), within(sh("sleep 60"), 50*time.Millisecond), sh("exit 0")}, Dir: t.TempDir()})
	if len(after) != 4 || after[1].Why != "failed (exit status 2)" || after[3].Ending != Passed {
		t.Errorf("%+v", after)
	}
}

// alive reports whether a process runs; one that only waits to be buried does not.
func alive(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func ended(pid int) bool {
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		if !alive(pid) {
			return true
		}
	}
	return false
}

// pidIn waits for a process to write down its number.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		b, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && strings.HasSuffix(string(b), "\n") {
			return pid
		}
	}
	t.Fatal("the grandchild did not start")
	return 0
}

// A command that hangs takes with it what it started. The control arm kills the
// command alone, and what it started lives on.
func TestDeadlineKillsTheGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	script := `sleep 300 & echo $! >` + file + `.new; mv ` + file + `.new ` + file + `; wait`
	for limit := 2 * time.Second; limit < time.Minute; limit *= 2 {
		begun := time.Now()
		report, stop := once(t, within(sh(script), limit))
		if report.Ending != Late || stop == nil {
			t.Errorf("%+v", report)
		}
		if took := time.Since(begun); took > limit+28*time.Second {
			t.Errorf("it took %v", took)
		}
		if _, err := os.Stat(file); err == nil {
			break // else its time was over before it had started anything, on a busy machine
		}
	}
	if pid := pidIn(t, file); !ended(pid) {
		t.Errorf("the grandchild %d lives", pid)
	}

	os.Remove(file)
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, file)
	cmd.Process.Kill()
	cmd.Wait()
	if !alive(pid) {
		t.Error("the grandchild of the control arm is dead: this test shows nothing")
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

// A process that a command leaves running holds the output open; the run ends without it.
func TestNotWaitedForWhatIsLeftRunning(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	begun := time.Now()
	report, _ := once(t, sh(`sleep 300 & echo $! >`+file+`; echo done`))
	if report.Ending != Passed || report.Said != "done\n" || time.Since(begun) > 30*time.Second {
		t.Errorf("%+v in %v", report, time.Since(begun))
	}
	if pid := pidIn(t, file); !alive(pid) {
		t.Error("what it left running was killed")
	} else {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestFloodIsTakenAndNotKept(t *testing.T) {
	report, _ := once(t, sh(`head -c 104857600 /dev/zero; head -c 104857600 /dev/zero | tr '\0' x >&2`))
	if report.Ending != Passed || len(report.Said) != maxOutput+len("…") || !strings.HasPrefix(report.Said, "xxx") {
		t.Errorf("%d %q: %d bytes", report.Ending, report.Why, len(report.Said))
	}
	begun := time.Now()
	if report, _ := once(t, within(sh(`yes flood`), time.Second)); report.Ending != Late || time.Since(begun) > 30*time.Second {
		t.Errorf("%+v in %v", report.Ending, time.Since(begun))
	}
}

// More than a pipe holds, for a command that reads nothing of it.
func TestUnreadEventBlocksNobody(t *testing.T) {
	r := New(Options{})
	defer r.Close()
	big := HookInput{Path: strings.Repeat("x", 1<<20)}
	begun := time.Now()
	for _, script := range []string{"exit 0", "exec <&-; sleep 0.1", "sleep 0.1", "sleep 60 & exit 0"} {
		all, _ := r.After(t.Context(), Round{Hooks: List{sh(script)}, Event: big, Dir: t.TempDir()})
		if all[0].Ending != Passed {
			t.Errorf("%s: %+v", script, all[0].Why)
		}
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestCallerGivesUp(t *testing.T) {
	r := New(Options{})
	defer r.Close()
	gaveUp := errors.New("gave up")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(gaveUp) })
	begun := time.Now()
	_, stop, err := r.Before(ctx, Round{Hooks: List{sh("sleep 60")}, Dir: t.TempDir()})
	if err != gaveUp || stop != nil || time.Since(begun) > 30*time.Second {
		t.Errorf("%v, %v after %v", stop, err, time.Since(begun))
	}
	if all, _, err := r.Before(ctx, Round{Hooks: List{sh("exit 0")}, Dir: t.TempDir()}); err != gaveUp || all[0].Ending != Stopped {
		t.Errorf("started all the same: %+v, %v", all, err)
	}
}

// Closing kills what runs: no change goes on after it as if a command had passed.
func TestClose(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	r := New(Options{})
	got := make(chan error, 1)
	go func() {
		_, _, err := r.Before(context.Background(), Round{Hooks: List{sh(`echo $$ >` + file + `; sleep 300`)}, Dir: "/"})
		got <- err
	}()
	pid := pidIn(t, file)
	r.Close()
	if alive(pid) {
		t.Error("it lives")
	}
	if err := <-got; err == nil {
		t.Error("the change would go on")
	}
	if _, _, err := r.Before(t.Context(), Round{Hooks: List{sh("exit 0")}, Dir: "/"}); err == nil {
		t.Error("a command runs after the end")
	}
}

// JSON holds text alone: a guard is told of a name that is none by escapes, and of its
// bytes in base64. The control arm is a name that looks like such an escape.
func TestNameThatIsNotUTF8(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	r := New(Options{})
	defer r.Close()
	for _, c := range []struct{ path, before, want string }{
		{"/p/\xff\xc3ü\xe2\x82.go", "", `"path":"/p/\\xff\\xc3ü\\xe2\\x82.go","session":"","call":"","pathBase64":"L3Av/8PDvOKCLmdv"`},
		{"/p/a.go", "/s/\xfe", `"path":"/p/a.go","session":"","call":"","before":"/s/\\xfe","beforeBase64":"L3Mv/g=="`},
		{`/p/\xff�.go`, "", `"path":"/p/\\xff�.go","session":"","call":""`},
	} {
		round := Round{Hooks: List{sh("cat >" + out + "; exit 2")}, Event: HookInput{Event: BeforeEdit, Tool: "Edit", Path: c.path, Before: c.before}, Dir: "/"}
		if _, stop, err := r.Before(t.Context(), round); err != nil || stop == nil || stop.Ending != Refused {
			t.Errorf("%q: %+v, %v", c.path, stop, err)
		}
		got, err := os.ReadFile(out)
		if want := `{"event":"beforeFileEdited","tool":"Edit",` + c.want + "}\n"; err != nil || string(got) != want {
			t.Errorf("%v: %s\nwant %s", err, got, want)
		}
	}
}
