//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// display starts an X server without a screen, and returns its name.
func (f *fort) display() string {
	f.t.Helper()
	for _, program := range []string{"Xvfb", "xclip"} {
		if _, err := exec.LookPath(program); err != nil {
			f.t.Skipf("!!! NOT TESTED: %s is missing !!!", program)
		}
	}
	in, out, err := os.Pipe()
	f.check(err)
	defer in.Close()
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "320x200x24", "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{out}
	f.check(cmd.Start())
	out.Close()
	f.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	f.check(in.SetReadDeadline(time.Now().Add(time.Minute)))
	var number []byte
	for b := make([]byte, 8); !bytes.HasSuffix(number, []byte("\n")); {
		n, err := in.Read(b)
		number = append(number, b[:n]...)
		if err == io.EOF {
			f.t.Skip("!!! NOT TESTED: Xvfb does not start here !!!")
		}
		f.check(err)
	}
	return ":" + strings.TrimSpace(string(number))
}

// copy puts content of a type on the clipboard. xclip serves it until another program
// does, or the X server ends; it returns before it does.
func (f *fort) copy(display, mime string, content []byte) {
	f.t.Helper()
	env := append(os.Environ(), "DISPLAY="+display)
	in := exec.Command("xclip", "-selection", "clipboard", "-t", mime, "-i")
	in.Env, in.Stdin = env, bytes.NewReader(content)
	f.check(in.Run())
	f.until("it is copied", func() bool {
		out := exec.Command("xclip", "-selection", "clipboard", "-t", mime, "-o")
		out.Env = env
		got, err := out.Output()
		return err == nil && bytes.Equal(got, content)
	})
}

// clipboardSettings turns the clipboard on, with other rules.
func (f *fort) clipboardSettings(more string) {
	f.put(f.home+"/.config/fsmcp/settings.json", `{"clipboard": true`+more+`}`)
}

// readClipboard reads it, and returns the kinds of the blocks, too.
func (f *fort) readClipboard(args map[string]any) (mcptest.Result, []string) {
	f.t.Helper()
	all := map[string]any{"file_path": "clipboard:"}
	for name, value := range args {
		all[name] = value
	}
	res := f.call("Read", all)
	var answer struct {
		Content []struct{ Type, MimeType string }
	}
	f.check(json.Unmarshal(res.Raw, &answer))
	var kinds []string
	for _, b := range answer.Content {
		kinds = append(kinds, strings.TrimSpace(b.Type+" "+b.MimeType))
	}
	return res, kinds
}

func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.Set(x, y, color.RGBA{uint8(x * y), uint8(x), uint8(y), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A picture, text and nothing on the clipboard of an X server, within the limits, and
// without a file.
func TestClipboard(t *testing.T) {
	f := newFort(t)
	display := f.display()
	f.clipboardSettings(`, "limits": {"maxFileBytes": 10000}`)
	temp := f.outside + "/tmp"
	f.check(os.Mkdir(temp, 0o700))
	f.serve("DISPLAY="+display, "WAYLAND_DISPLAY=", "TMPDIR="+temp)

	if res, _ := f.readClipboard(nil); !res.IsError || !strings.Contains(res.Text, "neither a picture nor text") {
		t.Errorf("empty: %s", res.Text)
	}

	f.copy(display, "UTF8_STRING", []byte("BMP is no picture\r\nné\n"))
	for range 2 { // it is no file that is unchanged
		if res, _ := f.readClipboard(nil); res.IsError || res.Text != "1\tBMP is no picture\n2\tné" {
			t.Errorf("text: %q", res.Text)
		}
	}
	if res, _ := f.readClipboard(map[string]any{"offset": 2, "region": "0,0,1,1"}); !strings.HasPrefix(res.Text, "2\tné\n") || !strings.Contains(res.Text, "Ignored") {
		t.Errorf("a part: %q", res.Text)
	}
	f.copy(display, "text/uri-list", []byte("# copied\r\nfile:///home/me/a%20b.png\r\nhttps://example.com/\r\n"))
	if res, _ := f.readClipboard(nil); res.IsError || res.Text != "1\t/home/me/a b.png\n2\thttps://example.com/\n(The user has copied files; these are their paths.)" {
		t.Errorf("files: %q", res.Text)
	}
	f.copy(display, "UTF8_STRING", bytes.Repeat([]byte("line\n"), 3000))
	if res, _ := f.readClipboard(nil); res.IsError || !strings.HasPrefix(res.Text, "1\tline\n") || !strings.Contains(res.Text, "PARTIAL: lines 1-") {
		t.Errorf("a long text: %s %s", res.Slug, res.Text)
	}
	if res, _ := f.readClipboard(map[string]any{"offset": 2999}); res.Text != "2999\tline\n3000\tline" {
		t.Errorf("its end: %q", res.Text)
	}

	f.copy(display, "image/png", pngOf(t, 40, 30))
	res, kinds := f.readClipboard(nil)
	if strings.Join(kinds, ", ") != "text, image image/png" || !strings.Contains(res.Text, "Image file read: clipboard: (PNG, 40x30, ") {
		t.Errorf("a picture: %q, %s", kinds, res.Text)
	}
	f.copy(display, "image/png", pngOf(t, 3000, 1500))
	res, kinds = f.readClipboard(nil)
	if len(kinds) != 2 || !strings.Contains(res.Text, "[Image: original 3000x1500, displayed at ") {
		t.Errorf("a large picture: %q, %s", kinds, res.Text)
	}
	if res, kinds = f.readClipboard(map[string]any{"region": "10,20,100,50"}); len(kinds) != 2 || !strings.Contains(res.Text, "region 10,20,100,50 of original 3000x1500") {
		t.Errorf("a region: %q, %s", kinds, res.Text)
	}
	f.copy(display, "image/png", []byte("\x89PNG\r\n\x1a\nbroken"))
	if res, _ := f.readClipboard(nil); res.Slug != "broken_file" {
		t.Errorf("a broken picture: %s %s", res.Slug, res.Text)
	}
	f.close()
	if left, err := filepath.Glob(temp + "/*"); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// What is larger than a picture may be is not read. A stand-in takes the place of xclip: through an
// X server 64 MB take seconds.
func TestClipboardIsBounded(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	f.clipboardSettings("")
	f.standInXclip(`case "$*" in *TARGETS*) echo image/png;; *) printf '\211PNG\r\n\032\n'; head -c "$(cat "` + f.ws + `/bytes")" /dev/zero;; esac`)
	f.serve(f.besides(), "WAYLAND_DISPLAY=")
	for size, slug := range map[string]string{"72000000": "too_large", "1000": "broken_file"} {
		f.put("bytes", size)
		switch res, _ := f.readClipboard(nil); {
		case res.Slug == "io" && strings.Contains(res.Text, "in time"):
			t.Logf("!!! NOT TESTED: %s bytes through a pipe take longer than 5 s here !!!", size)
		case res.Slug != slug:
			t.Errorf("%s bytes: %s %s", size, res.Slug, res.Text)
		}
	}
}

// The rules hold, and the clipboard is not changed. A stand-in takes the place of xclip.
func TestClipboardRules(t *testing.T) {
	f := newFort(t)
	f.standInXclip(`case "$*" in *TARGETS*) echo UTF8_STRING;; *) echo secret;; esac`)
	serve := func(settings string) {
		t.Helper()
		f.put(f.home+"/.config/fsmcp/settings.json", settings)
		f.serve(f.besides(), "WAYLAND_DISPLAY=")
	}
	serve(`{"clipboard": true}`)
	if res, _ := f.readClipboard(nil); res.IsError || !strings.Contains(res.Text, "secret") {
		t.Errorf("%s", res.Text)
	}
	for tool, args := range map[string]map[string]any{
		"Write":        {"file_path": "clipboard:", "content": "x"},
		"Edit":         {"file_path": "clipboard:", "old_string": "secret", "new_string": "x"},
		"NotebookEdit": {"notebook_path": "clipboard:", "cell_id": "a", "new_source": "x"},
	} {
		if res := f.call(tool, args); !res.IsError || !strings.Contains(res.Text, "it is not changed") {
			t.Errorf("%s: %s", tool, res.Text)
		}
	}
	if res := f.call("Write", map[string]any{"file_path": "./clipboard:", "content": "a file\n"}); res.IsError {
		t.Errorf("%s", res.Text)
	}
	f.holds("clipboard:", "a file\n")
	for _, rules := range []string{`"deny": ["Read(clipboard:)"]`, `"ask": ["Read(clipboard:)"]`} {
		serve(`{"clipboard": true, "permissions": {` + rules + `}}`)
		res, _ := f.readClipboard(nil)
		if res.Slug != "denied" || strings.Contains(res.Text, "secret") || !strings.Contains(res.Text, "clipboard:") {
			t.Errorf("%s: %s", rules, res.Text)
		}
		t.Log(res.Text)
	}
	// Off, also where a project turns it on, the setting is named; a file that bears the
	// name comes first.
	f.put(".fsmcp/settings.json", `{"clipboard": true}`)
	serve(`{}`)
	if res, _ := f.readClipboard(nil); res.Text != "1\ta file\n(Relative path: "+f.abs("clipboard:")+" was used.)" {
		t.Errorf("%s", res.Text)
	}
	f.check(os.Remove(f.abs("clipboard:")))
	if res, _ := f.readClipboard(nil); res.Slug != "not_found" || !strings.Contains(res.Text, `"clipboard": true in ~/.config/fsmcp/settings.json`) {
		t.Errorf("%s", res.Text)
	}
	if res := f.call("Write", map[string]any{"file_path": "clipboard:", "content": "x"}); res.Slug != "bad_argument" || !strings.Contains(res.Text, "it is not changed") {
		t.Errorf("%s", res.Text)
	}
	f.lacks("clipboard:")
}

// The user is asked where a rule names the clipboard, each time unless the answer is for
// the session.
func TestClipboardIsAskedFor(t *testing.T) {
	f := newFort(t)
	f.standInXclip(`case "$*" in *TARGETS*) echo UTF8_STRING;; *) echo secret;; esac`)
	f.clipboardSettings(`, "permissions": {"ask": ["Read(clipboard:)"]}`)
	for _, revision := range bothEras {
		p := scene{revision: revision, dir: f.ws, home: f.home, env: []string{f.besides(), "WAYLAND_DISPLAY="}}.meet(t, f.ws)
		read := map[string]any{"file_path": "clipboard:"}
		p.call("Read", read, true, "declined")
		p.will("accept", "once")
		p.call("Read", read, false, "secret")
		asked := p.questions()
		if len(asked) != 2 || !strings.HasPrefix(asked[0], "Read clipboard:?\n") || strings.Contains(asked[0], "leads to") {
			t.Errorf("%q", asked)
		}
		p.will("accept", "session")
		p.call("Read", read, false, "secret")
		p.call("Read", read, false, "secret")
		if asked := p.questions(); len(asked) != 1 {
			t.Errorf("%q", asked)
		}
	}
}

func (f *fort) standInXclip(script string) {
	f.t.Helper()
	f.program(f.home+"/stand-in/xclip", script)
}

// A missing program is named with its package. One in the workspace, which an agent could
// have written, is not run.
func TestClipboardWithoutAProgram(t *testing.T) {
	f := newFort(t)
	f.clipboardSettings("")
	f.put("bin/wl-paste", "#!/bin/sh\ntouch "+f.outside+"/ran\n")
	f.check(os.Chmod(f.abs("bin/wl-paste"), 0o755))
	f.serve("PATH="+f.ws+"/bin", "WAYLAND_DISPLAY=wayland-0")
	if res, _ := f.readClipboard(nil); !res.IsError || !strings.Contains(res.Text, "wl-clipboard") {
		t.Errorf("%s", res.Text)
	}
	f.lacks(f.outside + "/ran")
}

// A program that hangs delays no other call, and ends at the deadline or with its call.
func TestClipboardThatHangs(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	f.clipboardSettings("")
	f.standInXclip(`echo $$ >"` + f.ws + `/pid"; sleep 300`)
	f.serve(f.besides(), "WAYLAND_DISPLAY=")
	f.put("a.txt", "one\n")
	hangs, err := f.client.GoCall("Read", map[string]any{"file_path": "clipboard:"})
	f.check(err)
	pid := f.started("pid")
	f.call("Read", map[string]any{"file_path": f.abs("a.txt")})
	f.edit("a.txt", "one", "two")
	if res, err := hangs.Result(); err != nil || !strings.Contains(res.Text, "in time") {
		t.Errorf("%v %s", err, res.Text)
	}
	f.until("the program is gone", func() bool { return !lives(pid) })
	hangs, err = f.client.GoCall("Read", map[string]any{"file_path": "clipboard:"})
	f.check(err)
	pid = f.started("pid")
	f.cancel(hangs.ID)
	f.until("the program is gone", func() bool { return !lives(pid) })
}
