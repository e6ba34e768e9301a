package search

import (
	"context"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// Expansion is a pattern below a folder whose wildcards are *, ? and ** alone: other signs
// mean themselves. A wildcard does not stand for the dot at the beginning of a name.
type Expansion struct {
	// Segments are those of the pattern.
	Segments []string
	// Folders says that only folders are meant.
	Folders bool
	// Most bounds the names; one more is returned if there are more.
	Most int
}

// SplitWildcards splits an argument before its first segment with a wildcard. The rest is ""
// if it has none.
func SplitWildcards(raw string) (dir, rest string) {
	slashed := raw
	if fsys.Separator != "/" {
		slashed = strings.ReplaceAll(raw, fsys.Separator, "/")
	}
	at := strings.IndexAny(slashed, "*?")
	if at < 0 {
		return raw, ""
	}
	cut := strings.LastIndexByte(slashed[:at], '/') + 1
	return raw[:cut], slashed[cut:]
}

// Expand returns the names below an open folder that a pattern matches, links among them, in
// the order of names. It passes over names whose Read takes a question.
func Expand(ctx context.Context, c *access.Checker, f *access.AllowedFile, grants perm.Grants, e Expansion) (names []string, err error) {
	dir, err := f.OpenDir()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	x := &expanding{ctx: ctx, walk: c.Walk(f, grants), Expansion: e}
	if x.walk.Top().Searched() {
		err = x.in(dir, x.walk.Top(), "", e.Segments)
	}
	slices.Sort(x.names)
	return slices.Compact(x.names), err
}

type expanding struct {
	Expansion
	ctx   context.Context
	walk  *access.Walk
	names []string
}

// expandLevel is a folder under way, whose names below the start begin with prefix.
type expandLevel struct {
	dir    *fsys.Dir
	folder *access.WalkFolder
	prefix string
	names  []entryName
}

type entryName struct {
	name string
	kind fsys.Kind
}

// in matches the names in one folder with the rest of a pattern.
func (x *expanding) in(dir *fsys.Dir, folder *access.WalkFolder, prefix string, segments []string) error {
	l := &expandLevel{dir: dir, folder: folder, prefix: prefix}
	err := dir.Each(func(name string, kind fsys.Kind) bool {
		l.names = append(l.names, entryName{name, kind})
		return true
	})
	if err != nil {
		return err
	}
	slices.SortFunc(l.names, func(a, b entryName) int { return strings.Compare(a.name, b.name) })
	return x.match(l, segments)
}

func (x *expanding) match(l *expandLevel, segments []string) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	segment, rest := segments[0], segments[1:]
	for segment == "**" && len(rest) > 0 && rest[0] == "**" {
		rest = rest[1:]
	}
	if segment == "**" && len(rest) > 0 {
		if err := x.match(l, rest); err != nil {
			return err
		}
	}
	for _, n := range l.names {
		if len(x.names) > x.Most {
			return nil
		}
		if !matchesSegment(segment, n.name) {
			continue
		}
		if err := x.entry(l, n, segment == "**", rest); err != nil {
			return err
		}
	}
	return nil
}

// entry takes one name that matches the segment.
func (x *expanding) entry(l *expandLevel, n entryName, deep bool, rest []string) error {
	isDir := n.kind == fsys.Directory
	if n.kind == fsys.Missing {
		if !l.folder.Allowed(n.name, false) {
			return nil
		}
		_, is, err := l.dir.Stat(n.name)
		if err != nil {
			return nil
		}
		isDir = is == fsys.Directory
	}
	if !l.folder.Allowed(n.name, isDir) {
		return nil
	}
	if len(rest) == 0 && (!deep && (isDir || !x.Folders) || deep && !isDir && !x.Folders) {
		x.names = append(x.names, x.walk.Path(l.prefix+n.name))
	}
	if !isDir || len(rest) == 0 && !deep {
		return nil
	}
	sub, err := l.dir.OpenDir(n.name)
	if err != nil {
		return nil // it is gone, or may not be read by this account
	}
	defer sub.Close()
	if deep {
		rest = append([]string{"**"}, rest...)
	}
	return x.in(sub, l.folder.Below(n.name), l.prefix+n.name+"/", rest)
}

// matchesSegment matches a name with one segment of a pattern.
func matchesSegment(segment, name string) bool {
	hidden := strings.HasPrefix(name, ".")
	switch {
	case segment == "**":
		return !hidden
	case !strings.ContainsAny(segment, "*?"):
		return segment == name
	case hidden && !strings.HasPrefix(segment, "."):
		return false
	}
	literal := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(segment)
	return doublestar.MatchUnvalidated(literal, name)
}
