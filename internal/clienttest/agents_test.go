//go:build linux

package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // what Read may answer with
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media/pdftest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// report returns a PDF whose second page has words and a drawing.
func report() []byte {
	return pdftest.Pages(3, "", func(page int) string {
		return fmt.Sprintf("BT /F1 24 Tf 72 700 Td (Words of page %d) Tj ET 0.8 0.1 0.1 rg 100 300 250 200 re f 0 0 0.6 rg 150 350 50 300 re f", page)
	})
}

// smallPicture returns a PNG of 64 x 48 in two colours.
func smallPicture(t *testing.T) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 64, 48))
	for y := range 48 {
		for x := range 64 {
			img.Set(x, y, color.NRGBA{uint8(x * y), uint8(200 * (y / 24)), uint8(x*7 ^ y*13), 255})
		}
	}
	var b bytes.Buffer
	check(t, png.Encode(&b, img))
	return b.Bytes()
}

// The files of the script, and what an edit makes of one.
const (
	before = "colour = \"red\"\nsize = 3\n"
	after  = "colour = \"blue\"\nsize = 3\n"
)

// script lays out the project and returns what the model does there. Of the PDF it reads the
// second page.
func script(s *sandbox) []step {
	return scriptWith(s, object{"pages": "2"})
}

// scriptWith is script with other arguments beside the path of the PDF.
func scriptWith(s *sandbox, pdf object) []step {
	s.t.Helper()
	text := s.write("long.txt", []byte(strings.Join(numbered(), "\n")+"\n"))
	image := s.write("small.png", smallPicture(s.t))
	pdf["file_path"] = s.write("report.pdf", report())
	settings := s.write("settings.toml", []byte(before))
	edit := object{"file_path": settings, "old_string": `"red"`, "new_string": `"blue"`}
	return []step{
		{"Read", object{"file_path": text, "offset": 101, "limit": 3}},
		{"Read", object{"file_path": image}},
		{"Read", pdf},
		{"Edit", edit},
		{"Read", object{"file_path": settings}},
		{"Edit", edit},
		{"Read", object{"file_path": s.write("wide.txt", []byte(strings.Join(wide(), "\n")+"\n")), "offset": 1}},
		{"Read", nil},
		{"Read", object{"file_path": text}},
	}
}

// numbered returns the lines of a long file with short lines.
func numbered() (lines []string) {
	for i := range 5000 {
		lines = append(lines, fmt.Sprintf("line %d", i+1))
	}
	return lines
}

// wide returns the lines of a file that has far more bytes than tokens.
func wide() (lines []string) {
	words := strings.Fields("international development information government university environment relationship understanding organization responsibility")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		line := fmt.Sprintf("%05d", i+1)
		for range 14 {
			line += " " + words[random.IntN(len(words))]
		}
		lines = append(lines, line)
	}
	return lines
}

// shown matches the note behind a page.
var shown = regexp.MustCompile(`\((?:PARTIAL: l|L)ines (\d+)-(\d+) of `)

// whole checks that each line that a page claims to show is in it, and returns their
// number; 0: it is no page.
func whole(t *testing.T, page string, lines []string) int {
	t.Helper()
	m := shown.FindStringSubmatch(page)
	if m == nil {
		return 0
	}
	first, _ := strconv.Atoi(m[1])
	last, _ := strconv.Atoi(m[2])
	var want strings.Builder
	for n := first; n <= last; n++ {
		fmt.Fprintf(&want, "%d\t%s\n", n, lines[n-1])
	}
	if !strings.Contains(page, want.String()) {
		t.Errorf("of lines %d to %d, %d bytes, the model was sent %d bytes: %.200q … %q", first, last, want.Len(), len(page), page, page[max(0, len(page)-400):])
	}
	return last - first + 1
}

// verify compares what the model was sent with what fsmcp answers.
func (m *model) verify(s *sandbox) {
	s.t.Helper()
	m.verifyWith(s, func(r result) {
		s.t.Helper()
		if !strings.Contains(r.text, "Words of page 2") || len(r.pictures) != 1 {
			s.t.Fatalf("the model was sent %d pictures of the PDF behind %.600q", len(r.pictures), r.text)
		}
		page, format, err := image.Decode(bytes.NewReader(r.pictures[0].data))
		if err != nil {
			s.t.Fatalf("the page's picture: %v", err)
		}
		if got := r.pictures[0].mime; got != "image/"+format {
			s.t.Errorf("the page's picture is %s, and is called %s", format, got)
		}
		if size := page.Bounds().Size(); size.Y < 500 || size.X >= size.Y {
			s.t.Errorf("the page's picture is %v", size)
		}
	})
}

// verifyWith is verify with another check of the answer for the PDF.
func (m *model) verifyWith(s *sandbox, pdf func(result)) {
	t := s.t
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.others) > 0 {
		t.Logf("%s: the script was asked for %s, too", t.Name(), slices.Compact(m.others))
	}
	for _, name := range []string{"Read", "Write", "Edit", "NotebookEdit"} {
		if !m.latest.offers(name) {
			t.Errorf("%s is not offered to the model: %v", name, m.latest.offered)
		}
	}
	results := m.latest.results
	if len(results) != len(m.steps) {
		t.Fatalf("the model was sent %d results, not %d", len(results), len(m.steps))
	}
	for i, want := range []struct {
		words    []string
		pictures int
	}{
		{words: []string{"101\tline 101", "102\tline 102", "103\tline 103"}},
		{pictures: 1},
		{pictures: len(results[2].pictures)},
		{words: []string{"File has not been read yet. Read it first before writing to it."}},
		{words: []string{"1\tcolour = \"red\"", "2\tsize = 3"}},
		{words: []string{"1\tcolour = \"blue\""}},
		{}, {}, {},
	} {
		for _, words := range want.words {
			if !strings.Contains(results[i].text, words) {
				t.Errorf("step %d: the model was sent %q, without %q", i+1, results[i].text, words)
			}
		}
		if len(results[i].pictures) != want.pictures {
			t.Errorf("step %d: the model was sent %d pictures, not %d", i+1, len(results[i].pictures), want.pictures)
		}
	}
	if t.Failed() {
		return
	}
	if strings.Contains(results[0].text, "line 100") || strings.Contains(results[0].text, "line 104") {
		t.Errorf("the model was sent more than the lines it asked for: %q", results[0].text)
	}
	original, _ := os.ReadFile(filepath.Join(s.project, "small.png"))
	if p := results[1].pictures[0]; p.mime != "image/png" || !bytes.Equal(p.data, original) {
		t.Errorf("the picture came as %d bytes of %s, not as it is", len(p.data), p.mime)
	}
	pdf(results[2])
	if got := s.read("settings.toml"); got != after {
		t.Errorf("the file holds %q", got)
	}
	// A client that cuts long answers short has its bound in internal/server.
	one, next, many := whole(t, results[6].text, wide()), whole(t, results[7].text, wide()), whole(t, results[8].text, numbered())
	if max(one, next) < 100 || many < 1000 {
		t.Errorf("the pages have %d, %d and %d lines: %.300q, %.300q, %.300q", one, next, many, results[6].text, results[7].text, results[8].text)
	}
	t.Logf("%s: %d wide lines (%d bytes) and %d short ones came whole", t.Name(), max(one, next), len(results[7].text), many)
	m.noBase64(t)
}

// base64Run matches what no text has, but every encoded picture.
var base64Run = regexp.MustCompile(`[A-Za-z0-9+/]{200}`)

// noBase64 looks for encoded bytes wherever no picture belongs.
func (m *model) noBase64(t *testing.T) {
	t.Helper()
	pictures := 0
	for _, body := range m.bodies {
		var all any
		check(t, json.Unmarshal(body, &all))
		walk(all, func(key, s string) {
			isPicture := key == "data" || strings.HasPrefix(s, "data:image/") || strings.HasPrefix(s, "data:application/pdf")
			if run := base64Run.FindString(s); run != "" && !isPicture {
				t.Errorf("text under %q has %s", key, run)
			} else if run != "" {
				pictures++
			}
		})
	}
	if pictures == 0 {
		t.Error("no request has a picture in base64: the search finds nothing")
	}
	t.Logf("%s: the model was sent %d requests, with %d pictures in all; text, pictures and files are right", t.Name(), len(m.bodies), pictures)
}

// walk calls visit with every string of a JSON value and its key.
func walk(v any, visit func(key, s string)) {
	var inner func(key string, v any)
	inner = func(key string, v any) {
		switch v := v.(type) {
		case string:
			visit(key, v)
		case []any:
			for _, e := range v {
				inner(key, e)
			}
		case map[string]any:
			for k, e := range v {
				inner(k, e)
			}
		}
	}
	inner("", v)
}

// task is the prompt; the script does not depend on it.
const task = "Follow the script."

// plan holds the user's settings of fsmcp, the script, and the check of what the model was
// sent.
type plan struct {
	settings string
	script   func(*sandbox) []step
	verify   func(*model, *sandbox)
}

// general has every step that matters.
var general = plan{`{"audit": {"file": "~/audit.jsonl"}}`, script, (*model).verify}

// audits reports whether the audit file is on.
func (p plan) audits() bool { return strings.Contains(p.settings, "audit.jsonl") }

// agent prepares a sandbox with the script's files, and the model.
func (p plan) agent(t *testing.T, env ...string) (*sandbox, *model) {
	t.Helper()
	t.Parallel()
	s := newSandbox(t, env...)
	s.warm()
	own := filepath.Join(s.home, ".config", "fsmcp")
	check(t, os.MkdirAll(own, 0o777))
	check(t, os.WriteFile(filepath.Join(own, "settings.json"), []byte(p.settings), 0o666))
	return s, newModel(t, p.script(s))
}

// finished checks a client's last words, and what the model was sent.
func (p plan) finished(s *sandbox, m *model, out output) {
	s.t.Helper()
	if out.err != nil || !strings.Contains(out.stdout, finalWords) {
		s.t.Errorf("the client ended with %v:\n%.4000s\n%.4000s", out.err, out.stdout, out.stderr)
	}
	p.verify(m, s)
}

// audited returns the ids of the calls in fsmcp's audit file, in their order.
func audited(s *sandbox) (ids []string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.home, "audit.jsonl"))
	check(s.t, err)
	for line := range strings.Lines(string(text)) {
		var entry struct{ Call string }
		check(s.t, json.Unmarshal([]byte(line), &entry))
		ids = append(ids, entry.Call)
	}
	return ids
}

// joins checks that the audit file has the client's own ids of the calls.
func joins(s *sandbox, m *model) {
	s.t.Helper()
	ids := audited(s)
	if len(ids) != len(m.steps) {
		s.t.Errorf("%d calls, and in the audit file are %v", len(m.steps), ids)
	}
	for i, id := range ids {
		if id != fmt.Sprintf("call_%d", i) {
			s.t.Errorf("call %d has the id %s in the audit file", i, id)
		}
	}
}

// codexProgram returns Codex's program.
func codexProgram(t *testing.T) string {
	t.Helper()
	modules := install(t, "@openai/codex", codexVersion)
	found, err := filepath.Glob(filepath.Join(modules, "@openai", "codex-linux-"+arch, "vendor", "*", "bin", "codex"))
	if err != nil || len(found) != 1 {
		t.Fatalf("codex is in %q (%v)", found, err)
	}
	return found[0]
}

// TestCodex runs the steps as with two models: one that has to search for the tools of
// servers and calls them as functions, and one that calls them by JavaScript.
func TestCodex(t *testing.T) {
	for _, model := range some("gpt-6-sol", "gpt-5.5") {
		t.Run(model, func(t *testing.T) { runCodex(t, model, withDocuments(pages)) })
	}
}

func runCodex(t *testing.T, model string, p plan) {
	codex := codexProgram(t)
	s, m := p.agent(t, "SCRIPT_KEY=none")
	add := s.config("codex").Command
	s.run(codex, add[1:]...)
	p.finished(s, m, s.try(codex, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
		"-c", `model_providers.script={name="script",base_url="`+m.url+`/v1",wire_api="responses",env_key="SCRIPT_KEY"}`,
		"-c", "model_provider=script", "-m", model, task))
	if model == "gpt-5.5" && p.audits() { // scripts get ids of their own
		joins(s, m)
	}
}

// TestCodexResumes has a thread that was resumed change a file that it had read before the server
// was started again.
func TestCodexResumes(t *testing.T) {
	shortrun.Leave(t, "Codex is started twice")
	t.Parallel()
	codex := codexProgram(t)
	s := newSandbox(t, "SCRIPT_KEY=none")
	add := s.config("codex").Command
	s.run(codex, add[1:]...)
	file := s.write("a.txt", []byte("one\n"))
	steps := []step{{"Read", object{"file_path": file}}, {"Write", object{"file_path": file, "content": "two\n"}}}
	for i, as := range [][]string{{"exec"}, {"exec", "resume", "--last"}} {
		m := newModel(t, steps[:i+1])
		out := s.try(codex, append(as, "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
			"-c", `model_providers.script={name="script",base_url="`+m.url+`/v1",wire_api="responses",env_key="SCRIPT_KEY"}`,
			"-c", "model_provider=script", "-m", "gpt-5.5", task)...)
		if out.err != nil || len(m.latest.results) != i+1 {
			t.Fatalf("Codex ended with %v, and the model was sent %d results:\n%s\n%s", out.err, len(m.latest.results), out.stdout, out.stderr)
		}
	}
	if got := s.read("a.txt"); got != "two\n" {
		t.Errorf("the thread that was resumed has not written: %q", got)
	}
}

// TestCodexFile compares what Codex reads in the text for its file with what its own
// command makes of it.
func TestCodexFile(t *testing.T) {
	t.Parallel()
	codex := codexProgram(t)
	read := func(enter func(*sandbox, configured)) string {
		s := newSandbox(t)
		enter(s, s.config("codex"))
		return strings.ReplaceAll(s.run(codex, "mcp", "get", "fsmcp", "--json"), s.home, "HOME")
	}
	byText := read(func(s *sandbox, c configured) {
		check(t, os.MkdirAll(filepath.Dir(c.File), 0o777))
		check(t, os.WriteFile(c.File, []byte(c.Snippet), 0o666))
	})
	byCommand := read(func(s *sandbox, c configured) { s.run(codex, c.Command[1:]...) })
	if byText != byCommand || !strings.Contains(byText, `"HOME/project"`) {
		t.Errorf("the text makes\n%s\nthe command\n%s", byText, byCommand)
	}
}

// geminiProgram returns the program of Gemini CLI.
func geminiProgram(t *testing.T) string {
	t.Helper()
	return filepath.Join(install(t, "@google/gemini-cli", geminiVersion), ".bin", "gemini")
}

// TestGeminiCommand has Gemini CLI enter fsmcp itself, and compares the file with the text
// for it.
func TestGeminiCommand(t *testing.T) {
	t.Parallel()
	program := geminiProgram(t)
	s := newSandbox(t)
	c := s.config("gemini")
	s.run(program, c.Command[1:]...)
	file, err := os.ReadFile(c.File)
	check(t, err)
	var got, want any
	check(t, json.Unmarshal(file, &got))
	check(t, json.Unmarshal([]byte(c.Snippet), &want))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the command makes\n%s\nthe text is\n%s", file, c.Snippet)
	}
}

// TestGemini runs the steps as with models of two generations, which Gemini CLI sends
// pictures in different words.
func TestGemini(t *testing.T) {
	for _, model := range some("gemini-3-pro-preview", "gemini-2.5-pro") {
		t.Run(model, func(t *testing.T) { runGemini(t, model, withDocuments(document)) })
	}
}

func runGemini(t *testing.T, model string, p plan) {
	program := geminiProgram(t)
	s, m := p.agent(t, "GEMINI_API_KEY=none", "GEMINI_TELEMETRY_ENABLED=false")
	s.env = append(s.env, "GOOGLE_GEMINI_BASE_URL="+m.url)
	config := s.config("gemini")
	check(t, os.MkdirAll(filepath.Dir(config.File), 0o777))
	check(t, os.WriteFile(config.File, []byte(`{
  // With a key, so that it puts no question about signing in.
  "security": {"auth": {"selectedType": "gemini-api-key"}}
}
`), 0o666))
	s.fsmcp("config", "gemini", "--write", "--dir", s.project)
	p.finished(s, m, s.try(program, "--skip-trust", "--yolo", "-m", model, "-p", task))
}

func TestOpencode(t *testing.T) { runOpencode(t, withDocuments(document)) }

func runOpencode(t *testing.T, p plan) {
	modules := install(t, "opencode-ai", opencodeVersion)
	program := filepath.Join(modules, "opencode-linux-"+arch, "bin", "opencode")
	s, m := p.agent(t, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1")
	s.fsmcp("config", "opencode", "--write", "--dir", s.project)
	settings, err := json.Marshal(object{
		"autoupdate": false, "share": "disabled",
		"provider": object{"script": object{
			"npm": "@ai-sdk/openai-compatible", "name": "script", "options": object{"baseURL": m.url + "/v1", "apiKey": "none"},
			"models": object{"script": object{"name": "script", "attachment": true, "tool_call": true, "limit": object{"context": 200000, "output": 8192},
				"modalities": object{"input": []string{"text", "image", "pdf"}, "output": []string{"text"}}}},
		}},
	})
	check(t, err)
	s.write("opencode.json", settings)
	p.finished(s, m, s.try(program, "run", "--auto", "-m", "script/script", task))
}
