package tools

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"

	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/tokens"
)

// Limits of Read (source: the specification of the tools, "Read").
const (
	// defaultLines bounds the lines of a Read without limit.
	defaultLines = 2000
	// defaultColumns bounds the characters of a Read with column and without limit.
	defaultColumns = 4000
	// DefaultMaxTokens bounds the text of one Read.
	DefaultMaxTokens = 25_000
	// answerBytes bounds any answer's text.
	answerBytes = 4 << 20
	// answerRest is kept free in an answer for what stands around the text.
	answerRest = 1 << 10
	// readInMemory is the size up to which Read holds a file in memory; larger
	// ones are scanned in constant memory.
	readInMemory = 8 << 20
	// changeInMemory is the size up to which a file is held in memory to be changed;
	// larger ones are searched as a stream.
	changeInMemory = state.InMemory
	// maxEditBytes is the largest file that Edit changes.
	maxEditBytes = 1 << 30
)

// budget bounds the text of one answer.
type budget struct {
	counter tokens.Counter
	most    int // tokens, by the settings
	client  ClientLimits
}

// of returns the budget of an answer to a client.
func (b budget) of(client ClientLimits) budget {
	b.client = client
	return b
}

// room returns the number of bytes of text for which an answer has room.
func (b budget) room() int {
	if c := b.client.Chars; c > 0 {
		return max(c-answerRest, 1<<10)
	}
	return answerBytes
}

// linesRest is the number of lines kept free in an answer for what stands around the text:
// mostly reminders, of 3 files with 60 lines each.
const linesRest = 250

// lines returns the number of lines of text for which an answer has room.
func (b budget) lines() int {
	if c := b.client.Lines; c > 0 {
		return max(c-linesRest, (c+1)/2)
	}
	return math.MaxInt
}

// bound returns the number of tokens of text that an answer may have: by the settings,
// and by the client's own limit.
func (b budget) bound() int {
	if c := b.client.Tokens; c > 0 {
		return min(c, b.most)
	}
	return b.most
}

// passes reports whether an error may show body, and the client passes such an error on
// to its model: only then may body count as shown.
func (b budget) passes(body string) bool {
	c := b.client
	switch {
	case len(body) > showBody,
		c.Chars > 0 && len(body) > c.Chars-answerRest,
		c.Errors > 0 && len(body) > c.Errors-answerRest,
		strings.Count(body, "\n") >= b.lines():
		return false
	}
	return c.Tokens == 0 || b.counter.Count([]byte(body)) <= c.Tokens*9/10
}

// tokens counts in two stages: a rough estimate by the size and the extension, and the
// careful counter only where that comes near the limit.
func (b budget) tokens(body []byte, ext string) int {
	if rough := tokens.Rough(len(body), ext); rough <= b.bound()/4 {
		return rough
	}
	return b.counter.Count(body)
}

// linesWithin returns the number of lines of a page that stay within a number of
// tokens, and within the client's number of lines.
func (b budget) linesWithin(page text.Page, bound int) int {
	lo, hi := 0, min(len(page.Ends), b.lines())
	for lo < hi { // the greatest k whose lines fit
		mid := (lo + hi + 1) / 2
		if b.counter.Count(page.Body[:page.Ends[mid-1]]) <= bound {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// readCall names the Read that shows as many lines of a page as are served, starting at
// number first. lines is their number: one where that is shown in part.
func (b budget) readCall(first int, page text.Page) (name string, lines int) {
	if lines = b.linesWithin(page, b.bound()); lines > 0 {
		return fmt.Sprintf("Read offset=%d, limit=%d", first, lines), lines
	}
	return fmt.Sprintf("Read offset=%d, column=1", first), 1
}

// bytesPerToken is a number of bytes of a diff that surely are no more than a token.
const bytesPerToken = 2

// room returns the number of bytes of text for which an answer still has room.
func (c ClientLimits) room(r *Result) int {
	room := math.MaxInt
	text, data := 0, 0
	for _, b := range r.Blocks {
		text += len(b.Text)
		data += base64.StdEncoding.EncodedLen(len(b.Data))
	}
	if c.Chars > 0 {
		room = min(room, c.Chars-text)
	}
	if c.Tokens > 0 {
		room = min(room, c.Tokens*bytesPerToken-text)
	}
	if c.Answer > 0 {
		room = min(room, c.Answer-text-data-answerRest)
	}
	return room
}

// showBody bounds what an error shows as it stands there: short lines take
// several times their bytes with their numbers.
const showBody = 2 * showUnseen

// Bounds of what an error shows so that the same call passes next time, in
// bytes of the file.
const (
	showUnseen  = 16 << 10
	showMatches = 8 << 10
	aroundMatch = 200 // characters on each side
)

// Read calls in errors: at most callsNamed of them, and places that lie within
// nearLines of each other share one.
const (
	callsNamed = 3
	nearLines  = 200
)

// bigLine is the length in bytes from which a line is better read by columns.
const bigLine = 20 << 10
