package procgroup

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// ownGroup begins a group of processes, and opens no console window.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// job holds the processes of a group; 0 if there is none to be had: then the command stands
// alone.
type job windows.Handle

// gather makes a job of a process that was just started. What it starts from then on
// belongs to the job, too.
func gather(p *os.Process) job {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(process)
	made, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	if windows.AssignProcessToJobObject(made, process) != nil {
		windows.CloseHandle(made)
		return 0
	}
	return job(made)
}

func (j job) close() {
	if j != 0 {
		windows.CloseHandle(windows.Handle(j))
	}
}

// Kill ends all of the group at once.
func (g *Group) Kill() {
	if g.job == 0 || windows.TerminateJobObject(windows.Handle(g.job), 1) != nil {
		_ = g.cmd.Process.Kill()
	}
}
