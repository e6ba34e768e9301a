package search

import (
	"bytes"
	"path"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm/glob"
	"github.com/fsmcp/fsmcp/internal/search/filter"
)

// Names that the walk knows.
const (
	gitDir      = ".git"
	gitIgnore   = ".gitignore"
	plainIgnore = ".ignore"
	gitInfo     = gitDir + "/info"
)

// maxIgnoreFile bounds the bytes of an ignore file; what lies behind does not count.
const maxIgnoreFile = 1 << 20

// level holds the ignore files of one folder, and leads to those of the folders above.
type level struct {
	above *level
	// base is the length of the folder's name, with a slash at its end, in the names
	// that ignored gets.
	base       int
	plain, git *ignoreList
	exclude    *ignoreList
	repository bool // the folder is the top of a git repository
}

// ignored reports whether the ignore files leave out a name, which is relative to the
// topmost level.
func (l *level) ignored(name string, dir bool) bool {
	by := l.decide(name, dir)
	return by.line > 0 && !by.kept
}

// decision is the rule that decides on a name, and its list; line is 0 if there is none.
type decision struct {
	list *ignoreList
	plainRule
}

// decide finds the rule for a name. As in ripgrep, .ignore beats .gitignore, which beats the
// exclude file; the deepest file with a pattern for the name decides, and in it the last
// pattern.
func (l *level) decide(name string, dir bool) decision {
	var git, exclude decision
	outside := false // the repository of the name lies below
	for ; l != nil; l = l.above {
		rel := name[l.base:]
		if d := l.plain.decide(rel, dir); d.line > 0 {
			return d
		}
		if outside {
			continue
		}
		if git.line == 0 {
			git = l.git.decide(rel, dir)
		}
		if exclude.line == 0 {
			exclude = l.exclude.decide(rel, dir)
		}
		outside = l.repository
	}
	if git.line > 0 {
		return git
	}
	return exclude
}

// ignoreList is a parsed ignore file.
type ignoreList struct {
	file  string       // relative to the topmost level
	rules []ignoreRule // those with wildcards or slashes, in order
	// names and dirs hold for plain names the last rule, for any name and for folders.
	names, dirs map[string]plainRule
}

type ignoreRule struct {
	pattern glob.Pattern
	plainRule
}

type plainRule struct {
	line int
	kept bool
}

// parseIgnore reads the text of an ignore file; nil if it has no pattern.
func parseIgnore(content []byte) *ignoreList {
	list := &ignoreList{names: map[string]plainRule{}, dirs: map[string]plainRule{}}
	content = bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF"))
	n := 0
	for line := range bytes.Lines(content) {
		n++
		text := string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")))
		if text == "" || text[0] == '#' {
			continue
		}
		rule := ignoreRule{plainRule: plainRule{line: n}}
		text, rule.kept = strings.CutPrefix(text, "!")
		pattern, err := glob.Parse(text)
		if err != nil || len(pattern.Segments) == 0 {
			continue
		}
		rule.pattern = pattern
		list.add(rule)
	}
	if len(list.rules)+len(list.names)+len(list.dirs) == 0 {
		return nil
	}
	return list
}

func (l *ignoreList) add(r ignoreRule) {
	if s := r.pattern.Segments; r.pattern.Slash || len(s) > 1 || s[0].Kind != glob.Exact {
		l.rules = append(l.rules, r)
	} else if r.pattern.DirOnly {
		l.dirs[s[0].Text] = r.plainRule
	} else {
		l.names[s[0].Text] = r.plainRule
	}
}

// decide finds the last rule that matches a name, relative to the list's folder. It
// does not look at the folders on the way: the walk has not entered those left out.
func (l *ignoreList) decide(name string, dir bool) decision {
	if l == nil {
		return decision{}
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	last := l.names[base]
	if d := l.dirs[base]; dir && d.line > last.line {
		last = d
	}
	for i := len(l.rules) - 1; i >= 0 && l.rules[i].line > last.line; i-- {
		if r := &l.rules[i]; (dir || !r.pattern.DirOnly) && filter.Matches(&r.pattern, name, base) {
			last = r.plainRule
			break
		}
	}
	return decision{l, last}
}

// readIgnore reads an ignore file of an open folder, nil if there is none that may be
// read. It is called by its name in f; prefix and that name lead to it from n.
func (n *node) readIgnore(dir *fsys.Dir, f *access.WalkFolder, prefix, name string) *ignoreList {
	if !f.Allowed(name, false) {
		return nil
	}
	began := time.Now()
	opened, err := dir.Open(name)
	if err != nil {
		return nil
	}
	defer opened.Close()
	rel := func() string { return path.Join(n.rel(), prefix+name) }
	if !n.root.walk.AllowedFile(opened.Opened(), began, rel) {
		return nil
	}
	content := make([]byte, min(opened.Opened().Size, maxIgnoreFile))
	size, _ := opened.ReadAt(content, 0)
	if content = content[:size]; size == maxIgnoreFile {
		content = content[:bytes.LastIndexByte(content, '\n')+1] // half a pattern could leave out other names
	}
	list := parseIgnore(content)
	if list != nil {
		list.file = n.root.above + rel()
	}
	return list
}

// enter adds the ignore files of a folder to those above it.
func (n *node) enter(dir *fsys.Dir, above *level) *level {
	l := &level{above: above, base: len(n.root.above) + n.relSize}
	if n.parent != nil {
		l.base++
	}
	l.git = n.readIgnore(dir, n.folder, "", gitIgnore)
	l.plain = n.readIgnore(dir, n.folder, "", plainIgnore)
	if n.folder.Allowed(gitDir, false) {
		_, kind, err := dir.Stat(gitDir)
		l.repository = err == nil
		if kind == fsys.Directory && err == nil && n.folder.Allowed(gitDir, true) {
			if git, err := dir.OpenDir(gitInfo); err == nil {
				l.exclude = n.readIgnore(git, n.folder.Below(gitDir).Below("info"), gitInfo+"/", "exclude")
				git.Close()
			}
		}
	}
	if l.git == nil && l.plain == nil && l.exclude == nil && !l.repository {
		return above
	}
	return l
}
