package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/jsonc"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// allTools is the word for every tool.
const allTools = "all"

// ToolNames lists every tool, in the order in which they are published.
func ToolNames() []string { return append(defaultTools(), "Glob", "Grep") }

// defaultTools lists the tools that are published if no setting names others: most clients
// search by themselves.
func defaultTools() []string { return []string{"Read", "Write", "Edit", "NotebookEdit"} }

// toolsOf reads a list of tools, separated by commas. An unknown name is an error that lists
// those there are.
func toolsOf(list string) (names []string, err error) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	if names, unknown := published(names); unknown == "" && len(names) > 0 {
		return names, nil
	} else if unknown != "" {
		return nil, fmt.Errorf("there is no tool %q%s; the tools are %s, and all stands for every one", unknown, didYouMean(unknown, ToolNames()), strings.Join(ToolNames(), ", "))
	}
	return nil, fmt.Errorf("no tool is named; the tools are %s, and all stands for every one", strings.Join(ToolNames(), ", "))
}

// published puts names in the order of publishing; unknown is the first one that is no tool.
func published(names []string) (ordered []string, unknown string) {
	if i := slices.IndexFunc(names, func(n string) bool { return n != allTools && !slices.Contains(ToolNames(), n) }); i >= 0 {
		return nil, names[i]
	}
	for _, name := range ToolNames() {
		if slices.Contains(names, name) || slices.Contains(names, allTools) {
			ordered = append(ordered, name)
		}
	}
	return ordered, ""
}

func takeTools(v hujson.Value) (any, bool) {
	list, _ := jsonc.Texts(v)
	names, unknown := published(list)
	return names, unknown == "" && len(list) > 0
}

// tools returns the tools to publish, and an error for a flag or a variable with an unknown
// name: to publish other tools than the named ones could be more than the user wants.
//
// A project's file without trust only takes tools away from those that the user's own
// settings, the flag or the variable name.
func (m *merger) tools() (names []string, err error) {
	f := m.origin.flags
	names = defaultTools()
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
