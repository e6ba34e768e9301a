package clients

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Launch is the program as a client is to start it.
type Launch struct {
	Program string   // absolute
	Dirs    []string // the workspace, absolute; none: the client's own, for every project
	// Project is the folder of the project whose file is changed, "" for a file of the user.
	Project string
	// Split parts the arguments of serve in an older entry; a merge is refused with its
	// error. nil finds none.
	Split func(args []string) (Arguments, error)
	// Keep reports whether an item of an older entry stays; nil keeps none.
	Keep func(LaunchItem) bool
	// ReadOnly has the server offer only tools that change nothing; nil: as an older entry
	// says.
	ReadOnly *bool
	// Replace serves Dirs in place of the folders of an older entry, and not beside them.
	Replace bool
}

// args returns the arguments, with flags between the command and the folders.
func (s Launch) args(flags []string) []string {
	args := []string{"serve"}
	if s.ReadOnly != nil && *s.ReadOnly {
		args = append(args, readOnlyFlag)
	}
	return slices.Concat(args, flags, s.Dirs)
}

// line returns the whole command line.
func (s Launch) line() []string { return append([]string{s.Program}, s.args(nil)...) }

// member is a key with its value as compact JSON.
type member struct{ key, value string }

// entry returns the members of a server's object.
func (c KnownClient) entry(s Launch, flags []string) (list []member) {
	flags = c.withTools(flags)
	if c.joined {
		return []member{{"type", text("local")}, {"command", text(append([]string{s.Program}, s.args(flags)...))}}
	}
	if c.typed {
		list = append(list, member{"type", text("stdio")})
	}
	return append(list, member{"command", text(s.Program)}, member{"args", text(s.args(flags))})
}

// toolsFlag is the flag of serve that names the tools to offer, allTools that flag with
// all of them.
const (
	toolsFlag = "--tools"
	allTools  = toolsFlag + "=all"
)

// readOnlyFlag is the flag of serve that leaves only tools that change nothing.
const readOnlyFlag = "--read-only"

// withOlder returns the server with the flag of an older entry, unless s says something of
// it, and the older entry's arguments without that flag.
func (s Launch) withOlder(args Arguments) (Launch, Arguments) {
	isFlag := func(words []string) bool {
		name, _, _ := strings.Cut(words[0], "=")
		return name == readOnlyFlag
	}
	if i := slices.IndexFunc(args.Flags, isFlag); i >= 0 && s.ReadOnly == nil {
		is := args.Flags[i][0] != readOnlyFlag+"=false"
		s.ReadOnly = &is
	}
	args.Flags = slices.DeleteFunc(slices.Clone(args.Flags), isFlag)
	return s, args
}

// withTools returns flags, and all tools for a client that cannot search by itself, unless
// the flags name some.
func (c KnownClient) withTools(flags []string) []string {
	named := func(f string) bool { return f == toolsFlag || strings.HasPrefix(f, toolsFlag+"=") }
	if !c.searchless || slices.ContainsFunc(flags, named) {
		return flags
	}
	return append([]string{allTools}, flags...)
}

// text returns a string, or a list of strings, as JSON.
func text[T string | []string](v T) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it can be encoded, a buffer written
	return strings.TrimSuffix(b.String(), "\n")
}

// object returns a JSON object.
func object(members []member) string {
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = text(m.key) + ":" + m.value
	}
	return "{" + strings.Join(list, ",") + "}"
}

// nested returns a value below a path of keys.
func nested(keys []string, value string) string {
	for _, key := range slices.Backward(keys) {
		value = object([]member{{key, value}})
	}
	return value
}

// pretty spreads compact JSON over lines; those after the first begin with indent.
func pretty(compact, indent, unit, eol string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(compact), indent, unit); err != nil {
		return compact // it is made here, and is JSON
	}
	return strings.ReplaceAll(b.String(), "\n", eol)
}

// inline returns compact JSON as one line, with blanks behind colons and commas if
// spaced.
func inline(compact string, spaced bool) string {
	v := jsontext.Value(compact)
	if v.Format(jsontext.PreserveRawStrings(true), jsontext.SpaceAfterColon(spaced), jsontext.SpaceAfterComma(spaced)) != nil {
		return compact // it is made here, and is JSON
	}
	return string(v)
}

// Snippet returns what the client's file has to hold, ending with a newline.
func (c KnownClient) Snippet(s Launch) string {
	switch c.Format {
	case TOML:
		// A JSON string is a TOML string, except for the one character that TOML escapes.
		body := "[" + strings.Join(c.keys, ".") + "." + serverName + "]\ncommand = " + text(s.Program) + "\nargs = " + inline(text(s.args(c.withTools(nil))), true) + "\n"
		return strings.ReplaceAll(body, "\x7f", `\u007f`)
	case YAML:
		// A JSON string is a YAML string in double quotes.
		return strings.Join([]string{
			c.keys[0] + ":",
			"  " + serverName + ":",
			"    enabled: true",
			"    type: stdio",
			"    name: " + serverName,
			"    description: " + text("Read, Write, Edit and NotebookEdit"),
			"    cmd: " + text(s.Program),
			"    args: " + inline(text(s.args(c.withTools(nil))), true),
			"    envs: {}",
			"    timeout: 300",
			"",
		}, "\n")
	}
	return pretty(nested(append(c.keys[:len(c.keys):len(c.keys)], serverName), object(c.entry(s, nil))), "", "  ", "\n") + "\n"
}

// Shell writes a command as a line for the system's usual shell: sh, or cmd.exe and
// PowerShell on Windows. A word with a quotation mark of its own is quoted for cmd.exe.
func Shell(os string, words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellWord(os, w)
	}
	return strings.Join(quoted, " ")
}

// plain are the characters that no shell treats in a way of its own.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:="

func shellWord(os, w string) string {
	safe := plain
	if os == "windows" {
		safe += `\`
	}
	if w != "" && strings.Trim(w, safe) == "" {
		return w
	}
	if os == "windows" {
		// The C run-time's rule: a backslash counts as itself, but for those before a
		// quotation mark.
		var b strings.Builder
		slashes := 0
		for i := range len(w) {
			switch w[i] {
			case '\\':
				slashes++
			case '"':
				b.WriteString(strings.Repeat(`\`, slashes+1))
				slashes = 0
			default:
				slashes = 0
			}
			b.WriteByte(w[i])
		}
		return `"` + b.String() + strings.Repeat(`\`, slashes) + `"`
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
