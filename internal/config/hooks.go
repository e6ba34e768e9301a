package config

import (
	"fmt"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tailscale/hujson"
)

// Hooks are the commands that the user wants run around a change, in the order in
// which they run: the user's own before those of a trusted project.
type Hooks struct{ Before, After []Hook }

// Hook is one command.
type Hook struct {
	Glob    string // of the names it is for
	Command []string
	Timeout time.Duration
	// From is the file it was written in, Line where.
	From string
	Line int
}

// String is what a hook does, wherever it was written.
func (h Hook) String() string { return fmt.Sprintf("%q %q %v", h.Glob, h.Command, h.Timeout) }

const (
	defaultHookTimeout = 10 * time.Second
	// longestHook bounds how long a change may wait for one command.
	longestHook = 10 * time.Minute
)

// hooksRead is a list of hooks as it was read: those that can be run, each with the
// place where it begins, and what is wrong with the others.
type hooksRead struct {
	list []Hook
	at   []int
	bad  []misfit
}

// misfit is a part of a value that counts for nothing.
type misfit struct {
	at  int
	why string // the rest of a sentence about it
}

func takeHooks(v hujson.Value) (any, bool) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, false
	}
	read := hooksRead{list: []Hook{}}
	for _, e := range list.Elements {
		hook, why := takeHook(e)
		if why != "" {
			read.bad = append(read.bad, misfit{e.StartOffset, why})
			continue
		}
		read.list, read.at = append(read.list, hook), append(read.at, e.StartOffset)
	}
	return read, true
}

// takeHook reads one entry. why says what is wrong with it.
func takeHook(v hujson.Value) (h Hook, why string) {
	h.Timeout = defaultHookTimeout
	isObject := members(v, func(field string, v hujson.Value) bool {
		switch field {
		case "glob":
			if h.Glob, _ = text(v); h.Glob == "" || !doublestar.ValidatePattern(h.Glob) {
				why = `its "glob" is no pattern of names, such as "**/*.go"`
			}
		case "command":
			if h.Command = texts(v); len(h.Command) == 0 || h.Command[0] == "" {
				why = `its "command" is no list of strings, a program and its arguments`
			}
		case "timeout":
			is, ok := takeTimeout(v)
			if h.Timeout, _ = is.(time.Duration); !ok || h.Timeout > longestHook {
				why = `its "timeout" is no length of time up to 10 minutes, such as "10s"`
			}
		default:
			why = fmt.Sprintf("it has %q, which is not known (there are glob, command and timeout)", field)
		}
		return why == ""
	})
	switch {
	case why != "":
	case !isObject:
		why = "it is no object"
	case h.Glob == "":
		why = `it has no "glob"`
	case h.Command == nil:
		why = `it has no "command"`
	}
	return h, why
}

// texts reads a list of strings; nil where it is none.
func texts(v hujson.Value) (out []string) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	for _, e := range list.Elements {
		s, ok := text(e)
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// hooks tells of entries that cannot be run; the others hold.
func (p *parser) hooks(k key, read hooksRead) (list []Hook, ok bool) {
	for _, m := range read.bad {
		p.warn(m.at, "an entry of %q is ignored: %s", k.path, m.why)
	}
	for i, h := range read.list {
		h.From, h.Line = p.layer.File.Name, p.line(read.at[i])
		read.list[i] = h
	}
	return read.list, len(read.list) > 0 || len(read.bad) == 0
}

// hooksOf are the hooks of all sources together.
func (m *merger) hooksOf(path string) (out []Hook) {
	for _, ofProject := range []bool{false, true} {
		for _, l := range m.layers {
			v, ok := l.values[path]
			if ok && l.File.Level.project() == ofProject && may(trusted, l.File.Level, m.trust) {
				out = append(out, v.is.([]Hook)...)
			}
		}
	}
	return out
}
