package editor

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// known lists the editors that are looked for, in this order.
var known = []string{"code", "cursor", "zed", "idea", "nvim"}

// diffArguments holds what an editor needs before the two names, if it is named alone.
var diffArguments = map[string]string{
	"code": "--diff", "code-insiders": "--diff", "codium": "--diff", "vscodium": "--diff", "cursor": "--diff", "windsurf": "--diff",
	"zed": "--diff", "zeditor": "--diff",
	"idea": "diff", "clion": "diff", "goland": "diff", "phpstorm": "diff", "pycharm": "diff", "rider": "diff", "rubymine": "diff", "rustrover": "diff", "webstorm": "diff",
	"nvim": "-d", "vim": "-d",
}

// inTerminal lists the editors that need a terminal.
var inTerminal = []string{"nvim", "vim", "vimdiff"}

// A multiplexer opens a window with a terminal for a command.
type multiplexer struct {
	variable string // is set in its windows
	command  []string
}

var multiplexers = []multiplexer{
	{"TMUX", []string{"tmux", "new-window", "-d"}}, // -d: the user may be typing elsewhere
	{"ZELLIJ", []string{"zellij", "run", "--close-on-exit", "--"}},
	{"STY", []string{"screen"}},
}

// errNoEditor is wrapped by the errors of find.
var errNoEditor = errors.New("no editor")

func missing(format string, a ...any) error {
	return fmt.Errorf("%w: %s", errNoEditor, fmt.Sprintf(format, a...))
}

// find returns the command that takes the names of both files: of the editor that given
// names, else of the first known one in PATH. The program's name is absolute.
func (v *Viewer) find(given []string) ([]string, error) {
	if len(given) > 0 {
		return v.complete(given)
	}
	for _, name := range known {
		if command, err := v.complete([]string{name}); err == nil {
			return command, nil
		}
	}
	return nil, missing("neither code, cursor, zed nor idea is in PATH, nor nvim in tmux, zellij or screen. Name the program in full in the settings: [\"fsmcp\", \"hook\", \"diff\", \"/path/to/editor\"]")
}

// complete finds the program of a command, and adds the arguments that it needs.
func (v *Viewer) complete(given []string) ([]string, error) {
	program, err := v.look(given[0])
	if err != nil {
		return nil, err
	}
	name := strings.ToLower(filepath.Base(given[0]))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd")
	command := append([]string{program}, given[1:]...)
	if arguments := diffArguments[name]; arguments != "" && len(given) == 1 {
		command = append(command, arguments)
	}
	if !slices.Contains(inTerminal, name) {
		return command, nil
	}
	for _, m := range multiplexers {
		if v.o.Getenv(m.variable) == "" {
			continue
		}
		if program, err = v.look(m.command[0]); err != nil {
			return nil, err
		}
		return slices.Concat([]string{program}, m.command[1:], command), nil
	}
	return nil, missing("%s needs a terminal, and this session runs in neither tmux, zellij nor screen", given[0])
}

// look returns the absolute name of a program.
func (v *Viewer) look(name string) (string, error) {
	program, err := v.o.LookPath(name)
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return "", missing("%q is not found or cannot be run", name)
	}
	return program, nil
}
