//go:build linux

package faults

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/faults/crashstates"
)

// recorder runs a program under ptrace and writes down each call of its threads that changes what
// is on some file systems. It never opens a file of the program: that could break a lease.
type recorder struct {
	devices []uint64
	output  unix.Stat_t // the standard output, whatever number the program gives it
	out     *json.Encoder
	ended   int // calls that are written down
	under   map[int]*tracedCall
	started map[int]bool
}

// tracedCall is a call that a thread makes.
type tracedCall struct {
	number uint64
	args   [6]uint64
	before int // calls that had ended when it began
	// done makes the Op once the call has succeeded; nil if it is of no interest.
	done func(result int64) (op crashstates.Op, ok bool)
}

// roleRecord is the recorder's process: the log, the file systems, and the program, which gets its
// standard input and output.
func roleRecord(args []string) {
	runtime.LockOSThread() // ptrace goes by threads
	r := &recorder{under: make(map[int]*tracedCall), started: make(map[int]bool)}
	f, err := os.Create(args[0])
	if err != nil {
		r.fail("%v", err)
	}
	r.out = json.NewEncoder(f)
	if err := unix.Fstat(1, &r.output); err != nil {
		r.fail("%v", err)
	}
	for _, root := range filepath.SplitList(args[1]) {
		var st unix.Stat_t
		if err := unix.Stat(root, &st); err != nil {
			r.fail("%s: %v", root, err)
		}
		r.devices = append(r.devices, st.Dev)
	}
	if os.Getenv("FAULTS_NO_EXCHANGE") != "" {
		if err := refuseExchange(); err != nil {
			r.fail("%v", err)
		}
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		r.fail("%v", err)
	}
	code := r.follow(cmd.Process.Pid)
	f.Close()
	os.Exit(code)
}

func (r *recorder) fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "panic: the recorder: "+format+"\n", args...)
	os.Exit(3)
}

// follow lets the threads go on from call to call, until the process has ended.
func (r *recorder) follow(pid int) int {
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			r.fail("wait: %v", err)
		case status.Exited() && tid == pid:
			return status.ExitStatus()
		case status.Signaled() && tid == pid:
			return 128 + int(status.Signal())
		case !status.Stopped():
			continue
		}
		signal := status.StopSignal()
		switch first := !r.started[tid]; {
		case first:
			r.started[tid] = true
			ptrace(unix.PTRACE_SETOPTIONS, tid, 0, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL)
			signal = 0
		case signal == unix.SIGTRAP|0x80:
			r.stop(tid)
			signal = 0
		case int(status)>>16 != 0:
			signal = 0
		}
		ptrace(unix.PTRACE_SYSCALL, tid, 0, uintptr(signal))
	}
}

// stop is the begin or the end of a call.
func (r *recorder) stop(tid int) {
	const entry, exit = 1, 2
	if err := ptrace(unix.PTRACE_GET_SYSCALL_INFO, tid, unsafe.Sizeof(stopped), uintptr(unsafe.Pointer(&stopped))); err != nil {
		return
	}
	switch stopped.op {
	case entry:
		c := &tracedCall{number: stopped.call, args: stopped.args, before: r.ended}
		c.done = r.begin(tracee(tid), c)
		r.under[tid] = c
	case exit:
		c, result := r.under[tid], int64(stopped.call) // of an exit the first number is the result
		delete(r.under, tid)
		if c == nil || c.done == nil || result < 0 {
			return
		}
		if op, ok := c.done(result); ok {
			r.log(op)
		}
	}
}

func (r *recorder) log(op crashstates.Op) {
	if err := r.out.Encode(op); err != nil {
		r.fail("%v", err)
	}
	r.ended++
}

// refuseExchange has the kernel refuse to exchange names from now on, as some file systems do.
func refuseExchange() error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_RENAMEAT2, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16 + 4*8}, // its fifth argument
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.RENAME_EXCHANGE, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// tracee is a stopped thread.
type tracee int

func (t tracee) proc(parts ...string) string {
	return filepath.Join(append([]string{"/proc", strconv.Itoa(int(t))}, parts...)...)
}

func (t tracee) memory(at uint64, n int) []byte {
	b := make([]byte, n)
	if n > 0 {
		got, _ := unix.ProcessVMReadv(int(t), []unix.Iovec{{Base: &b[0], Len: uint64(n)}}, []unix.RemoteIovec{{Base: uintptr(at), Len: n}}, 0)
		b = b[:max(got, 0)]
	}
	return b
}

func (t tracee) text(at uint64) string {
	var all []byte
	for at != 0 && len(all) < unix.PathMax {
		part := t.memory(at, int(64-at%64)) // it does not cross a page
		if end := slices.Index(part, 0); end >= 0 || len(part) == 0 {
			return string(append(all, part[:max(end, 0)]...))
		}
		all, at = append(all, part...), at+uint64(len(part))
	}
	return string(all)
}

// path returns a name by which the recorder finds what a thread means.
func (t tracee) path(dir uint64, name string) string {
	switch {
	case strings.HasPrefix(name, "/proc/self/"):
		return t.proc(strings.TrimPrefix(name, "/proc/self/"))
	case strings.HasPrefix(name, "/"):
		return name
	case int32(dir) == unix.AT_FDCWD:
		return t.proc("cwd") + "/" + name
	}
	return t.fd(dir) + "/" + name
}

func (t tracee) fd(n uint64) string { return t.proc("fd", strconv.Itoa(int(int32(n)))) }

// position returns the offset of an open file.
func (t tracee) position(fd uint64) (at int64) {
	b, _ := os.ReadFile(t.proc("fdinfo", strconv.Itoa(int(int32(fd)))))
	fmt.Sscanf(string(b), "pos: %d", &at)
	return at
}

// look returns what a name leads to; ok is false unless it is on one of the file systems.
func (r *recorder) look(path string, follow bool) (id crashstates.ID, st unix.Stat_t, ok bool) {
	flags := unix.AT_SYMLINK_NOFOLLOW
	if follow {
		flags = 0
	}
	if unix.Fstatat(unix.AT_FDCWD, path, &st, flags) != nil {
		return id, st, false
	}
	at := slices.Index(r.devices, st.Dev)
	return crashstates.ID{FS: uint64(max(at, 0)), Ino: st.Ino}, st, at >= 0
}

// name returns an entry of a folder.
func (r *recorder) name(path string) (n crashstates.Name, ok bool) {
	dir, base := filepath.Split(strings.TrimSuffix(path, "/"))
	n.Folder, _, ok = r.look(dir, true)
	n.Name = base
	return n, ok
}

// begin says what to write down when a call succeeds.
func (r *recorder) begin(t tracee, c *tracedCall) func(int64) (crashstates.Op, bool) {
	a := c.args
	switch c.number {
	case unix.SYS_OPENAT:
		return r.open(t, c, t.path(a[0], t.text(a[1])), a[2])
	case unix.SYS_OPENAT2:
		return r.open(t, c, t.path(a[0], t.text(a[1])), binary.NativeEndian.Uint64(append(t.memory(a[2], 8), make([]byte, 8)...)))
	case unix.SYS_MKDIRAT:
		return r.made(t.path(a[0], t.text(a[1])), "mkdir", "")
	case unix.SYS_SYMLINKAT:
		return r.made(t.path(a[1], t.text(a[2])), "symlink", t.text(a[0]))
	case unix.SYS_LINKAT:
		return r.link(t, a)
	case unix.SYS_UNLINKAT:
		return r.named("unlink", crashstates.Remove, t.path(a[0], t.text(a[1])), "")
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		kind, call := crashstates.Rename, "rename"
		if c.number == unix.SYS_RENAMEAT2 && a[4]&unix.RENAME_EXCHANGE != 0 {
			kind, call = crashstates.Exchange, "exchange"
		}
		return r.named(call, kind, t.path(a[0], t.text(a[1])), t.path(a[2], t.text(a[3])))
	case unix.SYS_WRITE, unix.SYS_PWRITE64:
		return r.write(t, c)
	case unix.SYS_COPY_FILE_RANGE:
		return r.copied(t, c)
	case unix.SYS_FTRUNCATE:
		return r.onFile(t, a[0], "truncate", func(op *crashstates.Op, _ int64) { op.Kind, op.Size = crashstates.Truncate, int64(a[1]) })
	case unix.SYS_FALLOCATE:
		if a[1] != unix.FALLOC_FL_KEEP_SIZE {
			return r.unknown(t, c)
		}
		return r.onFile(t, a[0], "reserve", func(op *crashstates.Op, _ int64) { op.Kind, op.Size = crashstates.Reserve, int64(a[2]+a[3]) })
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		return r.onFile(t, a[0], "sync", func(op *crashstates.Op, _ int64) { op.Kind, op.Before = crashstates.Sync, c.before })
	}
	return r.attribute(t, c)
}

func (r *recorder) attribute(t tracee, c *tracedCall) func(int64) (crashstates.Op, bool) {
	a := c.args
	attr := func(op *crashstates.Op, _ int64) { op.Kind = crashstates.Attr }
	switch c.number {
	case unix.SYS_FCHMOD, unix.SYS_FCHOWN:
		return r.onFile(t, a[0], "attributes", attr)
	case unix.SYS_FSETXATTR:
		name, value := t.text(a[1]), t.memory(a[2], int(a[3]))
		return r.onFile(t, a[0], "xattr", func(op *crashstates.Op, _ int64) { op.Kind, op.Xattr, op.Data = crashstates.Attr, name, value })
	case unix.SYS_UTIMENSAT, unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT:
		if c.number == unix.SYS_UTIMENSAT && a[1] == 0 {
			return r.onFile(t, a[0], "attributes", attr)
		}
		return r.onPath(t.path(a[0], t.text(a[1])), false, "attributes", attr)
	case unix.SYS_WRITEV, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_SPLICE, unix.SYS_SENDFILE, unix.SYS_FCHMODAT2:
		return r.unknown(t, c)
	case unix.SYS_TRUNCATE, unix.SYS_SYNC, unix.SYS_SYNCFS:
		r.fail("call %d is not known to the recorder", c.number)
	}
	return nil
}

// unknown ends the recording if the file is one of those that are watched.
func (r *recorder) unknown(t tracee, c *tracedCall) func(int64) (crashstates.Op, bool) {
	if _, _, watched := r.look(t.fd(c.args[0]), true); watched {
		r.fail("call %d is not known to the recorder", c.number)
	}
	return nil
}

// onFile writes down a call on a descriptor; onPath one on a name.
func (r *recorder) onFile(t tracee, fd uint64, call string, fill func(*crashstates.Op, int64)) func(int64) (crashstates.Op, bool) {
	return r.onPath(t.fd(fd), true, call, fill)
}

func (r *recorder) onPath(path string, follow bool, call string, fill func(*crashstates.Op, int64)) func(int64) (crashstates.Op, bool) {
	id, _, ok := r.look(path, follow)
	if !ok {
		return nil
	}
	shown := path
	if follow {
		shown, _ = os.Readlink(path)
	}
	return func(result int64) (crashstates.Op, bool) {
		op := crashstates.Op{Call: call + " " + shown, Ino: id}
		_, st, ok := r.look(path, follow)
		op.Mode, op.Time, op.Size = modeOf(st), st.Mtim.Nano(), st.Size
		fill(&op, result)
		return op, ok
	}
}

func (r *recorder) open(t tracee, c *tracedCall, path string, flags uint64) func(int64) (crashstates.Op, bool) {
	if flags&(unix.O_CREAT|unix.O_TRUNC) == 0 && flags&unix.O_TMPFILE != unix.O_TMPFILE {
		return nil
	}
	unnamed := flags&unix.O_TMPFILE == unix.O_TMPFILE
	was, before, known := r.look(path, true)
	at, ok := r.name(path)
	if !ok && !unnamed {
		return nil
	}
	return func(result int64) (crashstates.Op, bool) {
		id, st, ok := r.look(t.fd(uint64(result)), true)
		op := crashstates.Op{Kind: crashstates.Create, Call: "create " + at.Name, Ino: id, At: at, Mode: modeOf(st), Time: st.Mtim.Nano()}
		switch {
		case unnamed:
			op.Call, op.At = "create without a name", crashstates.Name{}
		case known && was == id:
			op.Kind, op.Call = crashstates.Truncate, "truncate "+at.Name
			ok = ok && flags&unix.O_TRUNC != 0 && before.Size > 0
		}
		return op, ok
	}
}

func (r *recorder) made(path, call, target string) func(int64) (crashstates.Op, bool) {
	at, ok := r.name(path)
	if !ok {
		return nil
	}
	return func(int64) (crashstates.Op, bool) {
		id, st, ok := r.look(path, false)
		return crashstates.Op{Kind: crashstates.Create, Call: call + " " + at.Name, Ino: id, At: at, Mode: modeOf(st), Time: st.Mtim.Nano(), Target: target}, ok
	}
}

func (r *recorder) link(t tracee, a [6]uint64) func(int64) (crashstates.Op, bool) {
	source := t.path(a[0], t.text(a[1]))
	id, _, ok := r.look(source, a[4]&unix.AT_SYMLINK_FOLLOW != 0)
	at, there := r.name(t.path(a[2], t.text(a[3])))
	if !ok || !there {
		return nil
	}
	return func(int64) (crashstates.Op, bool) {
		return crashstates.Op{Kind: crashstates.Link, Call: "link " + at.Name, Ino: id, At: at}, true
	}
}

func (r *recorder) named(call string, kind crashstates.Kind, from, to string) func(int64) (crashstates.Op, bool) {
	at, ok := r.name(from)
	op := crashstates.Op{Kind: kind, Call: call + " " + at.Name, At: at}
	if to != "" && ok {
		op.To, ok = r.name(to)
		op.Call += " " + op.To.Name
	}
	if !ok {
		return nil
	}
	return func(int64) (crashstates.Op, bool) { return op, true }
}

func (r *recorder) write(t tracee, c *tracedCall) func(int64) (crashstates.Op, bool) {
	data := t.memory(c.args[1], int(c.args[2]))
	if r.isOutput(t.fd(c.args[0])) {
		// The client may have it, and another thread its next call, before the end is seen here.
		r.log(crashstates.Op{Kind: crashstates.Answer, Call: "answer", Data: data})
		return nil
	}
	return r.onFile(t, c.args[0], "write", func(op *crashstates.Op, n int64) {
		op.Kind, op.Data, op.Off = crashstates.Write, data[:n], int64(c.args[3])
		if c.number == unix.SYS_WRITE {
			op.Off = t.position(c.args[0]) - n
		}
	})
}

func (r *recorder) isOutput(fd string) bool {
	var st unix.Stat_t
	return unix.Stat(fd, &st) == nil && st.Dev == r.output.Dev && st.Ino == r.output.Ino
}

// copied is a copy between two files of the kernel's making. The source is open for reading.
func (r *recorder) copied(t tracee, c *tracedCall) func(int64) (crashstates.Op, bool) {
	offset := func(at, fd uint64) int64 {
		if at == 0 {
			return t.position(fd)
		}
		return int64(binary.NativeEndian.Uint64(t.memory(at, 8)))
	}
	from, to := offset(c.args[1], c.args[0]), offset(c.args[3], c.args[2])
	return r.onFile(t, c.args[2], "copy to", func(op *crashstates.Op, n int64) {
		f, err := os.Open(t.fd(c.args[0]))
		if err != nil {
			r.fail("%v", err)
		}
		defer f.Close()
		op.Kind, op.Off, op.Data = crashstates.Write, to, make([]byte, n)
		if got, err := f.ReadAt(op.Data, from); int64(got) < n {
			r.fail("%v", err)
		}
	})
}

func modeOf(st unix.Stat_t) fs.FileMode {
	mode := fs.FileMode(st.Mode & 0o777)
	for bit, is := range map[uint32]fs.FileMode{unix.S_ISUID: fs.ModeSetuid, unix.S_ISGID: fs.ModeSetgid, unix.S_ISVTX: fs.ModeSticky} {
		if st.Mode&bit != 0 {
			mode |= is
		}
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	}
	return mode
}
