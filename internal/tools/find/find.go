// Package find holds the tools Glob and Grep: typed arguments become a query, and the facts
// of a search become the text of an answer.
//
// It promises that an answer never exceeds what the client passes on to its model, that its
// last lines say what was left out and which argument shows it, and that only lines that
// the answer shows whole are listed as shown.
//
// It searches nothing itself (package search does), and it decides on no name but the one
// that the call gives as its start.
package find

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// searchTimeout bounds a search: it answers with the results that it has by then.
const searchTimeout = 10 * time.Second

// mostBytes bounds the names and lines of a search whose client has no bound.
const mostBytes = 1 << 20

// Finder answers Glob and Grep.
type Finder struct {
	Opener   toolcall.Opener
	Searcher *search.Searcher
	Budget   toolcall.Budget
	// Documents says that the text of PDFs and Office documents can be searched.
	Documents bool
}

// named is a number of the arguments.
type named struct {
	name  string
	value *int
}

// notNegative refuses the first number below 0.
func notNegative(all ...named) error {
	for _, n := range all {
		if n.value != nil && *n.value < 0 {
			return refusal.New(refusal.Negative, n.name, *n.value)
		}
	}
	return nil
}

// finding is one call under way.
type finding struct {
	*Finder
	call   toolcall.Call
	tool   string
	budget toolcall.Budget
	naming naming
	// pattern is the length of the pattern, in bytes.
	pattern int
	starts  []*access.AllowedFile
	notes   []string // on the arguments, for the end of the answer
}

// begin resolves the start of a call, path or all workspace directories, and decides on it.
// The caller closes the finding.
func (f *Finder) begin(call toolcall.Call, tool, path, pattern string) (*finding, toolcall.Outcome) {
	policy := f.Opener.Access.Policy()
	if rule, denied := policy.SearchDenied(tool); denied {
		return nil, toolcall.Failed(refusal.ToolDenied(tool, rule))
	}
	r := &finding{Finder: f, call: call, tool: tool, budget: f.Budget.ForClient(call.Client), pattern: len(pattern)}
	dirs := policy.Workspace()
	if len(dirs) > 0 {
		r.naming.base = []string{dirs[0].Real, dirs[0].Name}
	}
	if path != "" {
		return r, r.open(path, true)
	}
	for _, dir := range dirs {
		if out := r.open(dir.Name, false); out.Err != nil && len(dirs) == 1 {
			return nil, out
		}
	}
	if len(r.starts) == 0 {
		return nil, toolcall.Failed(refusal.New(refusal.NoStart, tool, refusal.UnusableRoots(policy)))
	}
	return r, toolcall.Outcome{}
}

// open adds a start. given says that the call names it.
func (r *finding) open(path string, given bool) toolcall.Outcome {
	call := r.call
	call.File = r.Opener.ParseFile(path)
	target, out := r.Opener.Open(call, perm.Read)
	if fault := (*fsys.PathError)(nil); errors.As(out.Err, &fault) {
		return toolcall.Failed(refusal.New(refusal.BadStart, path, fault.Reason))
	}
	if out.File.Path = ""; out.Err != nil { // a reminder may be about any file
		return out
	}
	var err error
	switch {
	case target.Kind == fsys.Missing:
		err = r.Opener.Missing(target)
	case target.Kind == fsys.Special:
		err = r.Opener.Irregular(target)
	case target.Kind == fsys.Regular && r.tool == NameGlob:
		err = refusal.New(refusal.NotAFolder, target.Name())
	}
	if err != nil {
		target.Close()
		return toolcall.Failed(err)
	}
	if given && len(target.Used) > 0 {
		r.notes = append(r.notes, target.Note())
	}
	r.starts = append(r.starts, target.AllowedFile)
	return out
}

func (r *finding) close() {
	for _, s := range r.starts {
		s.Close()
	}
}

// alone reports whether the call searches one file.
func (r *finding) alone() bool { return len(r.starts) == 1 && r.starts[0].Kind == fsys.Regular }

// scope is the scope of the search.
func (r *finding) scope(includeIgnored bool) search.Scope {
	s := search.Scope{Starts: r.starts, IncludeIgnored: includeIgnored, Within: searchTimeout, Grants: r.grants()}
	if report := r.call.Progress; report != nil {
		s.Progress = func(p search.SearchCounts) { report(int64(p.Files), 0, progress(p)) }
	}
	return s
}

// startGrants extends the user's consent to a start to the names below it for which the
// user is asked only because no rule names them.
type startGrants struct {
	policy func() *perm.Policy
	tops   []string
	asked  perm.Grants // the session's, and those of this call
}

// Granted implements perm.Grants.
func (g startGrants) Granted(op perm.Op, path string) bool {
	if g.asked.Granted(op, path) {
		return true
	}
	below := func(top string) bool { return fsys.Within(top, path) }
	return op == perm.Read && slices.ContainsFunc(g.tops, below) && g.policy().Decide(op, []string{path}, nil).Reason == perm.ReasonMode
}

// grants are the consents that count for the names below the starts; nil if there are
// none.
func (r *finding) grants() perm.Grants {
	g := startGrants{policy: r.Opener.Access.Policy, asked: r.call.Request(perm.Read, fsys.Path{})}
	for _, s := range r.starts {
		if g.asked.Granted(perm.Read, s.Path) {
			g.tops = append(g.tops, s.Path)
		}
	}
	if len(g.tops) == 0 {
		return nil
	}
	return g
}

// bytes bounds the names and lines that the search returns.
func (r *finding) bytes() int {
	const bytesOfToken = 6 // of text that is cheap to count
	return max(min(r.budget.Room(), r.budget.Bound()*bytesOfToken, mostBytes), 1<<10)
}

// refused words an error of a search.
func refused(ctx context.Context, tool string, err error) error {
	return refusal.Search(tool, err, errors.Is(context.Cause(ctx), context.DeadlineExceeded))
}
