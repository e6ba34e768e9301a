//go:build linux

package clienttest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// Versions of the language servers. TypeScript 7 has no tsserver.
const (
	goplsVersion            = "0.22.0"
	typescriptServerVersion = "6.0.2"
	typescriptVersion       = "5.9.3"
)

// gopls returns the folder of gopls, which is built from the module proxy: a minute on two
// cores, once.
func gopls(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a short run starts no language servers")
	}
	dir := cached("gopls-" + goplsVersion)
	missing.Lock()
	defer missing.Unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := complete(dir, buildGopls); err != nil {
		t.Skipf("!!! NOT TESTED: gopls cannot be built: %v !!!", err)
	}
	return dir
}

// buildGopls builds gopls in its own module: its go.sum vouches for what it needs.
func buildGopls(dir string) error {
	out, err := exec.Command("go", "mod", "download", "-json", "golang.org/x/tools/gopls@v"+goplsVersion).Output()
	if err != nil {
		return fmt.Errorf("%w: %.200s", err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "gopls"), ".")
	build.Dir, build.Env = module.Dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly -trimpath", "GOWORK=off")
	return quietly(build)
}

// typescriptServer returns the folder of typescript-language-server.
func typescriptServer(t *testing.T) string {
	t.Helper()
	return filepath.Join(install(t, "typescript-language-server", typescriptServerVersion, "typescript@"+typescriptVersion), ".bin")
}

// agent is a session of fsmcp with language servers.
type agent struct {
	*sandbox
	client *mcptest.Client
	notes  string        // a file of no language
	most   time.Duration // that an edit took
}

// newAgent starts fsmcp with "lsp" on and programs in PATH. Without folders the workspace
// is the project.
func newAgent(t *testing.T, programsIn string, folders ...string) *agent {
	t.Helper()
	s := newSandbox(t)
	golang, err := exec.Command("go", "env", "GOROOT", "GOCACHE", "GOMODCACHE").Output()
	check(t, err)
	env := strings.Fields(string(golang))
	for i, pair := range s.env {
		if path, ok := strings.CutPrefix(pair, "PATH="); ok {
			s.env[i] = "PATH=" + programsIn + ":" + filepath.Join(env[0], "bin") + ":" + path
		}
	}
	s.env = append(s.env, "GOCACHE="+env[1], "GOMODCACHE="+env[2], "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")
	check(t, os.MkdirAll(filepath.Join(s.home, ".config", "fsmcp"), 0o777))
	check(t, os.WriteFile(filepath.Join(s.home, ".config", "fsmcp", "settings.json"), []byte(`{"lsp": "auto"}`), 0o666))
	if folders == nil {
		folders = []string{"."}
	}
	a := &agent{sandbox: s, notes: filepath.Join(folders[0], "notes.txt")}
	for i, name := range folders {
		folders[i] = filepath.Join(s.project, name)
		check(t, os.MkdirAll(folders[i], 0o777))
	}
	a.client, err = mcptest.Start(mcptest.Options{
		Path: filepath.Join(programs, "fsmcp"), Args: append([]string{"serve"}, folders...), Dir: s.project, Env: s.env, Stderr: os.Stderr, Validate: true,
	})
	check(t, err)
	t.Cleanup(a.end)
	_, err = a.client.Initialize(mcptest.Latest)
	check(t, err)
	return a
}

// end closes the session, and fails if a process of the language server is left.
func (a *agent) end() {
	a.t.Helper()
	children := descendants(a.client.PID())
	began := time.Now()
	if err := a.client.Close(); err != nil {
		a.t.Error(err)
	}
	if took := time.Since(began); took > 2*time.Second {
		a.t.Errorf("the end took %v", took)
	}
	for _, pid := range children {
		for deadline := time.Now().Add(3 * time.Second); lives(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) { // the kernel needs a moment to end what is killed
				a.t.Errorf("process %d is left", pid)
				break
			}
		}
	}
	a.t.Logf("%d processes ended; an edit took at most %v", len(children), a.most.Round(time.Millisecond))
}

// lives reports whether a process runs; one that waits to be buried does not.
func lives(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // there is none of one that is gone
	_, state, _ := strings.Cut(string(stat), ") ")
	return state != "" && state[0] != 'Z'
}

// descendants returns all processes below one.
func descendants(pid int) (all []int) {
	for _, child := range mcptest.Children(pid) {
		all = append(append(all, child), descendants(child)...)
	}
	return all
}

// files writes files of the project, by their names.
func (a *agent) files(all map[string]string) {
	a.t.Helper()
	for name, text := range all {
		check(a.t, os.MkdirAll(filepath.Dir(filepath.Join(a.project, name)), 0o777))
		a.write(name, []byte(text))
	}
}

func (a *agent) call(tool string, args map[string]any) string {
	a.t.Helper()
	res, err := a.client.Call(tool, args)
	check(a.t, err)
	if res.IsError {
		a.t.Fatalf("%s %v: %s", tool, args, res.Text)
	}
	return res.Text
}

func (a *agent) look(name string) string {
	a.t.Helper()
	return a.call("Read", map[string]any{"file_path": filepath.Join(a.project, name)})
}

// slowest is the most that an edit may take because of language servers, beside other
// tests on two cores.
const slowest = 1600*time.Millisecond + 400*time.Millisecond

// edit changes a file and returns what the language servers say of it.
func (a *agent) edit(name, from, to string) string {
	a.t.Helper()
	began := time.Now()
	text := a.call("Edit", map[string]any{"file_path": filepath.Join(a.project, name), "old_string": from, "new_string": to})
	took := time.Since(began)
	if a.most = max(a.most, took); took > slowest {
		a.t.Errorf("an edit took %v", took)
	}
	return reports(text)
}

// reports returns what language servers say in an answer.
func reports(answer string) string {
	at := regexp.MustCompile(`(gopls|typescript-language-server) (no longer )?reports `).FindStringIndex(answer)
	if at == nil {
		return ""
	}
	return answer[at[0]:] + "\n"
}

// hears makes calls until their answers, after one that was given, hold all words. It
// returns what language servers said until then.
func (a *agent) hears(said string, words ...string) string {
	a.t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		lacking := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.Contains(said, w) })
		if len(lacking) == 0 {
			a.t.Logf("after %v: %s", time.Since(began).Round(10*time.Millisecond), said)
			return said
		}
		if time.Since(began) > 40*time.Second {
			a.t.Fatalf("%q is not said: %s", lacking, said)
		}
		said += reports(a.look(a.notes))
	}
}

// lacks fails if an answer holds a word.
func (a *agent) lacks(answer string, words ...string) {
	a.t.Helper()
	for _, w := range words {
		if strings.Contains(answer, w) {
			a.t.Errorf("says %q: %s", w, answer)
		}
	}
}

// shop is a small module of Go with an error of its own.
func shop(name string) map[string]string {
	return map[string]string{
		name + "notes.txt":  "notes\n",
		name + "go.mod":     "module example.com/shop\n\ngo 1.21\n",
		name + "sum.go":     "package shop\n\n// Sum adds.\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n",
		name + "total.go":   "package shop\n\nfunc Total() int { return Sum(1, 2) }\n",
		name + "old/old.go": "package old\n\nvar Old int = \"old trouble\"\n",
	}
}

// An edit that breaks the build names the new error and no old one, also in another file;
// mending it is told.
func TestGopls(t *testing.T) {
	t.Parallel()
	a := newAgent(t, gopls(t))
	a.files(shop(""))
	a.look("sum.go")
	a.edit("sum.go", "// Sum adds.", "// Sum adds two numbers.")
	said := a.hears(a.edit("sum.go", "return a + b", "return a + c"), "undefined: c")
	a.lacks(said, "old trouble", "old.go")
	said = a.hears(a.edit("sum.go", "return a + c", "return a + b"), "no longer reports in sum.go: undefined: c")
	a.lacks(said, "old trouble")
	said = a.hears(a.edit("sum.go", "func Sum(", "func Add("), "undefined: Sum", "total.go")
	a.lacks(said, "old trouble", "undefined: c")
}

func TestTypescriptServer(t *testing.T) {
	t.Parallel()
	a := newAgent(t, typescriptServer(t))
	a.files(map[string]string{
		"notes.txt":     "notes\n",
		"tsconfig.json": `{"compilerOptions": {"strict": true, "noEmit": true}, "include": ["src"]}`,
		"src/sum.ts":    "const old: number = \"old trouble\";\n\nexport function sum(a: number, b: number): number {\n  return a + b;\n}\n",
		"src/total.ts":  "import { sum } from \"./sum\";\n\nexport const total: number = sum(1, 2);\n",
	})
	a.look("src/sum.ts")
	a.edit("src/sum.ts", "return a + b;", "return b + a;")
	said := a.hears(a.edit("src/sum.ts", "return b + a;", "return b + c;"), "Cannot find name 'c'")
	a.lacks(said, "not assignable")
	said = a.hears(a.edit("src/sum.ts", "return b + c;", "return a + b;"), "sum.ts")
	a.lacks(said, "not assignable")
	a.look("src/total.ts")
	said = a.hears(a.edit("src/total.ts", "sum(1, 2)", "sum(1, \"2\")"), "Argument of type 'string'")
	a.lacks(said, "Cannot find name")
}

// Each of many edits in a row is told in its own words, and no problem twice.
func TestManyEditsWithGopls(t *testing.T) {
	t.Parallel()
	edits, err := strconv.Atoi(os.Getenv("FSMCP_LSP_EDITS"))
	if err != nil {
		edits = 6
	}
	a := newAgent(t, gopls(t))
	a.files(shop(""))
	a.look("sum.go")
	a.edit("sum.go", "// Sum adds.", "// Sum adds two numbers.")
	was, all := "a + b", ""
	for i := range edits {
		now := fmt.Sprintf("a + missing%d", i)
		all += a.edit("sum.go", was, now)
		was = now
	}
	last := fmt.Sprintf("undefined: missing%d", edits-1)
	all = a.hears(all, last)
	for i := range edits {
		if n := strings.Count(all+"\n", fmt.Sprintf("undefined: missing%d\n", i)); n > 1 {
			t.Errorf("missing%d is told %d times: %s", i, n, all)
		}
	}
	a.lacks(all, "old trouble")
	a.hears(a.edit("sum.go", was, "a + b"), "sum.go")
}

// After a checkout outside that moves a file, an edit's answer names no problem that the
// compiler does not see.
func TestCheckoutWithGopls(t *testing.T) {
	t.Parallel()
	a := newAgent(t, gopls(t))
	a.files(shop(""))
	git := func(words ...string) {
		t.Helper()
		a.run("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"}, words...)...)
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "one")
	git("checkout", "-qb", "moved")
	git("mv", "sum.go", "math.go")
	a.files(map[string]string{
		"math.go":  "package shop\n\n// Sum adds three numbers now.\nfunc Sum(a, b, c int) int {\n\treturn a + b + c\n}\n",
		"total.go": "package shop\n\nfunc Total() int { return Sum(1, 2, 3) }\n",
	})
	git("commit", "-qam", "moved")
	git("checkout", "-q", "main")
	a.look("total.go")
	a.edit("total.go", "func Total", "// Total is three.\nfunc Total")
	a.hears(a.edit("total.go", "Sum(1, 2)", "Sum(1, 2, x)"), "undefined: x")
	a.hears(a.edit("total.go", "Sum(1, 2, x)", "Sum(1, 2)"), "no longer")
	git("stash", "-q")
	git("checkout", "-q", "moved")
	time.Sleep(300 * time.Millisecond) // fsmcp may hear of it
	a.look("total.go")
	said := a.hears(a.edit("total.go", "Sum(1, 2, 3)", "Sum(1, 2, y)"), "undefined: y")
	a.lacks(said, "redeclared", "undefined: Sum", "arguments", "old trouble")
}

// Of two workspace folders each has a server of its own, and answers name their files.
func TestTwoWorkspacesWithGopls(t *testing.T) {
	t.Parallel()
	a := newAgent(t, gopls(t), "one", "two")
	a.files(shop("one/"))
	a.files(shop("two/"))
	for i, dir := range []string{"one/", "two/"} {
		a.look(dir + "sum.go")
		a.edit(dir+"sum.go", "// Sum adds.", "// Sum adds two numbers.")
		name := fmt.Sprintf("word%d", i)
		place := []string{"\nsum.go:5:13: undefined: ", "two/sum.go:5:13: undefined: "}[i] // names are relative to the first folder
		said := a.hears(a.edit(dir+"sum.go", "return a + b", "return a + "+name), place+name)
		a.lacks(said, "old trouble")
	}
}
