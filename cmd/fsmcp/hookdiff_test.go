//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shows has "fsmcp hook diff" run after each change.
func (f *fort) shows(editor ...string) {
	f.t.Helper()
	f.hooks("afterFileEdited", map[string]any{"glob": "**", "command": append([]string{"fsmcp", "hook", "diff"}, editor...), "timeout": "1m"})
}

// standIn writes a program in place of an editor. It notes its arguments, the mode of the
// old text and its folder, and both texts, in a file of its own in the folder "said", and
// then runs more.
func (f *fort) standIn(name, more string) {
	f.t.Helper()
	f.program(f.home+"/stand-in/"+name, fmt.Sprintf(`mkdir -p "%[1]s/said"
for last; do old=$new new=$last; done
{ echo "$*"; ls -ld "$old" "${old%%/*}" "${old%%/*/*}" | cut -c1-10; cat "$old"; echo --; } >"%[1]s/said/$$.new"
mv "%[1]s/said/$$.new" "%[1]s/said/$$"
%[2]s`, f.home, more))
}

// besides is a PATH in which the stand-ins come first.
func (f *fort) besides() string { return "PATH=" + f.home + "/stand-in:" + os.Getenv("PATH") }

// said waits until so many editors were called, and returns what each noted.
func (f *fort) said(n int) (all [][]string) {
	f.t.Helper()
	var names []string
	f.until(fmt.Sprintf("%d editors are called", n), func() bool {
		names, _ = filepath.Glob(f.home + "/said/*[0-9]")
		return len(names) >= n
	})
	for _, name := range names {
		b, err := os.ReadFile(name)
		f.check(err)
		all = append(all, strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"))
	}
	if len(all) != n {
		f.t.Errorf("%d editors were called, not %d: %q", len(all), n, all)
	}
	return all
}

// copies are the old texts that editors may read.
func (f *fort) copies() (names []string) {
	f.t.Helper()
	names, err := filepath.Glob(f.home + "/.local/state/fsmcp/diff/*/*")
	f.check(err)
	return names
}

// edit replaces a word of a file that was read.
func (f *fort) edit(name, from, to string) string {
	f.t.Helper()
	res := f.call("Edit", map[string]any{"file_path": f.abs(name), "old_string": from, "new_string": to})
	if res.IsError {
		f.t.Fatalf("%s: %s", name, res.Text)
	}
	return res.Text
}

// The settings are those of the page, and another program stands in for the editor.
func TestThePagesHookShowsAChangeInAnEditor(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "hooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Each change in your editor\n")
	f := newFort(t)
	m := fence.FindStringSubmatch(section)
	if m == nil || m[2] != "~/.config/fsmcp/settings.json" {
		t.Fatalf("the section has no settings: %q", m)
	}
	f.put(f.home+m[2][1:], m[3])
	f.standIn("code", "")
	f.standIn("cursor", "")
	f.serve(f.besides())
	path := f.put("sub/main.go", "package old\n")
	f.call("Read", map[string]any{"file_path": path})
	if text := f.edit("sub/main.go", "old", "new"); strings.Contains(text, "hook") {
		t.Errorf("%s", text)
	}
	copies := f.copies()
	if len(copies) != 1 {
		t.Fatalf("%q", copies)
	}
	want := []string{"--diff " + copies[0] + " " + path, "drwx------", "drwx------", "-rw-------", "package old", "--"}
	if got := f.said(1)[0]; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
	made := f.abs("made.txt")
	f.call("Write", map[string]any{"file_path": made, "content": "made\n"})
	for _, got := range f.said(2) {
		if strings.HasSuffix(got[0], made) && (len(got) != 5 || got[4] != "--") {
			t.Errorf("a new file: %q", got)
		}
	}
}

// Ten edits in a row of two files open one window a file, with the text from before the
// first edit.
func TestTenEditsInAnEditor(t *testing.T) {
	f := newFort(t)
	f.shows()
	f.standIn("zed", "")
	f.serve("PATH=" + f.home + "/stand-in:" + withoutEditors())
	for _, name := range []string{"a.txt", "b.txt"} {
		f.put(name, name+" 0\n")
		f.call("Read", map[string]any{"file_path": f.abs(name)})
	}
	began := time.Now()
	for i := range 10 {
		for _, name := range []string{"a.txt", "b.txt"} {
			if text := f.edit(name, fmt.Sprint(name, " ", i), fmt.Sprint(name, " ", i+1)); strings.Contains(text, "hook") {
				t.Errorf("%s", text)
			}
		}
	}
	if time.Since(began) > 30*time.Second { // a longer pause begins a new burst
		t.Skipf("!!! NOT TESTED: twenty edits took %v !!!", time.Since(began))
	}
	for _, got := range f.said(2) {
		name := filepath.Base(got[0])
		if got[4] != name+" 0" || !strings.HasPrefix(got[0], "--diff ") {
			t.Errorf("%q", got)
		}
	}
	f.holds("a.txt", "a.txt 10\n")
}

// withoutEditors is the PATH of this process without the folders of editors.
func withoutEditors() string {
	var kept []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		found := false
		for _, name := range []string{"code", "cursor", "zed", "idea", "nvim"} {
			_, err := os.Stat(filepath.Join(dir, name))
			found = found || err == nil
		}
		if !found {
			kept = append(kept, dir)
		}
	}
	return strings.Join(kept, ":")
}

// An editor that never ends keeps neither the call nor the server from ending.
func TestEditorThatHangs(t *testing.T) {
	f := newFort(t)
	f.shows("my-editor", "--side by side")
	f.standIn("my-editor", `trap "" TERM HUP INT; echo $$ >"`+f.ws+`/pid"; while :; do sleep 0.05; done`)
	f.serve(f.besides())
	f.put("a.txt", "one\n")
	f.call("Read", map[string]any{"file_path": f.abs("a.txt")})
	if text := f.edit("a.txt", "one", "two"); strings.Contains(text, "hook") {
		t.Errorf("%s", text)
	}
	pid := f.started("pid")
	defer syscall.Kill(pid, syscall.SIGKILL)
	if got := f.said(1)[0]; !strings.HasPrefix(got[0], "--side by side /") {
		t.Errorf("%q", got)
	}
	f.edit("a.txt", "two", "three")
	f.close()
	if !lives(pid) {
		t.Error("the editor went with the server")
	}
	f.holds(f.copies()[0], "one\n")
}

// A missing editor is told once. The edits stand.
func TestMissingEditor(t *testing.T) {
	f := newFort(t)
	f.shows("no-such-editor")
	f.serve()
	f.put("a.txt", "0\n")
	f.call("Read", map[string]any{"file_path": f.abs("a.txt")})
	for i := range 3 {
		text := f.edit("a.txt", fmt.Sprint(i), fmt.Sprint(i+1))
		if reported := strings.Contains(text, `The change stands. It said:)`) && strings.Contains(text, `"no-such-editor" is not found`); reported != (i == 0) {
			t.Errorf("edit %d: %s", i, text)
		}
	}
	f.holds("a.txt", "3\n")
	if names := f.copies(); len(names) > 0 {
		t.Errorf("left: %q", names)
	}
}

// Nothing of a secret file's old text is written.
func TestSecretFileInAnEditor(t *testing.T) {
	f := newFort(t)
	f.shows()
	f.standIn("code", "")
	f.serve(f.besides())
	f.put(".env", "TOKEN=old\n")
	f.call("Read", map[string]any{"file_path": f.abs(".env")})
	f.edit(".env", "old", "new")
	if got := f.said(1)[0]; len(got) != 5 || got[4] != "--" {
		t.Errorf("%q", got)
	}
	f.check(filepath.WalkDir(f.home+"/.local/state", func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if strings.Contains(string(b), "TOKEN") {
			t.Errorf("%s: %q", name, b)
		}
		return err
	}))
}

// An editor in the workspace, which an agent could have written, is not run.
func TestEditorInTheWorkspace(t *testing.T) {
	f := newFort(t)
	f.shows(f.ws + "/editor")
	f.put("editor", "#!/bin/sh\ntouch "+f.outside+"/ran\n")
	f.check(os.Chmod(f.abs("editor"), 0o755))
	f.serve()
	res := f.call("Write", map[string]any{"file_path": f.abs("a.txt"), "content": "a\n"})
	if !strings.Contains(res.Text, "lies in a workspace directory") {
		t.Errorf("%s", res.Text)
	}
	f.lacks(f.outside + "/ran")
}
