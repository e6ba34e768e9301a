package search

import (
	"bytes"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm/glob"
	"github.com/fsmcp/fsmcp/internal/search/filter"
)

// Names that the walk knows.
const (
	gitDir      = ".git"
	gitIgnore   = ".gitignore"
	plainIgnore = ".ignore"
	gitExclude  = "info/exclude" // in gitDir
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

// decision is the rule that decides on a name, and its list; line is 0 where there is none.
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

// parseIgnore reads the text of an ignore file; nil where it has no pattern.
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

// readIgnore reads an ignore file of an open folder, nil where there is none that may be
// read. rel is its name below the root.
func (r *root) readIgnore(dir *fsys.Dir, rel, name string) *ignoreList {
	if !r.walk.Allowed(rel, false) {
		return nil
	}
	began := time.Now()
	f, err := dir.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if !r.walk.AllowedFile(rel, f.Opened(), began) {
		return nil
	}
	content := make([]byte, min(f.Opened().Size, maxIgnoreFile))
	n, _ := f.ReadAt(content, 0)
	if content = content[:n]; n == maxIgnoreFile {
		content = content[:bytes.LastIndexByte(content, '\n')+1] // half a pattern could leave out other names
	}
	list := parseIgnore(content)
	if list != nil {
		list.file = r.above + rel
	}
	return list
}

// enter adds the ignore files of a folder to those above it.
func (r *root) enter(dir *fsys.Dir, rel string, above *level) *level {
	prefix := rel
	if prefix != "" {
		prefix += "/"
	}
	l := &level{above: above, base: len(r.above) + len(prefix)}
	l.git = r.readIgnore(dir, prefix+gitIgnore, gitIgnore)
	l.plain = r.readIgnore(dir, prefix+plainIgnore, plainIgnore)
	if r.walk.Allowed(prefix+gitDir, false) {
		_, kind, err := dir.Stat(gitDir)
		l.repository = err == nil
		if kind == fsys.Directory && err == nil && r.walk.Allowed(prefix+gitDir, true) {
			if git, err := dir.OpenDir(gitDir + "/info"); err == nil {
				l.exclude = r.readIgnore(git, prefix+gitDir+"/"+gitExclude, "exclude")
				git.Close()
			}
		}
	}
	if l.git == nil && l.plain == nil && l.exclude == nil && !l.repository {
		return above
	}
	return l
}
