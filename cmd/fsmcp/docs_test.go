//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/tailscale/hujson"
)

// TestDocs runs the examples of README.md and docs/*.md out of the pages themselves, in
// the order in which they stand there, each page from an empty workspace and home. Every
// fenced block is an example, by its first line:
//
//   - ```LANGUAGE FILE is a file, which gets the block as its text. One that begins with
//     #! can be run; JSON has to parse, and settings have to keep to their schema.
//   - ```console is a transcript. "$ COMMAND" is given to sh in the workspace, with "> "
//     before its further lines; the following lines are its output on both of its
//     streams. "-> TOOL JSON" is a call to a server, "<- " begins its answer and three
//     blanks each further line of it; each block of it begins a line, one that is no text
//     as its kind in parentheses. A refusal reads "<- refused, code N SLUG: …". The calls
//     of one block are one session.
//   - ```text quotes answers: each of its lines stands in a script of testdata/script, or is
//     expected by a test of language servers.
//   - ```sh holds commands of README.md, which TestFirstRun runs.
//
// In the pages the home is /home/you and the workspace /home/you/project. An ellipsis
// stands for any text in its line, and alone in a line for any lines. Times stand for any
// times, and ids of changes for those that the page's commands have really printed.
func TestDocs(t *testing.T) {
	dir := t.TempDir()
	for _, page := range docsPages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if missing := lacking(string(text)); missing != "" {
			t.Logf("!!! NOT TESTED: %s, for %s is missing !!!", page, missing)
			continue
		}
		script, err := scriptOf(filepath.Base(page), string(text))
		if err != nil {
			t.Errorf("%s: %v", page, err)
		}
		if script == "" {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(page), ".md") + ".txtar"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmds := scriptCommands()
	cmds["place"], cmds["transcript"] = place, runTranscript
	testscript.Run(t, testscript.Params{Dir: dir, Setup: setUpScript, Cmds: cmds, Condition: scriptCondition})
}

// docsPages lists README.md and the pages of docs.
func docsPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	return append(pages, filepath.Join("..", "..", "README.md"))
}

// lacking names a program that a page's examples use and the machine lacks.
func lacking(page string) string {
	for _, program := range []string{"jq", "gofmt"} {
		if _, err := exec.LookPath(program); err != nil && strings.Contains(page, program) {
			return program
		}
	}
	return ""
}

var fence = regexp.MustCompile("(?ms)^```(\\w+)[ \t]*([^\n]*)\n(.*?)^```$")

// scriptOf makes a script of a page: one command for each example, and the examples as
// its files. A block that is no example is an error, and so is one that does not end.
func scriptOf(name, page string) (string, error) {
	var commands, files strings.Builder
	if marks := regexp.MustCompile("(?m)^[ \t]*```").FindAllString(page, -1); len(marks) != 2*len(fence.FindAllString(page, -1)) {
		return "", errors.New("a block has no language, is indented or does not end")
	}
	for i, m := range fence.FindAllStringSubmatchIndex(page, -1) {
		language, file, body := page[m[2]:m[3]], page[m[4]:m[5]], page[m[6]:m[7]]
		example := fmt.Sprintf(".examples/%d", i)
		line := 1 + strings.Count(page[:m[0]], "\n")
		switch {
		case file != "":
			fmt.Fprintf(&commands, "# line %d\nplace %s %s\n", line, example, file)
		case language == "console":
			fmt.Fprintf(&commands, "# line %d\ntranscript %s\n", line, example)
		case language == "text":
			if err := quoted(body); err != nil {
				return "", fmt.Errorf("line %d: %w", line, err)
			}
			continue
		case language == "sh" && name == "README.md":
			continue
		default:
			return "", fmt.Errorf("line %d: no test runs this block", line)
		}
		fmt.Fprintf(&files, "-- %s --\n%s", example, body)
	}
	return commands.String() + files.String(), nil
}

// quoted checks that each line of a text stands in a script of testdata/script.
func quoted(text string) error {
	scripts, err := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	if err != nil {
		return err
	}
	scripts = append(scripts, "languageservers_test.go")
	missing := map[string]bool{}
	for line := range strings.Lines(text) {
		missing[strings.TrimSpace(line)] = true
	}
	for _, name := range scripts {
		script, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for line := range missing {
			if strings.Contains(string(script), line) {
				delete(missing, line)
			}
		}
	}
	for line := range missing {
		return fmt.Errorf("no script holds %q", line)
	}
	return nil
}

// Where the pages are at home.
const (
	docsHome = "/home/you"
	docsWork = docsHome + "/project"
)

// place EXAMPLE FILE makes the file.
func place(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "place EXAMPLE FILE")
	d := driverOf(ts)
	name := args[1]
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		name = d.home + rest
	}
	name = ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
	text, mode := d.toDisk(ts.ReadFile(args[0])), os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	ts.Check(os.WriteFile(name, []byte(text), mode))
	if filepath.Ext(name) == ".json" {
		_, err := hujson.Parse([]byte(text))
		ts.Check(err)
	}
	if strings.Contains(filepath.Base(name), "settings") && filepath.Ext(name) == ".json" {
		ts.Check(asSettings(text))
	}
}

// asSettings holds a settings file against the schema.
func asSettings(text string) error {
	plain, err := hujson.Standardize([]byte(text))
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(plain, &v); err != nil {
		return err
	}
	schema, err := jsonschema.Compile(filepath.Join("..", "..", "schemas", "settings.schema.json"))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

func (d *driver) toDisk(s string) string {
	return strings.NewReplacer(docsWork, d.work, docsHome, d.home).Replace(s)
}

func (d *driver) toPage(s string) string {
	return strings.NewReplacer(d.home, docsHome, d.work, docsWork).Replace(s)
}

// step is one command or call of a transcript, and what comes of it.
type step struct {
	command    string // for sh, or
	tool, args string
	want       []string
}

func steps(text string) (all []step, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		var last *step
		if len(all) > 0 {
			last = &all[len(all)-1]
		}
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, step{command: command})
			continue
		}
		if call, ok := strings.CutPrefix(line, "-> "); ok {
			tool, args, _ := strings.Cut(call, " ")
			all = append(all, step{tool: tool, args: args})
			continue
		}
		if last == nil {
			return nil, fmt.Errorf("%q stands before any command", line)
		}
		if more, ok := strings.CutPrefix(line, "> "); ok && last.command != "" && len(last.want) == 0 {
			last.command += "\n" + more
			continue
		}
		if last.tool != "" {
			prefix := "   "
			if len(last.want) == 0 {
				prefix = "<- "
			}
			rest, ok := strings.CutPrefix(line, prefix)
			if !ok && line != "" {
				return nil, fmt.Errorf("%q does not begin with %q", line, prefix)
			}
			line = rest
		}
		last.want = append(last.want, line)
	}
	for i := range all { // blank lines between commands are for the reader's eye
		for n := len(all[i].want); n > 0 && all[i].want[n-1] == ""; n-- {
			all[i].want = all[i].want[:n-1]
		}
	}
	return all, nil
}

// runTranscript EXAMPLE does what stands there and compares.
func runTranscript(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "transcript EXAMPLE")
	d := driverOf(ts)
	all, err := steps(ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(d.shutDown())
	if d.ids == nil {
		d.ids = map[string]string{}
	}
	for _, s := range all {
		var got string
		if s.command != "" {
			got = d.shell(ts, s.command)
		} else {
			got = d.called(ts, s)
		}
		if err := d.matches(s.want, strings.TrimRight(d.toPage(got), "\n")); err != nil {
			ts.Fatalf("%s%s %s: %v", s.command, s.tool, s.args, err)
		}
	}
}

// shell runs a command in the workspace. A server that runs has heard of what the
// command did when it answers the next call: see entry_scripts.go.
func (d *driver) shell(ts *testscript.TestScript, command string) string {
	for page, real := range d.ids {
		command = strings.ReplaceAll(command, page, real)
	}
	cmd := exec.Command("sh", "-c", d.toDisk(command))
	cmd.Dir, cmd.Env = d.work, d.environment(ts)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		ts.Check(err)
	}
	return string(out)
}

func (d *driver) called(ts *testscript.TestScript, s step) string {
	if d.client == nil {
		d.serve(ts, false, nil)
	}
	r, err := d.client.Call(s.tool, json.RawMessage(d.toDisk(s.args)))
	ts.Check(err)
	var answer struct {
		Content []struct{ Type, Text, MimeType string }
	}
	ts.Check(json.Unmarshal(r.Raw, &answer))
	var parts []string
	for _, b := range answer.Content {
		if b.Type != "text" {
			b.Text = "(" + b.MimeType + ")"
		}
		parts = append(parts, b.Text)
	}
	text := strings.Join(parts, "\n")
	if r.IsError {
		return fmt.Sprintf("refused, code %d %s: %s", r.Code, r.Slug, text)
	}
	return text
}

// matches compares what came with the lines of the page.
func (d *driver) matches(want []string, got string) error {
	if strings.Join(want, "\n") == got {
		return nil
	}
	pattern, ids := d.pattern(want)
	m := regexp.MustCompile(pattern).FindStringSubmatch(got)
	if m == nil {
		return fmt.Errorf("is\n%s\nand should be\n%s", got, strings.Join(want, "\n"))
	}
	for i, id := range ids {
		d.ids[id] = m[i+1]
	}
	return nil
}

// variable marks text that stands for something else in a page.
var variable = regexp.MustCompile(`…|\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?|\b[0-9a-z]{8}-\d+\b`)

const (
	anyTime = `\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?`
	anyID   = `([0-9a-z]{8}-\d+)`
)

// pattern is an expression that finds what lines stand for; each of ids is one
// that was not known, and found by the group of the same number.
func (d *driver) pattern(lines []string) (pattern string, ids []string) {
	var b strings.Builder
	b.WriteString(`\A`)
	seen := map[string]bool{}
	for i, line := range lines {
		newline := "\n"
		if i == len(lines)-1 {
			newline = `\n?`
		}
		if line == "…" {
			b.WriteString(`(?:[^\n]*\n)*?`)
			if i == len(lines)-1 {
				b.WriteString(`[^\n]*`)
			}
			continue
		}
		at := 0
		for _, m := range variable.FindAllStringIndex(line, -1) {
			b.WriteString(regexp.QuoteMeta(line[at:m[0]]))
			at = m[1]
			word := line[m[0]:m[1]]
			real, known := d.ids[word]
			switch {
			case word == "…":
				b.WriteString(`[^\n]*`)
			case word[4] == '-' && len(word) >= len(time.DateTime):
				b.WriteString(anyTime)
			case known:
				b.WriteString(regexp.QuoteMeta(real))
			case seen[word]:
				b.WriteString(`[0-9a-z]{8}-\d+`)
			default:
				seen[word] = true
				ids = append(ids, word)
				b.WriteString(anyID)
			}
		}
		b.WriteString(regexp.QuoteMeta(line[at:]) + newline)
	}
	return b.String() + `\z`, ids
}

// TestDocsAreHeld shows that a page that tells something else fails.
func TestDocsAreHeld(t *testing.T) {
	d := &driver{ids: map[string]string{}}
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a\n…\nz", "a\nb\nc\nz", true},
		{"a\n…\nz", "a\nz", true},
		{"a\n…\nz", "b\nz", false},
		{"a … z", "a b c z", true},
		{"a … z", "a b\nc z", false},
		{"a", "a\nb", false},
		{"a\n…", "a\nb\nc", true},
		{"", "a", false},
		{"k3x9m2pq-1 2026-11-21 10:20:30 (a)", "aaaaaaaa-7 2031-01-02 03:04:05 (a)", true},
		{"k3x9m2pq-1 again", "aaaaaaaa-7 again", true},
		{"k3x9m2pq-1 another", "bbbbbbbb-7 another", false},
		{"k3x9m2pq-2 new", "none new", false},
	} {
		if err := d.matches(strings.Split(c.want, "\n"), c.got); (err == nil) != c.ok {
			t.Errorf("%q for %q: %v", c.want, c.got, err)
		}
	}
	if asSettings(`{"hints": false, /* fine */ }`) != nil || asSettings(`{"hint": false}`) == nil {
		t.Error("settings are not held against their schema")
	}
	if _, err := steps("said before any command\n"); err == nil {
		t.Error("a transcript that begins without a command passes")
	}
	for _, page := range []string{"```sh\nmake\n```\n", "```\nno language\n```\n", "```json\n{}\n```\n", "```text\nfsmcp never says this\n```\n", "```go main.go\nno end\n"} {
		if _, err := scriptOf("page.md", page); err == nil {
			t.Errorf("%q passes, and no test runs it", page)
		}
	}
	if _, err := steps("-> Read {}\nno arrow\n"); err == nil {
		t.Error("an answer without its arrow passes")
	}
}
