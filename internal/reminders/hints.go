package reminders

import (
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// What a folder may hold for agents that work below it.
const (
	skillsDir = ".claude/skills"
	skillFile = "SKILL.md"
	maxSkills = 50 // folders looked at in one folder of skills
	maxHinted = 5  // names in one line
)

// guides returns the names of instruction files, skills apart.
func guides() []string { return []string{"CLAUDE.md", "AGENTS.md"} }

// maxFolders bounds what is remembered; past it everything is forgotten, and the
// worst is a hint that comes a second time.
const maxFolders = 10_000

// Hint returns the line that ends an answer about a file: it names the instruction files and
// skills that were not read yet, in the folders above the file and below the innermost of
// tops that holds it. It returns "" if there are none, or if none of tops holds the file.
// It names nothing in folders of other people's code: ignored ones, and packageDirs.
func (c *Conversation) Hint(tops []string, name string) string {
	top, ok := above(tops, name)
	if !ok {
		return ""
	}
	var found []string
	for dir := fsys.DirOf(name); fsys.Within(top, dir) && dir != top; dir = fsys.DirOf(dir) {
		found = append(found, c.unreadGuides(top, dir)...)
	}
	found = slices.DeleteFunc(found, func(n string) bool { return n == name })
	if len(found) == 0 {
		return ""
	}
	if len(found) > maxHinted {
		found = append(found[:maxHinted], "…")
	}
	for i, n := range found {
		found[i] = fsys.InSentence(n)
	}
	return "(Not read yet, and meant for work on files there: " + strings.Join(found, ", ") + ".)"
}

// packageDirs returns the names of folders that hold the code of packages, also where no
// ignore file names them.
func packageDirs() []string { return []string{"node_modules", "vendor"} }

// foreign reports whether a folder below top holds other people's code.
func (c *Conversation) foreign(top, dir string) bool {
	rel, _ := fsys.Below(top, dir)
	for segment := range strings.SplitSeq(rel, fsys.Separator) {
		if slices.Contains(packageDirs(), segment) {
			return true
		}
	}
	return c.service.Ignored != nil && c.service.Ignored(dir)
}

// above returns the innermost of some folders that a name lies in.
func above(folders []string, name string) (top string, ok bool) {
	for _, f := range folders {
		if fsys.Within(f, name) && (!ok || len(f) > len(top)) {
			top, ok = f, true
		}
	}
	return top, ok
}

// unreadGuides returns the instruction files and skills of a folder below top that were not
// read. It returns them once per conversation.
func (c *Conversation) unreadGuides(top, dir string) (found []string) {
	if !c.firstLook(dir) {
		return nil
	}
	for _, base := range guides() {
		if name := fsys.Join(dir, base); c.unreadGuide(name) {
			found = append(found, name)
		}
	}
	for _, name := range c.skills(dir) {
		if c.unreadGuide(name) {
			found = append(found, name)
		}
	}
	if len(found) > 0 && c.foreign(top, dir) {
		return nil
	}
	return found
}

// firstLook reports whether hints were never looked for in a folder, and notes that they
// are now.
func (c *Conversation) firstLook(dir string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.looked == nil || len(c.looked) >= maxFolders {
		c.looked = make(map[string]bool)
	}
	first := !c.looked[dir]
	c.looked[dir] = true
	return first
}

// unreadGuide reports whether a file exists that may be read and was not. A file that the
// rules deny is not mentioned.
func (c *Conversation) unreadGuide(name string) bool {
	t := c.service.Files.ForReading(name)
	if t == nil {
		return false
	}
	defer t.Close()
	_, read := c.records.Get(t.Path)
	return t.Kind == fsys.Regular && !read
}

// skills returns the names that skills of a folder would have.
func (c *Conversation) skills(dir string) (names []string) {
	t := c.service.Files.ForReading(fsys.Join(dir, skillsDir))
	if t == nil {
		return nil
	}
	defer t.Close()
	if t.Kind != fsys.Directory {
		return nil
	}
	entries, err := t.Entries(maxSkills)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.Dir {
			names = append(names, fsys.Join(fsys.Join(fsys.Join(dir, skillsDir), e.Name), skillFile))
		}
	}
	return names
}

// SpeaksToAgents reports whether one of a file's names, or an argument that names it, is that of
// an instruction file.
func SpeaksToAgents(names ...string) bool {
	for _, n := range names {
		for _, g := range guides() {
			if strings.EqualFold(n[strings.LastIndexAny(n, `/\`)+1:], g) {
				return true
			}
		}
	}
	return false
}
