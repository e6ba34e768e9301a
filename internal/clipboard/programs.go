package clipboard

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
)

// Program is a way to read the clipboard.
type Program struct {
	Name string
	// Package brings the program, as a person would ask for it; "" if the system has it.
	Package string
	read    func(run) (Clip, error)
}

// run runs the program with arguments, and returns its output.
type run func(args ...string) ([]byte, error)

// Of returns the program for a system by its GOOS; wayland says that the session is one of
// Wayland.
func Of(goos string, wayland bool) Program {
	switch {
	case goos == "darwin":
		return OSAScript
	case goos == "windows":
		return PowerShell
	case wayland:
		return WLPaste
	}
	return XClip
}

// WLPaste reads the clipboard of a Wayland session (source: wl-clipboard(1)).
var WLPaste = Program{Name: "wl-paste", Package: "wl-clipboard", read: typed{
	list:  []string{"--list-types"},
	get:   func(mime string) []string { return []string{"--no-newline", "--type", mime} },
	empty: []string{"nothing is copied", "no selection"},
}.read}

// XClip reads the clipboard of an X11 session (source: xclip(1)).
var XClip = Program{Name: "xclip", Package: "xclip", read: typed{
	list:  []string{"-selection", "clipboard", "-t", "TARGETS", "-o"},
	get:   func(mime string) []string { return []string{"-selection", "clipboard", "-t", mime, "-o"} },
	empty: []string{"not available", "there is no owner"},
}.read}

// uriList is the type of copied files. The text beside it is only their names in some
// desktops.
const uriList = "text/uri-list"

// The types of a clipboard that are taken, the best ones first.
var (
	pictureTypes = []string{"image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif", "image/bmp", "image/x-bmp", "image/tiff"}
	textTypes    = []string{uriList, "text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "TEXT", "STRING"}
)

// typed reads a clipboard whose owner offers types.
type typed struct {
	list  []string                   // the arguments that print the types, one a line
	get   func(mime string) []string // those that print the content in one of them
	empty []string                   // words of the complaint that there is no content
}

func (t typed) read(run run) (Clip, error) {
	out, err := run(t.list...)
	if err != nil {
		return Clip{}, t.orEmpty(err)
	}
	offered := strings.Split(strings.ReplaceAll(string(out), "\r", ""), "\n")
	for _, mime := range pictureTypes {
		if !slices.Contains(offered, mime) {
			continue
		}
		if data, err := run(t.get(mime)...); err != nil || len(data) > 0 {
			return Clip{Data: data, Picture: true}, err
		}
	}
	for _, mime := range textTypes {
		if !slices.Contains(offered, mime) {
			continue
		}
		data, err := run(t.get(mime)...)
		if err != nil {
			return Clip{}, t.orEmpty(err)
		}
		content, err := text(data)
		content.URIs = err == nil && mime == uriList
		return content, err
	}
	return Clip{}, ErrEmpty
}

// orEmpty returns ErrEmpty for a complaint that there is no content.
func (t typed) orEmpty(err error) error {
	failed := (*FailedError)(nil)
	if !errors.As(err, &failed) {
		return err
	}
	said := strings.ToLower(failed.Said)
	if slices.ContainsFunc(t.empty, func(words string) bool { return strings.Contains(said, words) }) {
		return ErrEmpty
	}
	return err
}

// OSAScript reads the clipboard of macOS (source: AppleScript's "clipboard info" and "the
// clipboard as"). It prints binary data as «data PNGf89504E47…».
var OSAScript = Program{Name: "osascript", read: func(run run) (Clip, error) {
	info, err := run("-e", "clipboard info")
	if err != nil {
		return Clip{}, err
	}
	for _, class := range []struct{ shown, code string }{{"PNGf", "PNGf"}, {"JPEG", "JPEG"}, {"TIFF", "TIFF"}, {"GIF", "GIFf"}} {
		if !bytes.Contains(info, []byte(class.shown)) {
			continue
		}
		out, err := run("-e", "the clipboard as «class "+class.code+"»")
		if err != nil {
			return Clip{}, err
		}
		_, digits, _ := bytes.Cut(bytes.TrimSpace(out), []byte("«data "+class.code))
		data, err := hex.AppendDecode(nil, bytes.TrimSuffix(digits, []byte("»")))
		if err == nil && len(data) > 0 {
			return Clip{Data: data, Picture: true}, nil
		}
	}
	if !bytes.Contains(info, []byte("utf8")) && !bytes.Contains(info, []byte("ut16")) && !bytes.Contains(bytes.ToLower(info), []byte("string")) && !bytes.Contains(info, []byte("Unicode text")) {
		return Clip{}, ErrEmpty
	}
	out, err := run("-e", "the clipboard as text")
	if err != nil {
		return Clip{}, err
	}
	return text(bytes.TrimSuffix(out, []byte("\n")))
}}

// PowerShell reads the clipboard of Windows. A clipboard is read in a single-threaded
// apartment (source: System.Windows.Forms.Clipboard). Base64 keeps the console's encoding
// out of it.
var PowerShell = Program{Name: "powershell", read: func(run run) (Clip, error) {
	const script = `$ErrorActionPreference = 'Stop'
Add-Type -AssemblyName System.Windows.Forms, System.Drawing
if ([Windows.Forms.Clipboard]::ContainsImage()) {
  $stream = New-Object IO.MemoryStream
  [Windows.Forms.Clipboard]::GetImage().Save($stream, [Drawing.Imaging.ImageFormat]::Png)
  'picture ' + [Convert]::ToBase64String($stream.ToArray())
} elseif ([Windows.Forms.Clipboard]::ContainsText()) {
  'text ' + [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes([Windows.Forms.Clipboard]::GetText()))
}`
	out, err := run("-NoLogo", "-NoProfile", "-NonInteractive", "-STA", "-Command", script)
	if err != nil {
		return Clip{}, err
	}
	kind, digits, _ := bytes.Cut(bytes.TrimSpace(out), []byte(" "))
	data, err := base64.StdEncoding.AppendDecode(nil, digits)
	switch {
	case err != nil || len(data) == 0:
		return Clip{}, ErrEmpty
	case string(kind) == "picture":
		return Clip{Data: data, Picture: true}, nil
	}
	return text(data)
}}
