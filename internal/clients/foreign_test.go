package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/span"
)

// freshServer keeps nothing of an older entry but its folders.
var freshServer = Launch{Program: "/bin/fsmcp", Dirs: []string{"/work"}, Split: testSplit}

// natively spells each of the names with blanks between them for the system.
func natively(names string) string {
	return strings.Join(nativetest.Names(strings.Fields(names)...), " ")
}

// TestForeign gives each item of an older entry by itself, with the answer and the entry that
// becomes of it.
func TestForeign(t *testing.T) {
	for _, c := range []struct {
		client, entry string
		keep          string // names with blanks
		want          string // the entry
		items         string // the name of each item, with ! if it loosens and + if it is kept
	}{
		{"cursor", `{"command":"fsmcp","args":["serve","/work"]}`, "", `{"command":"/bin/fsmcp","args":["serve","/work"]}`, ""},
		{"cursor", `{"command":"fsmcp","args":["serve","/a"]}`, "", `{"command":"/bin/fsmcp","args":["serve","/a","/work"]}`, ""},
		{"cursor", `{"command":"fsmcp","args":["serve","a","/b/../c","/a"]}`, "", `{"command":"/bin/fsmcp","args":["serve","/a","/work"]}`, "a! /b/../c!"},
		{"cursor", `{"command":"fsmcp","args":["serve","a"]}`, "a", `{"command":"/bin/fsmcp","args":["serve","a","/work"]}`, "a!+"},
		{"cursor", `{"command":"fsmcp","args":["serve","--trust-project","--deny","X"]}`, "", `{"command":"/bin/fsmcp","args":["serve","/work"]}`, "--trust-project! --deny"},
		{"cursor", `{"command":"fsmcp","args":["serve","--trust-project","--deny","X"]}`, "*", `{"command":"/bin/fsmcp","args":["serve","--deny","X","/work"]}`, "--trust-project! --deny+"},
		{"cursor", `{"command":"fsmcp","args":["serve","*"],"env":{"*":"x"},"*":{}}`, "*", `{"command":"/bin/fsmcp","args":["serve","/work"],"env":{}}`, "*! *! *!"},
		{"cursor", `{"command":"fsmcp","args":["serve","--trust-project","--deny","X"]}`, "--trust-project", `{"command":"/bin/fsmcp","args":["serve","--trust-project","/work"]}`, "--trust-project!+ --deny"},
		{"cursor", `{"command":"fsmcp","args":["serve","--deny","X","--deny","Y"]}`, "--deny", `{"command":"/bin/fsmcp","args":["serve","--deny","X","--deny","Y","/work"]}`, "--deny+ --deny+"},
		{"cursor", `{"command":"fsmcp","args":["serve","--tools=all"]}`, "", `{"command":"/bin/fsmcp","args":["serve","/work"]}`, "--tools"},
		{"claude-desktop", `{"command":"fsmcp","args":["serve","--tools=all","/a"]}`, "", `{"command":"/bin/fsmcp","args":["serve","--tools=all","/a","/work"]}`, ""},
		{"claude-desktop", `{"command":"fsmcp","args":["serve","--tools=Read"]}`, "*", `{"command":"/bin/fsmcp","args":["serve","--tools=Read","/work"]}`, "--tools+"},
		{"cursor", `{"command":"fsmcp","args":["serve"],"env":{"LD_PRELOAD":"x","FSMCP_DENY":"y","PATH":"."}}`, "", `{"command":"/bin/fsmcp","args":["serve","/work"],"env":{}}`, "LD_PRELOAD! FSMCP_DENY PATH!"},
		{"cursor", `{"command":"fsmcp","env":{"LD_PRELOAD":"x","FSMCP_DENY":"y","FSMCP_TRUST_PROJECT":"1"}}`, "* LD_PRELOAD", `{"command":"/bin/fsmcp","env":{"LD_PRELOAD":"x","FSMCP_DENY":"y"},"args":["serve","/work"]}`, "LD_PRELOAD!+ FSMCP_DENY+ FSMCP_TRUST_PROJECT!"},
		{"cursor", `{"command":"fsmcp","env":["A=b"]}`, "*", `{"command":"/bin/fsmcp","args":["serve","/work"]}`, "env!"},
		{"cursor", `{"command":"fsmcp","timeout":5,"startupTimeoutMs":1,"description":"d","disabled":false,"type":"stdio"}`, "", `{"command":"/bin/fsmcp","timeout":5,"startupTimeoutMs":1,"description":"d","disabled":false,"type":"stdio","args":["serve","/work"]}`, ""},
		{"cursor", `{"command":"fsmcp","disabled":true,"cwd":"/","envFile":"x","Env":{},"type":"sse"}`, "*", `{"command":"/bin/fsmcp","disabled":true,"args":["serve","/work"]}`, "disabled+ cwd! envFile! Env! type!"},
		{"gemini", `{"command":"fsmcp","trust":true}`, "", `{"command":"/bin/fsmcp","args":["serve","/work"]}`, "trust!"},
		{"vscode", `{"type":"stdio","command":"fsmcp","args":["serve","${workspaceFolder}"],"env":{"A":"b"}}`, "${workspaceFolder}", `{"type":"stdio","command":"/bin/fsmcp","args":["serve","${workspaceFolder}","/work"],"env":{}}`, "${workspaceFolder}!+ A!"},
		{"opencode", `{"type":"local","command":["fsmcp","serve","--log=/x"],"environment":{"A":"b"},"enabled":true}`, "", `{"type":"local","command":["/bin/fsmcp","serve","/work"],"environment":{},"enabled":true}`, "--log! A!"},
	} {
		c.entry, c.want, c.items = nativetest.Quoted(c.entry), nativetest.Quoted(c.want), natively(c.items)
		client, _ := Find(c.client)
		file := fmt.Sprintf(`{"a":1,%q:{"x":{"command":"x"},"fsmcp":%s,"y":{"command":"y"}}}`, client.keys[0], c.entry)
		s := freshServer
		s.Program, s.Dirs = nativetest.Name(s.Program), []string{nativetest.Name("/work")}
		s.Keep = ReportedServer{Keep: strings.Fields(c.keep)}.keeps
		m, err := client.Merge([]byte(file), s)
		if err != nil {
			t.Errorf("%s %s: %v", c.client, c.entry, err)
			continue
		}
		want := fmt.Sprintf(`{"a":1,%q:{"x":{"command":"x"},"fsmcp":%s,"y":{"command":"y"}}}`, client.keys[0], c.want)
		if got := string(span.Apply([]byte(file), m.Splices)); got != want {
			t.Errorf("%s:\n%s\nbecame\n%s\nand not\n%s", c.client, file, got, want)
		}
		var items []string
		for _, i := range m.Items {
			name := i.Name
			if i.Loosens {
				name += "!"
			}
			if i.Kept {
				name += "+"
			}
			items = append(items, name)
		}
		if got := strings.Join(items, " "); got != c.items {
			t.Errorf("%s %s: the items are %q, not %q", c.client, c.entry, got, c.items)
		}
	}
}

// TestProjectFolders keeps of the file of a project only folders below it.
func TestProjectFolders(t *testing.T) {
	client, _ := Find("claude-code")
	s := freshServer
	s.Project, s.Dirs = nativetest.Name("/work"), []string{nativetest.Name("/work")}
	file := nativetest.Quoted(`{"mcpServers":{"fsmcp":{"command":"fsmcp","args":["serve","/","/work/sub","/workshop","/home/you/.ssh"]}}}`)
	m, err := client.Merge([]byte(file), s)
	if err != nil || !slices.Equal(m.After, []string{nativetest.Name("/work/sub"), nativetest.Name("/work")}) || len(m.Items) != 3 {
		t.Errorf("%+v, %v", m, err)
	}
	// A link in the project leads out of it.
	nativetest.NeedSymlinks(t)
	dir := t.TempDir()
	if err := os.Symlink("/", dir+"/link"); err != nil {
		t.Skipf("!!! NOT TESTED: no links here: %v !!!", err)
	}
	s.Project, s.Dirs = dir, []string{dir}
	file = fmt.Sprintf(`{"mcpServers":{"fsmcp":{"command":"fsmcp","args":["serve",%q]}}}`, dir+"/link")
	if m, err = client.Merge([]byte(file), s); err != nil || !slices.Equal(m.After, []string{dir}) || len(m.Items) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestTooManyItems refuses an entry that would take a pass over the file for each of many
// items.
func TestTooManyItems(t *testing.T) {
	client, _ := Find("cursor")
	env := map[string]string{}
	for i := range maxItems + 1 {
		env[fmt.Sprint("A", i)] = "b"
	}
	text, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"fsmcp": map[string]any{"command": "fsmcp", "env": env}}})
	if _, err := client.Merge(text, freshServer); err == nil || !strings.Contains(err.Error(), "more than 100 items") {
		t.Errorf("%v", err)
	}
}

// TestRemoveReversesMerge merges into every case without an entry and removes it again.
func TestRemoveReversesMerge(t *testing.T) {
	same := 0
	for _, m := range mergeCases(t) {
		for _, c := range m.clients() {
			old := m.bytes(t, m.in, c)
			before, err := c.Remove(old)
			merged, mergeErr := c.Merge(old, freshServer)
			if err != nil || before.Found || mergeErr != nil {
				continue
			}
			entered := span.Apply(old, merged.Splices)
			removed, err := c.Remove(entered)
			if err != nil || !removed.Found {
				t.Fatalf("%s, %s: %+v, %v", m.name, c.Name, removed, err)
			}
			got := span.Apply(entered, removed.Splices)
			if bytes.Equal(got, old) {
				same++
				continue
			}
			// Where the merge made the object of servers, that stays, and is empty.
			body := bytes.TrimPrefix(got, []byte(byteOrderMark))
			d, err := parse(c, body)
			if err != nil {
				t.Fatalf("%s, %s: %q: %v", m.name, c.Name, got, err)
			}
			servers, n, err := d.walk(c.keys)
			if err != nil || n < len(c.keys) {
				t.Errorf("%s, %s: %q became %q", m.name, c.Name, old, got)
				continue
			}
			if before, _ := newServers(c, old); len(members(servers)) > 0 && !bytes.Contains(got, []byte("//")) && before != len(members(servers)) {
				t.Errorf("%s, %s: %q became %q", m.name, c.Name, old, got)
			}
			if err := kept(old, got, c); err != nil {
				t.Errorf("%s, %s: %v", m.name, c.Name, err)
			}
		}
	}
	if same < 100 {
		t.Errorf("only %d files are byte for byte as before", same)
	}
}

// newServers counts the servers of a file.
func newServers(c KnownClient, text []byte) (int, error) {
	d, err := parse(c, text)
	if err != nil {
		return 0, err
	}
	servers, n, err := d.walk(c.keys)
	if err != nil || n < len(c.keys) {
		return 0, err
	}
	return len(members(servers)), err
}

// TestOutsideOfTheEntry merges into generated files with entries of any content: nothing
// outside the entry changes, and nothing foreign is in it afterwards.
func TestOutsideOfTheEntry(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	space := func() string { return pick("", "", " ", "\n", "\n  ", "\t", " /* c */ ", "\n// c\n") }
	object := func(members []string, trailing bool) string {
		var b strings.Builder
		b.WriteString("{" + space())
		for i, m := range members {
			b.WriteString(m + space())
			if i < len(members)-1 || trailing {
				b.WriteString("," + space())
			}
		}
		return b.String() + "}"
	}
	shuffled := func(list []string) []string {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list[:r.IntN(len(list)+1)]
	}
	client, _ := Find("cursor")
	merged := 0
	for range 5000 {
		env := object(shuffled([]string{`"LD_PRELOAD": "x"`, `"FSMCP_DENY":"y"`, `"PATH" : "."`}), r.IntN(2) == 0)
		entry := object(shuffled([]string{`"command": "fsmcp"`, `"args": ["serve", "--deny", "x", "--trust-project", "/"]`, `"env":` + env, `"cwd": "/"`, `"trust":true`, `"timeout" : 1.50`}), r.IntN(2) == 0)
		servers := object(shuffled([]string{`"a": {"command": "a"}`, `"b": {}`, `"c":{"x":[1,2,],}`, `"fsmcp":` + space() + entry}), r.IntN(2) == 0)
		file := []byte(object(shuffled([]string{`"theme": 1e3`, `"mcpServers":` + servers, `"z": null`}), r.IntN(2) == 0) + pick("", "\n"))
		before := tokensWithout(t, client, file)
		m, err := client.Merge(file, freshServer)
		if err != nil {
			if !strings.Contains(err.Error(), "comment in") {
				t.Fatalf("%s\n%v", file, err)
			}
			continue
		}
		merged++
		got := span.Apply(file, m.Splices)
		if after := tokensWithout(t, client, got); before != "" && after != before {
			t.Fatalf("%s\nbecame\n%s\nwith\n%s\nand not\n%s", file, got, after, before)
		}
		plain, err := hujson.Standardize(slices.Clone(got))
		var now struct {
			Servers map[string]struct {
				Command string
				Args    []string
				Env     map[string]string
				Cwd     *string
				Trust   *bool
			} `json:"mcpServers"`
		}
		if err == nil {
			err = json.Unmarshal(plain, &now)
		}
		e := now.Servers[serverName]
		if err != nil || e.Command != "/bin/fsmcp" || !slices.Equal(e.Args, []string{"serve", "/", "/work"}) && !slices.Equal(e.Args, []string{"serve", "/work"}) || len(e.Env) > 0 || e.Cwd != nil || e.Trust != nil {
			t.Fatalf("%s\nbecame\n%s\n%v", file, got, err)
		}
		if again, err := client.Merge(got, freshServer); err != nil || len(again.Splices) > 0 {
			t.Fatalf("%s\nmerged again: %v, %v", got, again, err)
		}
	}
	if merged < 3000 {
		t.Errorf("only %d files were merged", merged)
	}
}

// tokensWithout returns the tokens of a file after its entry is removed, "" if it has no
// object of servers: a merge makes one.
func tokensWithout(t *testing.T, c KnownClient, text []byte) string {
	t.Helper()
	m, err := c.Remove(text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	if !m.Found {
		if n, _ := newServers(c, text); n == 0 {
			return ""
		}
	}
	tokens, err := tokensOf(span.Apply(text, m.Splices), c)
	if err != nil {
		t.Fatalf("%s\nwithout its entry: %v", text, err)
	}
	return strings.Join(tokens, "\n")
}
