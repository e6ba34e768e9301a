package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// workspace returns the directories that the agent works in, without additional ones:
// those named on the command line, else the project's, else the client's roots, else the
// working directory. "/", the home directory and its ancestors count only if the command
// line named them.
func workspace(f Flags, s System) (dirs []string, rootsWanted bool) {
	for _, dir := range f.Dirs {
		if dir != "" { // EmptyDir reports it
			dirs = appendDir(dirs, s.Absolute(dir, s.WorkDir))
		}
	}
	if len(dirs) > 0 || slices.Contains(f.Dirs, "") {
		return dirs, false
	}
	found := []string{s.WorkDir}
	project := s.Getenv("CLAUDE_PROJECT_DIR")
	switch {
	case project != "":
		found = []string{s.Absolute(project, s.WorkDir)}
	case len(s.Roots) > 0:
		found = s.Roots
	}
	for _, dir := range found {
		if filepath.IsAbs(dir) && !s.tooWide(filepath.Clean(dir)) {
			dirs = appendDir(dirs, filepath.Clean(dir))
		}
	}
	return dirs, project == ""
}

// machineFault returns an error for a directory of the command line that is on another
// machine: no file below it can be named.
func machineFault(f Flags, s System) error {
	if s.OS != "windows" {
		return nil
	}
	for _, dir := range slices.Concat(f.Dirs, f.AddDirs) {
		slashed := strings.ReplaceAll(dir, `\`, "/")
		if strings.HasPrefix(slashed, "//") && !strings.HasPrefix(slashed, "//?/") && !strings.HasPrefix(slashed, "//./") || strings.HasPrefix(strings.ToUpper(slashed), "//?/UNC/") {
			return fmt.Errorf("the workspace folder %s is on another machine (UNC), and fsmcp opens no file by such a name; map it to a drive letter (net use) and name that", dir)
		}
	}
	return nil
}

// added returns the directories of --add-dir and its variable.
func (e *environment) added(f Flags) (dirs []string) {
	for _, dir := range f.AddDirs {
		dirs = appendDir(dirs, e.Absolute(dir, e.WorkDir))
	}
	for _, dir := range e.lines("FSMCP_ADD_DIR") {
		abs := e.Absolute(dir, e.WorkDir)
		if abs != "" && e.tooWide(abs) {
			e.warnings = append(e.warnings, fmt.Sprintf("FSMCP_ADD_DIR names %s, which counts only on the command line; it is ignored", abs))
			continue
		}
		dirs = appendDir(dirs, abs)
	}
	return dirs
}

// additional adds the directories that settings files name to the workspace, and warns of
// those that do not count.
func additional(base []string, layers []Layer, s System, trust bool) (dirs, warnings []string) {
	dirs = slices.Clone(base)
	for _, l := range layers {
		if len(l.Dirs) == 0 {
			continue
		}
		if l.Foreign != "" {
			continue
		}
		if l.File.Level.InProject() && !trust {
			warnings = append(warnings, fmt.Sprintf("%s:%d: %q is ignored: the project is not trusted", l.File.Name, l.Dirs[0].Line, keyDirectories))
			continue
		}
		from := ""
		switch {
		case l.File.Level.InProject():
			from = l.File.Anchor
		case len(base) > 0:
			from = base[0]
		}
		for _, d := range l.Dirs {
			dir := ""
			if d.Text != "" {
				dir = s.Absolute(d.Text, from)
			}
			switch {
			case dir == "":
				warnings = append(warnings, fmt.Sprintf("%s:%d: %q of %s is ignored: there is no directory to start from", l.File.Name, d.Line, d.Text, keyDirectories))
			case s.tooWide(dir):
				warnings = append(warnings, fmt.Sprintf("%s:%d: %q of %s is ignored: it counts only on the command line", l.File.Name, d.Line, d.Text, keyDirectories))
			default:
				dirs = appendDir(dirs, dir)
			}
		}
	}
	return dirs, warnings
}

// EmptyDir reports whether the command line names a workspace directory by an empty word, as
// a shell variable without a value does.
func (c Config) EmptyDir() bool { return slices.Contains(c.origin.flags.Dirs, "") }

func appendDir(dirs []string, dir string) []string {
	if dir == "" || slices.Contains(dirs, dir) {
		return dirs
	}
	return append(dirs, dir)
}

// tooWide reports whether dir is the root or the home directory, or contains it, also
// through links.
func (s System) tooWide(dir string) bool {
	return tooWide(dir, s.Home) || tooWide(s.folder(dir), s.folder(s.Home))
}

func tooWide(dir, home string) bool {
	if dir == filepath.Dir(dir) {
		return true
	}
	return home != "" && (home == dir || strings.HasPrefix(home, dir+string(filepath.Separator)))
}

// inside reports whether a file is in one of the directories, under any of its names. It
// ignores case, which is stricter.
func (s System) inside(file string, dirs []string) bool {
	isIn := func(name string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool {
			return slices.ContainsFunc(s.names(dir), func(d string) bool { return below(name, d) })
		})
	}
	return isIn(file) || isIn(s.real(file)) || isIn(filepath.Join(s.real(filepath.Dir(file)), filepath.Base(file)))
}

func below(name, dir string) bool {
	dir = strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
	return len(name) > len(dir) && strings.EqualFold(name[:len(dir)], dir)
}
