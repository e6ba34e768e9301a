//go:build linux

package faults

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cutter is a process that follows all threads of another one by ptrace. strace counts the calls
// of each thread by themselves; this counts all together.
type cutter struct {
	t     *testing.T
	cmd   *exec.Cmd
	out   *bufio.Reader
	looks int // the calls that looked at files and folders; known after end
}

// follower follows a process, in the process of a cutter.
type follower struct {
	pid   int
	at    int // before which call the process is killed; 0: none
	calls int // since ready
	looks int // those that look at files and folders
	last  int // the number of the call that it was killed at; -1: it was not
	ready bool
}

// stopped is the kernel's struct ptrace_syscall_info of the last stop. It must not move.
var stopped struct {
	op   uint8
	_    [3]byte
	arch uint32
	_    [2]uint64
	call uint64
	args [6]uint64
}

// changing are the system calls that change files or names, beside an openat that makes a file. A
// kill at any other call leaves what a kill at the next one of these leaves.
var changing = map[uint64]bool{
	unix.SYS_WRITE:    true, // the answer, too
	unix.SYS_RENAMEAT: true, unix.SYS_RENAMEAT2: true, unix.SYS_LINKAT: true, unix.SYS_UNLINKAT: true, unix.SYS_MKDIRAT: true, unix.SYS_SYMLINKAT: true,
	unix.SYS_PWRITE64: true, unix.SYS_FTRUNCATE: true, unix.SYS_FALLOCATE: true, unix.SYS_COPY_FILE_RANGE: true,
	unix.SYS_FCHMOD: true, unix.SYS_FCHOWN: true, unix.SYS_FSETXATTR: true, unix.SYS_UTIMENSAT: true,
}

// looking are the system calls that look at files and folders.
var looking = map[uint64]bool{
	unix.SYS_OPENAT: true, unix.SYS_OPENAT2: true, unix.SYS_GETDENTS64: true, unix.SYS_NEWFSTATAT: true, unix.SYS_FSTAT: true, unix.SYS_STATX: true,
	unix.SYS_PREAD64: true, unix.SYS_READLINKAT: true, unix.SYS_FLISTXATTR: true, unix.SYS_FGETXATTR: true, unix.SYS_LSEEK: true,
}

// cut has a process killed before the at-th changing system call that it makes from now on. With 0
// it only counts them.
func cut(t *testing.T, pid, at int) *cutter {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	c := &cutter{t: t, cmd: exec.Command(self, strconv.Itoa(pid), strconv.Itoa(at))}
	c.cmd.Env = append(os.Environ(), "FAULTS_ROLE=cut")
	out, err := c.cmd.StdoutPipe()
	must(t, err)
	must(t, c.cmd.Start())
	c.out = bufio.NewReader(out)
	if line, err := c.out.ReadString('\n'); line != "ready\n" {
		c.cmd.Wait()
		t.Skipf("!!! NOT TESTED: ptrace does not work here: %s (%v) !!!", strings.TrimSpace(line), err)
	}
	return c
}

// end waits until the process has ended. It returns how many calls it has made, and the number
// of the one that it was killed at; -1 if it was not.
func (c *cutter) end() (calls, last int) {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if _, bad := fmt.Sscanf(line, "%d %d %d", &calls, &last, &c.looks); bad != nil {
		c.t.Fatalf("%q, %v", line, err)
	}
	must(c.t, c.cmd.Wait())
	return calls, last
}

// roleCut plays the cutter.
func roleCut(pid, at string) {
	runtime.LockOSThread() // ptrace goes by threads
	f := &follower{last: -1}
	f.pid, _ = strconv.Atoi(pid)
	f.at, _ = strconv.Atoi(at)
	if err := f.attach(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	f.follow()
	fmt.Println(f.calls, f.last, f.looks)
}

func ptrace(request, tid int, addr, data uintptr) error {
	if _, _, no := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0); no != 0 {
		return no
	}
	return nil
}

// attach begins to follow the threads, and has each stop.
func (f *follower) attach() error {
	followed := make(map[int]bool)
	for more := true; more; {
		more = false
		tasks, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(f.pid), "task"))
		if err != nil {
			return err
		}
		for _, task := range tasks {
			tid, err := strconv.Atoi(task.Name())
			if err != nil || followed[tid] {
				continue
			}
			followed[tid], more = true, true
			err = ptrace(unix.PTRACE_SEIZE, tid, 0, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE)
			if err == unix.ESRCH || err == unix.EPERM && len(followed) > 1 { // gone, or followed from its birth
				continue
			}
			if err != nil {
				return err
			}
			if err := ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0); err != nil && err != unix.ESRCH {
				return err
			}
		}
	}
	return nil
}

// follow lets the threads go on from call to call, until the process has ended.
func (f *follower) follow() {
	tasks, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(f.pid), "task"))
	begun := make(map[int]bool)
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			f.begin(begun, -1)
			return
		}
		if !status.Stopped() {
			continue
		}
		signal := status.StopSignal()
		switch {
		case signal == unix.SIGTRAP|0x80:
			f.count(tid)
			signal = 0
		case int(status)>>16 != 0:
			begun[tid] = true
			signal = 0
		}
		ptrace(unix.PTRACE_SYSCALL, tid, 0, uintptr(signal))
		f.begin(begun, len(tasks))
	}
}

// begin says that all threads are followed, once so many have stopped.
func (f *follower) begin(begun map[int]bool, all int) {
	if !f.ready && len(begun) >= all {
		f.ready = true
		fmt.Println("ready")
	}
}

// count counts the call that a thread is about to make, and kills the process if it is the one to
// die at. What a thread repeats because it was stopped, to be followed, does not count.
func (f *follower) count(tid int) {
	const entry = 1
	err := ptrace(unix.PTRACE_GET_SYSCALL_INFO, tid, unsafe.Sizeof(stopped), uintptr(unsafe.Pointer(&stopped)))
	makes := stopped.call == unix.SYS_OPENAT && (stopped.args[2]&unix.O_EXCL != 0 || stopped.args[2]&unix.O_TMPFILE == unix.O_TMPFILE)
	if err != nil || stopped.op != entry || !f.ready {
		return
	}
	if looking[stopped.call] {
		f.looks++
	}
	if !changing[stopped.call] && !makes {
		return
	}
	f.calls++
	if f.calls == f.at {
		f.last = int(stopped.call)
		unix.Kill(f.pid, unix.SIGKILL)
	}
}
