package hooks

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// BarredError reports a command that would run a file that an agent could rewrite
// (Round.Barred).
type BarredError struct {
	// File is the absolute name of that file. If Unknown is set, it holds the words of a
	// shell text that only the shell can expand.
	File    string
	Unknown bool
}

// Error says it as the rest of a sentence about the command.
func (e *BarredError) Error() string {
	if e.Unknown {
		return fmt.Sprintf("may not run: only its shell knows which file %q is, and an agent could rewrite one in a workspace directory; the command has to name it, or fsmcp to be started with --trust-project", e.File)
	}
	return fmt.Sprintf("may not run: %q lies in a workspace directory, where an agent could rewrite it; it has to lie elsewhere, or fsmcp to be started with --trust-project", e.File)
}

// finder finds the program of one command, and the other files that it runs.
type finder struct {
	dir    string            // where the command runs
	env    []string          // of the command; with barred its PATH leads to no barred directory
	path   []string          // the absolute directories of PATH
	barred func(string) bool // nil: no file is barred
}

// finder returns a finder for commands that run in dir.
func (r *Runner) finder(dir string, barred func(string) bool) finder {
	f := finder{dir: dir, env: r.o.Env, barred: barred}
	if f.env == nil {
		f.env = os.Environ()
	}
	list, _ := f.lookUp("PATH")
	for _, entry := range filepath.SplitList(list) {
		if filepath.IsAbs(entry) { // any other entry is relative to the workspace
			f.path = append(f.path, entry)
		}
	}
	if barred != nil {
		free := strings.Join(slices.DeleteFunc(slices.Clone(f.path), barred), string(filepath.ListSeparator))
		// An empty PATH means the working directory.
		f.env = append(slices.Clip(f.env), "PWD="+dir, "PATH="+cmp.Or(free, os.DevNull))
	}
	return f
}

// lookUp returns a variable of the command's environment.
func (f finder) lookUp(name string) (value string, ok bool) {
	return valueOf(f.env, name, onWindows)
}

// onWindows says that names of variables have no case, and that batch files exist.
const onWindows = runtime.GOOS == "windows"

// valueOf returns a variable of an environment. fold ignores the case of its name: Windows
// itself writes "Path".
func valueOf(env []string, name string, fold bool) (value string, ok bool) {
	for _, pair := range slices.Backward(env) {
		key, value, _ := strings.Cut(pair, "=")
		if key == name || fold && strings.EqualFold(key, name) {
			return value, true
		}
	}
	return "", false
}

// Check returns the absolute name of the program that h runs in dir. The error is a
// *BarredError if that program or its script is barred, or the reason why there is none.
func (r *Runner) Check(h Hook, dir string, barred func(string) bool) (program string, err error) {
	return r.finder(dir, barred).check(h)
}

// Environment returns the environment of a program that runs in dir: its PATH leads to no
// barred directory.
func (r *Runner) Environment(dir string, barred func(string) bool) []string {
	return r.finder(dir, barred).env
}

func (f finder) check(h Hook) (program string, err error) {
	if program, err = f.program(h); err != nil || f.barred == nil {
		return program, err
	}
	argv := []word{{text: program}}
	for _, arg := range h.Command[1:] {
		argv = append(argv, word{text: arg})
	}
	return program, f.runs(argv)
}

// program looks for the program: in PATH and then in its folder, or from that folder if its
// name has more than one segment. The search in PATH skips barred files: an agent could
// have put them there.
func (f finder) program(h Hook) (string, error) {
	name := h.Command[0]
	if name != filepath.Base(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(h.folder(), name)
		}
		if err := f.mayRun(name); err != nil {
			return "", err
		}
		return lookAt(name)
	}
	err := exec.ErrNotFound
	for _, dir := range append(f.path[:len(f.path):len(f.path)], h.folder()) {
		file, missing := lookAt(filepath.Join(dir, name))
		if missing != nil {
			continue
		}
		barred := f.mayRun(file)
		if barred == nil {
			return file, nil
		}
		if err == exec.ErrNotFound {
			err = barred
		}
	}
	return "", err
}

// lookAt returns the name of an executable file, with the suffix that the system adds. A
// name must be absolute.
func lookAt(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return "", exec.ErrNotFound
	}
	return exec.LookPath(name)
}

// mayRun returns a *BarredError if a file may not be run; a relative name starts from the
// working directory.
func (f finder) mayRun(name string) error {
	if !filepath.IsAbs(name) {
		name = filepath.Join(f.dir, name)
	}
	if f.barred != nil && f.barred(filepath.Clean(name)) {
		return &BarredError{File: filepath.Clean(name)}
	}
	return nil
}

// command returns the command of h ready to start, or the reason why it may not or cannot
// start.
func (r *Runner) command(h Hook, round Round) (*exec.Cmd, error) {
	f := r.finder(round.Dir, round.Barred)
	program, err := f.check(h)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, h.Command[1:]...)
	if name := h.Command[0]; name == filepath.Base(name) && !onWindows { // cmd.exe would look for it again
		cmd.Args[0] = name
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = round.Dir, r.o.Env, outputTimeout
	if f.barred != nil {
		cmd.Env = f.env
	}
	return cmd, nil
}
