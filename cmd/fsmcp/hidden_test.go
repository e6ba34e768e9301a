//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// peek is a change whose answer shows what the file holds, where that may be
// shown.
type peek struct {
	name     string
	settings string // the user's
	text     string // of the file at first; "" where before writes it
	before   func(p *person, path string)
	tool     string
	args     map[string]any
	book     bool
	written  bool // before reads nothing, which a client that cannot ask may not
}

const secretBook = `{"cells":[
 {"cell_type":"code","execution_count":null,"id":"a","metadata":{},"outputs":[],"source":"one"},
 {"cell_type":"code","execution_count":null,"id":"b","metadata":{},"outputs":[],"source":"key = '` + canary + `'"}
],"metadata":{},"nbformat":4,"nbformat_minor":5}
`

func peeks(t *testing.T) []peek {
	read := func(more map[string]any) func(p *person, path string) {
		return func(p *person, path string) {
			args := map[string]any{"file_path": path}
			for k, v := range more {
				args[k] = v
			}
			p.call("Read", args, false)
		}
	}
	line := read(map[string]any{"offset": 1, "limit": 1})
	writes := func(p *person, path string) {
		p.call("Write", map[string]any{"file_path": path, "content": "one\n"}, false)
	}
	outside := func(first func(p *person, path string), text string) func(p *person, path string) {
		return func(p *person, path string) {
			first(p, path)
			writeFile(t, "", path, text)
		}
	}
	write := map[string]any{"content": "mine\n"}
	edit := func(old string) map[string]any { return map[string]any{"old_string": old, "new_string": "new"} }
	hook := `{"hooks": {"afterFileEdited": [{"glob": "**", "command": ["sh", "-c", "for f in secret*; do echo ` + canary + ` >> $f; done"]}]}}`
	return []peek{
		{name: "Write of a changed file", before: outside(writes, "one\n"+canary+"\n"), tool: "Write", args: write, written: true},
		{name: "Edit of a changed file", before: outside(writes, "one\n"+canary+"\n"), tool: "Edit", args: edit("one"), written: true},
		{name: "Edit that is to be refused of a changed file", settings: `{"edit": {"whenChanged": "refuse"}}`, before: outside(writes, "one\n"+canary+"\n"), tool: "Edit", args: edit("one"), written: true},
		{name: "Write after which a hook changes the file", settings: hook, before: func(*person, string) {}, tool: "Write", args: write, written: true},
		{name: "Edit after which a hook changes the file", settings: hook, before: writes, tool: "Edit", args: edit("one"), written: true},
		{name: "Write of a file read in part", text: "one\n" + canary + "\n", before: line, tool: "Write", args: write},
		{name: "Write of a file read before", text: canary + "\n", before: read(nil), tool: "Write", args: write},
		{name: "Edit beside what was not shown", text: "one\n" + canary + "\n", before: line, tool: "Edit", args: edit("one")},
		{name: "Edit of a file that was never read", text: "key " + canary + "\n", before: func(*person, string) {}, tool: "Edit", args: edit("key"), written: true},
		{name: "Edit of what was not shown", text: "one\nkey " + canary + "\n", before: line, tool: "Edit", args: edit("key")},
		{name: "Edit that finds nothing", text: "one\n\tkey = " + canary + "\n", before: read(nil), tool: "Edit", args: edit("    key = CANARY")},
		{name: "cell that was not shown", text: secretBook, book: true, before: read(map[string]any{"cell_id": "a"}), tool: "NotebookEdit", args: map[string]any{"cell_id": "b", "new_source": "x"}},
		{name: "cell of a notebook that was never read", text: secretBook, book: true, before: func(*person, string) {}, tool: "NotebookEdit", args: map[string]any{"cell_id": "b", "new_source": "x"}},
		{name: "notebook that changed", text: strings.Replace(secretBook, canary, "two", 1), book: true, before: outside(read(nil), secretBook), tool: "NotebookEdit", args: map[string]any{"cell_id": "a", "new_source": "x"}},
		{name: "cell that is not there", text: strings.Replace(secretBook, `"id":"b"`, `"id":"`+canary+`"`, 1), book: true, before: read(nil), tool: "NotebookEdit", args: map[string]any{"cell_id": "c", "new_source": "x"}},
		{name: "notebook that is broken", text: secretBook, book: true, before: outside(read(nil), strings.Replace(secretBook, "]", canary, 1)), tool: "NotebookEdit", args: map[string]any{"cell_id": "a", "new_source": "x"}},
	}
}

// play makes the call of a peek after what comes before it. The user says yes to
// what comes before, and then what then says.
func (k peek) play(t *testing.T, s scene, then string, words ...string) (answer, *person) {
	t.Helper()
	f := newFort(t)
	path := f.abs("secret.txt")
	if k.book {
		path = f.abs("secret.ipynb")
	}
	if k.text != "" {
		f.put(path, k.text)
	}
	if k.settings != "" {
		f.put(f.home+"/.config/fsmcp/settings.json", k.settings)
	}
	s.dir, s.home = f.ws, f.home
	p := s.meet(t, append(words, f.ws)...)
	p.will("accept", "once")
	k.before(p, path)
	p.questions()
	if then == "decline" {
		p.will("decline", "")
	} else {
		p.will("accept", then)
	}
	args := map[string]any{"file_path": path}
	if k.book {
		args = map[string]any{"notebook_path": path}
	}
	for name, v := range k.args {
		args[name] = v
	}
	r, err := p.session.CallTool(t.Context(), &mcp.CallToolParams{Name: k.tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	a := answer{isError: r.IsError}
	for _, c := range r.Content {
		a.text += c.(*mcp.TextContent).Text
	}
	if _, ok := r.Meta["fsmcp/hash"]; ok {
		a.text += "(hash)"
	}
	return a, p
}

// TestAskedReadIsNotShownByChanges: where a Read would be asked for, no change
// shows what the file holds, whether the client can ask or not. The same changes
// show it where it may be read, and where the user has consented to this call.
func TestAskedReadIsNotShownByChanges(t *testing.T) {
	t.Parallel()
	asksRead, asksBoth := []string{"--ask", "Read(secret*)"}, []string{"--ask", "Read(secret*)", "--ask", "Edit(secret*)"}
	for i, k := range peeks(t) {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for _, revision := range someEras(i) {
				s, deaf := scene{revision: revision}, scene{revision: revision, deaf: true}
				if a, _ := k.play(t, s, "decline"); !shows(k, a) {
					t.Errorf("%s: it is not shown where it may be: %s", revision, a.text)
				}
				hidden := func(what string, a answer, p *person) {
					t.Helper()
					if shows(k, a) || strings.Contains(a.text, "(hash)") || len(p.questions()) > 0 {
						t.Errorf("%s, %s: it is shown or asked for: %s", revision, what, a.text)
					}
					if a.isError && !strings.Contains(a.text, "Read with file_path") {
						t.Errorf("%s, %s: the error names no Read: %s", revision, what, a.text)
					}
				}
				a, p := k.play(t, s, "decline", asksRead...)
				hidden("a user who declines", a, p)
				if k.written {
					a, p = k.play(t, deaf, "decline", asksRead...)
					hidden("a client that cannot ask", a, p)
				}
				yeses := []string{"once", "session"}
				if !shortrun.Full() { // one of both, for each case another
					yeses = yeses[i/2%2:][:1]
				}
				for _, yes := range yeses {
					a, p := k.play(t, s, yes, asksBoth...)
					if asked := p.questions(); !shows(k, a) || len(asked) != 1 || strings.Contains(asked[0], canary) {
						t.Errorf("%s: after a yes (%s) to %q: %s", revision, yes, asked, a.text)
					}
				}
			}
		})
	}
}

// shows reports whether an answer shows the secret. That a notebook is broken where
// it is, is part of it.
func shows(k peek, a answer) bool {
	return strings.Contains(a.text, canary) || strings.Contains(a.text, " at byte ")
}

// TestYesForTheSessionIsNoneToReading: a later change, which needs no question
// any more, shows nothing either.
func TestYesForTheSessionIsNoneToReading(t *testing.T) {
	t.Parallel()
	for _, revision := range bothEras {
		f := newFort(t)
		path := f.put("secret.txt", "one\n"+canary+"\n")
		p := scene{revision: revision, dir: f.ws, home: f.home}.meet(t, "--ask", "Read(secret*)", "--ask", "Edit(secret*)", f.ws)
		p.will("accept", "once")
		p.call("Read", map[string]any{"file_path": path}, false, canary)
		p.will("accept", "session")
		p.call("Edit", map[string]any{"file_path": path, "old_string": "one", "new_string": "two"}, false, canary)
		p.wasAsked("Read "+path, "Edit "+path)
		if a := p.try("Edit", map[string]any{"file_path": path, "old_string": "two", "new_string": "three"}); a.isError || strings.Contains(a.text, canary) {
			t.Errorf("%s: %+v", revision, a)
		}
		if a := p.try("Edit", map[string]any{"file_path": path, "old_string": "CANARY-4712", "new_string": "x"}); a.slug != "no_match" || strings.Contains(a.text, canary) {
			t.Errorf("%s: %+v", revision, a)
		}
		p.wasAsked()
		wantFile(t, path, "three\n"+canary+"\n")
	}
}

// TestHiddenTextIsNotGuessed: of a file read in part, a guess that is right and
// one that is wrong are answered alike.
func TestHiddenTextIsNotGuessed(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	path := f.put("secret.txt", "one\n"+strings.Repeat(canary+"\n", 2)+"key 1\n")
	p := scene{revision: bothEras[0], dir: f.ws, home: f.home}.meet(t, "--ask", "Read(secret*)", f.ws)
	for _, read := range []bool{false, true} {
		if read {
			p.will("accept", "once")
			p.call("Read", map[string]any{"file_path": path, "limit": 1}, false, "1\tone")
		}
		first := ""
		for _, old := range []string{canary, "CANARY-4712", "key 1", "key 2", "CANARY"} {
			for i, now := range []string{"x", "x", old + "  ", old + "  "} { // the last two are stripped to what is there
				a := p.try("Edit", map[string]any{"file_path": path, "old_string": old, "new_string": now, "replace_all": i%2 > 0})
				if first == "" {
					first = a.text
				}
				if !a.isError || a.text != first {
					t.Errorf("%q: %s\nbut another guess: %s", old, a.text, first)
				}
			}
		}
	}
	if b, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(b), "one\n"+canary) {
		t.Errorf("%q, %v", b, err)
	}
}
