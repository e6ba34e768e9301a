package procgroup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("FSMCP_TEST_ROLE"); role != "" {
		play(strings.Fields(role))
		return
	}
	os.Exit(m.Run())
}

// role returns a command that plays roles one in the other: each prints the number of the
// process that it starts for the next one.
func role(roles string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FSMCP_TEST_ROLE="+roles)
	return cmd
}

func play(roles []string) {
	var err error
	next := role(strings.Join(roles[1:], " "))
	next.Stdout = os.Stdout
	switch roles[0] {
	case "sleep":
		time.Sleep(time.Minute)
	case "group": // as fsmcp starts a hook
		_, err = Start(next)
	case "limited": // as fsmcp starts a decoder
		_, err = StartLimited(next, Limits{Time: time.Minute})
	case "alone": // as fsmcp hook diff starts an editor
		err = StartAlone(next)
	case "child", "daemon": // a hook's own program
		err = next.Start()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if next.Process != nil {
		fmt.Println(next.Process.Pid)
	}
	if roles[0] != "sleep" && roles[0] != "daemon" && roles[0] != "alone" {
		time.Sleep(time.Minute)
	}
}

// processes reads the numbers that n roles print, and opens their processes.
func processes(t *testing.T, from *os.File, n int) (all []windows.Handle) {
	t.Helper()
	lines := bufio.NewScanner(from)
	for len(all) < n && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(lines.Text())
		}
		h, err := windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_TERMINATE, false, uint32(pid))
		if err != nil {
			t.Fatal(pid, err)
		}
		t.Cleanup(func() {
			windows.TerminateProcess(h, 9)
			windows.CloseHandle(h)
		})
		all = append(all, h)
	}
	if len(all) != n {
		t.Fatalf("%d processes, want %d", len(all), n)
	}
	return all
}

func ends(h windows.Handle, within time.Duration) bool {
	at, err := windows.WaitForSingleObject(h, uint32(within/time.Millisecond))
	return err == nil && at == windows.WAIT_OBJECT_0
}

// What runs in a group, and what it started, ends when this process is killed. The process
// that is started without a group lives on, and so does an editor.
func TestGroupEndsWithThisProcess(t *testing.T) {
	for _, row := range []struct {
		roles string
		lives []bool
	}{
		{"child sleep", []bool{true}}, // the control arm
		{"group sleep", []bool{false}},
		{"limited sleep", []bool{false}},
		{"group child sleep", []bool{false, false}},
		{"group daemon sleep", []bool{false, false}},
	} {
		t.Run(row.roles, func(t *testing.T) {
			out, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			first := role(row.roles)
			first.Stdout = in
			if err := first.Start(); err != nil {
				t.Fatal(err)
			}
			in.Close()
			all := processes(t, out, len(row.lives))
			time.Sleep(100 * time.Millisecond) // a daemon's starter ends
			first.Process.Kill()
			first.Wait()
			for i, lives := range row.lives {
				within := 5 * time.Second
				if lives {
					within = 500 * time.Millisecond
				}
				if ends(all[i], within) == lives {
					t.Errorf("process %d: lives is %v", i, !lives)
				}
			}
		})
	}
}

// A group's deadline ends all of it. The end of its first process ends nothing: what it left
// running goes on.
func TestWaitEndsTheGroupAtItsDeadlineAlone(t *testing.T) {
	for _, row := range []struct {
		roles  string
		killed bool
	}{{"child sleep", true}, {"daemon sleep", false}} {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := role(row.roles)
		cmd.Stdout = in
		group, err := Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		in.Close()
		child := processes(t, out, 1)[0]
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		killed, err := group.Wait(ctx, 5*time.Second)
		cancel()
		if killed != row.killed || !row.killed && err != nil {
			t.Errorf("%s: killed is %v, %v", row.roles, killed, err)
		}
		if got := ends(child, time.Second); got != row.killed {
			t.Errorf("%s: the child's end is %v", row.roles, got)
		}
		out.Close()
	}
}

// A process with limits has a low priority, and its job has them. Wine accepts the limits of
// a job, and neither enforces nor tells them.
func TestLimits(t *testing.T) {
	cmd := role("sleep")
	group, err := StartLimited(cmd, Limits{Memory: 256 << 20, Time: 90 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer group.Wait(t.Context(), 0)
	defer group.Kill()
	group.RenewTime()
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION, false, uint32(cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(h)
	if class, err := windows.GetPriorityClass(h); class != windows.BELOW_NORMAL_PRIORITY_CLASS {
		t.Errorf("its priority is %#x, %v", class, err)
	}
	info := group.job.limits.info()
	const flags = windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS | windows.JOB_OBJECT_LIMIT_JOB_MEMORY | windows.JOB_OBJECT_LIMIT_JOB_TIME | windows.JOB_OBJECT_LIMIT_PRIORITY_CLASS | windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	basic := info.BasicLimitInformation
	if basic.LimitFlags&flags != flags || basic.ActiveProcessLimit != 1 || basic.PerJobUserTimeLimit != 90*10_000_000 || info.JobMemoryLimit != 256<<20 {
		t.Errorf("%+v", info)
	}
}

// A batch file is run by its whole name, and gets its arguments literally: a file of that
// name in the working directory is not run.
func TestBatchFile(t *testing.T) {
	good, work := t.TempDir(), t.TempDir()
	if strings.ContainsAny(good, "()&") {
		t.Skip(good)
	}
	guard := filepath.Join(good, "R&D (x86)", "guard.cmd")
	if err := errors.Join(os.Mkdir(filepath.Dir(guard), 0o755), os.WriteFile(guard, []byte("@echo good %1 %2\r\n"), 0o644),
		os.WriteFile(filepath.Join(work, "guard.cmd"), []byte("@echo HIJACK\r\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{guard: "good one two", "guard": "good one two"} {
		out := &Head{Limit: 1000}
		cmd := exec.Command(guard, "one", "two")
		cmd.Args[0], cmd.Dir, cmd.Stdout = name, work, out
		group, err := Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := group.Wait(t.Context(), 0); err != nil {
			t.Error(err)
		}
		if got, _ := out.Bytes(); strings.TrimSpace(string(got)) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	var found *ArgumentError
	if _, err := Start(exec.Command(guard, "a&b")); !errors.As(err, &found) {
		t.Error(err)
	}
	if err := StartAlone(exec.Command(guard, "a&b")); !errors.As(err, &found) {
		t.Error(err)
	}
}
