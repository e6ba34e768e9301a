package find

import (
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// The words for nothing, as the reference has them.
const (
	noFiles = "No files found"
	noLines = "No matches found"
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
	binary         []string
	outcome        search.Outcome
}

// sentences are the lines that end the answer.
func (c closing) sentences() (all []string) {
	say := func(format string, a ...any) { all = append(all, "("+fmt.Sprintf(format, a...)+")") }
	atLeast := ""
	if !c.outcome.Complete {
		atLeast = "at least "
	}
	if c.counts && c.found > 0 {
		say("%s%s.", initial(atLeast), c.all)
	}
	if len(c.binary) > 0 {
		say("Binary: %s.", c.naming.some(c.binary, 0, "file", "files"))
	}
	if c.cut {
		say("The line is cut: there is no room for more of it. Read with offset and column shows the rest.")
	}
	next := c.skipped + c.shown
	switch {
	case c.found > 0 && c.shown == 0:
		say("Nothing is behind offset=%d. Found in all: %s%s.", c.skipped, atLeast, c.all)
	case c.more && c.skipped > 0 && c.shown == 1:
		say("%s %d is shown. Found in all: %s%s. Next: %s offset=%d.", initial(c.one), next, atLeast, c.all, c.tool, next)
	case c.more && c.skipped > 0:
		say("%s %d-%d are shown. Found in all: %s%s. Next: %s offset=%d.", initial(c.many), c.skipped+1, next, atLeast, c.all, c.tool, next)
	case c.more:
		say("%s %s shown. Found in all: %s%s. Next: %s offset=%d.", counted(c.shown, c.one, c.many), phrase.Plural(c.shown, "is", "are"), atLeast, c.all, c.tool, next)
	}
	if o := c.outcome; !o.Complete {
		left := ""
		if len(o.NotSearched) > 0 {
			left = " Not searched: " + c.naming.some(o.NotSearched, o.NotSearchedMore, "folder", "folders") + "."
		}
		narrower := "path, glob or type"
		if c.tool == NameGlob {
			narrower = "path or pattern"
		}
		say("This is not all: the search ended after %d seconds.%s Narrow it with %s.", int(within.Seconds()), left, narrower)
	}
	if o := c.outcome; len(o.Unreadable) > 0 {
		say("The system does not let fsmcp read %s.", c.naming.some(o.Unreadable, o.UnreadableMore, "name", "names"))
	}
	if c.outcome.Ignored && c.found == 0 {
		say("Ignore files left something out: include_ignored=true searches that, too.")
	}
	return append(all, c.notes...)
}

// initial writes a word as at the beginning of a sentence.
func initial(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// answer builds the answer of a body and what ends it.
func (r *finding) answer(body string, c closing, facts toolcall.Search) *toolcall.Result {
	if c.found == 0 {
		body = noFiles
		if c.one == "line" {
			body = noLines
		}
	}
	result := toolcall.TextResult(append([]string{body}, c.sentences()...)...)
	facts.Path, facts.Pattern = r.starts[0].Path, r.pattern
	result.Search = &facts
	for _, s := range r.starts {
		name := s.Path
		if !r.alone() {
			name += "/."
		}
		result.Hints = append(result.Hints, name)
	}
	return result
}

// progress says how far a search is.
func progress(p search.Progress) string {
	return counted(p.Files, "file", "files") + " searched, " + counted(p.Matches, "match", "matches")
}
