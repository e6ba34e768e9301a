//go:build linux

package winetest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Variable names the variable that tells a proxy what to run.
const Variable = "FSMCP_WINE_PROXY"

// settings tell a proxy which program it stands for.
type settings struct {
	Words []string // the program and its first arguments
	Home  string   // of the user, unless HOME has another
	Temp  string
	Roots []string
	Wine  []string // assignments that say where Wine is
	Hangs string   // the file that gets a line for each process that hung
	Path  string   // the folder of programs that stand for those of Linux
}

// Proxy returns the assignment that makes RunProxy run the program for a script.
func (w *Wine) Proxy(home, temp, hangs string, roots []string) string {
	b, _ := json.Marshal(settings{Words: w.words(w.FSMCP()), Home: home, Temp: temp, Roots: roots, Wine: w.variables(), Hangs: hangs, Path: w.relayedDir()})
	return Variable + "=" + string(b)
}

// temp is the folder for temporary files, as TMPDIR names it.
func (s settings) temp() string {
	temp, err := filepath.Abs(cmp.Or(os.Getenv("TMPDIR"), s.Temp))
	if err != nil {
		return s.Temp
	}
	return temp
}

// A command that is no server, and a server that has answered nothing yet, has hung if it
// uses no processor for that long.
const idleAtMost = 30 * time.Second

// A proxy looks for processes that hang only so often: it reads all of /proc.
const lookEvery = 5 * time.Second

// RunProxy runs the program for Windows in place of this process: with its arguments, its
// environment and its standard streams, names translated. It returns the exit status.
func RunProxy() int {
	var s settings
	if err := json.Unmarshal([]byte(os.Getenv(Variable)), &s); err != nil {
		fmt.Fprintln(os.Stderr, "wine proxy:", err)
		return 125
	}
	n := Names{Roots: s.Roots}
	words := slices.Clone(s.Words)
	for _, a := range os.Args[1:] {
		words = append(words, n.ToWindows(a))
	}
	run := &proxied{names: n, token: fmt.Sprintf("FSMCP_WINE_PROCESS=%d-%d", os.Getpid(), time.Now().UnixNano()), hangs: s.Hangs}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Env = slices.Concat(run.environment(), user(cmp.Or(os.Getenv("HOME"), s.Home), s.temp()), s.Wine)
	if relay, err := n.relay(); err == nil {
		cmd.Env = append(cmd.Env, RelayVariable+"="+relay, "WINEPATH="+Name(s.Path))
	}
	return run.run(cmd)
}

type proxied struct {
	names        Names
	token, hangs string
	pipes        sync.WaitGroup
	asked, wrote atomic.Bool // whether anything came in, and went out
	inputEnds    atomic.Bool
}

func (p *proxied) environment() []string {
	env := []string{p.token}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case Variable, "HOME", "TMPDIR":
		case "PATH", "XDG_RUNTIME_DIR": // of Linux
			env = append(env, v)
		default:
			env = append(env, name+"="+p.names.ToWindows(value))
		}
	}
	return env
}

func (p *proxied) run(cmd *exec.Cmd) int {
	serves := slices.Contains(os.Args[1:], "serve")
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice == 0 {
		in, err := cmd.StdinPipe()
		if err != nil {
			return 125
		}
		go func() {
			p.copyLines(in, os.Stdin, p.toWindows)
			in.Close()
			p.inputEnds.Store(true)
		}()
	}
	out, err := cmd.StdoutPipe()
	errs, err2 := cmd.StderrPipe()
	if err := errors.Join(err, err2, cmd.Start()); err != nil {
		fmt.Fprintln(os.Stderr, "wine proxy:", err)
		return 125
	}
	p.pipes.Add(2)
	go p.copyOut(os.Stdout, out)
	go p.copyOut(os.Stderr, errs)
	ended := make(chan struct{})
	go func() {
		p.pipes.Wait()
		_ = cmd.Wait()
		close(ended)
	}()
	idle := idleness{since: time.Now()}
	for tick := time.NewTicker(lookEvery); ; {
		select {
		case <-ended:
			tick.Stop()
			return cmd.ProcessState.ExitCode()
		case <-tick.C:
			waits := serves && (p.wrote.Load() || !p.asked.Load())
			pids := p.processes()
			late := idle.of(pids) > idleAtMost && !waits
			if serves && p.inputEnds.Load() && !late && time.Since(idle.since) > lookEvery {
				fmt.Fprintf(os.Stderr, "wine proxy: no processor used since the input ended: %s\n", threads(pids))
			}
			if late || p.hung() {
				p.note(late)
				p.kill()
				_ = cmd.Process.Kill()
				return 125
			}
		}
	}
}

func (p *proxied) copyOut(to io.Writer, from io.Reader) {
	defer p.pipes.Done()
	p.copyLines(to, from, func(line []byte) []byte {
		p.wrote.Store(p.wrote.Load() || to == os.Stdout)
		return []byte(p.names.FromWindows(string(line), len(line) > 0 && (line[0] == '{' || line[0] == '[')))
	})
}

func (p *proxied) toWindows(line []byte) []byte {
	p.asked.Store(true)
	return []byte(p.names.JSONToWindows(string(line)))
}

// copyLines copies line by line, so that no name is cut in two. Once the reader is gone it
// goes on reading.
func (p *proxied) copyLines(to io.Writer, from io.Reader, change func([]byte) []byte) {
	r := bufio.NewReaderSize(from, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			_, _ = to.Write(change(line))
		}
		if err != nil {
			return
		}
	}
}

// idleness tells how long processes have used no processor.
type idleness struct {
	used  int64
	since time.Time
}

func (i *idleness) of(pids []int) time.Duration {
	used := int64(0)
	for _, pid := range pids {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(fields) > 12 {
			user, _ := strconv.ParseInt(string(fields[11]), 10, 64)
			system, _ := strconv.ParseInt(string(fields[12]), 10, 64)
			used += user + system
		}
	}
	if used != i.used {
		i.used, i.since = used, time.Now()
	}
	return time.Since(i.since)
}

// threads describes where the threads of processes wait: their states, and the system calls with
// their arguments as the kernel shows them.
func threads(pids []int) string {
	var out []string
	for _, pid := range pids {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
		for _, task := range tasks {
			stat, _ := os.ReadFile(task + "/stat")
			call, _ := os.ReadFile(task + "/syscall")
			_, after, _ := bytes.Cut(stat, []byte(") "))
			out = append(out, fmt.Sprintf("%s %.1s %s", task[len("/proc/"):], after, bytes.TrimSpace(call)))
		}
	}
	return cmp.Or(strings.Join(out, "; "), "there is no process any more")
}

// hung reports whether a process has ended but for one thread, for at least a second. About
// one in 150 processes of Wine 8 and 10 does so: its main thread is a zombie.
func (p *proxied) hung() bool {
	if len(halfEnded(p.token)) == 0 {
		return false
	}
	time.Sleep(time.Second)
	return len(halfEnded(p.token)) > 0
}

// halfEnded returns the processes with the token whose main thread has ended while another
// one has not.
func halfEnded(token string) (pids []int) {
	for _, pid := range Processes(token) {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, after, ok := bytes.Cut(stat, []byte(") ")); ok && after[0] == 'Z' {
			pids = append(pids, pid)
		}
	}
	return pids
}

// reap kills processes that hang when they end, for as long as this process lives. Their
// output is complete.
func reap(token string) {
	var before []int
	for range time.Tick(time.Second) {
		now := halfEnded(token)
		for _, pid := range now {
			if slices.Contains(before, pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		before = now
	}
}

// processes returns the processes with the token in their environment. That of a process
// whose main thread has ended can be read from its other threads alone.
func (p *proxied) processes() (pids []int) {
	return Processes(p.token)
}

// Processes returns the processes that have the text in their environment.
func Processes(token string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range names {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(dir + "/environ")
		if len(env) == 0 && err == nil {
			tasks, _ := filepath.Glob(dir + "/task/[0-9]*")
			if len(tasks) > 1 {
				env, _ = os.ReadFile(tasks[len(tasks)-1] + "/environ")
			}
		}
		if bytes.Contains(env, []byte(token)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *proxied) kill() {
	for _, pid := range p.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (p *proxied) note(late bool) {
	f, err := os.OpenFile(p.hangs, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%q hung, late %v\n", os.Args, late)
}
