package tools

import (
	"bytes"
	"context"
	"runtime"

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

// clipboardReader answers calls that name the clipboard.
type clipboardReader struct {
	*reader
	clipboard *clipboard.Reader
}

// answer answers calls that name the clipboard; handled is false for a call that names a
// file. Other tools than Read are refused, and all of them unless the user lets the clipboard
// be read; a file that bears that name then comes first.
//
// The clipboard is no file: nothing counts as shown, and its text never leaves the machine
// to be counted.
func (r *clipboardReader) answer(ctx context.Context, call toolcall.Call, args Args) (out toolcall.Outcome, handled bool) {
	if args.Target() != clipboardName {
		return out, false
	}
	if !r.preferences().Clipboard {
		err := r.off(args)
		return toolcall.Failed(err), err != nil
	}
	a, reads := args.(*ReadArgs)
	if !reads {
		return toolcall.Failed(refusal.New(refusal.ClipboardReadOnly)), true
	}
	return r.read(ctx, call, a), true
}

// read answers a Read of the clipboard.
func (r *clipboardReader) read(ctx context.Context, call toolcall.Call, a *ReadArgs) toolcall.Outcome {
	w, err := a.want()
	if err != nil {
		return toolcall.Failed(err)
	}
	path := fsys.Named(clipboardName)
	if out := r.Opener.Decide(call, perm.Read, path); out.Err != nil {
		return out
	}
	c, err := r.clipboard.Read(ctx)
	if err != nil {
		return toolcall.Failed(err)
	}
	target := &toolcall.Target{AllowedFile: &access.AllowedFile{Target: &fsys.Target{Asked: path}, Op: perm.Read}}
	one := r.reading(target, call, a, w)
	data := c.Data
	if c.Picture {
		kind := media.Sniff(data[:min(len(data), media.HeadSize)], "")
		if !kind.IsImage() {
			return toolcall.Failed(refusal.New(refusal.UnknownClipboardPicture))
		}
		return one.picture(ctx, section(data), kind)
	}
	if c.URIs {
		data = filePaths(data)
		target.Remarks = append(target.Remarks, "(The user has copied files; these are their paths.)")
	}
	leave, err := one.beginText(ctx, section(data))
	if err != nil {
		return toolcall.Failed(err)
	}
	defer leave()
	text := &state.KnownFile{Content: state.NewContent(data), Stamp: fsys.Stamp{Size: int64(len(data))}}
	out := one.memoryText(text)
	out.Shown = nil
	return out
}

// off refuses a call that names the clipboard if the user does not let it be read, unless
// a file bears that name.
func (r *clipboardReader) off(args Args) error {
	_, reads := args.(*ReadArgs)
	_, changes := args.(toolcall.Intent)
	path, err := r.Opener.Access.Parse(clipboardName)
	switch {
	case !reads && !changes, err == nil && r.Opener.Access.Exists(perm.Read, path, perm.Ask):
		return nil
	case changes:
		return refusal.New(refusal.ClipboardReadOnly)
	}
	return refusal.New(refusal.ClipboardOff, fsys.InSentence(r.Opener.SettingsFile()))
}

// filePaths returns the paths that a list of URIs names, one a line. Other URIs stay as they
// are; comments go.
func filePaths(uris []byte) []byte {
	var paths []byte
	for line := range bytes.Lines(uris) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if e, ok := fsys.ParseElsewhere(string(line), runtime.GOOS); ok && e.Kind == fsys.FileURL {
			line = []byte(fsys.Printable(e.Path))
		}
		paths = append(append(paths, line...), '\n')
	}
	return paths
}
