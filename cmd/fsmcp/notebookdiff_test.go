//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/notebook"
)

// cellEdit is one edit of one cell of a committed notebook, in a file of its own.
type cellEdit struct {
	file  string
	first int // line of the file in which the cell begins
	last  int // and in which it ends
	mode  string
	made  string
}

// TestGitShowsOnlyTheCell edits every cell of every notebook in testdata, in
// each mode, in a git repository: the diff shows lines of that cell and no
// others.
func TestGitShowsOnlyTheCell(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("!!! NOT TESTED: git is missing !!!")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "core.autocrlf=false", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "diff.external="}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	edits := layOut(t, dir)
	git("add", ".")
	git("commit", "-q", "-m", "as they were")

	c := serveIn(t, dir)
	for i := range edits {
		edits[i].make(t, c, dir)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	hunks := readHunks(t, git("diff", "--no-color", "-U0", "--no-ext-diff"))
	for _, e := range edits {
		e.judge(t, hunks[e.file])
	}
	// One of them as a person sees it.
	stat := git("diff", "--stat", "--", "jupyterlab_4-replace-1.ipynb")
	if want := " | 17 +++--------------\n 1 file changed, 3 insertions(+), 14 deletions(-)\n"; !strings.HasSuffix(stat, want) {
		t.Errorf("git diff --stat shows\n%s", stat)
	}
	t.Logf("%d edits of single cells; one of them:\n%s", len(edits), stat)
}

// layOut copies the notebooks that can be edited, one copy for each edit.
func layOut(t *testing.T, dir string) []cellEdit {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "..", "testdata", "notebooks", "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var edits []cellEdit
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := notebook.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if nb.Editable() != nil {
			continue
		}
		lineAt := func(off int64) int { return bytes.Count(raw[:off], []byte("\n")) + 1 }
		for _, cell := range nb.Cells() {
			f := nb.Fields(cell.Index)
			for _, mode := range []string{"replace", "insert", "delete"} {
				e := cellEdit{
					file:  fmt.Sprintf("%s-%s-%d.ipynb", strings.TrimSuffix(filepath.Base(name), ".ipynb"), mode, cell.Index),
					first: lineAt(int64(f.Whole.Start())), last: lineAt(int64(f.Whole.End())), mode: mode,
					made: cell.SourceText() + "# edited",
				}
				if at, err := nb.Find(fmt.Sprint("cell-", cell.Index)); err != nil || at != cell.Index {
					continue // another cell bears that name
				}
				if err := os.WriteFile(filepath.Join(dir, e.file), raw, 0o666); err != nil {
					t.Fatal(err)
				}
				edits = append(edits, e)
			}
		}
	}
	if len(edits) < 300 {
		t.Fatalf("only %d edits", len(edits))
	}
	return edits
}

func serveIn(t *testing.T, dir string) *mcptest.Client {
	t.Helper()
	c, err := mcptest.Start(mcptest.Options{Validate: true,
		Path: program, Args: []string{"serve", dir}, Dir: dir, Stderr: os.Stderr,
		Env: append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "FSMCP_DURABILITY=none"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(mcptest.Latest); err != nil {
		t.Fatal(err)
	}
	return c
}

func (e cellEdit) make(t *testing.T, c *mcptest.Client, dir string) {
	t.Helper()
	path := filepath.Join(dir, e.file)
	index := e.file[strings.LastIndexByte(e.file, '-')+1 : strings.LastIndexByte(e.file, '.')]
	edit := map[string]any{"notebook_path": path, "cell_id": "cell-" + index, "edit_mode": e.mode}
	switch e.mode {
	case "replace":
		edit["new_source"] = e.made
	case "insert":
		edit["new_source"], edit["cell_type"] = "x = 1\ny = 2", "code"
	}
	for _, call := range []struct {
		tool string
		args map[string]any
	}{{"Read", map[string]any{"file_path": path}}, {"NotebookEdit", edit}} {
		res, err := c.Call(call.tool, call.args)
		if err != nil || res.IsError {
			t.Fatalf("%s %v: %v %s", call.tool, call.args, err, res.Text)
		}
	}
}

// hunk is one place that a diff shows: so many old lines from first on became
// so many new ones.
type hunk struct{ first, old, new int }

var hunkLine = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

func readHunks(t *testing.T, diff string) map[string][]hunk {
	t.Helper()
	out := map[string][]hunk{}
	file := ""
	count := func(s string) int {
		if s == "" {
			return 1
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for line := range strings.Lines(diff) {
		if rest, ok := strings.CutPrefix(line, "--- a/"); ok {
			file = strings.TrimSpace(rest)
		}
		if m := hunkLine.FindStringSubmatch(line); m != nil {
			out[file] = append(out[file], hunk{count(m[1]), count(m[2]), count(m[3])})
		}
	}
	return out
}

// slack is the distance from the cell at which git may show a change, if the added or
// removed lines equal their neighbours.
const slack = 3

// judge holds the diff of one edit against the lines of its cell. An insert may
// show a comma behind the cell it follows; a delete one in front of it, or the
// brackets of the list where it was the only cell.
func (e cellEdit) judge(t *testing.T, hunks []hunk) {
	t.Helper()
	if len(hunks) == 0 {
		t.Errorf("%s: git shows no change", e.file)
	}
	removed, added := 0, 0
	for _, h := range hunks {
		removed, added = removed+h.old, added+h.new
		if from, to := h.first, h.first+max(h.old, 1)-1; from < e.first-slack || to > e.last+slack || e.mode == "replace" && h.old > 0 && (from < e.first || to > e.last) {
			t.Errorf("%s: lines %d-%d are shown as changed, the cell has %d-%d", e.file, from, to, e.first, e.last)
		}
	}
	lines := e.last - e.first + 1
	switch e.mode {
	case "insert":
		if removed > 1 {
			t.Errorf("%s: an insert removes %d lines", e.file, removed)
		}
	case "delete":
		if added > 1 || removed > lines+2 {
			t.Errorf("%s: deleting %d lines removes %d and adds %d", e.file, lines, removed, added)
		}
	default:
		if added > removed+slack {
			t.Errorf("%s: a replace removes %d lines and adds %d", e.file, removed, added)
		}
	}
}
