package commit_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// oneWorld is a workspace in which calls are made together, or plainly.
type oneWorld struct {
	*testing.T
	dir     string
	state   string
	policy  *perm.Policy
	history *history.Store
	service *tools.Service
	call    toolcall.Call
	between func() // what another program, or the user, does between the two looks
}

// plainHistory records each change at once.
type plainHistory struct{ store *history.Store }

func (p plainHistory) Keep(ctx context.Context, c history.PendingChange) (*history.Mark, error) {
	return p.store.Keep(ctx, c)
}
func (p plainHistory) Secret(names []string) bool { return p.store.Secret(names) }
func (p plainHistory) WouldKeep(ctx context.Context, list []history.Removed) []int {
	return p.store.WouldKeep(ctx, list)
}

type noAudit struct{}

func (noAudit) Begin(toolcall.Event) error { return nil }
func (noAudit) Log(toolcall.Event)         {}

// Wanted, Before and After make the world the user's hooks.
func (w *oneWorld) Wanted([]string) (before, after bool) { return true, false }
func (w *oneWorld) Before(context.Context, commit.Edited) ([]hooks.Report, *hooks.Report, error) {
	if w.between != nil {
		w.between()
		w.between = nil
	}
	return nil, nil, nil
}
func (w *oneWorld) After(context.Context, commit.Edited) []hooks.Report { return nil }

func newWorld(t *testing.T, plain bool, options ...func(*save.Options)) *oneWorld {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &oneWorld{T: t, dir: filepath.Join(dir, "ws")}
	w.check(os.Mkdir(w.dir, 0o755))
	w.check(os.Mkdir(filepath.Join(dir, "outside"), 0o755))
	w.deny("denied.txt")
	w.state = t.TempDir()
	saving := save.Options{StateDir: w.state, Rand: rand.Reader, Durability: save.None}
	for _, change := range options {
		change(&saving)
	}
	saver := save.New(saving)
	w.history = history.New(history.Options{
		Dir:      func(context.Context) (string, error) { return w.state, nil },
		Settings: func() history.Settings { return history.Settings{Required: true, MaxSize: 1 << 30, MaxAge: time.Hour} },
	})
	t.Cleanup(func() { saver.Close(); w.history.Close() })
	recorder := commit.HistoryRecorder(w.history)
	if plain {
		recorder = plainHistory{w.history}
	}
	w.service = tools.New(tools.Options{
		Access: &access.Checker{
			Lexer:    func() fsys.Lexer { return fsys.Lexer{OS: runtime.GOOS, Base: w.dir} },
			Resolver: fsys.NewResolver(), Policy: func() *perm.Policy { return w.policy }, Now: time.Now,
		},
		Saver: saver, Counter: tokens.Local{}, MaxTokens: tools.DefaultMaxTokens, MaxFileBytes: 256 << 10,
		Preferences: func() tools.Preferences { return tools.Preferences{} },
		History:     recorder, Audit: noAudit{}, Now: time.Now, Hooks: w,
	})
	w.call.Session = w.service.NewSession("")
	return w
}

func (w *oneWorld) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// deny makes these the names that the rules deny.
func (w *oneWorld) deny(names ...string) {
	c := perm.Config{
		Workspace: []perm.Dir{{Name: w.dir, Real: w.dir}}, Mode: perm.AcceptEdits, CaseSensitive: true, Windows: nativetest.Windows,
	}
	for _, n := range names {
		c.Rules = append(c.Rules, perm.RuleText{List: perm.Deny, Text: "Read(" + n + ")"}, perm.RuleText{List: perm.Deny, Text: "Edit(" + n + ")"})
	}
	w.policy, _ = perm.Compile(c)
}

func (w *oneWorld) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// run makes a call and returns its answer, without what differs in each world.
func (w *oneWorld) run(args tools.Args) string {
	for _, tool := range w.service.Tools() {
		if tool.Name != toolOf(args) {
			continue
		}
		r := tool.Run(context.Background(), w.call, args)
		w.service.Sent(w.call, r)
		var text strings.Builder
		for _, b := range r.Blocks {
			text.WriteString(b.Text)
		}
		failed, _ := json.Marshal(r.Facts.Failed)
		return w.alike(fmt.Sprintf("%v %s %s %s", r.IsError, r.Facts.Error, failed, text.String()), r.Facts.Group)
	}
	w.Fatal("no tool")
	return ""
}

// toolOf names the tool that takes arguments.
func toolOf(args tools.Args) string {
	name := fmt.Sprintf("%T", args)
	return strings.TrimSuffix(strings.TrimPrefix(name, "*tools."), "Args")
}

func (w *oneWorld) alike(text, group string) string {
	text = strings.ReplaceAll(text, filepath.Dir(w.dir), "DIR")
	if group != "" {
		text = strings.ReplaceAll(text, group, "GROUP")
	}
	return text
}

// tree spells everything on the disk, the folder outside included.
func (w *oneWorld) tree() string {
	var b strings.Builder
	top := filepath.Dir(w.dir)
	w.check(filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, path)
		fmt.Fprintf(&b, "%s %v", rel, e.Type())
		if e.Type().IsRegular() {
			raw, _ := os.ReadFile(path)
			fmt.Fprintf(&b, " %q", raw)
		} else if e.Type()&fs.ModeSymlink != 0 {
			text, _ := os.Readlink(path)
			fmt.Fprintf(&b, " -> %s", w.alike(text, ""))
		}
		b.WriteString("\n")
		return nil
	}))
	return b.String()
}

// entries spells the history, and the bytes that it would bring back.
func (w *oneWorld) entries() string {
	a, err := history.Open(w.state)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	w.check(err)
	defer a.Close()
	list, bad := a.Entries(nil)
	if len(bad) > 0 {
		w.Errorf("damaged: %v", bad)
	}
	var b strings.Builder
	for _, e := range slices.Backward(list) {
		before, err := a.Before(e)
		fmt.Fprintf(&b, "%s %s %s to %s, %d folders, %q %v", e.Tool, e.Operation, w.alike(e.Path, ""), w.alike(e.To, ""), e.NewDirs, before, err)
		if e.Meta != nil {
			fmt.Fprintf(&b, " %v %o %q", e.Meta.Kind, e.Meta.Mode, w.alike(string(e.Meta.Link), ""))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// fill makes the same files in each world.
func (w *oneWorld) fill(rng *mathrand.Rand) {
	for _, dir := range []string{"a", "b", "c/deep", "../outside"} {
		w.check(os.MkdirAll(w.path(dir), 0o755))
		for i := range 6 {
			name := w.path(fmt.Sprintf("%s/f%d", dir, i))
			if k := rng.IntN(8); k == 0 && nativetest.Symlinks(w) {
				w.check(os.Symlink("f0", name))
			} else if k < 7 {
				w.check(os.WriteFile(name, []byte(strings.Repeat(dir, rng.IntN(9))), 0o644))
			}
		}
	}
	w.check(os.WriteFile(w.path("a/denied.txt"), []byte("secret"), 0o644))
	if nativetest.Symlinks(w) {
		w.check(os.Symlink("a", w.path("to-a")))
		w.check(os.Symlink("../outside", w.path("away")))
	}
}

// drawn draws the arguments of a call: moves that may depend on each other, or a delete.
func (w *oneWorld) drawn(rng *mathrand.Rand) tools.Args {
	dirs := []string{"a", "b", "c", "c/deep", "to-a", "new", "new/er"}
	name := func() string { return w.path(fmt.Sprintf("%s/f%d", dirs[rng.IntN(len(dirs))], rng.IntN(9))) }
	taken := make(map[string]bool)
	one := func(there bool) (n string) { // mostly one that will do
		for n = name(); rng.IntN(30) > 0; n = name() {
			if _, err := os.Lstat(n); !taken[n] && (err == nil) == there {
				break
			}
		}
		taken[n] = true
		return n
	}
	if rng.IntN(3) == 0 {
		args := &tools.DeleteArgs{Recursive: rng.IntN(4) == 0}
		for range 1 + rng.IntN(4) {
			args.Paths = append(args.Paths, one(true))
		}
		if rng.IntN(5) == 0 {
			args.Paths = append(args.Paths, w.path("c"))
		}
		return args
	}
	args := &tools.MoveArgs{Copy: rng.IntN(6) == 0}
	last := ""
	for range 1 + rng.IntN(5) {
		pair := tools.MovePair{From: one(true), To: one(false)}
		if last != "" && rng.IntN(4) == 0 {
			pair.From = last
		}
		if rng.IntN(12) == 0 {
			pair.From = w.path("c/deep")
		}
		if n := len(args.Moves); n > 0 && rng.IntN(4) == 0 {
			pair.To = args.Moves[n-1].From
		}
		last = pair.To
		args.Moves = append(args.Moves, pair)
	}
	return args
}

// interfere returns a change by another program, or the user, between the two looks at all names.
func (w *oneWorld) interfere(kind, i int) func() {
	dir, file := w.path([]string{"a", "b", "c/deep"}[i%3]), fmt.Sprintf("f%d", i%6)
	return map[int]func(){
		0: func() { // the folder becomes a link to one outside
			if os.Rename(dir, dir+" was") == nil && nativetest.Symlinks(w) {
				os.Symlink(w.path("../outside"), dir)
			}
		},
		1: func() { // another folder gets its name
			if os.Rename(dir, dir+" was") == nil {
				os.Rename(w.path("../outside"), dir)
			}
		},
		2: func() { os.Remove(filepath.Join(dir, file)) },
		3: func() { os.WriteFile(filepath.Join(dir, file), []byte("theirs, and longer than it was"), 0o644) },
		4: func() { w.deny("denied.txt", "b/**", file) },
		5: func() { os.Link(filepath.Join(dir, file), filepath.Join(dir, "denied.txt")) },
		6: func() { // a link to the denied file gets the name
			os.Remove(filepath.Join(dir, file))
			os.Link(w.path("a/denied.txt"), filepath.Join(dir, file))
		},
	}[kind]
}

// Names that are decided on together, with one look at each folder and one write of the history,
// give the same answers, files and history as each alone, whatever happens between the look at
// all of them and the changes.
func TestNamesTogetherAsEachAlone(t *testing.T) {
	made, refused := 0, 0
	for seed := range uint64(shortrun.Count(t, 60, 15, "calls in two ways")) {
		together := runDrawn(t, seed, false)
		alone := runDrawn(t, seed, true)
		if diff := together.differs(alone); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		made, refused = made+alone.made, refused+alone.refused
	}
	if made < 20 || refused < 20 {
		t.Errorf("%d calls succeeded and %d were refused: the test proves little", made, refused)
	}
	t.Logf("%d calls succeeded, %d were refused", made, refused)
}

// The comparison finds calls that are made together in a wrong way.
func TestNamesTogetherWrongly(t *testing.T) {
	for what, begin := range map[string]func() (reset func()){
		"the first decision is taken for the one under the locks":      commit.SetCareless,
		"names that depend on each other are decided on at one moment": commit.SetHasty,
	} {
		caught := runtime.GOOS != "linux" // elsewhere no first decision is taken for a second one
		for seed := uint64(0); seed < 60 && !caught; seed++ {
			reset := begin()
			together := runDrawn(t, seed, false)
			reset()
			caught = together.differs(runDrawn(t, seed, true)) != ""
		}
		if !caught {
			t.Errorf("no seed shows that %s", what)
		}
	}
}

// drawnRun holds what some drawn calls have left.
type drawnRun struct {
	answers, files, history string
	made, refused           int
}

// differs returns what differs in two runs, in words; "" if nothing does.
func (r drawnRun) differs(alone drawnRun) string {
	for _, both := range [][3]string{{"answers", r.answers, alone.answers}, {"files", r.files, alone.files}, {"history", r.history, alone.history}} {
		if both[1] != both[2] {
			return fmt.Sprintf("%s together\n%s\neach alone\n%s\nanswers\n%s", both[0], both[1], both[2], alone.answers)
		}
	}
	return ""
}

// runDrawn makes the calls of a seed, their names together or each alone, while another program or
// the user interferes.
func runDrawn(t *testing.T, seed uint64, alone bool) (r drawnRun) {
	if alone {
		defer commit.SetTogether(1)()
	}
	rng := mathrand.New(mathrand.NewPCG(seed, 7))
	w := newWorld(t, alone)
	w.fill(rng)
	for range 4 {
		args := w.drawn(rng)
		if kind := rng.IntN(12); kind < 7 {
			w.between = w.interfere(kind, rng.IntN(18))
		}
		answer := w.run(args)
		if strings.HasPrefix(answer, "false") {
			r.made++
		} else {
			r.refused++
		}
		r.answers += answer + "\n"
	}
	r.files, r.history = w.tree(), w.entries()
	return r
}
