package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/jsonc"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// The sets of tools that a list may name in place of tools.
const (
	setCore     = "core"      // what is published if no setting names tools
	setSearch   = "search"    // for clients that cannot search by themselves
	setFiles    = "files"     // for clients without a shell
	setReadOnly = "read-only" // changes nothing
	setAll      = "all"
)

// offered is a tool with the sets, beside all, that it belongs to.
type offered struct {
	name string
	sets []string
}

// offeredTools lists every tool, in the order in which they are published. A set without a
// tool is unknown.
func offeredTools() []offered {
	return []offered{
		{"Read", []string{setCore, setReadOnly}},
		{"Write", []string{setCore}},
		{"Edit", []string{setCore}},
		{"NotebookEdit", []string{setCore}},
		{"Move", []string{setFiles}},
		{"Delete", []string{setFiles}},
		{"Glob", []string{setSearch, setReadOnly}},
		{"Grep", []string{setSearch, setReadOnly}},
		{"MultiEdit", []string{setFiles}},
	}
}

// ToolNames lists every tool, in the order in which they are published.
func ToolNames() []string { return toolsIn(setAll) }

// ToolSets lists the sets of tools, in the order in which they are documented.
func ToolSets() []string {
	return slices.DeleteFunc([]string{setCore, setSearch, setFiles, setReadOnly, setAll}, func(set string) bool { return len(toolsIn(set)) == 0 })
}

// toolsIn lists the tools that one of the words names: a tool or a set.
func toolsIn(words ...string) (names []string) {
	for _, t := range offeredTools() {
		in := func(word string) bool { return word == t.name || word == setAll || slices.Contains(t.sets, word) }
		if slices.ContainsFunc(words, in) {
			names = append(names, t.name)
		}
	}
	return names
}

// toolsOf reads a list of tools and sets, separated by commas. An unknown name is an error
// that lists those there are.
func toolsOf(list string) (names []string, err error) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	known := fmt.Sprintf("the tools are %s, and the sets of tools %s", strings.Join(ToolNames(), ", "), strings.Join(ToolSets(), ", "))
	if names, unknown := published(names); unknown == "" && len(names) > 0 {
		return names, nil
	} else if unknown != "" {
		return nil, fmt.Errorf("there is no tool %q%s; %s", unknown, didYouMean(unknown, append(ToolNames(), ToolSets()...)), known)
	}
	return nil, fmt.Errorf("no tool is named; %s", known)
}

// published returns the tools that words name, in the order of publishing; unknown is the
// first word that names no tool and no set.
func published(words []string) (ordered []string, unknown string) {
	if i := slices.IndexFunc(words, func(w string) bool { return len(toolsIn(w)) == 0 }); i >= 0 {
		return nil, words[i]
	}
	return toolsIn(words...), ""
}

func takeTools(v hujson.Value) (any, bool) {
	list, _ := jsonc.Texts(v)
	names, unknown := published(list)
	return names, unknown == "" && len(list) > 0
}

// readOnly returns those of the tools that change nothing, if the flag or its variable says so.
func (m *merger) readOnly(names []string) (left []string, is bool, err error) {
	const variable = "FSMCP_READ_ONLY"
	if v := m.env.Getenv(variable); v != "" && m.origin.flags.ReadOnly == nil {
		if _, err := strconv.ParseBool(v); err != nil { // to ignore it could loosen
			return nil, false, fmt.Errorf("%s is %q, but takes true or false", variable, v)
		}
	}
	if !m.env.decided(m.origin.flags.ReadOnly, variable, false) {
		return names, false, nil
	}
	left = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(toolsIn(setReadOnly), n) })
	if len(left) == 0 {
		return nil, true, fmt.Errorf("read-only leaves none of the tools %s", strings.Join(names, ", "))
	}
	return left, true, nil
}

// tools returns the tools to publish, and an error for a flag or a variable with an unknown
// name: to publish other tools than the named ones could be more than the user wants.
//
// A project's file without trust only takes tools away from those that the user's own
// settings, the flag or the variable name.
func (m *merger) tools() (names []string, err error) {
	f := m.origin.flags
	names = toolsIn(setCore)
	if f.EveryTool {
		names = ToolNames()
	}
	names, by := decide(m, keyTools, names)
	from, list := "--tools", f.Tools
	if list == "" {
		from, list = "FSMCP_TOOLS", m.env.Getenv("FSMCP_TOOLS")
	}
	if by != perm.Managed && list != "" {
		if names, err = toolsOf(list); err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
	}
	allowed := names
	for _, s := range settingsOf[[]string](m, keyTools) {
		if !s.tightens(m.trust) {
			continue
		}
		if slices.ContainsFunc(s.is, func(n string) bool { return !slices.Contains(allowed, n) }) {
			m.ignored(s.Layer, s.line, keyTools.path, s.can("take tools away"))
		}
		if left := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(s.is, n) }); len(left) > 0 {
			names = left
		}
	}
	return names, nil
}
