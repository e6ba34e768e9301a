package restore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

type noAudit struct{}

func (noAudit) Begin(toolcall.Event) error { return nil }
func (noAudit) Log(toolcall.Event)         {}

// workspace is a folder whose changes are kept, as the tools keep them.
type workspace struct {
	*testing.T
	dir     string
	saver   *save.Saver
	history *history.Store
	service *tools.Service
	state   string
}

func newWorkspace(t *testing.T) *workspace {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	policy, _ := perm.Compile(perm.Config{
		Workspace: []perm.Dir{{Name: dir, Real: dir}}, Mode: perm.AcceptEdits, CaseSensitive: true, Windows: runtime.GOOS == "windows",
		Rules: []perm.RuleText{{List: perm.Deny, Text: "Edit(denied/**)"}, {List: perm.Deny, Text: "Read(hidden/**)"}},
	})
	w := &workspace{T: t, dir: dir, state: t.TempDir()}
	w.saver = save.New(save.Options{StateDir: w.state, Rand: rand.Reader, Durability: save.None})
	w.history = history.New(history.Options{
		Dir:      func(context.Context) (string, error) { return w.state, nil },
		Settings: func() history.Settings { return history.Settings{Required: true, MaxSize: 1 << 30, MaxAge: time.Hour} },
	})
	t.Cleanup(func() { w.saver.Close(); w.history.Close() })
	w.service = tools.New(tools.Options{
		Access: &access.Checker{
			Lexer:    func() fsys.Lexer { return fsys.Lexer{OS: runtime.GOOS, Base: dir} },
			Resolver: fsys.NewResolver(), Policy: func() *perm.Policy { return policy }, Now: time.Now,
		},
		Saver: w.saver, Counter: tokens.Local{}, MaxTokens: tools.DefaultMaxTokens, MaxFileBytes: 256 << 10,
		Preferences: func() tools.Preferences { return tools.Preferences{} },
		History:     w.history, Audit: noAudit{}, Now: time.Now,
	})
	return w
}

func (w *workspace) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *workspace) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *workspace) entry(name string) *fsys.Target {
	w.Helper()
	target, err := fsys.NewResolver().ResolveEntry(fsys.Named(w.path(name)))
	w.check(err)
	w.Cleanup(target.Close)
	return target
}

// move moves, or copies, as the tool does.
func (w *workspace) move(group, from, to string, copy bool) {
	w.Helper()
	n, err := w.saver.Names(context.Background())
	w.check(err)
	defer n.Close()
	a, b := w.entry(from), w.entry(to)
	change := history.PendingChange{Names: a.Names, Operation: history.OpMove, To: b.Path, Group: group, Tool: "Move", Session: "s", NewDirs: len(b.MissingDirs()), Stamp: a.Stamp}
	do := n.Move
	if copy {
		change.Operation, do = history.OpCopy, n.Copy
	}
	mark, err := w.history.Keep(context.Background(), change)
	w.check(err)
	defer mark.Done()
	_, err = do(context.Background(), a, b)
	w.check(err)
	n.Finish()
}

// delete deletes as the tool does.
func (w *workspace) delete(group string, names ...string) {
	w.Helper()
	ctx := context.Background()
	n, err := w.saver.Names(ctx)
	w.check(err)
	defer n.Close()
	var all []*save.Removal
	var marks []*history.Mark
	for _, name := range names {
		r, err := n.Look(ctx, w.entry(name), true, func(save.Item) error { return nil })
		w.check(err)
		w.check(r.Keep(ctx, func(k save.Kept) (save.Deposit, error) {
			change := history.RemovalChange(k)
			change.Group, change.Session, change.Tool = group, "s", "Delete"
			mark, err := w.history.Keep(ctx, change)
			marks = append(marks, mark)
			return mark.Deposit(), err
		}))
		all = append(all, r)
	}
	w.check(history.SyncMarks(marks))
	for _, r := range all {
		w.check(n.Remove(ctx, r))
	}
	n.Finish()
	for _, r := range all {
		w.check(r.Err())
	}
	for _, m := range marks {
		m.Done()
	}
}

// edit changes a file, and records it.
func (w *workspace) edit(group, name, old, now string) {
	w.Helper()
	c := history.PendingChange{Names: []string{w.path(name)}, Tool: "Edit", Session: "s", Group: group, Splices: []span.Splice{{End: int64(len(old)), New: []byte(now)}}}
	c.Old, c.Size, c.From = strings.NewReader(old), int64(len(old)), []byte(old)
	mark, err := w.history.Keep(context.Background(), c)
	w.check(err)
	mark.Done()
	w.check(os.WriteFile(w.path(name), []byte(now), 0o644))
}

func (w *workspace) put(name, content string, mode fs.FileMode) {
	w.Helper()
	w.check(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.check(os.WriteFile(w.path(name), []byte(content), 0o644))
	w.check(os.Chmod(w.path(name), mode))
	w.check(os.Chtimes(w.path(name), time.Time{}, time.Unix(1_600_000_000, 123456700)))
}

func (w *workspace) restorer() Restorer {
	open := func() (*history.Archive, error) { return history.Open(w.state) }
	archive, err := open()
	w.check(err)
	w.Cleanup(archive.Close)
	return Restorer{Archive: archive, Service: w.service, Open: open}
}

func (w *workspace) want(name, content string) {
	w.Helper()
	b, err := os.ReadFile(w.path(name))
	if content == "(missing)" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || string(b) != content {
		w.Errorf("%s holds %q, %v; want %q", name, b, err, content)
	}
}

// all spells each name below the folder with its mode and time, and what it holds.
func (w *workspace) all() string {
	w.Helper()
	var b strings.Builder
	filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		w.check(err)
		if path == w.dir {
			return nil
		}
		info, err := e.Info()
		w.check(err)
		content, _ := os.ReadFile(path)
		at := info.ModTime().UnixNano()
		if e.Type()&fs.ModeSymlink != 0 && !linkTimes() {
			at = 0
		}
		text, _ := os.Readlink(path)
		fmt.Fprintf(&b, "%s %v %d %q %s\n", strings.TrimPrefix(path, w.dir), info.Mode(), at, content, text)
		return nil
	})
	return b.String()
}

// linkTimes reports whether a link that is restored has its time again: with Windows's calls, and
// those that tests on Linux make in their place (fsys_portable), it has not.
func linkTimes() bool {
	portable, is := sys.New(nil).(*sys.Portable)
	return runtime.GOOS == "darwin" || runtime.GOOS == "linux" && (!is || portable.As == "darwin")
}

// A thousand files that one call deleted come back byte by byte, with modes, times and folders.
func TestGroupRestoresWhatWasDeleted(t *testing.T) {
	w := newWorkspace(t)
	for i := range shortrun.Count(t, 1000, 60, "files") {
		w.put(fmt.Sprintf("tree/%d/f%d", i%7, i), strings.Repeat(fmt.Sprint(i, "\x00\r\n"), i%50), []fs.FileMode{0o600, 0o644, 0o755}[i%3])
	}
	w.check(os.MkdirAll(w.path("tree/empty/inner"), 0o755))
	os.Symlink("f1", w.path("tree/link"))
	w.check(os.Chmod(w.path("tree/empty"), 0o750))
	w.check(os.Chtimes(w.path("tree/empty"), time.Time{}, time.Unix(1_500_000_000, 0)))
	w.put("stays", "x", 0o644)
	before := w.all()
	w.delete("g1", "tree")
	if now := w.all(); strings.Contains(now, "tree") {
		t.Fatalf("left:\n%s", now)
	}
	files, err := w.restorer().Group(t.Context(), "g1")
	if err != nil {
		t.Fatal(err)
	}
	if after := w.all(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if lines := Lines(files); len(lines) != len(files) || !strings.Contains(lines[0], "tree, which was deleted.") {
		t.Errorf("%d lines: %q", len(lines), lines[0])
	}
	// A second time nothing is in the way that was not restored.
	if _, err := w.restorer().Group(t.Context(), "g1"); !errors.As(err, new(*history.ConflictError)) {
		t.Errorf("again: %v", err)
	}
}

// A group with a name that is taken by now restores nothing.
func TestGroupRestoresAllOrNothing(t *testing.T) {
	w := newWorkspace(t)
	w.put("a", "a", 0o644)
	w.put("b", "b", 0o644)
	w.put("c", "c", 0o644)
	w.delete("g1", "a", "b", "c")
	w.put("b", "theirs", 0o644)
	if _, err := w.restorer().Group(t.Context(), "g1"); !errors.As(err, new(*history.ConflictError)) {
		t.Errorf("%v", err)
	}
	w.want("a", "(missing)")
	w.want("b", "theirs")
	w.want("c", "(missing)")
	if _, err := w.restorer().Group(t.Context(), "g2"); !errors.Is(err, ErrNoSession) {
		t.Errorf("%v", err)
	}
}

// A move is taken back unless its name is taken; an earlier edit is restored under the name
// that the file has now.
func TestRestoreFollowsMoves(t *testing.T) {
	w := newWorkspace(t)
	w.put("f", "old\n", 0o644)
	w.edit("", "f", "old\n", "new\n")
	w.move("g1", "f", "made/for/g", false)
	entries, _ := w.restorer().Archive.Entries(nil)
	moved, edited := entries[0], entries[1]
	if _, err := w.restorer().Change(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	w.want("made/for/g", "old\n")
	w.want("f", "(missing)")
	w.put("f", "theirs", 0o644)
	if _, err := w.restorer().Change(t.Context(), moved); !errors.As(err, new(*history.ConflictError)) {
		t.Errorf("%v", err)
	}
	os.Remove(w.path("f"))
	if r, err := w.restorer().Change(t.Context(), moved); err != nil || !strings.HasPrefix(r.Blocks[0].Text, "Moved ") {
		t.Fatal(r, err)
	}
	w.want("f", "old\n")
	w.want("made/for/g", "(missing)")
	if _, err := os.Stat(w.path("made")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folders stay: %v", err)
	}
	if r, err := w.restorer().Change(t.Context(), moved); r != nil || err != nil {
		t.Errorf("again: %v, %v", r, err)
	}
}

// A session of all kinds of changes is taken back, the newest first.
func TestSessionRestoresEverything(t *testing.T) {
	w := newWorkspace(t)
	w.put("a", "1\n", 0o640)
	w.put("b", "b\n", 0o644)
	w.put("d/x", "x\n", 0o644)
	before := strings.ReplaceAll(w.all(), "\n", "\n")
	w.edit("", "a", "1\n", "2\n")
	w.move("g1", "a", "d/a", false)
	w.edit("", "d/a", "2\n", "3\n")
	w.move("g2", "d", "e", false)
	w.move("g3", "b", "e/copy", true)
	w.delete("g4", "b")
	w.move("g5", "e/x", "b", false)
	if _, err := w.restorer().Session(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	w.want("a", "1\n")
	w.want("b", "b\n")
	w.want("d/x", "x\n")
	if names := func(text string) (n int) { return strings.Count(text, "\n") }; names(w.all()) != names(before) {
		t.Errorf("before\n%s\nafter\n%s", before, w.all())
	}
}

// Rules hold for a restore.
func TestRestoreObeysRules(t *testing.T) {
	w := newWorkspace(t)
	w.put("denied/f", "x", 0o644)
	w.put("g", "y", 0o644)
	w.delete("g1", "denied/f", "g")
	if _, err := w.restorer().Group(t.Context(), "g1"); err == nil {
		t.Error("restored what is denied")
	}
	w.want("denied/f", "(missing)")
	w.want("g", "(missing)")
}

// A copy that is restored twice takes nothing from the file that it was made of, and the folders
// that were made for the copy go with it.
func TestRestoreOfACopyLeavesTheOriginal(t *testing.T) {
	w := newWorkspace(t)
	w.put("f", "text", 0o644)
	w.move("g1", "f", "made/for/copy", true)
	entries, _ := w.restorer().Archive.Entries(nil)
	for range 2 {
		if _, err := w.restorer().Change(t.Context(), entries[0]); err != nil {
			t.Fatal(err)
		}
		w.want("f", "text")
		w.want("made/for/copy", "(missing)")
	}
	if _, err := os.Stat(w.path("made")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folders stay: %v", err)
	}
}
