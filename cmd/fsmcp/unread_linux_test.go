package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// TestUnreadOutputIsBounded: a client sends requests by the hundred thousand and reads
// nothing. The server takes little memory, and answers each request once when the client
// reads: requests other than calls in their order. (Without the bound 300,000 pings
// took 1.3 GB.)
func TestUnreadOutputIsBounded(t *testing.T) {
	shortrun.Skip(t, "it sends 260,000 requests")
	if slowdown > 1 {
		t.Skip("!!! NOT TESTED: the race detector takes memory of its own; the run without it tests this !!!")
	}
	const most = 250 << 20
	long := strings.Repeat("m", 190)
	for _, c := range []struct {
		name    string
		many    int
		request func(id int) string
		calls   bool
	}{
		{"pings", 100_000, func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id) }, false},
		{"unknown methods", 120_000, func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s"}`, id, long) }, false},
		{"calls", 40_000, func(id int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"Read","arguments":{"file_path":"a.txt","offset":%d}}}`, id, 1+id%20)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFort(t)
			f.put("a.txt", strings.Repeat("a line of a text\n", 200))
			in, out, cmd := f.raw("serve", f.ws)
			ended := make(chan error, 1)
			var sent atomic.Int64
			go func() {
				w := bufio.NewWriter(in)
				for id := range c.many {
					n, err := io.WriteString(w, c.request(id)+"\n")
					if err != nil {
						ended <- err
						return
					}
					sent.Add(int64(n))
				}
				ended <- w.Flush()
			}()
			waitUntilIdle(t, cmd.Process.Pid, &sent)
			if peak := peakMemory(t, cmd.Process.Pid); peak > most {
				t.Errorf("the server takes %d MB", peak>>20)
			}
			seen, next, lines := make([]bool, c.many), 0, bufio.NewReader(out)
			for range c.many {
				line, err := lines.ReadBytes('\n')
				f.check(err)
				var a struct{ ID int }
				f.check(json.Unmarshal(line, &a))
				if seen[a.ID] {
					t.Fatalf("%d was answered twice", a.ID)
				}
				if seen[a.ID] = true; !c.calls && a.ID != next {
					t.Fatalf("the answer to %d comes where that to %d was expected", a.ID, next)
				}
				next++
			}
			peak := peakMemory(t, cmd.Process.Pid)
			if peak > most {
				t.Errorf("the server took %d MB", peak>>20)
			}
			t.Logf("the server took %d MB", peak>>20)
			f.check(<-ended)
			f.check(in.Close())
			if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
				t.Errorf("then came %.200q, %v", rest, err)
			}
			f.check(cmd.Wait())
		})
	}
}

// TestEndOfInputBehindUnreadOutput: a client that has stopped to read ends the input. The
// server ends, too, though the client keeps the output open. It also ends by a signal.
func TestEndOfInputBehindUnreadOutput(t *testing.T) {
	shortrun.Skip(t, "it waits for the bounds of the end")
	t.Parallel()
	for _, signal := range []bool{false, true} {
		t.Run(fmt.Sprint("signal ", signal), func(t *testing.T) {
			t.Parallel()
			f := newFort(t)
			in, _, cmd := f.raw("serve", f.ws)
			var sent atomic.Int64
			go func() {
				request := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"
				for range 11_000 { // more than 64 MB of answers
					n, _ := io.WriteString(in, request)
					sent.Add(int64(n))
				}
				if !signal {
					in.Close()
				}
			}()
			waitUntilIdle(t, cmd.Process.Pid, &sent)
			if signal {
				f.check(cmd.Process.Signal(unix.SIGTERM))
			}
			ended := make(chan error, 1)
			go func() { _, err := cmd.Process.Wait(); ended <- err }()
			select {
			case err := <-ended:
				f.check(err)
			case <-time.After(2 * time.Minute):
				t.Error("the server does not end")
				_ = cmd.Process.Kill()
			}
		})
	}
}

// raw starts a server whose streams the test holds.
func (f *fort) raw(args ...string) (in io.WriteCloser, out io.ReadCloser, cmd *exec.Cmd) {
	f.t.Helper()
	cmd = exec.Command(program)
	cmd.Args = append([]string{"fsmcp"}, args...)
	cmd.Dir = f.ws
	cmd.Env = append(os.Environ(), "HOME="+f.home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "CLAUDE_PROJECT_DIR=", "CLAUDE_CONFIG_DIR=")
	in, err := cmd.StdinPipe()
	f.check(err)
	out, err = cmd.StdoutPipe()
	f.check(err)
	f.check(cmd.Start())
	f.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		in.Close()
		out.Close()
	})
	return in, out, cmd
}

// waitUntilIdle waits until the client has not sent anything and the server has not
// worked for five looks.
func waitUntilIdle(t *testing.T, pid int, sent *atomic.Int64) {
	t.Helper()
	var was [2]int64
	for same, looks := 0, 0; same < 5; looks++ {
		if looks > 1200 {
			t.Fatal("the server works on and on")
		}
		now := [2]int64{sent.Load(), int64(processorTime(pid))}
		if same++; now != was {
			same = 0
		}
		was = now
		time.Sleep(50 * time.Millisecond)
	}
}

// peakMemory returns the memory that a process has had at its most, in bytes.
func peakMemory(t *testing.T, pid int) (peak int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "VmHWM:")
	fmt.Sscan(text, &peak)
	return peak << 10
}
