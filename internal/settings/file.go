package settings

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm"
)

// SettingsFile is a settings file to look for.
type SettingsFile struct {
	// Name is its absolute path.
	Name  string
	Level perm.Level
	// Claude marks Claude Code's own files: strict JSON, read for its permission rules
	// only.
	Claude bool
	// "/path" rules of the file start from Anchor.
	Anchor string
	// Tightens says that only its deny and ask rules count.
	Tightens bool
	// Named says that the user named this file: it must exist.
	Named bool
}

// FileContent is the result of reading a settings file.
type FileContent struct {
	Bytes []byte
	// Missing says that nothing is there, which is no failure.
	Missing bool
	// Why is the reason why the file could not be read, as the rest of a sentence: "cannot
	// be read: permission denied".
	Why string
	// Safe says that the file belongs to root and only root may write to it. It matters
	// for managed files only.
	Safe bool
}

// Ownership says whether a settings file is the user's own.
type Ownership struct {
	// Foreign is why another user could have written it, as a clause; "" if none could. Only
	// what tightens counts of such a file.
	Foreign string
	Remedy  string // a whole sentence to the user
	Caution string // what could not be looked at, as a clause
}

// Effect says what of a file that another user could have written does not count, as a clause.
func (o Ownership) Effect() string {
	return "its allow rules, hooks, programs and looser modes do not count: " + o.Foreign
}

// BrokenWarning returns the warning about a file that cannot be understood.
func BrokenWarning(b perm.BrokenFile) string {
	where := b.Name
	if b.Line > 0 {
		where = fmt.Sprintf("%s:%d", b.Name, b.Line)
	}
	return fmt.Sprintf("%s: the file %s; until it is mended nothing is written, and nothing outside the workspace is read", where, b.Why)
}

// same reports whether two reads found the same.
func (c FileContent) same(o FileContent) bool {
	return c.Missing == o.Missing && c.Why == o.Why && c.Safe == o.Safe && bytes.Equal(c.Bytes, o.Bytes)
}

// Files lists the settings files for workspace directories, those that win
// first. settings is the one that the user named, if any; claude says whether
// Claude Code's own files count (the administrator's always do). A file of
// two levels is listed once, as the one nearer to the user.
func Files(s System, workspace []string, settings string, claude bool) []SettingsFile {
	list := managedFiles(s)
	if name := s.Absolute(settings, s.WorkDir); settings != "" {
		list = append(list, SettingsFile{Name: name, Level: perm.SettingsFile, Anchor: filepath.Dir(name), Named: true})
	}
	for _, level := range []perm.Level{perm.Local, perm.Project} {
		for _, dir := range workspace {
			list = append(list, projectFiles(dir, level, claude)...)
		}
	}
	list = append(list, userFiles(s, claude)...)
	return once(list)
}

// managedFiles returns the administrator's files, which no flag leaves out.
func managedFiles(s System) (list []SettingsFile) {
	names := []string{filepath.Join(managedDir(s), "managed-settings.json")}
	if s.List != nil {
		for _, name := range slices.Sorted(slices.Values(s.List(dropIns(s)))) {
			if strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
				names = append(names, filepath.Join(dropIns(s), name))
			}
		}
	}
	for _, name := range names {
		list = append(list, SettingsFile{Name: name, Level: perm.Managed, Claude: true})
	}
	return list
}

// managedDir is the administrator's folder.
func managedDir(s System) string {
	switch s.OS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

// dropIns returns the folder whose files are all managed settings.
func dropIns(s System) string { return filepath.Join(managedDir(s), "managed-settings.d") }

func projectFiles(dir string, level perm.Level, claude bool) []SettingsFile {
	base := "settings.json"
	if level == perm.Local {
		base = "settings.local.json"
	}
	list := []SettingsFile{{Name: filepath.Join(dir, ".fsmcp", base), Level: level, Anchor: dir}}
	if claude {
		list = append(list, SettingsFile{Name: filepath.Join(dir, ".claude", base), Level: level, Anchor: dir, Claude: true})
	}
	return list
}

func userFiles(s System, claude bool) (list []SettingsFile) {
	add := func(dir string, claude bool) {
		list = append(list, SettingsFile{Name: filepath.Join(dir, "settings.json"), Level: perm.User, Anchor: dir, Claude: claude})
	}
	own, other := s.ownFolders()
	if own != "" {
		add(own, false)
	}
	if other != "" {
		add(other, false)
		list[1].Tightens = true
	}
	switch dir := s.Getenv("CLAUDE_CONFIG_DIR"); {
	case !claude:
	case dir != "":
		add(s.Absolute(dir, s.WorkDir), true)
	case s.Home != "":
		add(filepath.Join(s.Home, ".claude"), true)
	}
	return list
}

// once drops all but one of equal names. It keeps the file that the user named or owns,
// even if it is in a workspace directory.
func once(list []SettingsFile) (out []SettingsFile) {
	ofUser, seen := make(map[string]bool), make(map[string]bool)
	for _, f := range list {
		ofUser[f.Name] = ofUser[f.Name] || !f.Level.InProject()
	}
	for _, f := range list {
		if !seen[f.Name] && f.Level.InProject() != ofUser[f.Name] {
			seen[f.Name] = true
			out = append(out, f)
		}
	}
	return out
}
