package tools

import (
	"bytes"
	"context"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/clipboard"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// clipboardName is the file argument that names the clipboard.
const clipboardName = "clipboard:"

// Clipboard reads what the user has on the clipboard. The errors are those of package
// clipboard.
type Clipboard interface {
	Read(ctx context.Context) (clipboard.Content, error)
}

// clipboardReader answers calls that name the clipboard.
type clipboardReader struct {
	*reader
	clipboard Clipboard
}

// answer returns nil for a call that names a file, and for all of them unless the user lets
// the clipboard be read. Other tools than Read are refused.
//
// The clipboard is no file: nothing counts as shown, and its text never leaves the machine
// to be counted.
func (r *clipboardReader) answer(ctx context.Context, call toolcall.Call, args Args) (*toolcall.Result, error) {
	if args.Target() != clipboardName || !r.preferences().Clipboard {
		return nil, nil
	}
	a, reads := args.(*ReadArgs)
	if !reads {
		return nil, refusal.ClipboardReadOnly
	}
	w, err := a.want()
	if err != nil {
		return nil, err
	}
	path := fsys.Named(clipboardName)
	if err := r.opener.Decide(call, perm.Read, path); err != nil {
		return nil, err
	}
	c, err := r.clipboard.Read(ctx)
	if err != nil {
		return nil, refusal.Clipboard(err)
	}
	target := &toolcall.Target{File: &access.File{Target: &fsys.Target{Asked: path}, Op: perm.Read}}
	one := reading{tool: r.reader, target: target, call: call, args: a, want: w, content: bytes.NewReader(c.Data), budget: r.budget.Of(call.Client)}
	if c.Picture {
		return one.clipboardPicture(ctx, c.Data)
	}
	return one.clipboardText(ctx, c.Data)
}

func (r *reading) clipboardPicture(ctx context.Context, data []byte) (*toolcall.Result, error) {
	kind := media.Sniff(data[:min(len(data), media.HeadSize)], "")
	if !kind.IsImage() {
		return nil, refusal.UnknownClipboardPicture
	}
	r.ignore("an image", "offset", "limit", "column", "cell_id", "pages")
	return r.picture(ctx, kind, int64(len(data)))
}

func (r *reading) clipboardText(ctx context.Context, data []byte) (*toolcall.Result, error) {
	text := &state.File{Raw: data, Stamp: fsys.Stamp{Size: int64(len(data))}, Whole: true}
	text.Compare()
	result, err := r.text(ctx, text.Stamp.Size, func() (*toolcall.Result, error) { return r.memoryText(ctx, text) })
	if result != nil {
		result.Shown = nil
	}
	return result, err
}
