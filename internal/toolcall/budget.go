package toolcall

import (
	"encoding/base64"
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/tokens"
)

// Limits of answers and of changes.
const (
	// DefaultLines bounds the lines of a Read without limit.
	DefaultLines = 2000
	// answerBytes bounds any answer's text.
	answerBytes = 4 << 20
	// AnswerRest is kept free in an answer for what stands around the text.
	AnswerRest = 1 << 10
	// MaxEditBytes is the largest file that Edit changes.
	MaxEditBytes = 1 << 30
)

// Budget bounds the text of one answer.
type Budget struct {
	Counter tokens.Counter
	Most    int // tokens, by the settings
	client  ClientLimits
}

// ForClient returns the budget of an answer to a client.
func (b Budget) ForClient(client ClientLimits) Budget {
	b.client = client
	return b
}

// Room returns the number of bytes of text for which an answer has room.
func (b Budget) Room() int {
	if c := b.client.Chars; c > 0 {
		return max(c-AnswerRest, 1<<10)
	}
	return answerBytes
}

// linesRest is the number of lines kept free in an answer for what stands around the text:
// mostly reminders, of 3 files with 60 lines each.
const linesRest = 250

// Lines returns the number of lines of text for which an answer has room.
func (b Budget) Lines() int {
	if c := b.client.Lines; c > 0 {
		return max(c-linesRest, (c+1)/2)
	}
	return math.MaxInt
}

// Bound returns the number of tokens of text that an answer may have: by the settings,
// and by the client's own limit.
func (b Budget) Bound() int {
	return AtMost(b.Most, b.client.Tokens)
}

// Passes reports whether an error may show body, and the client passes such an error on
// to its model: only then may body count as shown.
func (b Budget) Passes(body string) bool {
	c := b.client
	switch {
	case len(body) > showBody,
		c.Chars > 0 && len(body) > c.Chars-AnswerRest,
		c.Errors > 0 && len(body) > c.Errors-AnswerRest,
		strings.Count(body, "\n") >= b.Lines():
		return false
	}
	return c.Tokens == 0 || b.Counter.Count([]byte(body)) <= c.Tokens*9/10
}

// Tokens counts in two stages: a rough estimate by the size and the extension, and the
// careful counter only if that comes near the limit.
func (b Budget) Tokens(body []byte, ext string) int {
	if rough := tokens.Rough(len(body), ext); rough <= b.Bound()/4 {
		return rough
	}
	return b.Counter.Count(body)
}

// LinesWithin returns the number of lines of a page that stay within a number of
// tokens, and within the client's number of lines.
func (b Budget) LinesWithin(page text.Page, bound int) int {
	return b.PartsWithin(page.Body, page.Ends[:min(len(page.Ends), b.Lines())], bound)
}

// PartsWithin returns the number of leading parts of a text, which end at ends, that stay
// within a number of tokens.
func (b Budget) PartsWithin(body []byte, ends []int, bound int) int {
	return sort.Search(len(ends), func(i int) bool { return b.Counter.Count(body[:ends[i]]) > bound })
}

// ReadCall returns the call that reads as many lines of a page as an answer holds, from the
// line with the number first. lines counts them; a line that is shown in part counts as one.
func (b Budget) ReadCall(first int, page text.Page) (name string, lines int) {
	if lines = b.LinesWithin(page, b.Bound()); lines > 0 {
		return fmt.Sprintf("Read offset=%d, limit=%d", first, lines), lines
	}
	return fmt.Sprintf("Read offset=%d, column=1", first), 1
}

// bytesPerToken is a number of bytes of a diff that surely are no more than a token.
const bytesPerToken = 2

// sizes returns the bytes of an answer's text, and of its pictures and documents in base64.
func (r *Result) sizes() (text, data int) {
	for _, b := range r.Blocks {
		text += len(b.Text)
		data += base64.StdEncoding.EncodedLen(len(b.Data))
	}
	return text, data
}

// Passes reports whether the client passes all text of an answer on to its model. It does not
// count tokens: the texts that an answer is made of are kept within these.
func (c ClientLimits) Passes(r *Result) bool {
	const (
		leastRoom  = 1<<10 + AnswerRest // an answer is not made smaller, whatever the limit
		leastLines = 8
	)
	text, data := r.sizes()
	lines := 0
	for _, b := range r.Blocks {
		lines += strings.Count(b.Text, "\n") + 1
	}
	return (c.Chars == 0 || text <= max(c.Chars, leastRoom)) &&
		(c.Errors == 0 || !r.IsError || text <= c.Errors) &&
		(c.Lines == 0 || lines <= max(c.Lines, leastLines)) &&
		(c.Answer == 0 || text+data <= c.Answer)
}

// Room returns the number of bytes of text for which an answer still has room.
func (c ClientLimits) Room(r *Result) int {
	room := math.MaxInt
	text, data := r.sizes()
	if c.Chars > 0 {
		room = min(room, c.Chars-text)
	}
	if c.Errors > 0 && r.IsError {
		room = min(room, c.Errors-text)
	}
	if c.Tokens > 0 {
		room = min(room, c.Tokens*bytesPerToken-text)
	}
	if c.Answer > 0 {
		room = min(room, c.Answer-text-data-AnswerRest)
	}
	return room
}

// showBody bounds what an error shows as it stands there: short lines take
// several times their bytes with their numbers.
const showBody = 2 * ShowUnseen

// ShowUnseen bounds what an error shows so that the same call passes next time, in bytes of
// the file.
const ShowUnseen = 16 << 10
