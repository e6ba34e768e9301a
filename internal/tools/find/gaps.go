package find

import (
	"context"
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/search"
)

// gaps says which documents were to be searched and were not, or only in part, why, and which
// call goes on.
func (c closing) gaps() (all []string) {
	if c.alone() && len(c.outcome.Gaps) == 1 {
		return []string{gapOf(c.outcome.Gaps[0])}
	}
	say := func(format string, names []string) {
		if len(names) > 0 {
			all = append(all, fmt.Sprintf(format, firstOf(names, 0, "document", "documents")))
		}
	}
	var unready, late, unread, partly, cut []string
	for _, gap := range c.outcome.Gaps {
		switch name := c.naming.inSentence(gap.Path); {
		case isUnready(gap.Err):
			unready = append(unready, name)
		case isLate(gap.Err):
			late = append(late, name)
		case gap.Err != nil:
			unread = append(unread, name)
		case goesOn(gap.Cut):
			partly = append(partly, name+pagesOf(" (", gap, ")"))
		default:
			cut = append(cut, name+pagesOf(" (", gap, ")"))
		}
	}
	say("Not searched, because fsmcp is still getting ready to read PDFs: %s. Make the same call again.", unready)
	say("Not searched, because there was no time to read the text: %s. The same call again goes on there.", late)
	say("Not searched, because the text could not be read: %s. Read says why.", unread)
	say("Searched in part, because there was no time to read more: %s. The same call again goes on from there.", partly)
	say("Searched in part, because there is more text than is read: %s.", cut)
	if more := c.outcome.MoreGaps; more > 0 {
		all = append(all, fmt.Sprintf("Not searched, or only in part: %s. Narrow it with path or glob.", counted(more, "more document", "more documents")))
	}
	return all
}

// gapOf says that of the one document that is searched.
func gapOf(gap search.DocumentGap) string {
	next := fmt.Sprintf("Read with pages=\"%d-%d\"", gap.Pages+1, gap.Pages+media.MostPages)
	if gap.Count > 0 {
		next = fmt.Sprintf("Read with pages=\"%d-%d\"", gap.Pages+1, min(gap.Count, gap.Pages+media.MostPages))
	}
	switch {
	case isUnready(gap.Err):
		return "Not searched: the text of this document. fsmcp is still getting ready to read PDFs: make the same call again."
	case isLate(gap.Err) && gap.PDF:
		return "Not searched: the text of this document. There was no time to read it: make the same call again, or " + next + "."
	case isLate(gap.Err):
		return "Not searched: the text of this document. There was no time to read it: make the same call again."
	case gap.Err != nil:
		return "Not searched: the text of this document. It could not be read; Read says why."
	case gap.Count == 0 && goesOn(gap.Cut):
		return fmt.Sprintf("Searched only in part, because %s. Make the same call again.", gap.Cut)
	case gap.Count == 0:
		return fmt.Sprintf("Searched only in part, because %s.", gap.Cut)
	case goesOn(gap.Cut):
		return fmt.Sprintf("Searched: %s, because %s. The same call again goes on from page %d; %s shows the next pages.", pagesOf("", gap, ""), gap.Cut, gap.Pages+1, next)
	}
	return fmt.Sprintf("Searched: %s, because %s. %s shows the next pages.", pagesOf("", gap, ""), gap.Cut, next)
}

// pagesOf names the pages of a PDF that were searched, between two texts.
func pagesOf(before string, gap search.DocumentGap, after string) string {
	if gap.Count == 0 {
		return ""
	}
	first := "page"
	if gap.Pages > 1 {
		first = phrase.Thousands(gap.Pages) + " pages"
	}
	return fmt.Sprintf("%sthe first %s of %d%s", before, first, gap.Count, after)
}

// isUnready reports whether the program that reads PDFs was not ready yet.
func isUnready(err error) bool {
	lost := (*media.BreakdownError)(nil)
	return errors.As(err, &lost) && lost.Why == media.Unready
}

// isLate reports whether the time of the search ended before a text was read.
func isLate(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// goesOn reports whether the same call would go on where this one ended.
func goesOn(cut string) bool { return cut == media.CutByTime || cut == media.CutByFailure }
