package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// takeUp looks at the file after hooks have run, by the same resolver and decision
// as before. Where it is not what the call had made of it, the record follows, and
// the note that comes back shows what is different: only what the caller has sent
// or is shown counts as shown.
func (h *House) takeUp(ctx context.Context, call Call, s *spot, m made) (note string) {
	lost := func(format string, a ...any) string {
		call.Session.files.Forget(s.Path)
		return "(" + fmt.Sprintf(format, a...) + ")"
	}
	t, err := h.admitted(call, s.op, s.Asked)
	if err != nil {
		return lost("After the user's hooks the file cannot be looked at here any more; Read tells why.")
	}
	defer t.Close()
	switch {
	case t.Kind == fsys.Missing:
		return lost("After the user's hooks the file is not there any more: one of them moved or deleted it.")
	case t.Kind != fsys.Regular || t.Path != s.Path:
		return lost("After the user's hooks something else stands in the place of the file, such as a link or a folder: read it before you go on.")
	case m.change.record.Parts != nil:
		if t.Stamp.SameFile(m.change.record.Stamp) && t.Stamp.Size == m.change.record.Stamp.Size && t.Stamp.Mtime == m.change.record.Stamp.Mtime {
			return ""
		}
		m.result.Meta["fsmcp/size"] = t.Stamp.Size
		delete(m.result.Meta, "fsmcp/hash")
		return "(The user's hooks changed the file after this. It is too large to show how: read the places that you go on with.)"
	}
	c, err := h.reread(ctx, call, t)
	var large *fsys.TooLargeError
	switch {
	case errors.As(err, &large):
		return lost("The user's hooks changed the file after this: it has %s now. Read it before you go on.", amount(large.Size))
	case err != nil:
		return lost("After the user's hooks the file could not be read: read it before you go on.")
	}
	rec := m.change.record
	if c.hash() == rec.Hash {
		rec.Stamp, rec.Settled = c.stamp, c.settled
		call.Session.files.Put(s.Path, rec)
		return ""
	}
	sum := c.hash()
	m.result.Meta["fsmcp/hash"], m.result.Meta["fsmcp/size"] = hex.EncodeToString(sum[:]), len(c.raw)
	note = h.retouched(call, c, m, lost)
	if was, ok := m.bytes(); ok {
		for _, n := range h.keepRetouch(ctx, call, s, was, c) {
			note += "\n" + n
		}
	}
	return note
}

// keepRetouch has the history keep what hooks did as a change of its own. Without
// it nobody could take back the change before, on top of which it lies.
func (h *House) keepRetouch(ctx context.Context, call Call, s *spot, was []byte, c *held) []string {
	if h.Keeper == nil {
		return nil
	}
	from, to := state.Sum(sha256.Sum256(was)), c.hash()
	mark, err := h.Keeper.Keep(ctx, history.Change{
		Names: s.allNames(), Session: call.Session.id, Tool: history.ToolHook, Call: call.ID,
		Old: bytes.NewReader(was), Size: int64(len(was)), From: was, Was: sumOf(from),
		Splices: []save.Splice{{End: int64(len(was)), New: c.raw}}, Is: sumOf(to),
	})
	if err != nil {
		return missed(&history.Mark{Missed: err})
	}
	defer mark.Done()
	return missed(mark)
}

// reread reads a file of which only the path is known.
func (h *House) reread(ctx context.Context, call Call, t *fsys.Target) (*held, error) {
	f, err := t.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	leave, err := h.admit(ctx, t.Stamp.Size)
	if err != nil {
		return nil, err
	}
	defer leave()
	return h.take(call, &spot{Target: t}, f)
}

// retouched moves the record to what hooks have made of a file, and shows it.
func (h *House) retouched(call Call, c *held, m made, lost func(string, ...any) string) string {
	rec := m.change.record
	var err error
	if c.doc, err = becameOf(c.raw, rec.Enc); err != nil {
		return lost("The user's hooks changed the file after this: it is no text any more.")
	}
	put := func(shown state.Ranges) {
		call.Session.files.Put(c.path, c.stamped(rec.Moved(c.hash(), shown, rec.Origin, c.content())))
	}
	was, ok := m.bytes()
	old, err := text.DecodeAs(was, rec.Enc)
	if !ok || err != nil || old.Enc != c.doc.Enc {
		put(nil)
		return "(The user's hooks changed the file after this, more than can be shown: read it before you change it again.)"
	}
	d := differing(old, c.doc)
	carried := rec.Shown.Through(d.splices, false)
	put(carried)
	head := "The user's hooks changed the file after this (number, then - for a line that is gone, + for one that is there now):\n"
	if !h.passed(call, m.result.Blocks[0].Text+head+d.body) {
		return "(The user's hooks changed the file after this, more than can be shown here: read it before you change it again.)"
	}
	call.whenSent(func() {
		if now, ok := call.Session.files.Get(c.path); ok && now.Hash == c.hash() {
			now.Shown = now.Shown.Union(d.shown)
			call.Session.files.Put(c.path, now)
		}
	})
	if d.more > 0 {
		return head + d.body + fmt.Sprintf("\n… (%d more changed lines, which count as not shown)", d.more)
	}
	return head + d.body
}

// becameOf decodes what another program made of a text in enc. Too little may be
// left to know a charset by, so that enc is believed first. But most charsets find
// words in any bytes: where the text is UTF-8 by now, an edit that kept the old one
// would mix two in one file.
func becameOf(raw []byte, enc text.Encoding) (*text.Doc, error) {
	is, err := text.Decode(raw)
	if err == nil && is.Enc.IsUTF8() && is.Strays == 0 && !isASCII(raw) {
		return is, nil
	}
	if as, err := text.DecodeAs(raw, enc); err == nil {
		return as, nil
	}
	return is, err
}

func isASCII(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf })
}

// comparison is what became of a text, as a numbered diff of bounded length.
type comparison struct {
	body    string
	splices []state.Splice // on the raw old bytes: all that changed
	shown   state.Ranges   // raw new bytes that the body shows
	more    int            // changed lines that it does not show
}

// differing shows the first changed lines, up to the bounds of telling.
func differing(old, now *text.Doc) (d comparison) {
	was, is := linesOf(old), linesOf(now)
	var body []string
	size := 0
	show := func(line string) bool {
		if size += len(line) + 1; d.more > 0 || len(body) == tellLines || size > tellBytes {
			d.more++
			return false
		}
		body = append(body, line)
		return true
	}
	alike := false
	number := countedLines{lines: was}
	shift, grown := 0, 0 // what the new text is ahead by, in bytes and lines
	for _, e := range changedLines(was, is) {
		gone, come := was.cut(old.Text[e.Start:e.End]), is.cut(e.New)
		alike = alike || slices.Equal(gone, come)
		first := number.line(e.Start)
		for i, line := range gone {
			show(fmt.Sprintf("%d\t-%s", first+i, line))
		}
		start, end := e.Start+shift, e.Start+shift+len(e.New)
		for i, at := 0, start; at < end; i++ {
			next := min(is.after(at), end)
			if show(fmt.Sprintf("%d\t+%s", first+grown+i, come[i])) {
				d.shown = d.shown.Add(state.Span{Start: now.RawOffset(at), End: now.RawOffset(next)})
			}
			at = next
		}
		d.splices = append(d.splices, state.Splice{Start: old.RawOffset(e.Start), End: old.RawOffset(e.End), New: now.RawOffset(end) - now.RawOffset(start)})
		shift, grown = shift+len(e.New)-(e.End-e.Start), grown+len(come)-len(gone)
	}
	if alike {
		body = append(body, sameLooks)
	}
	d.body = strings.Join(body, "\n")
	return d
}

// changedLines compares two texts by lines; of large ones it only finds where the
// difference begins and ends.
func changedLines(was, is lines) []udiff.Edit {
	if len(was.text)+len(is.text) <= diffBytes {
		return lineEdits(was, is)
	}
	from := was.start(commonStart(was.text, is.text))
	common := commonEnd(was.text[from:], is.text[from:])
	if i := strings.IndexByte(was.text[len(was.text)-common:], was.end); i >= 0 {
		common -= i + 1 // whole lines
	} else {
		common = 0
	}
	return []udiff.Edit{{Start: from, End: len(was.text) - common, New: is.text[from : len(is.text)-common]}}
}

func commonStart(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonEnd(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}

// bytes are those that the change has put into the file, where they are known.
func (m made) bytes() (b []byte, ok bool) {
	c := m.change
	if c.record.Content != nil {
		return c.record.Content, true
	}
	var out bytes.Buffer
	at := int64(0)
	for _, s := range c.splices {
		if !c.copy(&out, at, s.Start) {
			return nil, false
		}
		out.Write(s.New)
		at = s.End
	}
	ok = c.copy(&out, at, c.stamp.Size)
	return out.Bytes(), ok
}

// copy writes old bytes, where they are in memory.
func (c *change) copy(out *bytes.Buffer, start, end int64) bool {
	if start < end && int64(len(c.from)) < end {
		return false
	}
	if start < end {
		out.Write(c.from[start:end])
	}
	return true
}
