package find

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Grep answers a Grep.
func (f *Finder) Grep(ctx context.Context, call toolcall.Call, a *GrepArgs) (*toolcall.Result, error) {
	q := search.GrepQuery{Pattern: a.Pattern, Globs: globs(a.Glob), Type: a.Type, Fold: a.Fold, Multiline: a.Multiline}
	var known bool
	if q.Mode, known = modes()[a.OutputMode]; !known {
		return nil, refusal.BadOutputMode(a.OutputMode, outputFiles, outputContent, outputCount)
	}
	var err error
	if q.Window, err = window(a.HeadLimit, a.Offset, defaultResults); err != nil {
		return nil, err
	}
	if q.Before, q.After, err = a.contextOf(); err != nil {
		return nil, err
	}
	if a.Pattern == "" {
		return nil, refusal.EmptyPattern
	}
	r, err := f.begin(call, NameGrep, a.Path, a.Pattern)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if unused := a.unused(); len(unused) > 0 {
		r.notes = append(r.notes, "(Ignored without output_mode \"content\": "+strings.Join(unused, ", ")+".)")
	}
	for i, glob := range q.Globs {
		q.Globs[i] = r.below(glob)
	}
	q.Window.MaxBytes = r.bytes()
	found, err := f.Searcher.Grep(ctx, r.scope(a.IncludeIgnored), q)
	if err != nil {
		return nil, refused(ctx, NameGrep, err)
	}
	if q.Mode == search.Content {
		return r.content(found, q, a.Numbers == nil || *a.Numbers), nil
	}
	return r.files(found, q), nil
}

// content answers with lines.
func (r *finding) content(found *search.Grepped, q search.GrepQuery, numbers bool) *toolcall.Result {
	style := lineStyle{naming: r.naming, alone: r.alone(), numbers: numbers, groups: q.Before+q.After > 0}
	pieces := style.lines(found.Files)
	body, kept := fitted(pieces, r.budget)
	c := r.closing(found, q, max(kept, min(len(pieces), 1)))
	c.more = found.More || c.shown < len(pieces)
	c.cut = kept == 0 && len(pieces) > 0
	c.one, c.many, c.all = "line", "lines", matchingLines(found)
	result := r.answer(body, c, toolcall.Search{Files: found.TotalFiles, Matches: found.TotalMatches})
	var names []string
	result.Shown, names = shown(found.Files, pieces[:kept])
	result.Hints = append(result.Hints, names[:min(len(names), mostHints)]...)
	return result
}

// mostHints bounds the files for whose folders hints are looked up.
const mostHints = 20

// closing is the end of an answer that shows so many results.
func (r *finding) closing(found *search.Grepped, q search.GrepQuery, shown int) closing {
	return closing{finding: r, shown: shown, skipped: q.Window.Skip, found: found.TotalFiles, outcome: found.Outcome}
}

// matchingLines counts the lines and files that match, in words.
func matchingLines(found *search.Grepped) string {
	return counted(found.TotalMatches, "matching line", "matching lines") + " in " + counted(found.TotalFiles, "file", "files")
}

// shown lists what the kept pieces show of the files, and the names of these.
func shown(files []search.FileMatches, kept []piece) (all []toolcall.Shown, names []string) {
	for i, f := range files {
		n := 0
		for _, p := range kept {
			if p.file == i {
				n = p.line + 1
			}
		}
		if n == 0 {
			continue
		}
		names = append(names, f.Path)
		if !f.Recorded || strings.HasSuffix(strings.ToLower(f.Path), ".ipynb") { // a notebook is shown by its cells
			continue
		}
		rec := f.Record
		if n < len(f.Lines) {
			rec = firstLines(rec, f.Lines[:n])
		}
		if len(rec.Shown) > 0 {
			all = append(all, toolcall.Shown{Path: f.Path, Record: rec, Found: true})
		}
	}
	return all, names
}

// firstLines returns the record of a file that shows only these lines.
func firstLines(rec state.Record, lines []search.Line) state.Record {
	var sent span.Set
	for _, l := range lines {
		if l.Raw.End > l.Raw.Start {
			sent = sent.Add(l.Raw)
		}
	}
	rec.Shown = sent
	if rec.Parts != nil {
		outside := func(p state.Part) bool { return !sent.Covers(p.Span) }
		rec.Parts = slices.DeleteFunc(slices.Clone(rec.Parts), outside)
		rec.Shown = state.ShownBy(rec.Parts)
	}
	return rec
}

// files answers with names of files, or with their counts.
func (r *finding) files(found *search.Grepped, q search.GrepQuery) *toolcall.Result {
	counts := q.Mode == search.Counts
	pieces := make([]piece, len(found.Files))
	var binary []string
	for i, f := range found.Files {
		pieces[i] = piece{text: r.naming.name(f.Path), file: i}
		if counts {
			pieces[i].text += ":" + strconv.Itoa(f.Count)
		}
	}
	body, kept := fitted(pieces, r.budget)
	if kept == 0 {
		body = ""
	}
	for _, f := range found.Files[:kept] {
		if f.Binary {
			binary = append(binary, f.Path)
		}
	}
	c := r.closing(found, q, kept)
	c.more, c.binary, c.counts = found.More || kept < len(pieces), binary, counts
	c.one, c.many, c.all = "file", "files", counted(found.TotalFiles, "file", "files")
	if counts {
		c.all = matchingLines(found)
	}
	return r.answer(body, c, toolcall.Search{Files: found.TotalFiles, Matches: found.TotalMatches})
}
