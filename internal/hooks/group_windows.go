package hooks

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// group is a command with all that it starts.
type group struct {
	cmd *exec.Cmd
	job windows.Handle // 0 where there is none to be had: then the command stands alone
}

// newGroup has a command that is not started yet begin a group of processes.
func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	return &group{cmd: cmd}
}

// gather is called once the command was started. What it starts from then on
// belongs to its job, too.
func (g *group) gather() {
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

// kill ends all of the group at once.
func (g *group) kill() {
	if g.job == 0 || windows.TerminateJobObject(g.job, 1) != nil {
		_ = g.cmd.Process.Kill()
	}
}

// close leaves alone what still runs.
func (g *group) close() {
	if g.job != 0 {
		windows.CloseHandle(g.job)
	}
}
