package procgroup

import (
	"fmt"
	"os/exec"
	"strings"
)

// NoCurrentDirectory is set for each command on Windows. It is the variable that keeps
// cmd.exe, CreateProcess and exec.LookPath from looking for programs in the working directory
// (source: NeedCurrentDirectoryForExePathW).
const NoCurrentDirectory = "NoDefaultCurrentDirectoryInExePath"

// ArgumentError reports a part of a command that cmd.exe would read as its own syntax.
type ArgumentError struct {
	Program  string
	Argument string // "": the name of the program itself
	Part     string
}

func (e *ArgumentError) Error() string {
	if e.Argument == "" {
		return fmt.Sprintf("%q is a batch file, and cmd.exe would read the %q in its name as its own syntax; it has to lie under another name", e.Program, e.Part)
	}
	return fmt.Sprintf("%q is a batch file, and cmd.exe would read the %q in its argument %q as its own syntax; write the argument into the file, or run an .exe, as powershell.exe with a script", e.Program, e.Part, e.Argument)
}

// checkArguments returns an *ArgumentError for a batch file of Windows whose name or
// arguments cmd.exe could not take literally. No quotes help against all of them.
func checkArguments(cmd *exec.Cmd) error {
	if !isBatch(cmd.Path) {
		return nil
	}
	if at := strings.IndexAny(cmd.Path, "%\"\r\n"); at >= 0 {
		return &ArgumentError{Program: cmd.Path, Part: cmd.Path[at : at+1]}
	}
	for _, arg := range cmd.Args[1:] {
		if at := strings.IndexAny(arg, "&|<>^%!\"()\r\n\x00"); at >= 0 {
			return &ArgumentError{cmd.Path, arg, arg[at : at+1]}
		}
	}
	return nil
}

// isBatch reports whether cmd.exe runs the file. Windows drops dots and blanks at the end.
func isBatch(name string) bool {
	name = strings.ToLower(strings.TrimRight(name, ". "))
	return strings.HasSuffix(name, ".cmd") || strings.HasSuffix(name, ".bat")
}
