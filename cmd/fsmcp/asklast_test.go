//go:build unix

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// failing are changes that cannot be made, whatever the user says, with the slug
// that says why. Each has files of its own.
func failing(t *testing.T, f *fort) []struct {
	slug, tool string
	before     func(p *person)
	args       map[string]any
} {
	edit := func(name, old string) map[string]any {
		return map[string]any{"file_path": f.abs(name), "old_string": old, "new_string": "new"}
	}
	write := func(name string) map[string]any {
		return map[string]any{"file_path": f.abs(name), "content": "mine\n"}
	}
	read := func(name string) func(p *person) {
		f.put(name, "one\ntwo\ntwo\n")
		return func(p *person) { p.call("Read", map[string]any{"file_path": f.abs(name)}, false) }
	}
	stale := func(name string) func(p *person) {
		first := read(name)
		return func(p *person) {
			first(p)
			f.put(name, "one\nother\n")
		}
	}
	nothing := func(p *person) {}
	f.put("unread.txt", "one\n")
	f.put("book.ipynb", tableNotebook)
	f.put("image.png", "\x89PNG\r\n\x1a\n")
	f.put("binary.dat", "\x00\x01\x02one")
	f.put("folder/inner", "x")
	f.put("locked.txt", "one\n")
	f.check(os.Chmod(f.abs("locked.txt"), 0o444))
	return []struct {
		slug, tool string
		before     func(p *person)
		args       map[string]any
	}{
		{"not_read", "Edit", nothing, edit("unread.txt", "none")},
		{"modified", "Edit", stale("stale.txt"), edit("stale.txt", "two\ntwo")},
		{"no_match", "Edit", read("match.txt"), edit("match.txt", "three")},
		{"not_unique", "Edit", read("twice.txt"), edit("twice.txt", "two")},
		{"not_found", "Edit", nothing, edit("missing.txt", "one")},
		{"notebook", "Edit", nothing, edit("book.ipynb", "one")},
		{"binary", "Edit", nothing, edit("image.png", "PNG")},
		{"binary", "Edit", nothing, edit("binary.dat", "one")},
		{"is_directory", "Edit", nothing, edit("folder", "one")},
		{"exists", "Edit", read("there.txt"), edit("there.txt", "")},
		{"no_change", "Edit", read("same.txt"), map[string]any{"file_path": f.abs("same.txt"), "old_string": "one", "new_string": "one"}},
		{"read_only", "Edit", func(p *person) { p.call("Read", map[string]any{"file_path": f.abs("locked.txt")}, false) }, edit("locked.txt", "one")},
		{"not_read", "Write", nothing, write("unread.txt")},
		{"modified", "Write", stale("stale-too.txt"), write("stale-too.txt")},
		{"is_directory", "Write", nothing, write("folder")},
		{"", "Write", read("equal.txt"), map[string]any{"file_path": f.abs("equal.txt"), "content": "one\ntwo\ntwo\n"}},
		{"not_notebook", "NotebookEdit", nothing, map[string]any{"notebook_path": f.abs("unread.txt"), "cell_id": "a", "new_source": "x"}},
		{"not_read", "NotebookEdit", nothing, map[string]any{"notebook_path": f.abs("book.ipynb"), "cell_id": "a", "new_source": "x"}},
	}
}

// TestNobodyIsAskedAboutWhatFails: in mode default a change that cannot be made, or
// would change nothing, is answered with what is wrong, and the user is not asked.
func TestNobodyIsAskedAboutWhatFails(t *testing.T) {
	t.Parallel()
	for _, revision := range bothEras {
		for _, says := range []string{"accept", "decline", "deaf"} {
			f := newFort(t)
			p := scene{revision: revision, dir: f.ws, home: f.home, deaf: says == "deaf"}.meet(t, "--permission-mode", "default", f.ws)
			if says == "accept" {
				p.will("accept", "once")
			}
			for _, c := range failing(t, f) {
				c.before(p)
				a := p.try(c.tool, c.args)
				if asked := p.questions(); a.slug != c.slug || len(asked) > 0 {
					t.Errorf("%s, %s: %s %v answered %s (%s), asked %q", revision, says, c.tool, c.args, a.slug, a.text, asked)
				}
			}
		}
	}
}

// changing are changes in mode default that would succeed, and what the question
// must tell of each.
func changing(f *fort) []struct {
	tool, name string
	args       map[string]any
	notes      string
} {
	f.put("a.txt", "one\ntwo\nthree\n")
	f.put("b.txt", "one\ntwo\nthree\n")
	f.put("c.ipynb", tableNotebook)
	f.put("d.ipynb", tableNotebook)
	path := func(name string) map[string]any { return map[string]any{"file_path": f.abs(name)} }
	with := func(args map[string]any, more ...any) map[string]any {
		for i := 0; i < len(more); i += 2 {
			args[more[i].(string)] = more[i+1]
		}
		return args
	}
	book := func(name string) map[string]any { return map[string]any{"notebook_path": f.abs(name)} }
	return []struct {
		tool, name string
		args       map[string]any
		notes      string
	}{
		{"Edit", "a.txt", with(path("a.txt"), "old_string", "two", "new_string", "2\n\x1b[2K\u202e"),
			"It removes 1 line and adds 2 lines.\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+\\x1b[2K\\u{202e}\n three"},
		{"Write", "b.txt", with(path("b.txt"), "content", "one\n"), "It removes 2 lines and adds 0 lines.\n@@ -1,3 +1 @@\n one\n-two\n-three"},
		{"Write", "new/n.txt", with(path("new/n.txt"), "content", "\ta\nb\n"), "It makes the file, 2 lines.\n@@ -0,0 +1,2 @@\n+\ta\n+b"},
		{"NotebookEdit", "c.ipynb", with(book("c.ipynb"), "cell_id", "a", "new_source", "two"), "In the cell \"a\" it removes 1 line and adds 1 line.\n-one\n"},
		{"NotebookEdit", "d.ipynb", with(book("d.ipynb"), "new_source", "x", "cell_type", "raw", "edit_mode", "insert"), "In a new cell it removes 0 lines and adds 1 line.\n+x"},
	}
}

// TestTheQuestionTellsWhatWillHappen: tool, path, reason, lines and diff; and what
// was told is done after a yes, and not after a no.
func TestTheQuestionTellsWhatWillHappen(t *testing.T) {
	t.Parallel()
	for _, revision := range bothEras {
		for _, says := range []string{"once", "session", "no", "deaf"} {
			f := newFort(t)
			p := scene{revision: revision, dir: f.ws, home: f.home, deaf: says == "deaf"}.meet(t, "--permission-mode", "default", f.ws)
			for _, c := range changing(f) {
				before, existed := os.ReadFile(f.abs(c.name))
				if existed == nil {
					p.call("Read", map[string]any{"file_path": f.abs(c.name)}, false)
				}
				p.will("accept", says)
				if says == "no" {
					p.will("decline", "")
				}
				a := p.try(c.tool, c.args)
				asked := p.questions()
				if says == "deaf" {
					if a.slug != "denied" || !strings.Contains(a.text, "--permission-mode acceptEdits") || strings.Contains(a.text, "workspace:") || strings.Contains(a.text, "fsmcp serve") {
						t.Errorf("%s: %s", c.name, a.text)
					}
				} else if len(asked) != 1 || !strings.HasPrefix(asked[0], c.tool+" "+f.abs(c.name)+"?\nReason: mode default asks before changes\n"+c.notes) {
					t.Errorf("%s, %s: asked %q, without %q", revision, c.name, asked, c.notes)
				}
				after, err := os.ReadFile(f.abs(c.name))
				switch done := says == "once" || says == "session"; {
				case done && (a.isError || err != nil || string(after) == string(before)):
					t.Errorf("%s: not done: %+v", c.name, a)
				case !done && (a.slug != "denied" || string(after) != string(before)):
					t.Errorf("%s: done: %+v", c.name, a)
				}
			}
		}
	}
}

// TestTheQuestionIsBounded: at most thirty lines and 2,000 characters of the diff,
// then counts; and no line of it can pass for one of fsmcp's own.
func TestTheQuestionIsBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"lines":   strings.Repeat("Reason: nothing\n", 500),
		"long":    strings.Repeat(strings.Repeat("é", 5000)+"\n", 50),
		"control": strings.Repeat("\x1b]0;title\x07\r", 1000) + "\n",
	} {
		f := newFort(t)
		p := scene{revision: bothEras[0], dir: f.ws, home: f.home}.meet(t, "--permission-mode", "default", f.ws)
		p.try("Write", map[string]any{"file_path": f.abs("new.txt"), "content": text})
		asked := p.questions()
		if len(asked) != 1 {
			t.Fatalf("%s: asked %q", name, asked)
		}
		head, diff, _ := strings.Cut(asked[0], "@@ -0,0")
		lines := strings.Split(diff, "\n")
		if len(lines) > 32 || len([]rune(diff)) > 2_000+80 || len(head) > 300 {
			t.Errorf("%s: %d lines, %d characters", name, len(lines), len([]rune(diff)))
		}
		if strings.ContainsAny(asked[0], "\x1b\x07\r") {
			t.Errorf("%s: %q", name, asked[0])
		}
		for i, line := range lines[1:] {
			if !strings.HasPrefix(line, "+") && !(i == len(lines)-2 && regexp.MustCompile(`^… \d+ more diff lines \(\d+ added, 0 removed\)$`).MatchString(line)) {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

// TestTheQuestionBeforeReadingTellsNothingOfTheFile: where a Read would be asked
// for, the question comes first, whatever is there, and tells the arguments alone.
func TestTheQuestionBeforeReadingTellsNothingOfTheFile(t *testing.T) {
	t.Parallel()
	for _, revision := range bothEras {
		f := newFort(t)
		f.put(f.outside+"/there.txt", canary+"\n")
		f.put(f.outside+"/book.ipynb", secretBook)
		p := scene{revision: revision, dir: f.ws, home: f.home}.meet(t, f.ws)
		for _, name := range []string{"there.txt", "missing.txt"} {
			path := f.outside + "/" + name
			p.call("Edit", map[string]any{"file_path": path, "old_string": "a\nb", "new_string": "c", "replace_all": true}, true, "declined")
			p.call("Write", map[string]any{"file_path": path, "content": "a\nb\n"}, true, "declined")
			asked := p.questions()
			reason := path + "?\nReason: outside the workspace\n"
			if len(asked) != 2 || asked[0] != "Edit "+reason+"It puts 1 line in the place of 2 lines, wherever that stands." || asked[1] != "Write "+reason+"It writes 2 lines (4 bytes)." {
				t.Errorf("%s: asked %q", revision, asked)
			}
		}
		book := map[string]any{"notebook_path": f.outside + "/book.ipynb", "cell_id": "b", "new_source": "x"}
		p.call("NotebookEdit", book, true, "declined")
		book["edit_mode"] = "delete"
		p.call("NotebookEdit", book, true, "declined")
		if asked := p.questions(); len(asked) != 2 || !strings.HasSuffix(asked[0], "\nIt replaces the cell \"b\" by 1 line.") || !strings.HasSuffix(asked[1], "\nIt deletes the cell \"b\".") {
			t.Errorf("%s: asked %q", revision, asked)
		}
	}
}
