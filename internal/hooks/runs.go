package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// word is one word of a command.
type word struct {
	text    string
	unknown bool // only a shell knows what becomes of text
}

// runner is a program that runs files or text named by its arguments: a script, a program,
// or shell text. Options are single letters as getopt reads them, or whole words without
// their dashes.
type runner struct {
	values string   // letters that take a value
	glued  string   // letters whose value follows in the same word
	long   []string // words that take a value, as the next word or after "="
	code   string   // letters after which code follows, and then no script; a command in one word, of a program that runs others
	module byte     // the letter before the name of a module
	skip   int      // operands before the script or program
	kind   runnerKind
}

type runnerKind uint8

const (
	runsScript  runnerKind = iota // the first operand is a script
	runsProgram                   // the operands are a command
	runsText                      // a shell: after code the first operand is its text, else a script
	evaluates                     // the operands together are a shell's text
	runsOptions                   // only the values of options are scripts
	commandLine                   // cmd.exe: after switches, all words are one text
)

var (
	shell  = runner{kind: runsText, values: "oO", code: "c", long: []string{"rcfile", "init-file"}}
	python = runner{values: "WXQ", code: "c", module: 'm'}
	node   = runner{values: "rC", code: "ep", long: []string{"require", "import", "loader", "experimental-loader", "env-file"}}
	plain  = runner{}
	prefix = runner{kind: runsProgram}
)

// runners lists known programs that run others, by their names without version and suffix.
// A name with a blank is a program and its first argument.
var runners = sync.OnceValue(func() map[string]runner {
	return map[string]runner{
		"sh": shell, "bash": shell, "dash": shell, "ash": shell, "ksh": shell, "mksh": shell, "zsh": shell, "rbash": shell, "yash": shell, "fish": shell, "csh": shell, "tcsh": shell,
		"python": python, "pypy": python,
		"perl": {values: "I", glued: "iFxmM", code: "eE"}, "ruby": {values: "IrCE", glued: "ixFKTW", code: "e"},
		"node": node, "nodejs": node, "tsx": node, "ts-node": node, "bun": node, "bun run": node, "deno": plain, "deno run": plain, "go run": plain,
		"php": {values: "dcfz", code: "r"}, "lua": {values: "l", code: "e"}, "luajit": {values: "l", code: "e"},
		"tclsh": plain, "wish": plain, "expect": {values: "f", code: "c"}, "rscript": {code: "e"}, "osascript": {values: "l", code: "e"},
		"groovy": {values: "c", code: "e"}, "julia": {values: "L", code: "eE"}, "guile": {values: "L", code: "c"}, "elixir": {values: "r", code: "e"}, "swift": plain, "racket": {code: "e"},
		"-c":   {kind: evaluates}, // after flock's file
		"java": {long: []string{"jar", "cp", "classpath", "class-path", "p", "module-path"}},
		"pwsh": {long: []string{"file", "f", "command", "c"}}, "powershell": {long: []string{"file", "f", "command", "c"}}, "cmd": {kind: commandLine},
		"awk": {kind: runsOptions, values: "fFv", long: []string{"file"}}, "gawk": {kind: runsOptions, values: "fFvEi", long: []string{"file"}}, "mawk": {kind: runsOptions, values: "fFv"}, "sed": {kind: runsOptions, values: "fel", long: []string{"file"}},
		"make": {kind: runsOptions, values: "fCI", long: []string{"file", "makefile"}}, "gmake": {kind: runsOptions, values: "fCI", long: []string{"file", "makefile"}},
		".": plain, "source": plain, "eval": {kind: evaluates}, "trap": {kind: evaluates},
		"env": {kind: runsProgram, values: "uC", code: "S", long: []string{"unset", "chdir"}}, "exec": {kind: runsProgram, values: "a"}, "command": prefix, "builtin": prefix, "nohup": prefix, "setsid": prefix, "busybox": prefix, "time": {kind: runsProgram, values: "fo"},
		"nice": {kind: runsProgram, values: "n"}, "ionice": {kind: runsProgram, values: "cn"}, "timeout": {kind: runsProgram, values: "ks", long: []string{"kill-after", "signal"}, skip: 1}, "stdbuf": {kind: runsProgram, values: "ioe"},
		"taskset": {kind: runsProgram, skip: 1}, "chrt": {kind: runsProgram, skip: 1}, "flock": {kind: runsProgram, values: "wE", skip: 1},
		"sudo": {kind: runsProgram, values: "ughpCTrtRDU"}, "doas": {kind: runsProgram, values: "uC"}, "xargs": {kind: runsProgram, values: "adEIiLnPs"},
		"uv run": prefix, "poetry run": prefix, "bundle exec": prefix,
		"fsmcp hook": {kind: runsProgram, skip: 1}, // before "diff", which starts an editor
	}
})

// runnerOf returns the entry of a program, and the arguments after its name.
func runnerOf(argv []word) (r runner, args []word, ok bool) {
	name := strings.ToLower(filepath.Base(argv[0].text))
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".com"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if name != "." {
		name = strings.TrimRight(name, "0123456789.-")
	}
	if args = argv[1:]; len(args) > 0 {
		if r, ok = runners()[name+" "+args[0].text]; ok {
			return r, args[1:], true
		}
	}
	r, ok = runners()[name]
	return r, args, ok
}

// runs returns a *BarredError for the first barred file that a command runs: its
// program, or what it gives to an interpreter, a shell or a program that runs others.
// It does not know what a program reads by itself.
func (f finder) runs(argv []word) error {
	if argv[0].unknown {
		return &BarredError{File: argv[0].text, Unknown: true}
	}
	if strings.ContainsRune(filepath.ToSlash(argv[0].text), '/') {
		if err := f.mayRun(argv[0].text); err != nil {
			return err
		}
	}
	r, args, ok := runnerOf(argv)
	if !ok {
		return nil
	}
	given, err := f.options(r, args)
	if err != nil || len(given.operands) == 0 {
		return err
	}
	switch operands := given.operands[min(r.skip, len(given.operands)):]; {
	case len(operands) == 0 || r.kind == runsOptions:
		return nil
	case r.kind == runsProgram:
		return f.prefixed(operands)
	case r.kind == commandLine:
		return f.commandLine(joined(operands).text)
	case r.kind == evaluates:
		return f.text(joined(operands), nil)
	case r.kind == runsText && given.code:
		return f.text(operands[0], operands[1:])
	case given.code:
		return nil
	default:
		return f.reads(operands[0])
	}
}

// commandLine checks what cmd.exe runs for its arguments. It finds no program in the working
// directory by a name alone (procgroup.NoCurrentDirectory).
func (f finder) commandLine(text string) error {
	for command := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("&|()\r\n", r) }) {
		words := split(strings.TrimLeft(command, "@ \t"))
		for len(words) > 0 && (strings.HasPrefix(words[0].text, "/") || slices.Contains([]string{"call", "start"}, strings.ToLower(words[0].text))) {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		words[0].unknown = strings.ContainsAny(words[0].text, "%!^")
		if err := f.runs(words); err != nil {
			return err
		}
	}
	return nil
}

// prefixed checks a command that follows assignments or a program that runs it.
func (f finder) prefixed(argv []word) error {
	for i, w := range argv {
		name, value, assigns := strings.Cut(w.text, "=")
		if !assigns || strings.Contains(name, "/") {
			return f.runs(argv[i:])
		}
		if name == "PATH" {
			if err := f.searches(word{value, w.unknown}); err != nil {
				return err
			}
		}
	}
	return nil
}

// searches returns a *BarredError if a value of PATH leads to a barred directory.
func (f finder) searches(path word) error {
	if path.unknown {
		return &BarredError{File: path.text, Unknown: true}
	}
	for _, dir := range filepath.SplitList(path.text) {
		if err := f.mayRun(dir); err != nil {
			return err
		}
	}
	return nil
}

// reads returns a *BarredError if a word is a barred file or directory from which an
// interpreter takes code. Most words that are no file are no script either.
func (f finder) reads(w word) error {
	if w.unknown {
		return &BarredError{File: w.text, Unknown: true}
	}
	name := w.text
	if !filepath.IsAbs(name) {
		name = filepath.Join(f.dir, name)
	}
	if _, err := os.Lstat(name); err != nil {
		return nil
	}
	return f.mayRun(name)
}

// parsedOptions is the rest of a runner's words after its options.
type parsedOptions struct {
	code     bool // it was given code
	operands []word
}

// options parses the options of a runner, and checks the files that are their values.
func (f finder) options(r runner, args []word) (g parsedOptions, err error) {
	for len(args) > 0 && err == nil {
		arg := args[0].text
		if args[0].unknown || len(arg) < 2 || arg[0] != '-' {
			break
		}
		args = args[1:]
		if arg == "--" {
			break
		}
		name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case has && name == "split-string":
			args = append(split(value), args...)
		case has && strings.HasPrefix(arg, "--"):
			err = f.reads(word{text: value})
		case slices.Contains(r.long, strings.ToLower(name)):
			args, err = f.value(args)
		case !strings.HasPrefix(arg, "--"):
			args, err = f.cluster(r, arg[1:], args, &g)
		}
		if g.code && r.kind != runsText {
			break
		}
	}
	g.operands = args
	return g, err
}

// cluster parses the letters after one dash; args are the words that follow.
func (f finder) cluster(r runner, letters string, args []word, g *parsedOptions) ([]word, error) {
	for i, letter := range []byte(letters) {
		rest := letters[i+1:]
		switch {
		case letter == r.module:
			if g.code = true; rest != "" {
				return args, f.module(word{text: rest})
			}
			if len(args) == 0 {
				return args, nil
			}
			return args[1:], f.module(args[0])
		case strings.IndexByte(r.code, letter) >= 0 && r.kind == runsProgram:
			if rest == "" && len(args) > 0 {
				rest, args = args[0].text, args[1:]
			}
			return append(split(rest), args...), nil
		case strings.IndexByte(r.code, letter) >= 0:
			g.code = true
			if r.kind != runsText {
				return args, nil
			}
		case strings.IndexByte(r.glued, letter) >= 0:
			return args, nil
		case strings.IndexByte(r.values, letter) >= 0 && rest != "":
			return args, f.reads(word{text: rest})
		case strings.IndexByte(r.values, letter) >= 0:
			return f.value(args)
		}
	}
	return args, nil
}

// value takes an option's value from the words that follow.
func (f finder) value(args []word) ([]word, error) {
	if len(args) == 0 {
		return args, nil
	}
	return args[1:], f.reads(args[0])
}

// module checks a Python module, which Python looks for in the working directory.
func (f finder) module(w word) error {
	top, _, _ := strings.Cut(w.text, ".")
	for _, name := range []string{top, top + ".py"} {
		if err := f.reads(word{name, w.unknown}); err != nil {
			return err
		}
	}
	return nil
}

func joined(words []word) (w word) {
	for i, next := range words {
		if i > 0 {
			w.text += " "
		}
		w.text, w.unknown = w.text+next.text, w.unknown || next.unknown
	}
	return w
}

// split splits a word as env -S does.
func split(text string) (words []word) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\"'", r) }) {
		words = append(words, word{text: part})
	}
	return words
}
