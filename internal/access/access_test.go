package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// folder is a workspace with a Checker that denies secret/**, *.hidden* and .env.
type folder struct {
	*testing.T
	dir string
	*Checker
}

func newFolder(t *testing.T) folder {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rule := func(text string, list perm.List) perm.RuleText {
		return perm.RuleText{Text: text, List: list, Source: perm.Source{Name: "--deny", Level: perm.Flag}}
	}
	policy, warnings := perm.Compile(perm.Config{
		Workspace: []perm.Dir{{Name: dir, Real: dir}}, Mode: perm.AcceptEdits, CaseSensitive: true, Windows: runtime.GOOS == "windows",
		Rules: []perm.RuleText{rule("Read(.env)", perm.Deny), rule("Edit(.env)", perm.Deny), rule("Read(secret/**)", perm.Deny), rule("Read(*.hidden*)", perm.Deny), rule("Read(private.txt)", perm.Ask)},
	})
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return folder{t, dir, &Checker{
		Lexer:    func() fsys.Lexer { return fsys.Lexer{OS: runtime.GOOS, Base: dir} },
		Resolver: fsys.NewResolver(),
		Policy:   func() *perm.Policy { return policy },
		Now:      func() time.Time { return time.Now().Add(time.Minute) },
	}}
}

func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f folder) put(names ...string) {
	f.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(f.path(name), []byte(name), 0o644); err != nil {
			f.Fatal(err)
		}
	}
}

// open opens an argument, and closes what it finds.
func (f folder) open(op perm.Op, raw string) (*AllowedFile, error) {
	f.Helper()
	path, err := f.Parse(raw)
	if err != nil {
		f.Fatal(err)
	}
	file, err := f.Open(Request{Op: op, Path: path})
	if err == nil {
		file.Close()
	}
	return file, err
}

func TestOpenDecidesOnEveryName(t *testing.T) {
	f := newFolder(t)
	f.put("plain.txt", ".env", "secret/key", "private.txt")
	if err := os.Symlink("secret/key", f.path("link")); err != nil {
		t.Skipf("!!! NOT TESTED: no links can be made here: %v !!!", err)
	}
	if err := os.Link(f.path(".env"), f.path("copy")); err != nil {
		t.Skipf("!!! NOT TESTED: no hard links can be made here: %v !!!", err)
	}
	denied, consent := new(*DeniedError), new(*ConsentError)
	for _, c := range []struct {
		name string
		op   perm.Op
		want any
	}{
		{"plain.txt", perm.Read, nil}, {"plain.txt", perm.Edit, nil},
		{".env", perm.Read, denied}, {"secret/none", perm.Read, denied},
		{"link", perm.Read, denied}, {"copy", perm.Read, denied}, {"copy", perm.Edit, denied},
		{"private.txt", perm.Read, consent},
	} {
		if c.name == "link" && !nativetest.Symlinks(t) {
			continue
		}
		_, err := f.open(c.op, f.path(c.name))
		if c.want == nil && err != nil || c.want != nil && !errors.As(err, c.want) {
			t.Errorf("%s %s: %v", c.op, c.name, err)
		}
	}
}

func TestOpenTriesOtherSpellings(t *testing.T) {
	f := newFolder(t)
	f.put("Shot 9.41\u202fAM.png", "plain.txt")
	file, err := f.open(perm.Read, f.path("Shot 9.41 AM.png"))
	if err != nil || file.Path != f.path("Shot 9.41\u202fAM.png") || len(file.Used) != 1 || file.Used[0].How == Trimmed {
		t.Errorf("%+v, %v", file, err)
	}
	plain := f.path("plain.txt")
	if nativetest.Windows {
		plain = "plain.txt" // a blank before a drive is refused
	}
	file, err = f.open(perm.Read, " "+plain)
	if err != nil || file.Path != f.path("plain.txt") || len(file.Used) != 1 || file.Used[0].How != Trimmed {
		t.Errorf("%+v, %v", file, err)
	}
	path, _ := f.Parse(f.path("Shot 9.41 AM.png"))
	exact, err := f.Open(Request{Op: perm.Read, Path: path, Exact: true})
	if err != nil || exact.Kind != fsys.Missing {
		t.Errorf("%+v, %v", exact, err)
	}
	if _, err := f.open(perm.Read, f.path("plain.txt")+"/"); !errors.As(err, new(*SlashError)) {
		t.Errorf("a file with a slash: %v", err)
	}
}

func TestDeniedFilesStayHidden(t *testing.T) {
	f := newFolder(t)
	f.put("main.go", "secret/key", ".env", "private.txt")
	for name, want := range map[string]bool{"main.go": true, "none.go": false, ".env": false, "secret/key": false, "private.txt": false} {
		if got := f.Readable(f.path(name)); got != want {
			t.Errorf("%s readable: %v", name, got)
		}
	}
	private, _ := f.Parse(f.path("private.txt"))
	if !f.Exists(perm.Read, private, perm.Ask) || f.Exists(perm.Read, private, perm.Allow) {
		t.Error("the least verdict does not count")
	}
	path, _ := f.Parse(f.path("mian.go"))
	missing, err := f.Open(Request{Op: perm.Read, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer missing.Close()
	if near := f.Near(missing); !slices.Equal(near, []string{f.path("main.go")}) {
		t.Errorf("near: %v", near)
	}
	path, _ = f.Parse(f.dir)
	dir, err := f.Open(Request{Op: perm.Read, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	list, ok := f.List(dir)
	slices.Sort(list.Names)
	if !ok || !slices.Equal(list.Names, []string{"main.go", nativetest.Name("secret/")}) {
		t.Errorf("%v, %v", list, ok)
	}
}

// What the list of a folder says is the same with hidden names in it as without them: no number
// of them fills it, ends it, or says that there are more.
func TestListTellsNothingOfHiddenNames(t *testing.T) {
	for _, c := range []struct {
		readable, hidden int
		names            string // of the hidden ones
		want             int
		more             bool
	}{
		{50, 0, "", 50, false}, {50, 1, "zz.hidden%d", 50, false}, {50, 1, "a.hidden%d", 50, false},
		{51, 0, "", 50, true}, {51, 1, "a.hidden%d", 50, true},
		{5, 600, "a.hidden%d", 5, false}, {5, 5200, "a.hidden%d", 5, false}, {51, 600, "m.hidden%d", 50, true},
	} {
		if nativetest.Windows && testing.Short() && c.hidden > 1000 {
			continue // Wine looks at the whole folder for each name: it takes minutes
		}
		f := newFolder(t)
		for i := range c.readable {
			f.put(fmt.Sprintf("d/m%02d", i))
		}
		for i := range c.hidden {
			name := fmt.Sprintf("d/"+c.names, i)
			if i%2 == 1 {
				f.put(name)
			} else if err := os.Mkdir(f.path(name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		path, _ := f.Parse(f.path("d"))
		dir, err := f.Open(Request{Op: perm.Read, Path: path})
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		if list, ok := f.List(dir); !ok || len(list.Names) != c.want || list.More != c.more {
			t.Errorf("%d names and %d hidden ones like %s: %d names, more %v", c.readable, c.hidden, c.names, len(list.Names), list.More)
		}
	}
}

func TestExplainTellsWhatAnAnswerHides(t *testing.T) {
	f := newFolder(t)
	f.put(".env")
	e, err := f.Explain(".env")
	if err != nil || e.Path != f.path(".env") || e.Decisions[perm.Read].Verdict != perm.Deny || e.Decisions[perm.Read].Rule != "Read(.env)" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestReadFile(t *testing.T) {
	f := newFolder(t)
	f.put("plain.txt", ".env", "private.txt")
	for name, want := range map[string]error{"plain.txt": nil, ".env": fs.ErrPermission, "private.txt": fs.ErrPermission, "missing": fsys.ErrNotRegular, ".": fsys.ErrNotRegular} {
		if b, err := f.ReadFile(f.path(name), 9); !errors.Is(err, want) || want == nil && string(b) != name {
			t.Errorf("%s: %q %v, not %v", name, b, err, want)
		}
	}
	if _, err := f.ReadFile(f.path("plain.txt"), 8); !errors.As(err, new(*fsys.TooLargeError)) {
		t.Errorf("too large: %v", err)
	}
	if err := os.Symlink(".env", f.path("link")); err != nil {
		t.Skipf("!!! NOT TESTED: no links can be made here: %v !!!", err)
	}
	if b, err := f.ReadFile(f.path("link"), 9); err == nil {
		t.Errorf("a link to a denied file: %q", b)
	}
}
