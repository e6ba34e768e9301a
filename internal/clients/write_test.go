package clients

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/save"
)

// folder is a folder with one client's file in it.
type folder struct {
	t      *testing.T
	dir    string
	saver  *save.Saver
	client KnownClient
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	f := &folder{t: t, dir: t.TempDir(), saver: save.New(save.Options{StateDir: filepath.Join(t.TempDir(), "state"), Durability: save.None})}
	t.Cleanup(func() { f.saver.Close() })
	f.client, _ = Find("cursor")
	return f
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *folder) put(name, text string, mode fs.FileMode) {
	f.t.Helper()
	if err := errors.Join(os.WriteFile(f.path(name), []byte(text), mode), os.Chmod(f.path(name), mode)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) write(name string) (Written, error) {
	return change(f.t.Context(), f.saver, f.path(name), "", func(old []byte) (Merged, error) { return f.client.Merge(old, testServer) })
}

// holds compares a file's text.
func (f *folder) holds(name, want string) {
	f.t.Helper()
	got, err := os.ReadFile(f.path(name))
	if err != nil || string(got) != want {
		f.t.Errorf("%s holds %q, %v, and not %q", name, got, err, want)
	}
}

// names compares what is in the folder.
func (f *folder) names(want ...string) {
	f.t.Helper()
	var got []string
	entries, _ := os.ReadDir(f.dir)
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("the folder holds %q, not %q", got, want)
	}
}

const oldText = "{\n  \"theme\": \"dark\" // mine\n}\n"

func TestWriteKeepsABackup(t *testing.T) {
	f := newFolder(t)
	f.put("mcp.json", oldText, 0o644)
	f.put("mcp.json.bak", "the user's own", 0o644)
	f.put("mcp.json.fsmcp.bak", "an earlier one", 0o644)
	w, err := f.write("mcp.json")
	if err != nil || w.Created || w.Backup != f.path("mcp.json.fsmcp.2.bak") || !w.Changed() {
		t.Fatalf("%+v, %v", w, err)
	}
	f.holds("mcp.json.bak", "the user's own")
	f.holds("mcp.json.fsmcp.bak", "an earlier one")
	f.holds("mcp.json.fsmcp.2.bak", oldText)
	now, _ := os.ReadFile(f.path("mcp.json"))
	if !strings.Contains(string(now), "// mine") || started(now, f.client) != nil {
		t.Errorf("it holds %s", now)
	}
	before, _ := os.Stat(f.path("mcp.json"))
	for _, name := range []string{"mcp.json.bak", "mcp.json.fsmcp.bak", "mcp.json.fsmcp.2.bak"} {
		os.Remove(f.path(name))
	}
	if w, err = f.write("mcp.json"); err != nil || w.Changed() {
		t.Errorf("again: %+v, %v", w, err)
	}
	f.holds("mcp.json", string(now))
	if after, _ := os.Stat(f.path("mcp.json")); !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Error("nothing changed, and the file was written")
	}
	f.names("mcp.json")
}

func TestWriteCreatesFileAndFolders(t *testing.T) {
	f := newFolder(t)
	w, err := f.write("new/folder/mcp.json")
	if err != nil || !w.Created || w.Backup != "" {
		t.Fatalf("%+v, %v", w, err)
	}
	f.holds("new/folder/mcp.json", f.client.Snippet(testServer))
	f.names("new")
}

func TestWriteKeepsTheMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("!!! NOT TESTED: Windows has no such modes !!!")
	}
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o664} {
		f := newFolder(t)
		f.put("mcp.json", oldText, mode)
		if _, err := f.write("mcp.json"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"mcp.json", "mcp.json.fsmcp.bak"} {
			if info, err := os.Stat(f.path(name)); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v, not %v", name, info.Mode(), err, mode)
			}
		}
	}
}

func TestWriteFollowsALink(t *testing.T) {
	nativetest.NeedSymlinks(t)
	f := newFolder(t)
	if err := os.Mkdir(f.path("dotfiles"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.put("dotfiles/cursor.json", oldText, 0o644)
	if err := os.Symlink(filepath.Join("dotfiles", "cursor.json"), f.path("mcp.json")); err != nil {
		t.Skip("!!! NOT TESTED: no link can be made !!!")
	}
	if w, err := f.write("mcp.json"); err != nil || w.Backup != f.path("mcp.json.fsmcp.bak") {
		t.Fatalf("%+v, %v", w, err)
	}
	if to, err := os.Readlink(f.path("mcp.json")); err != nil || to != filepath.Join("dotfiles", "cursor.json") {
		t.Errorf("the link leads to %s, %v", to, err)
	}
	f.holds("mcp.json.fsmcp.bak", oldText)
	if now, _ := os.ReadFile(f.path("dotfiles/cursor.json")); started(now, f.client) != nil {
		t.Errorf("it holds %s", now)
	}
	f.names("dotfiles", "mcp.json", "mcp.json.fsmcp.bak")
}

func TestWriteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make func(f *folder)
		want string
		text string // of the file, if it is there
	}{
		"broken":             {func(f *folder) { f.put("mcp.json", "{", 0o644) }, "line 1: the file is not valid JSON", "{"},
		"read-only":          {func(f *folder) { f.put("mcp.json", oldText, 0o444) }, "read-only", oldText},
		"a folder":           {func(f *folder) { os.Mkdir(f.path("mcp.json"), 0o755) }, "not a regular file", ""},
		"a link to nowhere":  {func(f *folder) { os.Symlink("mcp.json", f.path("mcp.json")) }, "too many symbolic links", ""},
		"a text of 17 MB":    {func(f *folder) { f.put("mcp.json", strings.Repeat(" ", MaxBytes+1), 0o644) }, "exceeds the bound", ""},
		"an entry elsewhere": {func(f *folder) { f.put("mcp.json", `{"mcpServers":{"fsmcp":{"url":"http://x"}}}`, 0o600) }, "remote server", `{"mcpServers":{"fsmcp":{"url":"http://x"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a link to nowhere" {
				nativetest.NeedSymlinks(t)
			}
			f := newFolder(t)
			c.make(f)
			w, err := f.write("mcp.json")
			if err == nil || w.Changed() || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v", w, err)
			}
			if c.text != "" {
				f.holds("mcp.json", c.text)
			}
			entries, _ := os.ReadDir(f.dir)
			for _, e := range entries {
				if e.Name() != "mcp.json" && e.Name() != "mcp.json.fsmcp.bak" {
					t.Errorf("%s was left", e.Name())
				}
			}
		})
	}
}

// TestWriteBelowAFile has a file where a folder is needed.
func TestWriteBelowAFile(t *testing.T) {
	f := newFolder(t)
	f.put("config", "mine", 0o644)
	if w, err := f.write("config/mcp.json"); err == nil || w.Changed() {
		t.Errorf("%+v, %v", w, err)
	}
	f.holds("config", "mine")
	f.names("config")
}

// TestWriteAllCases puts every case of testdata/merge on a disk, for one client in turn.
func TestWriteAllCases(t *testing.T) {
	for i, m := range mergeCases(t) {
		for _, c := range m.clients()[i%len(m.clients()):][:1] {
			f := newFolder(t)
			f.client = c
			old := m.bytes(t, m.in, c)
			f.put("mcp.json", string(old), 0o600)
			w, err := f.write("mcp.json")
			now, readErr := os.ReadFile(f.path("mcp.json"))
			if readErr != nil {
				t.Fatal(readErr)
			}
			switch backup, backupErr := os.ReadFile(f.path("mcp.json.fsmcp.bak")); {
			case err != nil || !w.Changed():
				if !bytes.Equal(now, old) || backupErr == nil {
					t.Errorf("%s, %s: %v, and yet it is %q with a backup %q", m.name, c.Name, err, now, backup)
				}
			case !bytes.Equal(backup, old) || bytes.Equal(now, old):
				t.Errorf("%s, %s: the backup is %q", m.name, c.Name, backup)
			}
		}
	}
}
