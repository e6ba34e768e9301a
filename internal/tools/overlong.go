package tools

import (
	"fmt"
	"math"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// plainTokens bounds what a Read of a whole file shows if the file is too long for one answer:
// enough to know the file, and little more than a refusal costs.
const plainTokens = 2500

// refuses reports whether a text that is too long for one answer is refused.
func (r *reader) refuses() bool { return r.preferences().RefuseLong }

// lifted returns the budget of an answer with allow_large: what the client passes on, unless the
// user has changed the limit.
func lifted(b toolcall.Budget, client toolcall.ClientLimits) toolcall.Budget {
	if b.Most == DefaultMaxTokens && (client.Tokens > 0 || client.Chars > 0) {
		b.Most = math.MaxInt32
	}
	return b
}

// mostBytes is the size above which a Read of a whole file is too long.
func (r *reader) mostBytes(large bool) int64 {
	if large && r.maxFileBytes == defaultMaxBytes && !r.refuses() {
		return math.MaxInt64
	}
	return r.maxFileBytes
}

// bounds returns the bytes and the tokens of text for which the answer has room.
func (r *reading) bounds() (room, tokens int) {
	room, tokens = r.budget.Room(), r.budget.Bound()
	if r.overlong && r.want.plain && !r.want.large {
		tokens = min(tokens, plainTokens)
		room = min(room, tokens*bytesOfToken)
	}
	if r.overlong && r.want.plain && r.want.large {
		room = int(min(int64(room), r.tool.maxFileBytes))
	}
	return room, tokens
}

// bytesOfToken is more than the bytes of a token in nearly every text.
const bytesOfToken = 8

// rest says what follows a part of a text, if anything does.
func (r *reading) rest(p part) string {
	if r.overlong && (p.more || p.nextColumn > 0) {
		return r.partial("lines", p)
	}
	return r.want.onward(p)
}

// partial says which part of a text that is too long for one answer is shown, and how the rest
// is read. things are lines or cells.
func (r *reading) partial(things string, p part) string {
	of := ""
	if p.total >= 0 {
		of = " of " + phrase.Thousands(p.total)
	}
	more := ""
	if r.tool.grep {
		more = " Grep finds lines in it."
	}
	if r.want.plain && !r.want.large {
		more += " allow_large=true shows more at once."
	}
	if p.nextColumn > 0 {
		return fmt.Sprintf("(PARTIAL: line %d%s goes on. Next: Read %soffset=%d, column=%d.%s)", p.last, of, p.call, p.last, p.nextColumn, more)
	}
	limit := min(r.want.left(p), toolcall.DefaultLines)
	switch {
	case p.total >= 0:
		limit = min(limit, p.total-p.last)
	case p.first < 0:
		limit = min(limit, -p.last-1)
	}
	shown := fmt.Sprintf("%d-%d", p.first, p.last)
	if p.first < 0 {
		shown = fmt.Sprintf("(%d) to (%d)", p.first, p.last)
	}
	return fmt.Sprintf("(PARTIAL: %s %s%s; one answer has no room for more. Next: Read %soffset=%d, limit=%d.%s)", things, shown, of, p.call, p.last+1, limit, more)
}

// relative explains the numbers of lines that are counted from the end of a file.
const relative = "(The numbers in brackets count from the end of the file: (-1) is its last line. The file is too long to count its lines in time.)"

// unended says that a text does not end in a line break.
const unended = "(No newline at the end of the file.)"
