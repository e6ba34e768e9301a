package procgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// prepare makes a command begin a group of processes that runs nothing before gather, opens
// no console window and looks for no program in its working directory.
func prepare(cmd *exec.Cmd) error {
	return literal(cmd, windows.CREATE_NEW_PROCESS_GROUP|windows.CREATE_NO_WINDOW|windows.CREATE_SUSPENDED)
}

// StartAlone starts a command that may outlive this process, and gets none of the signals of
// its console. The error is an *ArgumentError if an argument would be read as syntax of a
// shell.
func StartAlone(cmd *exec.Cmd) error {
	const flags = windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW
	if err := literal(cmd, flags|windows.CREATE_BREAKAWAY_FROM_JOB); err != nil {
		return err
	}
	again := *cmd
	err := cmd.Start()
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) { // the client's job does not let it go
		again.SysProcAttr.CreationFlags = flags
		*cmd = again
		err = cmd.Start()
	}
	return err
}

// literal makes a command take its name and arguments literally, and look for no program in
// its working directory.
func literal(cmd *exec.Cmd, flags uint32) error {
	if err := checkArguments(cmd); err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: flags}
	if isBatch(cmd.Path) {
		cmd.SysProcAttr.CmdLine = batchLine(cmd)
	}
	cmd.Env = append(cmd.Environ(), NoCurrentDirectory+"=1")
	return nil
}

// batchLine returns the command line of a batch file, with its whole name in quotes: cmd.exe
// looks for the file again by the name that stands there.
func batchLine(cmd *exec.Cmd) string {
	var b strings.Builder
	b.WriteString(`"` + cmd.Path + `"`)
	for _, arg := range cmd.Args[1:] {
		b.WriteString(" " + syscall.EscapeArg(arg))
	}
	return b.String()
}

// lifeJob holds all groups without limits. The system closes its only handle when this process ends, and
// then ends all that is in it. It is 0 if there is none to be had. A process may leave the
// job: an editor outlives the hook that opened it.
var lifeJob = sync.OnceValue(func() windows.Handle {
	made, err := newJob(limits{flags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK})
	if err != nil {
		return 0
	}
	return made
})

// limits are the limits of a job, with the flags that select them.
type limits struct {
	Limits
	flags uint32
}

// ownJob returns the limits of a group's job.
func (l Limits) ownJob() limits {
	if l == (Limits{}) {
		return limits{flags: windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK}
	}
	flags := uint32(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS | windows.JOB_OBJECT_LIMIT_PRIORITY_CLASS | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION)
	if l.Memory > 0 {
		flags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
	}
	if l.Time > 0 {
		flags |= windows.JOB_OBJECT_LIMIT_JOB_TIME
	}
	return limits{l, flags}
}

// info returns the limits as the system takes them.
func (l limits) info() windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION {
	return windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: l.flags, ActiveProcessLimit: 1, PriorityClass: windows.BELOW_NORMAL_PRIORITY_CLASS,
			PerJobUserTimeLimit: int64(l.Time / (100 * time.Nanosecond)),
		},
		JobMemoryLimit: uintptr(l.Memory),
	}
}

// set limits a job. The system adds a time limit to the time that the job has used (source:
// JOBOBJECT_BASIC_LIMIT_INFORMATION).
func (l limits) set(to windows.Handle) error {
	info := l.info()
	_, err := windows.SetInformationJobObject(to, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

func newJob(l limits) (windows.Handle, error) {
	made, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	if err := l.set(made); err != nil {
		windows.CloseHandle(made)
		return 0, err
	}
	return made, nil
}

// job holds the processes of a group. Its handle is 0 if there is none to be had: then the
// command stands alone.
type job struct {
	handle windows.Handle
	limits limits
}

// gather puts a suspended process into a job of its own and, if it has no limits, into
// lifeJob, and lets it run. What it starts belongs to the same jobs.
func gather(p *os.Process, l Limits) (job, error) {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE|windows.PROCESS_SET_INFORMATION, false, uint32(p.Pid))
	if err != nil {
		return job{}, fmt.Errorf("it cannot be opened: %w", err)
	}
	defer windows.CloseHandle(process)
	j := job{limits: l.ownJob()}
	if l == (Limits{}) {
		if life := lifeJob(); life != 0 {
			_ = windows.AssignProcessToJobObject(life, process)
		}
		j.handle = j.limits.jobOf(process, 0)
	} else {
		// A job that limits the desktop can hold no process of another job, such as the
		// client's (source: AssignProcessToJobObject).
		if j.handle = j.limits.jobOf(process, noDesktop); j.handle == 0 {
			j.handle = j.limits.jobOf(process, 0)
		}
		_ = windows.SetPriorityClass(process, windows.BELOW_NORMAL_PRIORITY_CLASS) // its job keeps it from raising that again
	}
	if err := resume(uint32(p.Pid)); err != nil {
		j.close()
		return job{}, fmt.Errorf("it cannot be resumed: %w", err)
	}
	return j, nil
}

// noDesktop forbids all that a job can forbid on the desktop: the clipboard, windows of
// other processes, settings, to log off.
const noDesktop = windows.JOB_OBJECT_UILIMIT_DESKTOP | windows.JOB_OBJECT_UILIMIT_DISPLAYSETTINGS | windows.JOB_OBJECT_UILIMIT_EXITWINDOWS |
	windows.JOB_OBJECT_UILIMIT_GLOBALATOMS | windows.JOB_OBJECT_UILIMIT_HANDLES | windows.JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS |
	windows.JOB_OBJECT_UILIMIT_READCLIPBOARD | windows.JOB_OBJECT_UILIMIT_WRITECLIPBOARD

// jobOf puts a process into a new job with limits, and with those of the desktop. It returns
// 0 if that is not to be had.
func (l limits) jobOf(process windows.Handle, desktop uint32) windows.Handle {
	made, err := newJob(l)
	if err != nil {
		return 0
	}
	if desktop != 0 {
		ui := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: desktop}
		_, err = windows.SetInformationJobObject(made, windows.JobObjectBasicUIRestrictions, uintptr(unsafe.Pointer(&ui)), uint32(unsafe.Sizeof(ui)))
	}
	if err == nil {
		err = windows.AssignProcessToJobObject(made, process)
	}
	if err != nil {
		windows.CloseHandle(made)
		return 0
	}
	return made
}

// resume lets a process run that was started suspended. Package os has closed the handle of
// its thread.
func resume(pid uint32) error {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(all)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	found := windows.ERROR_NOT_FOUND
	for err = windows.Thread32First(all, &entry); err == nil; err = windows.Thread32Next(all, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		windows.CloseHandle(thread)
		if err != nil {
			return err
		}
		found = 0
	}
	if found != 0 {
		return found
	}
	return nil
}

func (j job) close() {
	if j.handle != 0 {
		windows.CloseHandle(j.handle)
	}
}

// RenewTime gives the group its Limits.Time anew.
func (g *Group) RenewTime() {
	if g.job.handle != 0 && g.job.limits.Time > 0 {
		_ = g.job.limits.set(g.job.handle)
	}
}

// Kill ends all of the group at once.
func (g *Group) Kill() {
	if g.job.handle == 0 || windows.TerminateJobObject(g.job.handle, 1) != nil {
		_ = g.cmd.Process.Kill()
	}
}
