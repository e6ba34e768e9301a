package report

import (
	"io"
	"os/exec"
	"runtime"
	"strings"
)

// Pager returns the user's pager, the command line that PAGER holds, else less, which shows
// one screen without stopping; nil if there is none. options is the value of LESS.
func Pager(line, options string, errors io.Writer) *exec.Cmd {
	var cmd *exec.Cmd
	if line = strings.TrimSpace(line); line != "" {
		cmd = exec.Command("sh", "-c", line)
		if runtime.GOOS == "windows" {
			cmd = exec.Command("cmd", "/c", line)
		}
	} else if less, err := exec.LookPath("less"); err == nil {
		cmd = exec.Command(less, "-FRX")
	} else {
		return nil
	}
	if options == "" { // so that PAGER=less shows colours
		cmd.Env = append(cmd.Environ(), "LESS=FRX")
	}
	cmd.Stderr = errors
	return cmd
}
