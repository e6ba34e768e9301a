package find

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Glob answers a Glob.
func (f *Finder) Glob(ctx context.Context, call toolcall.Call, a *GlobArgs) (*toolcall.Result, error) {
	w, err := window(a.HeadLimit, a.Offset, defaultNames)
	if err != nil {
		return nil, err
	}
	start, pattern := startOf(a.Path, a.Pattern)
	if pattern == "" {
		return nil, refusal.EmptyPattern()
	}
	r, err := f.begin(call, NameGlob, start, a.Pattern)
	if err != nil {
		return nil, err
	}
	defer r.close()
	w.MaxBytes = r.bytes()
	found, err := f.Searcher.Glob(ctx, r.scope(a.IncludeIgnored), search.GlobQuery{Pattern: pattern, Window: w})
	if err != nil {
		return nil, refused(ctx, NameGlob, err)
	}
	return r.names(found, w, strings.HasSuffix(pattern, "/")), nil
}

// startOf splits a pattern that leads elsewhere, an absolute one or one that begins with
// "..", into the folder to start from and the rest.
func startOf(dir, pattern string) (start, rest string) {
	absolute := filepath.IsAbs(pattern) || strings.HasPrefix(pattern, "~/")
	if !absolute && pattern != ".." && !strings.HasPrefix(pattern, "../") {
		return dir, strings.TrimPrefix(pattern, "./")
	}
	above, rest := search.SplitPattern(pattern)
	if !absolute && dir != "" {
		above = strings.TrimSuffix(dir, "/") + "/" + above
	}
	return path.Clean(above), rest
}

// names answers with the names that a Glob found.
func (r *finding) names(found *search.Found, w search.Window, folders bool) *toolcall.Result {
	pieces := make([]piece, len(found.Matches))
	for i, m := range found.Matches {
		pieces[i] = piece{text: r.naming.name(m.Path)}
		if m.Dir {
			pieces[i].text += "/"
		}
	}
	one, many := "file", "files"
	if folders {
		one, many = "folder", "folders"
	}
	body, kept := fitted(pieces, r.budget)
	if kept == 0 {
		body = "" // half a name is none
	}
	c := closing{
		finding: r, shown: kept, skipped: w.Skip, more: found.More || kept < len(pieces), one: one, many: many,
		found: found.Total, all: counted(found.Total, one, many), outcome: found.Outcome,
	}
	return r.answer(body, c, toolcall.Search{Files: found.Total, Matches: found.Total})
}
