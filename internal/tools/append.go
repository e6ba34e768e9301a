package tools

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/gate"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// beforeRoom bounds the bytes of the two lines before the appended text that an answer shows.
const beforeRoom = 1 << 10

// extend plans a Write behind what a file holds. It replaces nothing, so that no gate is asked.
func (w *writing) extend(ctx context.Context, s *toolcall.Target, old *fsys.File) (*commit.Plan, error) {
	if toolcall.IsNotebook(s) {
		return nil, refusal.New(refusal.IsNotebook, s.Name())
	}
	stamp, err := old.Stamp()
	switch {
	case err != nil:
		return nil, err
	case w.content == "":
		return commit.Answered(s.Answer(fmt.Sprintf("content is empty: nothing was appended to %s.", s.Name()), "")), nil
	case stamp.Size+int64(len(w.content)) > toolcall.MaxEditBytes:
		return nil, refusal.New(refusal.TooLargeToAppend, phrase.Above(stamp.Size, toolcall.MaxEditBytes), s.Name())
	case stamp.Size > state.InMemory:
		return w.extendLarge(ctx, s, old, stamp)
	}
	g, err := w.load(ctx, s, old)
	if err != nil {
		return nil, err
	}
	return extend(g, w.content)
}

// extend plans a Write behind what a file in memory holds, as a pure function of the file, its
// record and the content.
func extend(g gate.Gate, content string) (*commit.Plan, error) {
	s, c := g.Target, g.File
	content = withBreaks(content, c.Doc.EOL)
	raw, err := c.Doc.Enc.Encode(content)
	if err != nil {
		return nil, err
	}
	size := int64(len(c.Raw))
	splices := []span.Splice{{Start: size, End: size, New: raw}}
	rec, reported, note := afterOutsideChange(g)
	body, shown := changes.LastLines(c.Doc, beforeRoom)
	change := commit.Of(c, rec, splices, state.KeepText)
	change.Outcome.Answer = s.Answer(appendHead(s, content, raw, size), body, note, openEnd(s, c.Doc.Text, content))
	change.Show(shown.Union(reported))
	change.Outcome.Facts = toolcall.Facts{Size: new(change.Size())}
	return change, nil
}

// afterOutsideChange returns the record of a file as it is, for a change that needs nothing of it
// to have been shown. If the file changed since it was read, note reports that, and shows those
// bytes of the file.
func afterOutsideChange(g gate.Gate) (rec state.Record, shown span.Set, note string) {
	c := g.File
	if !c.Known || len(c.Raw) == 0 {
		return c.Recorded(nil), nil, ""
	}
	now := c.Compare(nil)
	if !now.Changed || g.Target.Hidden {
		return now.Record, nil, ""
	}
	diff, body, whole := g.OutsideChange()
	if len(diff.Splices) == 0 {
		return now.Record, nil, "The file had changed since it was read: read it before you change more of it."
	}
	rec = c.Recorded(c.Record.Shown().Through(diff.Splices, false))
	note, lines := reportChange(diff, body)
	if whole {
		return rec, c.Record.Shown().Through(diff.Splices, true), lines
	}
	return rec, nil, note
}

// extendLarge plans a Write behind what a file holds that is not read into memory. Its
// beginning tells the encoding and the line breaks, as it does for Read.
func (w *writing) extendLarge(ctx context.Context, s *toolcall.Target, old *fsys.File, stamp fsys.Stamp) (*commit.Plan, error) {
	if err := writable(s, old); err != nil {
		return nil, err
	}
	scan, err := text.NewScan(ctx, old, stamp.Size)
	if err != nil {
		return nil, refusal.Binary(s.Asked, true)
	}
	tail := make([]byte, beforeRoom)
	if err := span.ReadFull(old, tail, stamp.Size-beforeRoom); err != nil {
		return nil, err
	}
	content := withBreaks(w.content, scan.EOL())
	raw, err := scan.Enc().Encode(content)
	if err != nil {
		return nil, err
	}
	rec, _ := w.call.Session.Files.Get(s.Path)
	if rec = rec.At(stamp, false); len(rec.Parts) == 0 {
		rec.Enc = scan.Enc()
	}
	lines := tailLines(tail, scan)
	change := commit.Answered(s.Answer(appendHead(s, content, raw, stamp.Size), lines.body, lines.note, openEnd(s, lines.text, content)))
	change.Stamp, change.Tail = stamp, tail
	change.Splices = []span.Splice{{Start: stamp.Size, End: stamp.Size, New: raw}}
	change.Record = rec.With(state.PartsOf(raw, stamp.Size))
	change.Shown = state.PartsOf(tail[len(tail)-lines.shown:], stamp.Size-int64(lines.shown))
	change.Differs = func() commit.Texts { return commit.Texts{Place: "At the end", Now: content} }
	change.Outcome.Facts = toolcall.Facts{Size: new(change.Size())}
	return change, nil
}

// lastLines are the last lines of a file that is not in memory.
type lastLines struct {
	text  string // the end of the file, decoded; "" if it cannot be told
	body  string // its last two lines, if they fit
	note  string // on their numbers
	shown int    // bytes at the end of the file that body shows
}

// tailLines finds the last two lines in the last bytes of a file. A line may begin only behind a
// line feed: before the first one a character may be cut.
func tailLines(tail []byte, scan *text.Scan) (l lastLines) {
	feed := []byte("\n")
	if scan.Enc().Units() != span.Narrow {
		feed, _ = scan.Enc().Encode("\n")
	}
	at := -1
	for i := len(tail) - 2*len(feed); i >= 0; i -= len(feed) { // not that at the very end
		if !bytes.HasPrefix(tail[i:], feed) {
			continue
		}
		if at >= 0 {
			at = i + len(feed)
			break
		}
		at = i + len(feed)
	}
	if at < 0 {
		l.text = strings.TrimRight(string(tail[len(tail)-len(feed):]), "\x00")
		return l
	}
	doc, err := text.DecodeAs(slices.Concat(scan.Enc().BOM(), tail[at:]), scan.Enc())
	if err != nil {
		return l
	}
	l.text, l.shown = doc.Text, len(tail)-at
	rows := strings.Split(strings.TrimSuffix(string(doc.EOL.Number(doc.Text, 1)), "\n"), "\n")
	for i, row := range rows {
		_, line, _ := strings.Cut(row, "\t")
		rows[i] = fmt.Sprintf("(%d)\t%s", i-len(rows), line)
	}
	l.body = strings.Join(rows, "\n")
	l.note = "(Of so large a file the lines before the new text are counted from its end: (-1) was the last one.)"
	return l
}

// withBreaks returns content with the line breaks of a file, if it has any.
func withBreaks(content string, eol text.EOL) string {
	switch {
	case eol.Name() == "CR":
		return strings.NewReplacer("\r\n", "\r", "\n", "\r").Replace(content)
	case eol.CRLF > eol.LF:
		return strings.NewReplacer("\r\n", "\r\n", "\n", "\r\n").Replace(content)
	case eol.LF > 0:
		return strings.ReplaceAll(content, "\r\n", "\n")
	}
	return content
}

// appendHead is the first line of the answer.
func appendHead(s *toolcall.Target, content string, raw []byte, size int64) string {
	return fmt.Sprintf("The file %s has been appended to (%s, %s; it had %s).", s.Name(), phrase.LinesOf(content), phrase.Bytes(int64(len(raw))), phrase.Bytes(size))
}

// openEnd tells that content goes on in the last line of a file. It tells nothing of a file
// whose text must not be shown.
func openEnd(s *toolcall.Target, before, content string) string {
	ends := func(c byte) bool { return c == '\n' || c == '\r' }
	if s.Hidden || before == "" || content == "" || ends(before[len(before)-1]) || ends(content[0]) {
		return ""
	}
	return "(The file did not end in a line break: the new text begins in its last line.)"
}
