//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// way is a call of a tool.
type way struct {
	tool string
	args map[string]any
}

// ways returns calls of the default tools on a name, well formed and not. text is content that
// the file may hold.
func ways(path, text string) []way {
	return []way{
		{"Read", map[string]any{"file_path": path}},
		{"Read", map[string]any{"file_path": path, "offset": 2, "limit": 1}},
		{"Read", map[string]any{"file_path": path, "offset": 1, "limit": 1, "column": 3}},
		{"Read", map[string]any{"file_path": path, "cell_id": "a"}},
		{"Read", map[string]any{"file_path": path, "pages": "1-2"}},
		{"Write", map[string]any{"file_path": path, "content": "new\n"}},
		{"Write", map[string]any{"file_path": path, "content": text + "\n"}},
		{"Write", map[string]any{"file_path": path, "content": ""}},
		{"Edit", map[string]any{"file_path": path, "old_string": "CANARY", "new_string": "x"}},
		{"Edit", map[string]any{"file_path": path, "old_string": "4711", "new_string": "", "replace_all": true}},
		{"Edit", map[string]any{"file_path": path, "old_string": "", "new_string": "x"}},
		{"Edit", map[string]any{"file_path": path, "old_string": "CANARZ-4711", "new_string": "x"}},
		{"NotebookEdit", map[string]any{"notebook_path": path, "cell_id": "a", "new_source": "x"}},
		{"NotebookEdit", map[string]any{"notebook_path": path, "cell_id": "cell-0", "new_source": "", "edit_mode": "delete"}},
		{"NotebookEdit", map[string]any{"notebook_path": path, "new_source": "x", "cell_type": "code", "edit_mode": "insert"}},
	}
}

// furtherWays returns calls of the other tools on a name. plain is a file that may be changed.
func furtherWays(path, plain string) []way {
	one := func(old string) map[string]any {
		return map[string]any{"edits": []any{map[string]any{"file_path": path, "old_string": old, "new_string": "x"}}}
	}
	return []way{
		{"MultiEdit", one("CANARY")},
		{"MultiEdit", one("")},
		{"Move", map[string]any{"from": path, "to": plain + ".new"}},
		{"Move", map[string]any{"from": path + "/", "to": plain + ".new"}},
		{"Move", map[string]any{"from": path, "to": plain}},
		{"Move", map[string]any{"from": path, "to": plain + ".new", "copy": true}},
		{"Move", map[string]any{"from": plain, "to": path}},
		{"Move", map[string]any{"from": plain, "to": path + "/"}},
		{"Move", map[string]any{"from": plain + ".none", "to": path}},
		{"Move", map[string]any{"moves": []any{map[string]any{"from": path, "to": plain + ".new"}, map[string]any{"from": plain + ".new", "to": plain + ".next"}}}},
		{"Delete", map[string]any{"paths": []any{path}}},
		{"Delete", map[string]any{"paths": []any{path + "/"}}},
		{"Delete", map[string]any{"paths": []any{path, plain + ".none"}, "recursive": true}},
		{"Glob", map[string]any{"pattern": "*", "path": path}},
		{"Grep", map[string]any{"pattern": "CANARY", "path": path}},
	}
}

// TestDeniedThereOrNot: whatever a denied name stands for, and whether it
// stands for anything, a tool's answer is the same, byte for byte but for the
// path, text and _meta alike. So is the refusal of what would be asked for.
func TestDeniedThereOrNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, dir string
		words     []string
	}{
		{"folder", "ws/vault", []string{"--deny", "Read(vault/**)"}},
		{"folder itself", "ws/vault", []string{"--deny", "Read(vault)"}},
		{"by a glob", "ws/vault", []string{"--deny", "Read(vault/*-name*)"}},
		{"everything", "ws/vault", []string{"--deny", "*"}},
		{"outside", "outside/vault", []string{"--deny", "Read(/OUTSIDE/**)"}},
		{"home", "home/vault", []string{"--deny", "Read(~/vault/**)"}},
		{"through a link", "ws/open", []string{"--deny", "Read(vault/**)"}},
		{"dontAsk, outside", "outside/vault", []string{"--permission-mode", "dontAsk"}},
		{"asked, outside", "outside/vault", nil},
		{"asked by a rule", "ws/vault", []string{"--ask", "Read(vault/**)", "--ask", "Edit(vault/**)"}},
		{"the kernel's", "/proc/self/cwd/vault", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFort(t)
			root := filepath.Dir(f.ws)
			real := filepath.Join(root, c.dir)
			switch {
			case filepath.IsAbs(c.dir), c.dir == "ws/open":
				real = f.ws + "/vault"
				f.link("vault", "open")
			}
			f.put(real+"/file-name", canary+"\n")
			f.put(real+"/book-name.ipynb", tableNotebook)
			f.put(real+"/imag-name.png", "\x89PNG\r\n\x1a\n"+canary)
			f.put(real+"/empt-name", "")
			f.put(real+"/fold-name/inner", canary)
			f.put(real+"/lock-name", canary)
			f.check(os.Chmod(real+"/lock-name", 0))
			f.put(real+"/larg-name", strings.Repeat(canary+"\n", 40_000))
			f.check(os.Link(real+"/file-name", real+"/hard-name"))
			f.check(syscall.Mkfifo(real+"/fifo-name", 0o644))
			if c.name == "the kernel's" {
				f.check(os.Remove(real + "/fifo-name")) // special files there are refused as such
			}
			names := []string{"miss-name", "file-name", "book-name.ipynb", "imag-name.png", "empt-name", "fold-name", "lock-name", "larg-name", "hard-name", "fifo-name",
				"miss-name/x", "fold-name/inner", "fold-name/none", "file-name/x", "miss-name.ipynb", "miss-name.png"}
			if !strings.HasPrefix(c.name, "asked") { // a link has another name, for which an ask has another rule to add
				f.link("file-name", real+"/link-name")
				f.link("nothing-at-all", real+"/dang-name")
				f.link("loop-name", real+"/loop-name")
				names = append(names, "link-name", "dang-name", "loop-name", "loop-name/x")
			}
			dir := filepath.Join(root, c.dir)
			if filepath.IsAbs(c.dir) {
				dir = c.dir
			}
			for i, w := range c.words {
				c.words[i] = strings.Replace(w, "OUTSIDE", f.outside, 1)
			}
			plain := f.put("plain.txt", "plain\n")
			f.serve(append(c.words, "--tools", "all")...)
			first := map[int]string{}
			for _, name := range names {
				for i, w := range append(ways(dir+"/"+name, canary), furtherWays(dir+"/"+name, plain)...) {
					got := normal(f.call(w.tool, w.args), dir+"/"+name)
					if first[i] == "" {
						first[i] = got
						aboutPlain := strings.Contains(got, plain+".none.") // which is missing, and may be known
						if !strings.Contains(got, `"fsmcp/error":"denied"`) && !strings.Contains(got, `"bad_argument"`) && !aboutPlain {
							t.Errorf("%s %v of what is not there: %s", w.tool, w.args, got)
						}
					}
					if got != first[i] {
						t.Errorf("%s %v:\n%s\nbut of what is not there:\n%s", w.tool, w.args, got, first[i])
					}
				}
			}
			f.noCanary()
			if entries, err := os.ReadDir(real); err != nil || len(entries) < 9 {
				t.Errorf("the folder holds %v (%v)", entries, err)
			}
			f.holds(real+"/file-name", canary+"\n")
			f.lacks(real + "/miss-name")
		})
	}
}

// normal is a whole result with the path that was asked for left out.
func normal(r mcptest.Result, path string) string {
	quoted, _ := json.Marshal(path)
	return strings.ReplaceAll(string(r.Raw), strings.Trim(string(quoted), `"`), "PATH")
}

// planted are forty denied files, each with the secret, and the rules on them.
func (f *fort) planted() (names, rules []string) {
	f.t.Helper()
	plant := func(name, text string) { names = append(names, f.put(name, text)) }
	for i := range 8 {
		plant(fmt.Sprintf("p%d/.env", i), canary+"\n")
		plant(fmt.Sprintf("vault/%d/key%d.pem", i, i), "-----BEGIN-----\n"+canary+"\n")
		plant(fmt.Sprintf("src/secret_%d.go", i), "package src\n\nconst key = \""+canary+"\"\n")
	}
	for i := range 4 {
		plant(fmt.Sprintf("nb/private%d.ipynb", i), strings.Replace(tableNotebook, `"source":"one"`, `"source":"`+canary+`"`, 1))
		plant(fmt.Sprintf("%s/.ssh/id%d", f.home, i), canary)
		plant(fmt.Sprintf("%s/secret%d.txt", f.outside, i), strings.Repeat(canary+"\n", 100))
	}
	plant("big/secret.log", strings.Repeat(canary+" and more of it\n", 30_000))
	plant("utf16/secret.txt", "\xff\xfeC\x00A\x00N\x00A\x00R\x00Y\x00-\x004\x007\x001\x001\x00\n\x00")
	plant("caf\u00e9/secret.txt", canary+"\n")
	plant("CRLF/secret.txt", canary+"\r\n"+canary+"\r\n")
	if len(names) != 40 {
		f.t.Fatalf("%d files", len(names))
	}
	for _, r := range []string{"Read(.env)", "Read(*.pem)", "Read(src/secret_*)", "Read(nb/private*)", "Read(~/.ssh/**)", "Read(/" + f.outside + "/**)", "Read(secret.*)"} {
		rules = append(rules, "--deny", r)
	}
	return names, rules
}

// TestNoSecretIsLogged drives some hundred calls of all tools at, around and
// through forty denied files, and then looks for the secret in every line of
// the protocol, in the log, and in every file that was not there before.
func TestNoSecretIsLogged(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	names, words := f.planted()
	rng := rand.New(rand.NewPCG(4711, 1))
	for i, name := range names { // more ways to them
		f.link(name, fmt.Sprintf("links/l%d", i))
		f.link(filepath.Dir(name), fmt.Sprintf("links/d%d", i))
		f.link(fmt.Sprintf("l%d", i), fmt.Sprintf("links/c%d", i))
	}
	var free []string
	for i := range 12 {
		free = append(free, f.put(fmt.Sprintf("p%d/free.txt", i%8), "free\n"), f.put(fmt.Sprintf("src/free_%d.go", i), "package src\n"))
	}
	before := f.everything()
	log := f.outside + ".log"
	f.serve(append(words, "--log", log)...)

	calls := 0
	try := func(path string) {
		for _, i := range rng.Perm(15)[:3] {
			w := ways(path, "guessed")[i]
			f.call(w.tool, w.args)
			calls++
		}
	}
	for i, name := range names {
		try(name)
		try(misspelt(rng, name))
		try(filepath.Dir(name))
		try(f.abs(fmt.Sprintf("links/l%d", i)))
		try(f.abs(fmt.Sprintf("links/c%d", i)))
		try(f.abs(fmt.Sprintf("links/d%d/%s", i, filepath.Base(name))))
		try(f.abs(fmt.Sprintf("links/d%d/%s", i, misspelt(rng, filepath.Base(name)))))
		try(strings.Replace(name, "e", "\u200be", 1))
		try(strings.ToUpper(name[:len(f.ws)]) + name[len(f.ws):])
		try(free[i%len(free)])
	}
	for _, name := range []string{f.ws, f.home, f.outside, "/", f.abs("src"), f.abs("nb"), f.abs("vault"), f.abs("links"), f.abs("p0"), f.abs("big"), f.abs("utf16")} {
		try(name)
	}
	if calls < 500 {
		t.Fatalf("only %d calls", calls)
	}
	f.close()
	f.noCanary()
	text, err := os.ReadFile(log)
	f.check(err)
	if !bytes.Contains(text, []byte(`"level":"info"`)) || bytes.Contains(text, []byte(canary)) {
		t.Errorf("the log: %s", clipText(string(text)))
	}
	after := f.everything()
	for name, text := range after {
		if _, old := before[name]; !old && strings.Contains(text, canary) {
			t.Errorf("%s was made and holds the secret", name)
		}
	}
	for _, name := range names {
		if after[name] != before[name] {
			t.Errorf("%s is not as it was", name)
		}
	}
	t.Logf("%d calls, %d bytes of answers, %d of log", calls, len(f.heard.String()), len(text))
}

// everything is all there is in and around the workspace, by name.
func (f *fort) everything() map[string]string {
	f.t.Helper()
	out := map[string]string{}
	f.check(filepath.WalkDir(filepath.Dir(f.ws), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = string(text)
		return err
	}))
	return out
}

// misspelt changes a letter of a name's last part, or swaps two, or drops one.
func misspelt(rng *rand.Rand, name string) string {
	dir, base := filepath.Split(name)
	b := []byte(base)
	at := rng.IntN(len(b))
	switch rng.IntN(4) {
	case 0:
		b[at] = 'x'
	case 1:
		b = append(b[:at], b[at+1:]...)
	case 2:
		b = append(b, 's')
	default:
		if ext := filepath.Ext(base); ext != base {
			b = []byte(strings.TrimSuffix(base, ext) + ".md")
		}
	}
	if len(b) == 0 {
		b = []byte("z")
	}
	return dir + string(b)
}

// TestDeniedSinceItWasRead: what a conversation has read and may read no more
// is neither compared, nor told of, nor answered from memory.
func TestDeniedSinceItWasRead(t *testing.T) {
	t.Parallel()
	inTime(t, func(f *fort) {
		f.put("seen", "x\n")
		file := f.put("later.txt", "harmless\nsecond\nthird\n")
		book := f.put("later.ipynb", tableNotebook)
		big := f.put("later.log", strings.Repeat("harmless\n", 20_000))
		other := f.put("other.txt", "one\n")
		settings := f.home + "/.config/fsmcp/settings.json"
		log := f.outside + ".log"
		f.serve("--log", log)
		for _, args := range []map[string]any{{"file_path": file}, {"file_path": book}, {"file_path": big, "offset": 100, "limit": 50}, {"file_path": other}} {
			if res := f.call("Read", args); res.IsError {
				t.Fatal(res.Text)
			}
		}
		f.put(settings, deny("Read(later.*)", "Read(seen)").text())
		f.soon("the deny", f.closed("seen"))
		f.put("later.txt", "harmless\nsecond "+canary+"\nthird\n")
		f.put("later.ipynb", strings.Replace(tableNotebook, `"source":"one"`, `"source":"`+canary+`"`, 1))
		f.put("later.log", strings.Repeat("harmless "+canary+"\n", 20_000))
		for _, path := range []string{file, book, big} {
			for _, w := range ways(path, "guessed") {
				if res := f.call(w.tool, w.args); res.Slug != "denied" && res.Slug != "bad_argument" {
					t.Errorf("%s %v answered %s: %s", w.tool, w.args, res.Slug, clipText(res.Text))
				}
			}
			f.call("Edit", map[string]any{"file_path": path, "old_string": "harmless", "new_string": "x", "replace_all": true})
		}
		for _, w := range ways(other, "guessed") {
			f.call(w.tool, w.args)
		}
		f.call("Read", map[string]any{"file_path": f.abs("later.tx")})
		f.call("Read", map[string]any{"file_path": f.ws})
		f.call("Read", map[string]any{"file_path": f.abs("other.tx")})
		f.close()
		f.noCanary()
		text, err := os.ReadFile(log)
		f.check(err)
		if bytes.Contains(text, []byte(canary)) {
			t.Errorf("the log: %s", clipText(string(text)))
		}
	})
}
