package find

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm/notation"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Glob answers a Glob.
func (f *Finder) Glob(ctx context.Context, call toolcall.Call, a *GlobArgs) toolcall.Outcome {
	w, err := window(a.HeadLimit, a.Offset, defaultNames)
	if err != nil {
		return toolcall.Failed(err)
	}
	if a.Pattern == "" {
		return toolcall.Failed(refusal.New(refusal.EmptyPattern))
	}
	on := f.notation()
	asked, err := written(on, "pattern", a.Pattern)
	if err != nil {
		return toolcall.Failed(err)
	}
	start, pattern := startOf(on, a.Path, asked)
	if namesFolder(pattern) {
		return toolcall.Failed(refusal.New(refusal.OnlyAFolder, a.Pattern, strings.TrimRight(asked, "/")+"/*"))
	}
	r, out := f.begin(call, NameGlob, start, a.Pattern)
	if out.Err != nil {
		return out
	}
	defer r.close()
	w.MaxBytes = r.bytes()
	found, err := f.Searcher.Glob(ctx, r.scope(a.IncludeIgnored), search.GlobQuery{Pattern: pattern, Window: w})
	if err != nil {
		return toolcall.Failed(refused(ctx, NameGlob, err))
	}
	return r.names(found, w, strings.HasSuffix(pattern, "/"))
}

// startOf splits a pattern that leads elsewhere, an absolute one or one with "..", into the
// folder to start from and the rest. The rest holds in that folder, not at any depth.
func startOf(on notation.Convention, dir, pattern string) (start, rest string) {
	pattern = cleanPattern(pattern)
	absolute := path.IsAbs(pattern) || on.Windows && notation.OnDrive(pattern) || strings.HasPrefix(pattern, "~/")
	if !absolute && !slices.Contains(strings.Split(pattern, "/"), "..") {
		return dir, strings.TrimPrefix(pattern, "./")
	}
	above, rest := search.SplitPattern(pattern)
	if !absolute && dir != "" {
		above = strings.TrimSuffix(on.Slashes(dir), "/") + "/" + above
	}
	if rest != "" && !strings.Contains(strings.TrimSuffix(rest, "/"), "/") {
		rest = "/" + rest
	}
	if start = path.Clean(above); on.Windows && strings.HasSuffix(start, ":") {
		start += "/" // a drive
	}
	return start, rest
}

// cleanPattern removes empty segments and "." from the inside of a pattern.
func cleanPattern(pattern string) string {
	for _, empty := range []string{"//", "/./"} {
		for strings.Contains(pattern, empty) {
			pattern = strings.ReplaceAll(pattern, empty, "/")
		}
	}
	return pattern
}

// namesFolder reports whether the rest of a pattern finds nothing, since the pattern names
// only a folder.
func namesFolder(rest string) bool {
	last := path.Base("/" + rest)
	return rest == "" || last == "." || last == ".."
}

// names answers with the names that a Glob found.
func (r *finding) names(found *search.Found, w search.Window, folders bool) toolcall.Outcome {
	pieces := make([]piece, len(found.Matches))
	for i, m := range found.Matches {
		pieces[i] = piece{text: r.naming.name(m.Path)}
		if m.Dir {
			pieces[i].text += fsys.Separator
		}
	}
	one, many, in := "file", "files", " in "+counted(found.Folders, "folder", "folders")
	if folders {
		one, many, in = "folder", "folders", ""
	}
	c := closing{
		finding: r, skipped: w.Skip, one: one, many: many,
		found: found.Total, all: counted(found.Total, one, many) + in, outcome: found.Coverage,
	}
	return r.wholeNames(pieces, c, toolcall.Search{Files: found.Total, Matches: found.Total}, func(c *closing) {
		c.more = found.More || c.shown < len(pieces)
		c.counts = !c.more && c.shown > 0
	})
}
