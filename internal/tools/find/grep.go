package find

import (
	"context"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Grep answers a Grep.
func (f *Finder) Grep(ctx context.Context, call toolcall.Call, a *GrepArgs) toolcall.Outcome {
	q := search.GrepQuery{Pattern: a.Pattern, Type: a.Type, Fold: a.Fold, Multiline: a.Multiline}
	on := f.notation()
	var err error
	if q.Globs, err = globsOf(on, a.Glob); err != nil {
		return toolcall.Failed(err)
	}
	var known bool
	if q.Mode, known = modes()[a.OutputMode]; !known {
		return toolcall.Failed(refusal.New(refusal.BadOutputMode, strings.Join([]string{outputFiles, outputContent, outputCount}, ", "), a.OutputMode))
	}
	if q.Window, err = window(a.HeadLimit, a.Offset, defaultResults); err != nil {
		return toolcall.Failed(err)
	}
	if q.Before, q.After, err = a.contextOf(); err != nil {
		return toolcall.Failed(err)
	}
	if a.Pattern == "" {
		return toolcall.Failed(refusal.New(refusal.EmptyPattern))
	}
	r, out := f.begin(call, NameGrep, a.Path, a.Pattern)
	if out.Err != nil {
		return out
	}
	defer r.close()
	if unused := a.unused(); len(unused) > 0 {
		r.notes = append(r.notes, "(Ignored without output_mode \"content\": "+strings.Join(unused, ", ")+".)")
	}
	for i, glob := range q.Globs {
		q.Globs[i] = r.globBelow(on, glob)
	}
	q.Window.MaxBytes = r.bytes()
	found, err := f.Searcher.Grep(ctx, r.scope(a.IncludeIgnored), q)
	if err == nil && r.alone() && len(found.Gaps) == 1 && isUnready(found.Gaps[0].Err) {
		found, err = f.Searcher.Grep(ctx, r.scope(a.IncludeIgnored), q) // what reads PDFs gets ready once on a machine
	}
	if err != nil {
		return toolcall.Failed(refused(ctx, NameGrep, err))
	}
	if q.Mode == search.Content {
		return r.content(found, q, a.Numbers == nil || *a.Numbers)
	}
	return r.files(found, q)
}

// content answers with lines.
func (r *finding) content(found *search.Grepped, q search.GrepQuery, numbers bool) toolcall.Outcome {
	style := lineStyle{naming: r.naming, alone: r.alone(), numbers: numbers, groups: q.Before+q.After > 0}
	var pieces []piece
	if found.TotalFiles > 0 { // else the answer says that nothing was found
		pieces = style.lines(found.Files)
	}
	c := r.closing(found, q)
	c.one, c.many, c.all = "line", "lines", matchingLines(found)
	body, kept, below := fitted(pieces, r.budget, func(kept int, cut bool) []string {
		if c.shown, c.cut = kept, cut; cut {
			c.shown = 1
		}
		c.more = found.More || c.shown < len(pieces)
		c.notice = style.notice(found.Files, pieces[:c.shown])
		return c.sentences()
	})
	out := r.answer(body, below, c, toolcall.Search{Files: found.TotalFiles, Matches: found.TotalMatches})
	out.Shown = shown(found.Files, pieces[:kept])
	return out
}

// closing is the end of an answer.
func (r *finding) closing(found *search.Grepped, q search.GrepQuery) closing {
	return closing{finding: r, skipped: q.Window.Skip, found: found.TotalFiles, outcome: found.Coverage}
}

// matchingLines counts the lines and files that match, in words.
func matchingLines(found *search.Grepped) string {
	return counted(found.TotalMatches, "matching line", "matching lines") + " in " + counted(found.TotalFiles, "file", "files")
}

// shown lists what the kept pieces show of the files.
func shown(files []search.FileMatches, kept []piece) (all []toolcall.Shown) {
	for len(kept) > 0 {
		f := &files[kept[0].file]
		var exact []state.Part
		n := 0
		for ; n < len(kept) && kept[n].file == kept[0].file; n++ {
			exact = append(exact, kept[n].exact...)
		}
		if kept = kept[n:]; f.Recorded && len(exact) > 0 && !strings.HasSuffix(strings.ToLower(f.Path), ".ipynb") { // a notebook is shown by its cells
			all = append(all, toolcall.Shown{Path: f.Path, How: toolcall.Found, Record: f.Showing(exact)})
		}
	}
	return all
}

// files answers with names of files, or with their counts.
func (r *finding) files(found *search.Grepped, q search.GrepQuery) toolcall.Outcome {
	c := r.closing(found, q)
	c.one, c.many, c.all = "file", "files", counted(found.TotalFiles, "file", "files")
	if c.counts = q.Mode == search.Counts; c.counts {
		c.all = matchingLines(found)
	}
	pieces := make([]piece, len(found.Files))
	for i, f := range found.Files {
		pieces[i] = piece{text: r.naming.name(f.Path), file: i}
		if c.counts {
			pieces[i].text += ":" + strconv.Itoa(f.Count)
		}
	}
	return r.wholeNames(pieces, c, toolcall.Search{Files: found.TotalFiles, Matches: found.TotalMatches}, func(c *closing) {
		c.more, c.binary = found.More || c.shown < len(pieces), nil
		for _, f := range found.Files[:c.shown] {
			if f.Binary {
				c.binary = append(c.binary, f.Path)
			}
		}
	})
}

// wholeNames answers with as many names as fit. about completes the end of an answer that
// shows c.shown of them.
func (r *finding) wholeNames(pieces []piece, c closing, facts toolcall.Search, about func(c *closing)) toolcall.Outcome {
	body, kept, below := fitted(pieces, r.budget, func(kept int, cut bool) []string {
		c.shown, c.tooLong = kept, cut
		about(&c)
		return c.sentences()
	})
	if kept == 0 {
		body = "" // half a name is none
	}
	return r.answer(body, below, c, facts)
}
