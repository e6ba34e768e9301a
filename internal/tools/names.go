package tools

import (
	"context"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// MoveArgs are the arguments of Move.
type MoveArgs struct {
	Moves []MovePair `json:"moves"`
	From  string     `json:"from"`
	To    string     `json:"to"`
	Copy  bool       `json:"copy"`
}

// MovePair is one entry of a Move.
type MovePair struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// pairs are all entries: one may stand beside the list.
func (a *MoveArgs) pairs() []MovePair {
	if a.From == "" && a.To == "" {
		return a.Moves
	}
	return append([]MovePair{{a.From, a.To}}, a.Moves...)
}

// Target is the first old name as it arrived.
func (a *MoveArgs) Target() string {
	if pairs := a.pairs(); len(pairs) > 0 {
		return pairs[0].From
	}
	return ""
}

// Targets implements ManyTargets.
func (a *MoveArgs) Targets() (all []string) {
	for _, p := range a.pairs() {
		all = append(all, p.From, p.To)
	}
	return all
}

// DeleteArgs are the arguments of Delete.
type DeleteArgs struct {
	Paths     []string `json:"paths"`
	Recursive bool     `json:"recursive"`
}

// Target is the first name as it arrived.
func (a *DeleteArgs) Target() string {
	if len(a.Paths) > 0 {
		return a.Paths[0]
	}
	return ""
}

// Targets implements ManyTargets.
func (a *DeleteArgs) Targets() []string { return a.Paths }

// namer answers Move and Delete.
type namer struct{ committer *commit.Committer }

func (n *namer) move(ctx context.Context, call toolcall.Call, a *MoveArgs) toolcall.Outcome {
	names := commit.NamesCall{Operation: history.OpMove}
	if a.Copy {
		names.Operation = history.OpCopy
	}
	pairs := a.pairs()
	if len(pairs) == 0 {
		return toolcall.Failed(refusal.New(refusal.NoEntries, nameMove, `It takes moves, such as [{"from": "/a/old.txt", "to": "/a/new.txt"}].`))
	}
	for i, p := range pairs {
		if p.From == "" || p.To == "" {
			return toolcall.Failed(refusal.New(refusal.OneDestination))
		}
		found, err := n.expand(ctx, call, p.From)
		if err != nil {
			return failedEntry(i, p.From, err, len(pairs))
		}
		to, err := n.parse(p.To)
		if err != nil {
			return failedEntry(i, p.To, err, len(pairs))
		}
		for _, from := range found.paths {
			names.Steps = append(names.Steps, commit.NameStep{From: from, To: to, Into: found.pattern, Spelt: !found.pattern, Index: i})
		}
	}
	return n.run(ctx, call, nameMove, names)
}

func (n *namer) delete(ctx context.Context, call toolcall.Call, a *DeleteArgs) toolcall.Outcome {
	names := commit.NamesCall{Operation: history.OpDelete, Recursive: a.Recursive}
	if len(a.Paths) == 0 {
		return toolcall.Failed(refusal.New(refusal.NoEntries, nameDelete, `It takes paths, such as ["/a/old.txt", "/a/build/*.tmp"].`))
	}
	seen := make(map[string]bool)
	for i, raw := range a.Paths {
		found, err := n.expand(ctx, call, raw)
		if err != nil {
			return failedEntry(i, raw, err, len(a.Paths))
		}
		for _, path := range found.paths {
			if seen[path.String()] {
				continue
			}
			seen[path.String()] = true
			names.Steps = append(names.Steps, commit.NameStep{From: path, Spelt: !found.pattern, Index: i})
		}
	}
	return n.run(ctx, call, nameDelete, names)
}

func (n *namer) run(ctx context.Context, call toolcall.Call, tool string, names commit.NamesCall) toolcall.Outcome {
	if len(names.Steps) > commit.MostSteps {
		return toolcall.Failed(refusal.New(refusal.TooManyEntries, tool, commit.MostSteps))
	}
	if call.Remark != "" {
		names.Remarks = append(names.Remarks, call.Remark)
	}
	return n.committer.ChangeNames(ctx, call, names)
}

// failedEntry refuses a call if one of its entries cannot be used.
func failedEntry(i int, raw string, err error, of int) toolcall.Outcome {
	out := toolcall.Failed(err)
	if of > 1 {
		out.Facts.Failed = &[]toolcall.FailedEntry{{Index: i, Error: refusal.Of(raw, err).Slug}}
	}
	return out
}

// expanded are the names that an argument stands for.
type expanded struct {
	paths   []fsys.Path
	pattern bool
}

func (n *namer) parse(raw string) (fsys.Path, error) { return n.committer.Opener.Access.Parse(raw) }

// expand returns the names that an argument stands for. A name that exists comes first;
// without one, *, ? and ** are wildcards.
func (n *namer) expand(ctx context.Context, call toolcall.Call, raw string) (e expanded, err error) {
	dir, pattern := search.SplitWildcards(raw)
	path, err := n.parse(raw)
	if pattern == "" {
		return expanded{paths: []fsys.Path{path}}, err
	}
	files := n.committer.Opener.Access
	if err == nil && n.isName(call, path) {
		return expanded{paths: []fsys.Path{path}}, nil
	}
	if dir == "" {
		dir = "."
	}
	if path, err = n.parse(dir); err != nil {
		return e, err
	}
	folder, err := files.Check(call.Request(perm.Read, path))
	if err != nil {
		return e, n.committer.Opener.Refusal(perm.Read, err)
	}
	defer folder.Close()
	none := refusal.New(refusal.GlobNoMatch, fsys.InSentence(raw))
	segments := strings.Split(strings.TrimSuffix(pattern, "/"), "/")
	if folder.Kind != fsys.Directory || badSegment(segments) {
		return e, none
	}
	found, err := search.Expand(ctx, files, &access.AllowedFile{Target: folder, Op: perm.Read}, call.Request(perm.Read, path), search.Expansion{
		Segments: segments, Folders: strings.HasSuffix(pattern, "/"), Most: commit.MostSteps,
	})
	if err != nil {
		return e, err
	}
	for _, name := range found {
		path, err := n.parse(name)
		if err != nil {
			return e, err
		}
		e.paths = append(e.paths, path)
	}
	if e.pattern = true; len(e.paths) == 0 {
		return e, none
	}
	return e, nil
}

// isName reports whether a file has the pattern itself as its name. It returns false if the
// caller may not read that file without a question.
func (n *namer) isName(call toolcall.Call, path fsys.Path) bool {
	f, err := n.committer.Opener.Access.Entry(call.Request(perm.Read, path), nil)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Kind != fsys.Missing && f.Question == nil
}

// badSegment reports whether a pattern has a segment that leads elsewhere.
func badSegment(segments []string) bool {
	for _, s := range segments {
		if s == "" || s == "." || s == ".." {
			return true
		}
	}
	return false
}
