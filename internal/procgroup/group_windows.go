package procgroup

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Group is a command with all that it starts.
type Group struct {
	cmd *exec.Cmd
	job windows.Handle // 0 where there is none to be had: then the command stands alone
}

// New has a command that is not started yet begin a group of processes.
func New(cmd *exec.Cmd) *Group {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	return &Group{cmd: cmd}
}

// Gather is called once the command was started. What it starts from then on
// belongs to its job, too.
func (g *Group) Gather() {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.cmd.Process.Pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(process)
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	if windows.AssignProcessToJobObject(job, process) != nil {
		windows.CloseHandle(job)
		return
	}
	g.job = job
}

// Kill ends all of the group at once.
func (g *Group) Kill() {
	if g.job == 0 || windows.TerminateJobObject(g.job, 1) != nil {
		_ = g.cmd.Process.Kill()
	}
}

// Close leaves alone what still runs.
func (g *Group) Close() {
	if g.job != 0 {
		windows.CloseHandle(g.job)
	}
}
