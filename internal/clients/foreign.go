package clients

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/jsonc"
	"github.com/fsmcp/fsmcp/internal/settings/disk"
)

// Arguments are the arguments of serve in an entry.
type Arguments struct {
	Flags [][]string // each flag with its value
	Dirs  []string
}

// Folders returns the folders that the arguments serve, those of --add-dir too.
func (a Arguments) Folders() []string {
	dirs := slices.Clone(a.Dirs)
	for _, f := range a.Flags {
		if value, ok := strings.CutPrefix(f[0], "--add-dir="); ok {
			dirs = append(dirs, value)
		} else if f[0] == "--add-dir" && len(f) > 1 {
			dirs = append(dirs, f[1])
		}
	}
	return dirs
}

// SplitArguments parts the arguments of serve. flag reports whether serve has a flag of that
// name, and whether it takes a value. One that serve does not have is an error, since the
// word behind it may be its value.
func SplitArguments(args []string, flag func(name string) (valued, known bool)) (a Arguments, err error) {
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		switch {
		case !isFlag: // a folder: serve has no short flags
			a.Dirs = append(a.Dirs, args[i])
			continue
		case name == "":
			a.Dirs = append(a.Dirs, args[i+1:]...)
			return a, nil
		}
		name, _, written := strings.Cut(name, "=")
		valued, known := flag(name)
		if !known {
			return a, fmt.Errorf("serve has no flag --%s", name)
		}
		words := args[i : i+1]
		if valued && !written && i+1 < len(args) {
			i++
			words = args[i-1 : i+1]
		}
		a.Flags = append(a.Flags, words)
	}
	return a, nil
}

// LaunchItem is a part of an entry that fsmcp config does not write itself: a flag, a folder, a
// variable of the environment or another key. A repository can hold such an entry, so an
// item is kept only if the user says so.
type LaunchItem struct {
	Name string // of the flag, the folder, the variable or the key
	Text string // with its value
	// Loosens reports that the item could widen what a server may do, or what is run.
	Loosens bool
	Kept    bool
}

// maxItems bounds the items of an entry: each one that is not kept takes a pass over the
// file.
const maxItems = 100

// The parts of an entry that cannot loosen: flags and variables that only restrict or
// only concern the form of answers, and keys that start and permit nothing.
var (
	harmlessFlags     = []string{"--deny", "--ask", "--dedup", toolsFlag}
	harmlessVariables = []string{"FSMCP_DENY", "FSMCP_ASK", "FSMCP_DEDUP", "FSMCP_TOOLS", "FSMCP_READ_ONLY", "FSMCP_MAX_OUTPUT_TOKENS", "FSMCP_MAX_FILE_BYTES", "FSMCP_MAX_IMAGE_TOKENS"}
	switchKeys        = []string{"disabled", "enabled"}
	plainKeys         = []string{"name", "title", "description", "source"}
)

// located is an item with the member that holds it; object is nil if an argument does.
type located struct {
	LaunchItem
	object *hujson.Value
	at     int
}

// items returns what the entry holds beside the members and arguments that entry returns.
func (d *document) items(entry *hujson.Value, args Arguments, s Launch) (all []located) {
	add := func(i located) {
		i.Kept = s.Keep != nil && s.Keep(i.LaunchItem)
		all = append(all, i)
	}
	for _, f := range args.Flags {
		if d.client.searchless && slices.Equal(f, []string{allTools}) {
			continue
		}
		name, _, _ := strings.Cut(f[0], "=")
		add(located{LaunchItem: LaunchItem{Name: name, Text: Shell("linux", f), Loosens: !slices.Contains(harmlessFlags, name)}})
	}
	for _, dir := range args.Dirs {
		if !s.ownFolder(dir) {
			add(located{LaunchItem: LaunchItem{Name: dir, Text: "folder " + dir, Loosens: true}})
		}
	}
	for i, m := range members(entry) {
		key, _ := jsonc.Text(m.Name)
		value := &m.Value
		switch {
		case d.client.own(key) || startsNothing(key, value):
		case key == d.client.environment() && isObject(value):
			for _, v := range d.variables(value) {
				add(v)
			}
		default:
			add(located{LaunchItem{Name: key, Text: key + ": " + d.brief(value), Loosens: !slices.Contains(switchKeys, key)}, entry, i})
		}
	}
	return all
}

// variables returns the variables of an entry's environment.
func (d *document) variables(env *hujson.Value) (all []located) {
	for i, m := range members(env) {
		name, _ := jsonc.Text(m.Name)
		text, ok := jsonc.Text(m.Value)
		if !ok {
			text = d.brief(&m.Value)
		}
		all = append(all, located{LaunchItem{Name: name, Text: "environment " + name + "=" + text, Loosens: !slices.Contains(harmlessVariables, name)}, env, i})
	}
	return all
}

// own reports whether entry returns a member of that key.
func (c KnownClient) own(key string) bool {
	return slices.ContainsFunc(c.entry(Launch{}, nil), func(m member) bool { return m.key == key })
}

// environment returns the key of an entry's environment.
func (c KnownClient) environment() string {
	if c.joined {
		return "environment"
	}
	return "env"
}

// startsNothing reports whether a member starts and permits nothing, and leaves the entry on.
func startsNothing(key string, value *hujson.Value) bool {
	word, _ := value.Value.(hujson.Literal)
	switch {
	case key == "disabled" || key == "enabled":
		return string(word) == map[string]string{"disabled": "false", "enabled": "true"}[key]
	case key == "type":
		return word.String() == "stdio"
	}
	return slices.Contains(plainKeys, key) || strings.Contains(strings.ToLower(key), "timeout")
}

func isObject(v *hujson.Value) bool {
	_, ok := v.Value.(*hujson.Object)
	return ok
}

// ownFolder reports whether fsmcp config could have written a folder: it is absolute and
// clean and, in the file of a project, below that project.
func (s Launch) ownFolder(dir string) bool {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return false
	}
	if s.Project == "" || slices.Contains(s.Dirs, dir) {
		return true
	}
	return fsys.Within(disk.Real(s.Project), disk.Real(dir)) // a repository can hold a link to anywhere
}

// foldersAfter returns the folders that an entry serves when s is entered: those before that stay,
// then those of s. None serves every project.
func (s Launch) foldersAfter(before []string, items []located) (dirs []string) {
	if s.Replace || len(s.Dirs) == 0 {
		return s.Dirs
	}
	kept := slices.DeleteFunc(slices.Clone(before), func(dir string) bool {
		return slices.ContainsFunc(items, func(i located) bool { return i.object == nil && i.Name == dir && !i.Kept })
	})
	for _, dir := range slices.Concat(kept, s.Dirs) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
