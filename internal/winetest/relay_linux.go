package winetest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// relayed are the programs of Linux that scripts name in hooks and expect on PATH.
var relayed = []string{"sh", "env", "true", "false", "rm", "cat", "sleep"}

// makeRelayed puts a copy of the helper under the name of each into a folder for PATH.
func (w *Wine) makeRelayed() error {
	b, err := os.ReadFile(w.Helper())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.relayedDir(), 0o755); err != nil {
		return err
	}
	for _, name := range relayed {
		name = filepath.Join(w.relayedDir(), name+".exe")
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := os.Link(w.Helper(), name); err == nil {
			continue
		}
		if err := os.WriteFile(name, b, 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (w *Wine) relayedDir() string { return filepath.Join(w.dir, "path") }

// relay runs programs of Linux for those for Windows. The address is that of a port.
func (n Names) relay() (address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go n.relayOne(conn)
		}
	}()
	return l.Addr().String(), nil
}

func (n Names) relayOne(conn net.Conn) {
	defer conn.Close()
	requests := json.NewDecoder(bufio.NewReader(conn))
	var start RelayStart
	if requests.Decode(&start) != nil || !slices.Contains(relayed, start.Program) {
		return
	}
	cmd := exec.Command(start.Program)
	for _, arg := range start.Args {
		cmd.Args = append(cmd.Args, n.FromWindows(arg, false))
	}
	cmd.Dir = filepath.Clean("/" + n.FromWindows(start.Dir, false))
	cmd.Env = n.relayEnvironment(start)
	cmd.WaitDelay = 100 * time.Millisecond
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var sending sync.Mutex
	answers := json.NewEncoder(conn)
	send := func(a RelayOutput) {
		sending.Lock()
		defer sending.Unlock()
		_ = answers.Encode(a)
	}
	cmd.Stdout = writer(func(b []byte) { send(RelayOutput{Out: b}) })
	cmd.Stderr = writer(func(b []byte) { send(RelayOutput{Err: b}) })
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		send(RelayOutput{Err: []byte(err.Error() + "\n"), Ended: true, Status: 127})
		return
	}
	ended := make(chan struct{})
	go func() {
		n.relayInput(requests, in)
		select {
		case <-ended: // what it left running lives on
		default:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}()
	_ = cmd.Wait()
	close(ended)
	if status := cmd.ProcessState.ExitCode(); status >= 0 {
		send(RelayOutput{Ended: true, Status: status})
	}
}

// relayEnvironment is the environment of a program: that of this process, and what fsmcp or
// the script has added.
func (n Names) relayEnvironment(start RelayStart) []string {
	env := os.Environ()
	for _, v := range start.Env {
		name, value, _ := strings.Cut(v, "=")
		if name != strings.ToUpper(name) || strings.HasPrefix(name, "FSMCP_WINE") || os.Getenv(name) != "" {
			continue
		}
		env = append(env, name+"="+n.FromWindows(value, false))
	}
	return env
}

// relayInput passes the lines of standard input on, until the other side has ended.
func (n Names) relayInput(requests *json.Decoder, in io.WriteCloser) {
	var line []byte
	flush := func(upTo int) {
		text := string(line[:upTo])
		_, _ = io.WriteString(in, n.FromWindows(text, strings.HasPrefix(text, "{")))
		line = line[upTo:]
	}
	for {
		var i RelayInput
		if requests.Decode(&i) != nil {
			return
		}
		line = append(line, i.Text...)
		for {
			at := slices.Index(line, '\n')
			if at < 0 {
				break
			}
			flush(at + 1)
		}
		if i.End {
			flush(len(line))
			in.Close()
		}
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}
