package clients

import (
	"encoding/json"
	"os"
	"slices"

	"github.com/fsmcp/fsmcp/internal/jsonc"
)

// claudeFileTools are those of Claude Code's own tools that read and change files.
var claudeFileTools = []string{"Read", "Write", "Edit", "NotebookEdit"}

// OwnFileTools returns the file tools of Claude Code itself that no settings file of the user or
// of a project in dirs denies by their bare names, and which an agent can use in place of those of
// fsmcp; none if the user has no folder of Claude Code.
//
// It does not look at the settings of an administrator, nor at Claude Code's flags.
func OwnFileTools(s UserFolders, dirs []string) (on []string) {
	home := s.or(s.ClaudeHome, ".claude")
	if info, err := os.Stat(home); err != nil || !info.IsDir() {
		return nil
	}
	files := []string{s.join(home, "settings.json")}
	for _, dir := range dirs {
		files = append(files, s.join(dir, ".claude/settings.json"), s.join(dir, ".claude/settings.local.json"))
	}
	on = slices.Clone(claudeFileTools)
	for _, file := range files {
		text, err := ReadFile(file)
		if err != nil {
			continue
		}
		denied := deniedIn(text)
		on = slices.DeleteFunc(on, func(tool string) bool { return slices.Contains(denied, tool) })
	}
	return on
}

// deniedIn returns the rules in permissions.deny of a settings file of Claude Code.
func deniedIn(text []byte) []string {
	var settings struct {
		Permissions struct{ Deny []string }
	}
	v, fault := jsonc.Parse(text)
	if fault != nil {
		return nil
	}
	v.Standardize()
	_ = json.Unmarshal(v.Pack(), &settings) // a file of another form denies nothing
	return settings.Permissions.Deny
}
