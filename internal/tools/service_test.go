package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools/find"
)

// bench is a Service over a folder of its own, and one conversation in it.
type bench struct {
	t       testing.TB
	dir     string
	options Options
	service *Service
	call    toolcall.Call
	last    *toolcall.Result // of run
}

func newBench(t testing.TB, rules ...perm.RuleText) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	policy, warnings := perm.Compile(perm.Config{
		Workspace: []perm.Dir{{Name: dir, Real: dir}}, Mode: perm.AcceptEdits, Rules: rules, CaseSensitive: true, Windows: runtime.GOOS == "windows",
	})
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	saver := save.New(save.Options{StateDir: t.TempDir(), Now: time.Now, Rand: rand.Reader})
	t.Cleanup(func() { saver.Close() }) // Windows removes no file that is open
	b := &bench{t: t, dir: dir, options: Options{
		Access: &access.Checker{
			Lexer:    func() fsys.Lexer { return fsys.Lexer{OS: runtime.GOOS, Base: dir} },
			Resolver: fsys.NewResolver(),
			Policy:   func() *perm.Policy { return policy },
			Now:      time.Now,
		},
		Saver:        saver,
		Counter:      tokens.Local{},
		MaxTokens:    DefaultMaxTokens,
		MaxFileBytes: 256 << 10,
		Preferences:  func() Preferences { return Preferences{Dedup: true} },
		History:      noHistory{},
		Audit:        noAudit{},
		Now:          time.Now,
		LookFor:      time.Minute, // whatever holds the machine up
	}}
	b.with(func(*Options) {})
	return b
}

// noHistory keeps nothing.
type noHistory struct{}

func (noHistory) Keep(context.Context, history.PendingChange) (*history.Mark, error) { return nil, nil }
func (noHistory) Secret([]string) bool                                               { return false }

// noAudit logs nothing.
type noAudit struct{}

func (noAudit) Begin(toolcall.Event) error { return nil }
func (noAudit) Log(toolcall.Event)         {}

// with begins anew with other parts.
func (b *bench) with(change func(*Options)) {
	change(&b.options)
	b.service = New(b.options)
	b.call.Session = b.service.NewSession("")
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) put(name, content string) string {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return b.path(name)
}

func (b *bench) want(name, content string) {
	b.t.Helper()
	got, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	if string(got) != content {
		b.t.Fatalf("%s holds %q, want %q", name, got, content)
	}
}

func (b *bench) run(args Args) *toolcall.Result {
	b.t.Helper()
	r := b.unsent(args)
	b.service.Sent(b.call, r)
	b.last = r
	return r
}

// unsent runs a call whose answer never leaves.
func (b *bench) unsent(args Args) *toolcall.Result {
	b.t.Helper()
	return b.within(context.Background(), args)
}

func (b *bench) within(ctx context.Context, args Args) *toolcall.Result {
	b.t.Helper()
	for _, tool := range b.service.Tools() {
		switch args.(type) {
		case *ReadArgs:
			if tool.Name == nameRead {
				return tool.Run(ctx, b.call, args)
			}
		case *WriteArgs:
			if tool.Name == nameWrite {
				return tool.Run(ctx, b.call, args)
			}
		case *MoveArgs:
			if tool.Name == nameMove {
				return tool.Run(ctx, b.call, args)
			}
		case *DeleteArgs:
			if tool.Name == nameDelete {
				return tool.Run(ctx, b.call, args)
			}
		case *find.GlobArgs:
			if tool.Name == find.NameGlob {
				return tool.Run(ctx, b.call, args)
			}
		case *find.GrepArgs:
			if tool.Name == find.NameGrep {
				return tool.Run(ctx, b.call, args)
			}
		case *EditArgs:
			if tool.Name == nameEdit {
				return tool.Run(ctx, b.call, args)
			}
		case *NotebookEditArgs:
			if tool.Name == nameNotebookEdit {
				return tool.Run(ctx, b.call, args)
			}
		}
	}
	b.t.Fatalf("no tool for %T", args)
	return nil
}

// ok runs a call that must succeed and returns its text.
func (b *bench) ok(args Args) string {
	b.t.Helper()
	r := b.run(args)
	if r.IsError {
		b.t.Fatalf("%+v: %s", args, r.Blocks[0].Text)
	}
	return r.Blocks[0].Text
}

// fails runs a call that must fail with a code and a slug, and returns its words.
func (b *bench) fails(code int, slug string, args Args) string {
	b.t.Helper()
	r := b.run(args)
	if !r.IsError || r.Facts.ErrorCode != code || r.Facts.Error != slug {
		b.t.Fatalf("%+v: want %d %s, got error %v %v: %s", args, code, slug, r.IsError, r.Facts, r.Blocks[0].Text)
	}
	return r.Blocks[0].Text
}

func holds(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Fatalf("no %q in:\n%s", p, text)
		}
	}
}

// TestRunLeavesTheArgumentsAsTheyAre: a call that had to ask is told by them when
// it is made again.
func TestRunLeavesTheArgumentsAsTheyAre(t *testing.T) {
	b := newBench(t)
	src := "x"
	book := b.put("a.ipynb", `{"cells":[{"cell_type":"raw","id":"a","metadata":{},"source":"one"}],"metadata":{},"nbformat":4,"nbformat_minor":5}`)
	text := b.put("a.txt", "one\n")
	for _, args := range []Args{
		&ReadArgs{FilePath: text},
		&ReadArgs{FilePath: book},
		&EditArgs{FilePath: text, OldString: "one", NewString: "two"},
		&WriteArgs{FilePath: text, Content: "three\n"},
		&NotebookEditArgs{NotebookPath: book, CellID: "a", NewSource: &src},
	} {
		before, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		b.ok(args)
		if after, err := json.Marshal(args); err != nil || string(after) != string(before) {
			t.Errorf("%T: %s became %s, %v", args, before, after, err)
		}
	}
}
