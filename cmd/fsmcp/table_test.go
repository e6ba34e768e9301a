//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/conformance"
)

// TestTable plays every row of the permission table over the real binary: the
// file system of the table lies below the test's folder, with the rules
// rewritten alike, and what the client gets is compared with the row. Clients
// that can ask, of both eras, see the question and answer it no and then yes;
// one that cannot ask gets the refusal. fsmcp explain names what decides, which
// no answer to an allowed call does.
func TestTable(t *testing.T) {
	rows, err := conformance.Rows()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 81 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows {
		t.Run(fmt.Sprint(row.Number), func(t *testing.T) {
			t.Parallel()
			for _, revision := range someEras(row.Number) {
				playAsking(t, setTheStage(t, row), revision)
			}
			playDeaf(t, setTheStage(t, row))
			playExplain(t, setTheStage(t, row))
		})
	}
}

// stage is one row laid out on the disk.
type stage struct {
	conformance.Row
	root  string   // what stands for /
	words []string // of the command line, after serve
}

const (
	tableText     = "one\n"
	tableNotebook = `{"cells":[{"cell_type":"code","execution_count":null,"id":"a","metadata":{},"outputs":[],"source":"one"}],` +
		`"metadata":{},"nbformat":4,"nbformat_minor":5}` + "\n"
)

func setTheStage(t *testing.T, row conformance.Row) *stage {
	t.Helper()
	s := &stage{Row: row, root: t.TempDir()}
	s.Names, s.Rules = slices.Clone(row.Names), slices.Clone(row.Rules)
	for _, dir := range []string{conformance.Project, "/srv/x", "/opt/team/gen", "/docs", "/tmp", "/etc/ssl"} {
		s.mkdir(t, s.root+dir)
	}
	for i, name := range s.Names {
		s.Names[i] = s.root + name
	}
	s.writeSettings(t)
	s.words = []string{"--trust-project", "--permission-mode", s.Mode}
	if slices.ContainsFunc(s.Rules, func(r conformance.Rule) bool { return r.Source == conformance.Settings }) {
		s.words = append(s.words, "--settings", s.root+string(conformance.Settings))
	}
	s.words = append(s.words, s.root+conformance.Project)
	s.makeFile(t)
	return s
}

func (s *stage) mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

var (
	fromRoot = regexp.MustCompile(`\(//(home|srv|opt|docs|tmp|etc)\b`)
	mistaken = regexp.MustCompile(`\(/(home/u/proj/)`)
)

// below moves a rule's path below what stands for /.
func (s *stage) below(rule string) string {
	rule = fromRoot.ReplaceAllString(rule, "(/"+s.root+"/$1")
	return mistaken.ReplaceAllString(rule, "("+s.root+"/$1")
}

// writeSettings puts the row's rules into their files, a line each.
func (s *stage) writeSettings(t *testing.T) {
	t.Helper()
	files := map[conformance.Source]map[string][]string{}
	put := func(src conformance.Source, list, text string) {
		if files[src] == nil {
			files[src] = map[string][]string{}
		}
		files[src][list] = append(files[src][list], text)
	}
	for i, r := range s.Rules {
		s.Rules[i].Text = s.below(r.Text)
		put(r.Source, r.List, s.Rules[i].Text)
	}
	for _, dir := range s.AddDirs {
		put(conformance.ClaudeProject, "additionalDirectories", s.root+dir)
		s.mkdir(t, s.root+dir)
	}
	for src, permissions := range files {
		text, err := json.MarshalIndent(map[string]any{"permissions": permissions}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		s.mkdir(t, filepath.Dir(s.root+string(src)))
		writeFile(t, s.root, string(src), string(text))
	}
}

// makeFile makes the file of the row, and the link to it where it has two names.
func (s *stage) makeFile(t *testing.T) {
	t.Helper()
	asked, real := s.Names[0], s.Names[len(s.Names)-1]
	s.mkdir(t, filepath.Dir(real))
	if _, err := os.Lstat(real); err != nil && s.Tool != "Write" {
		text := tableText
		if s.Tool == "NotebookEdit" {
			text = tableNotebook
		}
		writeFile(t, "", real, text)
	}
	if asked == real {
		return
	}
	if s.FolderLink() {
		asked, real = filepath.Dir(asked), filepath.Dir(real)
	}
	s.mkdir(t, filepath.Dir(asked))
	if err := os.Symlink(real, asked); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) meet(t *testing.T, revision string, deaf bool) *person {
	t.Helper()
	return scene{revision: revision, dir: s.root, home: s.root + conformance.Home, deaf: deaf}.meet(t, s.words...)
}

// try makes the row's call. The file is read first, as it has to be, with
// consent where that is asked for.
func (s *stage) try(p *person) answer {
	p.t.Helper()
	name := s.Names[0]
	if s.Tool == "Edit" || s.Tool == "NotebookEdit" {
		says := p.says
		p.will("accept", "once")
		p.try("Read", map[string]any{"file_path": name})
		p.questions()
		p.says = says
	}
	args := map[string]any{"file_path": name}
	switch s.Tool {
	case "Write":
		args["content"] = "two\n"
	case "Edit":
		b, err := os.ReadFile(name)
		if err != nil {
			p.t.Fatal(err)
		}
		args["old_string"], args["new_string"] = string(b), "two\n"
	case "NotebookEdit":
		args = map[string]any{"notebook_path": name, "cell_id": "a", "new_source": "two"}
	}
	return p.try(s.Tool, args)
}

// done reports whether the call's effect is there: the text shown, or changed.
func (s *stage) done(t *testing.T, a answer) bool {
	t.Helper()
	if s.Tool == "Read" {
		return !a.isError && a.text != ""
	}
	b, err := os.ReadFile(s.Names[0])
	return err == nil && strings.Contains(string(b), "two")
}

// rule is the rule that decides the row, if it is one.
func (s *stage) rule() (r conformance.Rule, ok bool) {
	by := s.below(s.By)
	for _, r := range s.Rules {
		if by == r.Text || by == "dontAsk+ask "+r.Text {
			return r, true
		}
	}
	return r, false
}

// because returns the reason that the answer must give: the deciding rule as it stands in
// its file, with file and line, or a reason of the mode.
func (s *stage) because(t *testing.T) string {
	t.Helper()
	r, ok := s.rule()
	switch {
	case !ok && s.By == "mode default":
		return "Reason: " + s.reasonOfMode()
	case !ok:
		return "Reason: " + s.By
	case s.Number == 75: // the rule is on the name that the link leads to
		return "Rule: a rule on what this name leads to"
	}
	file := s.root + string(r.Source)
	return fmt.Sprintf("Rule: %s (%s:%d)", r.Text, file, lineOf(t, file, r.List, r.Text))
}

// reasonOfMode returns the mode's reason in a user's words.
func (s *stage) reasonOfMode() string {
	inside := func(name string) bool {
		return slices.ContainsFunc(append([]string{conformance.Project}, s.AddDirs...), func(dir string) bool { return strings.HasPrefix(name, s.root+dir+"/") })
	}
	switch {
	case slices.ContainsFunc(s.Names, func(name string) bool { return !inside(name) }):
		return "outside the workspace"
	case s.Mode == "dontAsk":
		return "mode dontAsk refuses changes that no rule allows"
	}
	return "mode default asks before changes"
}

// lineOf finds the line of a rule in a list of a settings file.
func lineOf(t *testing.T, file, list, rule string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(rule)
	if err != nil {
		t.Fatal(err)
	}
	in := false
	for i, line := range strings.Split(string(text), "\n") {
		if in && strings.Contains(line, string(quoted)) {
			return i + 1
		}
		in = (in || strings.Contains(line, `"`+list+`": [`)) && !strings.Contains(line, "]")
	}
	t.Fatalf("no %s rule %s in %s:\n%s", list, rule, file, text)
	return 0
}

func playAsking(t *testing.T, s *stage, revision string) {
	t.Helper()
	p := s.meet(t, revision, false)
	p.will("decline", "")
	a := s.try(p)
	asked := p.questions()
	switch s.Verdict {
	case "allow":
		if len(asked) > 0 || a.isError || !s.done(t, a) {
			t.Errorf("%s: not allowed: asked %q, answered %s", revision, asked, a.text)
		}
	case "deny":
		if len(asked) > 0 {
			t.Errorf("%s: asked %q", revision, asked)
		}
		s.wantDenied(t, a)
	case "ask":
		because := s.because(t)
		if want := fmt.Sprintf("%s %s?\n%s", s.Tool, s.Names[0], because); len(asked) != 1 || !strings.HasPrefix(asked[0], want) {
			t.Errorf("%s: asked %q, want %q", revision, asked, want)
		}
		if a.slug != "denied" || !strings.Contains(a.text, because) || !strings.Contains(a.text, "the user declined") || s.done(t, a) {
			t.Errorf("%s: the user declined: %+v", revision, a)
		}
		p.will("accept", "once")
		if a = s.try(p); a.isError || !s.done(t, a) {
			t.Errorf("%s: the user accepted: %+v", revision, a)
		}
		if asked = p.questions(); len(asked) != 1 {
			t.Errorf("%s: asked %q", revision, asked)
		}
	}
}

// playDeaf plays the row for a client that cannot ask: what would be asked is
// refused, in other words than what is denied.
func playDeaf(t *testing.T, s *stage) {
	t.Helper()
	a := s.try(s.meet(t, bothEras[0], true))
	switch s.Verdict {
	case "allow":
		if a.isError || !s.done(t, a) {
			t.Errorf("cannot ask: %+v", a)
		}
	case "deny":
		s.wantDenied(t, a)
	case "ask":
		for _, want := range []string{s.Names[0], "needs the user's consent", s.because(t)} {
			if a.slug != "denied" || !strings.Contains(a.text, want) || s.done(t, a) {
				t.Errorf("cannot ask: %+v without %q", a, want)
			}
		}
	}
}

// playExplain asks on the command line, where the user may know everything.
func playExplain(t *testing.T, s *stage) {
	t.Helper()
	words := append([]string{"explain", "--json"}, s.words[:len(s.words)-1]...)
	cmd := exec.Command(program, append(words, "--dir", s.words[len(s.words)-1], s.Names[0])...)
	cmd.Args[0] = "fsmcp"
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), "HOME="+s.root+conformance.Home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "CLAUDE_PROJECT_DIR=", "CLAUDE_CONFIG_DIR=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type deciding struct {
		Verdict, Reason, Rule, Source string
		Line                          int
	}
	var got struct {
		Path                            string
		Names                           []string
		Read, Edit, Write, NotebookEdit deciding
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	d := map[string]deciding{"Read": got.Read, "Edit": got.Edit, "Write": got.Write, "NotebookEdit": got.NotebookEdit}[s.Tool]
	want := deciding{Verdict: s.Verdict, Reason: s.By}
	if s.By == "mode default" { // the table's word for every mode that asks
		want.Reason = s.reasonOfMode()
	}
	if r, ok := s.rule(); ok {
		file := s.root + string(r.Source)
		want = deciding{Verdict: s.Verdict, Reason: r.List + " rule", Rule: r.Text, Source: file, Line: lineOf(t, file, r.List, r.Text)}
	}
	if d != want {
		t.Errorf("explain says %+v, want %+v", d, want)
	}
	if got.Path != s.Names[0] || !slices.Equal(got.Names, s.Names) {
		t.Errorf("explain considered %q as %q, want %q", got.Path, got.Names, s.Names)
	}
}

func (s *stage) wantDenied(t *testing.T, a answer) {
	t.Helper()
	if s.By == "plan mode" {
		if a.slug != "plan_mode" || a.code != 13 || !strings.Contains(a.text, "Plan mode") || s.done(t, a) {
			t.Errorf("in plan mode: %+v", a)
		}
		return
	}
	for _, want := range []string{"denied by your permission settings", "Path: " + s.Names[0] + "\n", s.because(t)} {
		if a.slug != "denied" || !strings.Contains(a.text, want) || s.done(t, a) {
			t.Errorf("denied: %+v without %q", a, want)
		}
	}
}
