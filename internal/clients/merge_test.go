package clients

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/span"
)

var update = flag.Bool("update", false, "rewrite what the cases expect")

// testServer is entered by every case. It keeps all items, so that all of the file but the
// command and the folders stays: see TestForeign for what is not kept.
var testServer = Launch{Program: "/bin/fsmcp", Dirs: []string{"/work"}, Split: testSplit, Replace: true, Keep: func(LaunchItem) bool { return true }}

// testSplit knows that --deny takes a value and the others do not, but for --odd, which it
// does not know.
func testSplit(args []string) (a Arguments, err error) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--deny" && i+1 < len(args):
			i++
			a.Flags = append(a.Flags, []string{"--deny", args[i]})
		case strings.HasPrefix(args[i], "-"):
			a.Flags = append(a.Flags, []string{args[i]})
		default:
			a.Dirs = append(a.Dirs, args[i])
		}
	}
	if slices.Contains(args, "--odd") {
		return a, errors.New("--odd is unknown")
	}
	return a, nil
}

// mergeCase is one existing file. Its text is for mcpServers, and is rewritten for the
// keys of each client that it is tried with.
type mergeCase struct {
	name    string
	words   []string // of the comment: how the text is to be made, and for which clients
	in      string
	want    string // "" if it is refused
	refused string
}

func (m mergeCase) is(word string) bool { return slices.Contains(m.words, word) }

// clients lists those that the case is for.
func (m mergeCase) clients() (list []KnownClient) {
	for _, c := range table {
		if !c.Mergeable() || m.is("untyped") && c.typed || m.is("searching") && c.searchless || (m.is("only") || c.joined) && !m.is(c.Name) {
			continue
		}
		list = append(list, c)
	}
	return list
}

// bytes turns a text of a case into the bytes of a file of a client.
func (m mergeCase) bytes(t *testing.T, text string, c KnownClient) []byte {
	t.Helper()
	if m.is("hex") {
		b, err := hex.DecodeString(strings.TrimSpace(text))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if m.is("trim-newline") {
		text = strings.TrimSuffix(text, "\n")
	}
	text = strings.ReplaceAll(text, "mcpServers", c.keys[0])
	text = strings.ReplaceAll(text, `mcp\u0053ervers`, fmt.Sprintf(`\u%04x`, c.keys[0][0])+c.keys[0][1:])
	if m.is("crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if m.is("bom") {
		text = byteOrderMark + text
	}
	return []byte(text)
}

// text is the reverse of bytes.
func (m mergeCase) text(b []byte, c KnownClient) string {
	s := strings.ReplaceAll(strings.TrimPrefix(string(b), byteOrderMark), "\r\n", "\n")
	s = strings.ReplaceAll(s, c.keys[0], "mcpServers")
	s = strings.ReplaceAll(s, fmt.Sprintf(`\u%04x`, c.keys[0][0])+c.keys[0][1:], `mcp\u0053ervers`)
	if m.is("trim-newline") {
		s += "\n"
	}
	return s
}

// refuses returns what a client's own format refuses of a case that others take.
func (m mergeCase) refuses(c KnownClient) string {
	switch {
	case m.is("jsonc") && c.Format == JSON && m.is("commas"):
		return "does not accept"
	case m.is("jsonc") && c.Format == JSON:
		return c.Title + " does not accept comments"
	case m.is("commas") && !c.commas:
		return c.Title + " does not accept a comma before a closing bracket"
	}
	return ""
}

var entryLine = regexp.MustCompile(`((?:^|\n)\s*|\{ ?)"command":( ?)"/bin/fsmcp"`)

// typed adds the type to a new entry, as VS Code has it.
func typed(text string) string {
	return entryLine.ReplaceAllStringFunc(text, func(s string) string {
		m := entryLine.FindStringSubmatch(s)
		between := m[2]
		if strings.Contains(m[1], "\n") {
			between = m[1]
		}
		return m[1] + `"type":` + m[2] + `"stdio",` + between + `"command":` + m[2] + `"/bin/fsmcp"`
	})
}

var ownArgs = regexp.MustCompile(`"serve",(\s*)("/work"|"--deny"|"--tools)`)

// withAllTools adds the flag that a client without a search of its own gets, if its entry
// names no tools.
func withAllTools(text string) string {
	return ownArgs.ReplaceAllStringFunc(text, func(s string) string {
		m := ownArgs.FindStringSubmatch(s)
		if m[2] == `"--tools` {
			return s
		}
		return `"serve",` + m[1] + `"--tools=all",` + m[1] + m[2]
	})
}

func mergeCases(t *testing.T) (list []mergeCase) {
	t.Helper()
	files, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := mergeCase{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), words: strings.Fields(string(a.Comment))}
		for _, f := range a.Files {
			switch f.Name {
			case "in":
				m.in = string(f.Data)
			case "want":
				m.want = string(f.Data)
			case "refused":
				m.refused = strings.TrimSpace(string(f.Data))
			}
		}
		list = append(list, m)
	}
	return list
}

// TestMerge enters fsmcp into each existing file of testdata/merge, for every client that
// the file may belong to.
func TestMerge(t *testing.T) {
	for _, m := range mergeCases(t) {
		t.Run(m.name, func(t *testing.T) {
			if *update {
				m.rewrite(t)
			}
			if (m.refused != "") != strings.HasPrefix(m.name, "refused_") {
				t.Errorf("the name and the result disagree: %q", m.refused)
			}
			for _, c := range m.clients() {
				m.try(t, c)
			}
		})
	}
}

// try merges for one client and judges the result.
func (m mergeCase) try(t *testing.T, c KnownClient) {
	t.Helper()
	old := m.bytes(t, m.in, c)
	merged, err := c.Merge(old, testServer)
	splices := merged.Splices
	wantErr := strings.ReplaceAll(m.refused, "mcpServers", c.keys[0])
	if own := m.refuses(c); own != "" {
		wantErr = own
	}
	if wantErr != "" || err != nil {
		if refusal := (*FileFault)(nil); !errors.As(err, &refusal) || wantErr == "" || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%s: refused with %v, not %q", c.Name, err, wantErr)
		}
		return
	}
	if !span.Fit(splices, int64(len(old))) {
		t.Fatalf("%s: %v do not fit %d bytes", c.Name, splices, len(old))
	}
	got := span.Apply(old, splices)
	want := m.want
	if c.typed && !m.is("only") {
		want = typed(want)
	}
	if c.searchless && !m.is("only") {
		want = withAllTools(want)
	}
	if want := m.bytes(t, want, c); !bytes.Equal(got, want) {
		t.Errorf("%s: it is\n%q\nand should be\n%q", c.Name, got, want)
	}
	if again, err := c.Merge(got, testServer); err != nil || len(again.Splices) > 0 {
		t.Errorf("%s: merged again it changes: %v, %v", c.Name, again, err)
	}
	if err := kept(old, got, c); err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
	if err := started(got, c); err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
}

// rewrite records what is done now. Read the difference before it is committed.
func (m *mergeCase) rewrite(t *testing.T) {
	t.Helper()
	c := m.clients()[0]
	for _, other := range m.clients() { // one that takes it, if there is one
		if m.refuses(other) == "" && !other.typed {
			c = other
		}
	}
	old := m.bytes(t, m.in, c)
	merged, err := c.Merge(old, testServer)
	splices := merged.Splices
	m.want, m.refused = "", ""
	files := []txtar.File{{Name: "in", Data: []byte(m.in)}}
	if err != nil {
		m.refused = strings.ReplaceAll(err.Error(), c.keys[0], "mcpServers")
		files = append(files, txtar.File{Name: "refused", Data: []byte(m.refused + "\n")})
	} else {
		m.want = m.text(span.Apply(old, splices), c)
		files = append(files, txtar.File{Name: "want", Data: []byte(m.want)})
	}
	a := &txtar.Archive{Comment: []byte(strings.Join(m.words, " ") + "\n"), Files: files}
	if err := os.WriteFile("testdata/merge/"+m.name+".txtar", txtar.Format(a), 0o666); err != nil {
		t.Fatal(err)
	}
}

// kept compares everything but fsmcp's own three members: every token with its spelling
// and order, and every comment.
func kept(old, now []byte, c KnownClient) error {
	oldTokens, err := tokensOf(old, c)
	if err != nil {
		return err
	}
	newTokens, err := tokensOf(now, c)
	if err != nil {
		return err
	}
	at := 0
	for _, token := range newTokens {
		if at < len(oldTokens) && oldTokens[at] == token {
			at++
		}
	}
	if at < len(oldTokens) {
		return fmt.Errorf("lost, or moved: %s", oldTokens[at])
	}
	if bytes.HasPrefix(old, []byte(byteOrderMark)) != bytes.HasPrefix(now, []byte(byteOrderMark)) {
		return errors.New("the byte order mark is not as it was")
	}
	if n := bytes.Count(now, []byte("\r\n")); bytes.Contains(old, []byte("\r\n")) && n != bytes.Count(now, []byte("\n")) {
		return errors.New("the line endings are mixed")
	}
	return nil
}

var commentText = regexp.MustCompile(`//[^\n]*|(?s:/\*.*?\*/)`)

// tokensOf lists keys with their paths, values as they are spelt, and comments.
func tokensOf(text []byte, c KnownClient) (list []string, err error) {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	root, err := hujson.Parse(text)
	if err != nil {
		if root, err = hujson.Parse(append(slices.Clip(text), "\n{}"...)); err != nil {
			return nil, err
		}
	}
	comments := func(extra hujson.Extra) {
		for _, s := range commentText.FindAllString(string(extra), -1) {
			list = append(list, strings.TrimSpace(s))
		}
	}
	own := "/" + c.keys[0] + "/" + serverName + "/"
	var walk func(path string, v *hujson.Value)
	walk = func(path string, v *hujson.Value) {
		comments(v.BeforeExtra)
		switch x := v.Value.(type) {
		case hujson.Literal:
			if path != own+"type" && path != own+"command" {
				list = append(list, path+" = "+string(x))
			}
		case *hujson.Object:
			for i := range x.Members {
				m := &x.Members[i]
				comments(m.Name.BeforeExtra)
				key := path + "/" + m.Name.Value.(hujson.Literal).String()
				if !slices.Contains([]string{own + "type", own + "command", own + "args"}, key) {
					list = append(list, "key "+key+" "+string(m.Name.Value.(hujson.Literal)))
				}
				comments(m.Name.AfterExtra)
				walk(key, &m.Value)
			}
			comments(x.AfterExtra)
		case *hujson.Array:
			for i := range x.Elements {
				if path == own+"args" {
					comments(x.Elements[i].BeforeExtra)
					comments(x.Elements[i].AfterExtra)
					continue
				}
				walk(fmt.Sprintf("%s/%d", path, i), &x.Elements[i])
			}
			comments(x.AfterExtra)
		}
		comments(v.AfterExtra)
	}
	walk("", &root)
	return list, nil
}

// started reads a merged file as the client does, with a parser that is not the merge's,
// and looks for the entry.
func started(text []byte, c KnownClient) error {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	if c.Format == JSONC {
		var err error
		if text, err = hujson.Standardize(slices.Clone(text)); err != nil {
			return err
		}
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(text, &file); err != nil {
		return err
	}
	var servers map[string]json.RawMessage
	if err := json.Unmarshal(file[c.keys[0]], &servers); err != nil {
		return err
	}
	var e struct {
		Type, Command string
		Args          []string
	}
	if err := json.Unmarshal(servers[serverName], &e); err != nil {
		return err
	}
	if e.Command != "/bin/fsmcp" || len(e.Args) < 2 || e.Args[0] != "serve" || e.Args[len(e.Args)-1] != "/work" || c.typed && e.Type != "stdio" {
		return fmt.Errorf("the entry is %+v", e)
	}
	return nil
}

// TestLossIsNoticed is the control: what TestMerge compares fails on each kind of loss.
func TestLossIsNoticed(t *testing.T) {
	c, _ := Find("zed")
	old := "\ufeff// top\r\n{\r\n  \"a\": 1.0, // one\r\n  \"b\": [2, {}],\r\n  \"context_servers\": {\"x\": {\"command\": \"\\u0078\"}}\r\n}\r\n"
	for name, change := range map[string][2]string{
		"a comment":         {"// one", ""},
		"a spelling":        {"1.0", "1"},
		"an escape":         {`\u0078`, "x"},
		"a key":             {`"a": 1.0,`, ""},
		"an element":        {"[2, {}]", "[{}]"},
		"a server":          {`"x": {"command": "\u0078"}`, ""},
		"a byte order mark": {"\ufeff", ""},
		"a line ending":     {"[2, {}],\r\n", "[2, {}],\n"},
		"the order":         {"\"a\": 1.0, // one\r\n  \"b\": [2, {}],", "\"b\": [2, {}],\r\n  \"a\": 1.0, // one"},
	} {
		now := strings.Replace(old, change[0], change[1], 1)
		if now == old {
			t.Fatalf("%s: nothing is lost", name)
		}
		if kept([]byte(old), []byte(now), c) == nil {
			t.Errorf("%s is lost, and it is not noticed", name)
		}
	}
	if err := kept([]byte(old), []byte(old), c); err != nil {
		t.Errorf("nothing is lost: %v", err)
	}
	for _, text := range []string{`{}`, `{"context_servers": {"fsmcp": {}}}`, `{"context_servers": {"fsmcp": {"command": "/bin/fsmcp", "args": ["serve"]}}}`} {
		if started([]byte(text), c) == nil {
			t.Errorf("%s starts nothing, and it is not noticed", text)
		}
	}
}

// FuzzMerge holds the promises against any text: it is refused, or nothing is lost and
// merging again changes nothing.
func FuzzMerge(f *testing.F) {
	files, _ := filepath.Glob("testdata/merge/*.txtar")
	for _, name := range files {
		if a, err := txtar.ParseFile(name); err == nil {
			f.Add(a.Files[0].Data, 0)
			f.Add(bytes.ReplaceAll(a.Files[0].Data, []byte("mcpServers"), []byte("servers")), 2)
		}
	}
	f.Fuzz(func(t *testing.T, old []byte, n int) {
		c := table[max(n%len(table), 0)]
		if !c.Mergeable() {
			return
		}
		before := slices.Clone(old)
		merged, err := c.Merge(old, testServer)
		splices := merged.Splices
		if !reflect.DeepEqual(before, old) {
			t.Fatal("the text itself was changed")
		}
		if err != nil {
			return
		}
		if !span.Fit(splices, int64(len(old))) {
			t.Fatalf("%v do not fit", splices)
		}
		got := span.Apply(old, splices)
		if again, err := c.Merge(got, testServer); err != nil || len(again.Splices) > 0 {
			t.Fatalf("%q, merged again: %v, %v", got, again, err)
		}
		// A lone LF in a file with CRLF is the file's own.
		if err := kept(old, got, c); err != nil && err.Error() != "the line endings are mixed" {
			t.Fatalf("%q: %v", got, err)
		}
	})
}

// TestMergeJoined merges into the file of opencode, whose entries have the arguments in
// "command".
func TestMergeJoined(t *testing.T) {
	client, _ := Find("opencode")
	server := testServer
	server.Program, server.Dirs = "/opt/fsmcp", []string{"/p"}
	const entry = `{"type": "local", "command": ["/opt/fsmcp", "serve", "/p"]}`
	for _, c := range []struct{ name, in, want, refused string }{
		{"another server", `{"mcp": {"a": {"type": "local", "command": ["b"]}}}`, `{"mcp": {"a": {"type": "local", "command": ["b"]}, "fsmcp": ` + entry + `}}`, ""},
		{"no servers", "{\n  // Mine\n  \"theme\": \"x\",\n}\n", "{\n  // Mine\n  \"theme\": \"x\",\n  \"mcp\": {\n    \"fsmcp\": {\n      \"type\": \"local\",\n      \"command\": [\n        \"/opt/fsmcp\",\n        \"serve\",\n        \"/p\"\n      ]\n    }\n  },\n}\n", ""},
		{"there already", `{"mcp": {"fsmcp": ` + entry + `}}`, `{"mcp": {"fsmcp": ` + entry + `}}`, ""},
		{"flags and environment stay", `{"mcp": {"fsmcp": {"type": "local", "enabled": false, "command": ["/old/fsmcp", "serve", "--trust-project", "/q"]}}}`,
			`{"mcp": {"fsmcp": {"type": "local", "enabled": false, "command": ["/opt/fsmcp", "serve", "--trust-project", "/p"]}}}`, ""},
		{"another program", `{"mcp": {"fsmcp": {"type": "local", "command": ["npx", "x"]}}}`, "", "starts"},
		{"another command", `{"mcp": {"fsmcp": {"type": "local", "command": ["/old/fsmcp", "call"]}}}`, "", "begins with"},
		{"one string", `{"mcp": {"fsmcp": {"type": "local", "command": "fsmcp serve"}}}`, "", "list of strings"},
		{"an empty list", `{"mcp": {"fsmcp": {"type": "local", "command": []}}}`, "", "list of strings"},
		{"a remote server", `{"mcp": {"fsmcp": {"type": "remote", "url": "https://example.invalid"}}}`, "", "remote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			merged, err := client.Merge([]byte(c.in), server)
			splices := merged.Splices
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := c.in
			for _, s := range slices.Backward(splices) {
				got = got[:s.Start] + string(s.New) + got[s.End:]
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	found, err := client.Registered(ServersFile{keys: [][]string{client.keys}}, []byte(`{"mcp": {"files": {"command": ["/opt/fsmcp", "serve"]}}}`))
	if err != nil || len(found) != 1 || found[0].Command != "/opt/fsmcp" {
		t.Errorf("found %v, %v", found, err)
	}
}
