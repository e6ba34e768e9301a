package find

import (
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// The words for nothing, as the reference has them, and for nothing if not all was
// searched.
const (
	noFiles   = "No files found"
	noLines   = "No matches found"
	noneSoFar = "Nothing was found in what was searched."
)

// closing holds what the end of an answer says.
type closing struct {
	*finding
	shown, skipped int
	more           bool   // something follows
	found          int    // all that was found, shown or not
	all            string // that in words
	one, many      string // what is shown
	counts         bool   // the answer counts
	cut            bool   // of the only result that is shown the end is missing
	tooLong        bool   // not even the first name fits
	binary         []string
	notice         string // on what a reader cannot see in the lines that are shown
	outcome        search.Coverage
}

// sentences are the lines that end the answer.
func (c closing) sentences() (all []string) {
	say := func(format string, a ...any) { all = append(all, "("+fmt.Sprintf(format, a...)+")") }
	o, atLeast := c.outcome, ""
	if !o.Complete || len(o.Gaps) > 0 {
		atLeast = "at least "
	}
	if c.notice != "" {
		say("%s", c.notice)
	}
	if c.counts && c.found > 0 {
		say("%s%s.", initial(atLeast), c.all)
	}
	if len(c.binary) > 0 {
		say("Binary: %s.", c.naming.list(c.binary, 0, "file", "files"))
	}
	if c.cut {
		say("The line is cut: there is no room for more of it. Read with offset and column shows the rest.")
	}
	next := c.skipped + c.shown
	switch {
	case c.tooLong:
		say("There is no room for the first of %s%s. Next: %s offset=%d.", atLeast, c.all, c.tool, next+1)
	case c.found > 0 && c.shown == 0 && !o.Complete:
		say("Found: %s%s. No time was left to show them.", atLeast, c.all)
	case c.found > 0 && c.shown == 0 && c.skipped == 0:
		say("Found: %s, which changed before they could be shown. Make the same call again.", c.all)
	case c.found > 0 && c.shown == 0:
		say("Nothing is behind offset=%d. Found in all: %s.", c.skipped, c.all)
	case c.more && c.skipped > 0 && c.shown == 1:
		say("%s %d is shown. Found in all: %s%s. Next: %s offset=%d.", initial(c.one), next, atLeast, c.all, c.tool, next)
	case c.more && c.skipped > 0:
		say("%s %d-%d are shown. Found in all: %s%s. Next: %s offset=%d.", initial(c.many), c.skipped+1, next, atLeast, c.all, c.tool, next)
	case c.more:
		say("%s %s shown. Found in all: %s%s. Next: %s offset=%d.", counted(c.shown, c.one, c.many), phrase.Plural(c.shown, "is", "are"), atLeast, c.all, c.tool, next)
	}
	if !o.Complete {
		say("%s", c.timedOut())
	}
	if len(o.Unreadable) > 0 {
		say("The system does not let fsmcp read %s.", c.naming.list(o.Unreadable, o.UnreadableMore, "name", "names"))
	}
	if left := c.documents(); left != "" {
		say("%s", left)
	}
	if o.Ignored && c.found == 0 {
		say("Ignore files left something out: include_ignored=true searches that, too.")
	}
	return append(all, c.notes...)
}

// timedOut says how far a search came whose time ran out.
func (c closing) timedOut() string {
	o := c.outcome
	ended := fmt.Sprintf("This is not all: the search ended after %d seconds", int(searchTimeout.Seconds()))
	far := func(p search.PartOfFile) string {
		return "the first " + phrase.Bytes(p.Searched) + " of " + phrase.Bytes(p.Size)
	}
	if c.tool == NameGrep && c.alone() {
		if len(o.Partly) == 1 {
			ended += ", behind " + far(o.Partly[0])
		}
		return ended + ". A pattern with a fixed word in it takes less time."
	}
	if ended += "."; len(o.NotSearched) > 0 {
		ended += " Not searched in full: " + c.naming.list(o.NotSearched, o.NotSearchedMore, "folder", "folders") + "."
	}
	for i, p := range o.Partly {
		if i == namedAtMost {
			break
		}
		ended += " Searched in part: " + c.naming.list([]string{p.Path}, 0, "file", "files") + ", " + far(p) + "."
	}
	narrower := "path, glob or type"
	if c.tool == NameGlob {
		narrower = "path or pattern"
	}
	return ended + " Narrow it with " + narrower + "."
}

// documents says which documents were not searched, or not as a whole, and how to search them.
func (c closing) documents() string {
	o := c.outcome
	var all []string
	say := func(format string, a ...any) { all = append(all, fmt.Sprintf(format, a...)) }
	var left, how []string
	if o.PDFs > 0 {
		left, how = append(left, counted(o.PDFs, "PDF", "PDFs")), append(how, "*.pdf")
	}
	if o.Office > 0 {
		left, how = append(left, counted(o.Office, "Office document", "Office documents")), append(how, "*.{docx,xlsx,pptx,odt,ods,odp}")
	}
	switch {
	case len(left) == 0:
	case !c.Documents:
		say("Not searched: the text of %s. It needs the program fsmcp-media.", strings.Join(left, " and "))
	case c.alone():
		say("Not searched: the text of this document. Read shows it.")
	default:
		say("Not searched: the text of %s. glob=%q searches it, or path with the name of one.", strings.Join(left, " and "), strings.Join(how, ","))
	}
	all = append(all, c.gaps()...)
	if o.Scans > 0 {
		say("Not searched: %s of PDFs without text, such as scans. Read shows them as pictures.", counted(o.Scans, "page", "pages"))
	}
	return strings.Join(all, " ")
}

// initial writes a word as at the beginning of a sentence.
func initial(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// answer builds the answer of a body and what is below it.
func (r *finding) answer(body string, below []string, c closing, facts toolcall.Search) toolcall.Outcome {
	o := c.outcome
	switch all := o.Complete && len(o.Unreadable)+o.PDFs+o.Office+len(o.Gaps)+o.Scans == 0; {
	case c.found > 0:
	case !all:
		body = noneSoFar
	case c.one == "line":
		body = noLines
	default:
		body = noFiles
	}
	facts.Path, facts.Pattern = r.starts[0].Path, r.pattern
	return toolcall.Outcome{Answer: toolcall.Answer{Body: body, Notes: below}, Effects: toolcall.Effects{Search: &facts}}
}

// progress says how far a search is.
func progress(p search.SearchCounts) string {
	return counted(p.Files, "file", "files") + " searched, " + counted(p.Matches, "match", "matches")
}
