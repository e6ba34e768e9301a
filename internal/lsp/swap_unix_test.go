//go:build unix

package lsp

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// An open file that turns into a FIFO or a link to a denied file, also just after it was
// decided on, blocks nothing, and the server gets no byte of it.
func TestSwappedFiles(t *testing.T) {
	const secret = "badsecret"
	for kind, swap := range map[string]func(p *project, path string) error{
		"FIFO": func(_ *project, path string) error { return unix.Mkfifo(path, 0o600) },
		"link": func(p *project, path string) error { return os.Symlink(p.path("denied.go"), path) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			p := newProject(t, f)
			files := p.checker("denied.go")
			swapped := func() {
				if err := os.Remove(p.path("a.go")); err != nil {
					t.Error(err)
				}
				if err := swap(p, p.path("a.go")); err != nil {
					t.Error(err)
				}
			}
			decided := make(chan bool, 1)
			p.client.o.Read = files.ReadFile
			p.client.o.Readable = func(name string) bool {
				may := files.Readable(name)
				if info, err := os.Lstat(p.path("a.go")); err == nil && info.Mode().IsRegular() && name == p.path("a.go") && len(decided) == 1 {
					swapped()
					<-decided
				}
				return may
			}
			p.write("denied.go", secret)
			p.begin()
			p.edit("a.go", "one\n")
			p.settled()
			decided <- true
			p.write("a.go", "one and more\n") // another program does
			began := time.Now()
			if got := p.edit("b.go", "bad\n"); !strings.Contains(got, "b.go:1:1") || strings.Contains(got, secret) {
				t.Errorf("%q", got)
			}
			if len(decided) == 1 { // it was not decided on before it was read
				<-decided
				swapped()
				p.edit("b.go", "bad\nbad\n")
			}
			if took := time.Since(began); took > mostDelay {
				t.Errorf("it took %v", took)
			}
			if got := f.text(p.path("a.go")); strings.Contains(got, secret) {
				t.Errorf("the server has %q", got)
			}
		})
	}
}

// checker returns a Checker of the project that denies a file.
func (p *project) checker(denied string) *access.Checker {
	p.t.Helper()
	policy, warnings := perm.Compile(perm.Config{
		Workspace: []perm.Dir{{Name: p.dir, Real: p.dir}}, Mode: perm.AcceptEdits, CaseSensitive: true,
		Rules: []perm.RuleText{{Text: "Read(" + denied + ")", List: perm.Deny, Source: perm.Source{Name: "--deny", Level: perm.Flag}}},
	})
	if len(warnings) > 0 {
		p.t.Fatal(warnings)
	}
	return &access.Checker{
		Lexer:    func() fsys.Lexer { return fsys.Lexer{OS: runtime.GOOS, Base: p.dir} },
		Resolver: fsys.NewResolver(),
		Policy:   func() *perm.Policy { return policy },
		Now:      time.Now,
	}
}
