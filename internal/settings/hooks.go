package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/jsonc"
	"github.com/fsmcp/fsmcp/internal/perm/notation"
)

// Hooks holds the commands to run around a change, in their order: the user's own before
// those of a trusted project.
type Hooks struct{ Before, After hooks.List }

const (
	defaultHookTimeout = 10 * time.Second
	// longestHook bounds how long a change may wait for one command.
	longestHook = 10 * time.Minute
)

// everyFile is the default glob of an entry.
const everyFile = "**"

func takeHooks(v hujson.Value) (any, bool) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return hooks.List{{Glob: everyFile, Broken: `it is no list of {"glob", "command", "timeout"}`, Line: v.StartOffset}}, false
	}
	read := hooks.List{}
	for _, e := range list.Elements {
		read = append(read, takeHook(e))
	}
	return read, true
}

// takeHook reads one entry. It reads all of it even if a part is wrong: a broken entry
// still concerns the files that it names. Its Line is the offset in the file: parser.hooks
// knows the lines.
func takeHook(v hujson.Value) hooks.Hook {
	h := hooks.Hook{Timeout: defaultHookTimeout, Line: v.StartOffset}
	isObject := members(v, func(field string, v hujson.Value) bool {
		wrong := ""
		switch field {
		case "glob":
			if h.Glob, _ = jsonc.Text(v); h.Glob == "" || !doublestar.ValidatePattern(h.Glob) {
				h.Glob, wrong = everyFile, `its "glob" is no pattern of names, such as "**/*.go"`
			}
		case "command":
			if h.Command, _ = jsonc.Texts(v); len(h.Command) == 0 || h.Command[0] == "" {
				wrong = `its "command" is no list of strings, a program and its arguments`
			}
		case "timeout":
			is, ok := takeTimeout(v)
			if h.Timeout, _ = is.(time.Duration); !ok || h.Timeout > longestHook {
				wrong = `its "timeout" is no length of time up to 10 minutes, such as "10s"`
			}
		default:
			wrong = fmt.Sprintf("it has %q, which is not known (there are glob, command and timeout)", field)
		}
		h.Broken = cmp.Or(h.Broken, wrong)
		return true
	})
	switch {
	case h.Broken != "":
	case !isObject:
		h.Broken = "it is no object"
	case h.Glob == "":
		h.Broken = `it has no "glob"`
	case h.Command == nil:
		h.Broken = `it has no "command"`
	}
	h.Glob = cmp.Or(h.Glob, everyFile)
	return h
}

// hooks sets a list of hooks and warns of entries that cannot be run; the others count. It
// keeps broken entries of the list before a change: a guard must not be off unnoticed.
// isList says that the value is a list.
func (p *parser) hooks(k *key, v hujson.Value, read hooks.List, isList bool) {
	list, entry := hooks.List{}, fmt.Sprintf("%q", k.path)
	if isList {
		entry = "an entry of " + entry
	}
	for _, h := range read {
		at := h.Line
		h.From, h.Line = p.layer.File.Name, p.line(at)
		switch guards := k == keyHooksBefore; {
		case h.Broken == "":
			list = append(list, h)
		case guards:
			p.warn(at, "%s cannot be run, and until it is mended no file is changed that it is for: %s", entry, h.Broken)
			list = append(list, h)
		default:
			p.warn(at, "%s is ignored: %s", entry, h.Broken)
		}
	}
	if len(list) > 0 || len(read) == 0 {
		p.keep(k, list, v.StartOffset)
	}
}

// hooksOf returns the hooks of all sources together. A hook before a change whose glob
// cannot be understood on this system is a broken one.
func (m *merger) hooksOf(k *key) (out hooks.List) {
	for _, ofProject := range []bool{false, true} {
		for _, s := range settingsOf[hooks.List](m, k) {
			if s.File.Level.InProject() != ofProject || !s.may(trusted, m.trust) {
				continue
			}
			for _, h := range s.is {
				if h, ok := m.named(k, h); ok {
					out = append(out, h)
				}
			}
		}
	}
	return out
}

// named returns a hook with its glob as it is matched on this system; ok is false for one
// that is left out.
func (m *merger) named(k *key, h hooks.Hook) (named hooks.Hook, ok bool) {
	on := m.origin.system.Notation()
	if !on.Windows {
		return h, true
	}
	var err error
	if h.Names, err = globsOf(on, h.Glob); err == nil {
		return h, true
	}
	why := fmt.Sprintf("its \"glob\" %s %v", h.Glob, err)
	h.Names, h.Broken = []string{everyFile}, cmp.Or(h.Broken, why)
	guards, effect := k == keyHooksBefore, "is ignored"
	if guards {
		effect = "cannot be run, and until it is mended no file is changed"
	}
	m.warnings = append(m.warnings, fmt.Sprintf("%s:%d: an entry of %q %s: %s", h.From, h.Line, k.path, effect, why))
	return h, guards
}

// errGlob says that a glob has no meaning on this system.
var errGlob = errors.New("is no pattern of names")

// globsOf returns the globs of names that a glob stands for on this system.
func globsOf(on notation.Convention, glob string) ([]string, error) {
	all, err := on.Globs(glob)
	if err == nil && slices.ContainsFunc(all, func(g string) bool { return !doublestar.ValidatePattern(g) }) {
		err = errGlob
	}
	return all, err
}
