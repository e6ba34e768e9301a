package tools

import (
	"path"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
)

// What a folder may hold for agents that work below it.
const (
	skillsDir = ".claude/skills"
	skillFile = "SKILL.md"
	maxSkills = 50 // folders looked at in one folder of skills
	maxHinted = 5  // names in one line
)

// guides are the files of a folder that speak to agents, skills apart.
func guides() []string { return []string{"CLAUDE.md", "AGENTS.md"} }

// maxFolders bounds what is remembered; past it everything is forgotten, and the
// worst is a hint that comes a second time.
const maxFolders = 10_000

// hint ends an answer about a file with one line that names what speaks to agents
// in the folders above it, up to the workspace directory, and was not read yet.
func (h *Service) hint(call Call, name string, r *Result) {
	top, ok := above(h.Preferences().HintsBelow, name)
	if !ok {
		return
	}
	var found []string
	for dir := path.Dir(name); access.Within(top, dir) && dir != top; dir = path.Dir(dir) {
		found = append(found, h.unreadGuides(call.Session, dir)...)
	}
	found = slices.DeleteFunc(found, func(n string) bool { return n == name })
	if len(found) == 0 {
		return
	}
	if len(found) > maxHinted {
		found = append(found[:maxHinted], "…")
	}
	for i, n := range found {
		found[i] = fsys.InSentence(n)
	}
	line := "(Not read yet, and meant for whoever works on files there: " + strings.Join(found, ", ") + ".)"
	if last := &r.Blocks[len(r.Blocks)-1]; last.MIME == "" && last.Text != "" {
		last.Text += "\n" + line // clients join blocks as they stand
		return
	}
	r.Blocks = append(r.Blocks, Block{Text: line})
}

// above is the innermost of some folders that a name lies in.
func above(folders []string, name string) (top string, ok bool) {
	for _, f := range folders {
		if access.Within(f, name) && (!ok || len(f) > len(top)) {
			top, ok = f, true
		}
	}
	return top, ok
}

// unreadGuides are the files of a folder to tell of; that is asked once a session.
func (h *Service) unreadGuides(session *Session, dir string) (found []string) {
	if !session.firstLook(dir) {
		return nil
	}
	for _, base := range guides() {
		if name := access.Join(dir, base); h.unreadGuide(session, name) {
			found = append(found, name)
		}
	}
	for _, name := range h.skills(dir) {
		if h.unreadGuide(session, name) {
			found = append(found, name)
		}
	}
	return found
}

// firstLook notes that a folder is being looked at, and whether that is new.
func (s *Session) firstLook(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looked == nil || len(s.looked) >= maxFolders {
		s.looked = make(map[string]bool)
	}
	first := !s.looked[dir]
	s.looked[dir] = true
	return first
}

// unreadGuide tells whether a file is there that may be read and was not. Of what
// is denied nothing is said.
func (h *Service) unreadGuide(session *Session, name string) bool {
	t := h.Access.ForReading(name)
	if t == nil {
		return false
	}
	defer t.Close()
	_, read := session.files.Get(t.Path)
	return t.Kind == fsys.Regular && !read
}

// skills are the names that skills of a folder would have.
func (h *Service) skills(dir string) (names []string) {
	t := h.Access.ForReading(access.Join(dir, skillsDir))
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
			names = append(names, access.Join(access.Join(access.Join(dir, skillsDir), e.Name), skillFile))
		}
	}
	return names
}
