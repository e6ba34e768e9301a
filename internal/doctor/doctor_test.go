package doctor

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/clients"
	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/settings"
)

// allNames lists the names of the checks in the order of the report.
func allNames() []string {
	return []string{
		NameVersion, NameWorkspace, NameSettings, NameRules, NameEngines, NameSandbox, NameLanguages,
		NameHistory, NamePDFCache, NameClients, NameWatcher, NameSelfTest,
	}
}

// says fails unless a check has the status and its text contains the words.
func says(t *testing.T, c Check, status Status, words ...string) {
	t.Helper()
	if c.Status != status {
		t.Errorf("%s, not %s: %s", c.Status, status, c.Detail)
	}
	if !slices.Contains(allNames(), c.Name) {
		t.Errorf("allNames lacks %q", c.Name)
	}
	if (c.Status == Warn || c.Status == Fail) && c.Remedy == "" {
		t.Errorf("no remedy: %s", c.Detail)
	}
	for _, w := range words {
		if !strings.Contains(c.Detail+"\n"+c.Remedy, w) {
			t.Errorf("%q is not in %q, %q", w, c.Detail, c.Remedy)
		}
	}
}

func TestReport(t *testing.T) {
	good, bad := Check{Name: "a", Status: Warn, Detail: "b", Remedy: "c"}, Check{Name: "d", Status: Fail}
	text, err := json.Marshal(NewReport([]Check{good}))
	if want := `{"ok":true,"checks":[{"name":"a","status":"warn","detail":"b","remedy":"c"}]}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	if r := NewReport([]Check{good, bad}); r.OK || r.Count(Fail) != 1 || r.Count(Skip) != 0 {
		t.Errorf("%v", r)
	}
}

func TestWithin(t *testing.T) {
	block := make(chan bool)
	defer close(block)
	got := Within(time.Millisecond, NameClients, func() []Check { <-block; return nil })
	if len(got) != 1 {
		t.Fatal(got)
	}
	says(t, got[0], Fail, "not done after 1ms")
	if got := Within(time.Minute, NameClients, func() []Check { return []Check{Version("1")} }); len(got) != 1 || got[0].Status != OK {
		t.Error(got)
	}
}

func TestWorkspace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := Workspace([]string{dir, filepath.Join(dir, "missing"), file}, "/home/you")
	says(t, got[0], OK, dir+": readable")
	says(t, got[1], Fail, "missing: does not exist", "--dir")
	says(t, got[2], Fail, "file: is not a folder")
	says(t, Workspace([]string{dir}, dir)[0], Warn, "the whole of your files")
}

func TestEngines(t *testing.T) {
	for _, c := range []struct {
		e    DecoderProgram
		want Status
	}{
		{DecoderProgram{Name: "x", Needed: true}, Warn},
		{DecoderProgram{Name: "x"}, Skip},
		{DecoderProgram{Name: "x", Path: "/x"}, Warn},
		{DecoderProgram{Name: "x", Path: "/x", Version: "pdf"}, OK},
	} {
		c.e.Without, c.e.Install = "no pages", "Install it."
		got := Engines([]DecoderProgram{c.e})[0]
		says(t, got, c.want)
		if bad := c.want != OK; bad != strings.Contains(got.Detail, "no pages") || bad != strings.Contains(got.Remedy, "Install it.") {
			t.Error(got)
		}
	}
}

// TestSettings counts the rules of each source, and reports a broken file once.
func TestSettings(t *testing.T) {
	files := map[string]string{
		nativetest.Name("/p/.fsmcp/settings.json"):               `{"permissions":{"deny":["Read(.env)","Read(a)"],"allow":["Read(//x)"]}}`,
		nativetest.Name("/home/you/.config/fsmcp/settings.json"): "{\n\"permissions\": {\"ask\": [\"Edit(b)\"]}}",
	}
	read := func(name string) settings.FileContent {
		text, ok := files[name]
		return settings.FileContent{Bytes: []byte(text), Missing: !ok}
	}
	vars := map[string]string{"FSMCP_DENY": "Read(c)"}
	load := func() []Check {
		cfg, warnings, err := settings.New(settings.Flags{Dirs: nativetest.Names("/p")}, settings.System{
			Getenv: func(name string) string { return vars[name] }, WorkDir: nativetest.Name("/p"), Home: nativetest.Name("/home/you"), OS: system(), Read: read,
		}, 1)
		if err != nil {
			t.Fatal(err)
		}
		policy, more := perm.Compile(perm.Config{Workspace: []perm.Dir{{Name: nativetest.Name("/p")}}, Home: nativetest.Name("/home/you"), Rules: cfg.Rules, Windows: nativetest.Windows})
		for _, w := range more {
			warnings = append(warnings, w.String())
		}
		return Settings(cfg, policy.InForce(), warnings)
	}
	got := load()
	if len(got) != 5 {
		t.Fatal(got)
	}
	says(t, got[0], OK, nativetest.Name("/p/.fsmcp/settings.json")+" (project): 2 deny; its 1 allow rule is without effect")
	says(t, got[1], OK, nativetest.Name("/home/you/.config/fsmcp/settings.json")+" (user): 1 ask")
	says(t, got[2], OK, "FSMCP_DENY: 1 deny")
	says(t, got[3], Warn, "the project is not trusted")
	says(t, got[4], OK, "3 deny, 1 ask; ", "mode acceptEdits")

	files[nativetest.Name("/p/.fsmcp/settings.json")] = "{\n\"permissions\": 7}"
	files[nativetest.Name("/home/you/.config/fsmcp/settings.json")] = "{\n\"hint\": true}"
	got = load()
	says(t, got[0], Fail, nativetest.Name("/p/.fsmcp/settings.json")+":2: the file", "nothing is written", "Mend line 2")
	warned := got[len(got)-2]
	says(t, warned, Warn, nativetest.Name("/home/you/.config/fsmcp/settings.json")+":2", `"hint"`)
	for _, c := range got[1:] {
		if strings.Contains(c.Detail, nativetest.Name("/p/.fsmcp")) {
			t.Errorf("the broken file is told of twice: %v", c)
		}
	}

	// The administrator's file counts only if it is root's.
	managed := "/etc/claude-code/managed-settings.json"
	if nativetest.Windows {
		managed = `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	files[managed] = `{"permissions":{"deny":["Read(a)"]}}`
	got = load()
	says(t, got[1], Skip, managed+" (managed) does not count")

	clear(files)
	clear(vars)
	got = load()
	if len(got) != 2 {
		t.Fatal(got)
	}
	says(t, got[0], OK, "no settings file")
	says(t, got[1], OK, "no rules")
}

// system is Linux, except on Windows: the places of clients are spelt for the system.
func system() string {
	if nativetest.Windows {
		return "windows"
	}
	return "linux"
}

func TestClients(t *testing.T) {
	dir := t.TempDir()
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	self, other := filepath.Join(dir, "fsmcp"), filepath.Join(dir, "other")
	put := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	put(self, "self")
	put(other, "other")
	beside := filepath.Join(dir, "bin", "fsmcp")
	put(beside, "another build")
	in := Installation{
		System: clients.UserFolders{OS: system(), Home: home}, Dirs: []string{work}, Program: self,
		Split: func(args []string) (clients.Arguments, error) {
			return clients.SplitArguments(args, func(name string) (valued, known bool) { return name != "dedup", name != "odd" })
		},
		Look: func(name string) (string, error) {
			if name == "fsmcp" {
				return self, nil
			}
			return "", errors.New("not found")
		},
	}
	none := Clients(in)
	if len(none) != 1 {
		t.Fatal(none)
	}
	says(t, none[0], Skip, "claude-desktop, claude-code, vscode, vscode-insiders, cursor, zed, codex, gemini, opencode, windsurf, goose", "fsmcp config CLIENT --write")

	entry := func(command string) string {
		text, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"fsmcp": map[string]string{"command": command}}})
		return string(text)
	}
	cursor, mcp := filepath.Join(home, ".cursor", "mcp.json"), filepath.Join(work, ".mcp.json")
	for _, c := range []struct {
		text string
		want Status
		word string
	}{
		{entry(self), OK, "starts this program"},
		{entry("fsmcp"), OK, "starts this program"},
		{entry(other), Fail, "another program"},
		{entry(beside), Warn, "another fsmcp"},
		{entry(other), Fail, "Remove the entry"}, // the command refuses to replace it
		{entry("npx"), Fail, "npx, which is not there"},
		{entry(filepath.Join(dir, "gone", "fsmcp")), Fail, "fsmcp config cursor --write"},
		{`{"mcpServers":{"files":{"command":"/gone/fsmcp"}}}`, Fail, "Remove the entry"},
		{`{"mcpServers":{"fsmcp":{"url":"https://example.invalid"}}}`, Warn, "no program on this machine"},
		{"{\n", Warn, "line 2"},
	} {
		put(cursor, c.text)
		got := Clients(in)
		if len(got) != 2 {
			t.Fatal(got)
		}
		says(t, got[0], c.want, "Cursor, "+cursor, c.word)
	}

	// The arguments, for Cursor, which replaces variables, and for Windsurf, which does not.
	windsurf := filepath.Join(home, ".codeium", "windsurf", "mcp_config.json")
	put(filepath.Join(work, "sub", "x"), "")
	for _, c := range []struct {
		args string
		want Status
		word string
	}{
		{`[]`, OK, "starts this program"},
		{`["serve"]`, OK, "starts this program"},
		{`["stdio", "WORK", "--deny", "/gone", "."]`, OK, "starts this program"},
		{`["serve", "WORK", "WORK/projct"]`, Fail, "projct\", which does not exist"},
		{`["serve", "--add-dir", "WORK/projct"]`, Fail, "which does not exist"},
		{`["serve", "--add-dir=WORK/projct"]`, Fail, "which does not exist"},
		{`["serve", "WORK/sub/x"]`, Fail, "which is not a folder"},
		{`["serve", "~/projct"]`, Fail, "which does not exist"},
		{`["serve", "~"]`, OK, "starts this program"},
		{`["serve", ""]`, Fail, "which has an empty name"},
		{`["serve", "${workspaceFolder}"]`, Fail, "variable that the client has not replaced"},
		{`["serve", "%CD%"]`, Fail, "variable that the client has not replaced"},
		{`["serve", "--odd", "x"]`, Fail, "serve has no flag --odd"},
		{`["call"]`, Fail, "serves no client"},
	} {
		self, _ := json.Marshal(self)
		text := `{"mcpServers":{"fsmcp":{"command":` + string(self) + `,"args":` + strings.ReplaceAll(c.args, "WORK", filepath.ToSlash(work)) + `}}}`
		put(cursor, `{"mcpServers":{"fsmcp":{"command":`+string(self)+`,"args":["serve","${workspaceFolder}/a"]}}}`)
		put(windsurf, text)
		got := Clients(in)
		if len(got) != 3 {
			t.Fatal(got)
		}
		says(t, got[0], OK, "Cursor, ", "starts this program")
		says(t, got[1], c.want, "Windsurf, "+windsurf, c.word)
		put(windsurf, strings.Replace(text, `"args"`, `"disabled": true, "args"`, 1))
		says(t, Clients(in)[1], Fail, "the entry is disabled", "Turn it on in Windsurf")
	}
	if err := os.Remove(windsurf); err != nil {
		t.Fatal(err)
	}
	codex := filepath.Join(home, ".codex", "config.toml")
	for text, want := range map[string]string{
		"[mcp_servers.fsmcp]\ncommand = \"fsmcp\"\nargs = [\n  \"serve\", # x ]\n  'WORK/projct',\n]\n": "which does not exist",
		"[mcp_servers.fsmcp]\ncommand = \"fsmcp\"\nenabled = false\n":                                   "disabled",
	} {
		put(codex, strings.ReplaceAll(text, "WORK", work))
		says(t, Clients(in)[1], Fail, "Codex, "+codex, want)
	}
	if err := os.Remove(codex); err != nil {
		t.Fatal(err)
	}

	// The command does not write the project's file.
	project := filepath.Join(work, ".cursor", "mcp.json")
	put(project, entry(filepath.Join(dir, "gone", "fsmcp")))
	says(t, Clients(in)[1], Fail, "Cursor, "+project, "Remove the entry")
	if err := os.Remove(project); err != nil {
		t.Fatal(err)
	}

	// One file of two clients is reported once.
	put(mcp, entry(self))
	got := Clients(in)
	if len(got) != 3 {
		t.Fatal(got)
	}
	says(t, got[0], OK, "Claude Code, "+mcp)

	if err := os.Remove(cursor); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(cursor, 0o700); err != nil {
		t.Fatal(err)
	}
	says(t, Clients(in)[1], Warn, "is not a regular file", "Make it a file")
}

func TestOwnFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	top := t.TempDir()
	state := filepath.Join(top, "state", "fsmcp")
	says(t, History(state, true), OK, "not there yet")
	if _, err := os.Stat(filepath.Dir(state)); err == nil {
		t.Error("the check made a folder")
	}
	says(t, History(state, false), Skip, "turned off")
	says(t, History("", true), Fail, "home directory", "Set HOME")

	dir := filepath.Join(state, "history")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "a"), make([]byte, 3000), 0o600)); err != nil {
		t.Fatal(err)
	}
	says(t, History(state, true), OK, dir+": 3 KB, yours and writable")
	if err := os.Chmod(dir, 0o722); err != nil {
		t.Fatal(err)
	}
	says(t, History(state, true), Fail, dir+" may be written by other users", "chmod go-w")
	says(t, PDFCache(filepath.Join(dir, "a", "b"), nil), Warn, "cannot be read: not a directory", "compiled for each process")
	says(t, PDFCache("", nil), Skip, "no folder for caches")
	says(t, PDFCache(filepath.Join(top, "cache"), nil), OK, "not there yet")
	if err := os.WriteFile(filepath.Join(top, "blocked"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, History(filepath.Join(top, "blocked", "fsmcp"), true), Fail, "not a directory")
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1 << 10: "1 KB", 3 << 20: "3.0 MB", 5 << 30: "5.0 GB"} {
		if got := bytes(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
}

// TestDocumented compares the names with the table in the documents.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(page)) {
		item, is := strings.CutPrefix(line, "- `")
		item, _, named := strings.Cut(item, "`: ")
		if list := strings.Split(item, "`, `"); is && named && slices.Contains(allNames(), list[0]) {
			names = append(names, list...)
		}
	}
	if !slices.Equal(names, allNames()) {
		t.Errorf("the page has %q, not %q", names, allNames())
	}
}

// TestEntryOfAnotherInstallation warns of an entry in a file that the client, a package of
// Windows, does not read.
func TestEntryOfAnotherInstallation(t *testing.T) {
	home := t.TempDir()
	plain := filepath.Join(home, "plain.json")
	if err := os.WriteFile(plain, []byte(`{"mcpServers": {"fsmcp": {"command": "/x/fsmcp"}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	client, _ := clients.Find("claude-desktop")
	s := clients.UserFolders{OS: "windows", Home: `C:\Users\you`, Entries: func(string) []string { return []string{"Claude_x"} }}
	src := client.Sources(s, []string{`C:\p`})[0]
	src.File = plain
	checks := Installation{System: s}.source(client, src)
	want := `plain.json:1: the entry has no effect: Claude Desktop is installed as a package of Windows, and reads C:\Users\you\AppData\Local\Packages\Claude_x\LocalCache\Roaming\Claude\claude_desktop_config.json`
	if len(checks) != 1 || checks[0].Status != Warn || !strings.HasSuffix(checks[0].Detail, want) {
		t.Errorf("%+v", checks)
	}
}

// TestGuarded names the system's own guard of a user's documents.
func TestGuarded(t *testing.T) {
	for _, c := range []struct{ system, dir, home, want string }{
		{"windows", `C:\Users\you\Documents\p`, `C:\Users\you`, "Controlled Folder Access"},
		{"windows", `c:\users\you\OneDrive - Firm\p`, `C:\Users\you\`, "Controlled Folder Access"},
		{"windows", `C:\Users\you\src`, `C:\Users\you`, ""},
		{"windows", `D:\Documents`, `C:\Users\you`, ""},
		{"darwin", "/Users/you/Desktop", "/Users/you", "Privacy & Security"},
		{"darwin", "/Users/you/Downloads/p", "/Users/you", "Privacy & Security"},
		{"darwin", "/Users/you/src", "/Users/you", ""},
		{"darwin", "/Users/your/Desktop", "/Users/you", ""},
		{"linux", "/home/you/Documents", "/home/you", ""},
		{"linux", "/Documents", "", ""},
	} {
		got := guarded(c.system, c.dir, c.home)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s on %s: %q", c.dir, c.system, got)
		}
	}
	if got := notWritable("windows", `C:\p`, `C:\Users\you`); strings.Contains(got, "chmod") {
		t.Error(got)
	}
}
