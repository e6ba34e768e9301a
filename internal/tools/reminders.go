package tools

import (
	"context"
	"encoding/base64"
	"math"
)

// remind ends an answer with what changed outside in files that were shown in full.
func (h *Service) remind(ctx context.Context, call Call, r *Result) {
	r.report = call.Session.reminders.Remind(ctx, call.account.path, call.Client.room(r))
	if r.report != nil {
		r.Blocks = append(r.Blocks, Block{Text: r.report.Text})
	}
}

// hint ends an answer about a file with one line that names what speaks to agents in the
// folders above it, up to the workspace directory, and was not read yet.
func (h *Service) hint(call Call, name string, r *Result) {
	line := call.Session.reminders.Hint(name, h.Preferences().HintsBelow)
	if line == "" {
		return
	}
	if last := &r.Blocks[len(r.Blocks)-1]; last.MIME == "" && last.Text != "" {
		last.Text += "\n" + line // clients join blocks as they stand
		return
	}
	r.Blocks = append(r.Blocks, Block{Text: line})
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
