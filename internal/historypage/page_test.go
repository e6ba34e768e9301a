package historypage

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/restore"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

const host = "127.0.0.1:4567"

type noAudit struct{}

func (noAudit) Begin(toolcall.Event) error { return nil }
func (noAudit) Log(toolcall.Event)         {}

// workspace is a folder with a history, and a page of it.
type workspace struct {
	*testing.T
	dir     string
	history *history.Store
	page    *page
	handler http.Handler
	rules   []perm.RuleText // for the requests that follow
}

func newWorkspace(t *testing.T) *workspace {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{T: t, dir: dir}
	state := t.TempDir()
	saver := save.New(save.Options{StateDir: state, Rand: rand.Reader, Durability: save.None})
	w.history = history.New(history.Options{
		Dir:      func(context.Context) (string, error) { return state, nil },
		Settings: func() history.Settings { return history.Settings{Required: true, MaxSize: 1 << 30, MaxAge: time.Hour} },
	})
	t.Cleanup(func() { saver.Close(); w.history.Close() })
	open := func() (*history.Archive, error) { return history.Open(state) }
	w.page = newPage(Options{Folder: dir, Open: func(use func(restore.Restorer) error) error {
		policy, faults := perm.Compile(perm.Config{
			Workspace: []perm.Dir{{Name: dir, Real: dir}}, Mode: perm.AcceptEdits, CaseSensitive: true, Windows: runtime.GOOS == "windows", Rules: w.rules,
		})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		service := tools.New(tools.Options{
			Access: &access.Checker{
				Lexer:    func() fsys.Lexer { return fsys.Lexer{OS: runtime.GOOS, Base: dir} },
				Resolver: fsys.NewResolver(), Policy: func() *perm.Policy { return policy }, Now: time.Now,
			},
			Saver: saver, Counter: tokens.Local{}, MaxTokens: tools.DefaultMaxTokens, MaxFileBytes: 256 << 10,
			Preferences: func() tools.Preferences { return tools.Preferences{} },
			History:     w.history, Audit: noAudit{}, Now: time.Now,
		})
		archive, err := open()
		w.check(err)
		defer archive.Close()
		return use(restore.Restorer{Archive: archive, Service: service, Open: open})
	}}, host)
	w.handler = w.page.handler(newViewers(0, 0, func() {}))
	return w
}

func (w *workspace) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *workspace) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// change makes a change of a whole file and records it; "" as the old text is no file. It returns
// the change's id.
func (w *workspace) change(name, old, now string) string {
	w.Helper()
	c := history.PendingChange{Names: []string{w.path(name)}, Tool: "Edit", Session: "s", Splices: []span.Splice{{End: int64(len(old)), New: []byte(now)}}}
	if old != "" {
		c.Old, c.Size, c.From = strings.NewReader(old), int64(len(old)), []byte(old)
	}
	mark, err := w.history.Keep(w.Context(), c)
	w.check(err)
	id := mark.ID()
	mark.Done()
	w.check(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.check(os.WriteFile(w.path(name), []byte(now), 0o644))
	return id
}

// request is one of the page's script, unless change makes another one of it.
func (w *workspace) request(method, target string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = host
	r.AddCookie(&http.Cookie{Name: w.page.cookie, Value: w.page.secret})
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://"+host)
		r.Header.Set(changesHeader, "1")
	}
	if change != nil {
		change(r)
	}
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	return answer
}

// ask returns the object that the page gets. The values come in pairs.
func (w *workspace) ask(method, path string, pairs ...string) map[string]any {
	w.Helper()
	query := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	answer := w.request(method, path+"?"+query.Encode(), nil)
	object := make(map[string]any)
	if err := json.Unmarshal(answer.Body.Bytes(), &object); err != nil {
		w.Fatalf("%s %s: %v\n%s", method, path, err, answer.Body)
	}
	if answer.Header().Get("Content-Type") != "application/json" || bytes.ContainsAny(answer.Body.Bytes(), "<>") {
		w.Errorf("%s %s could be read as HTML:\n%s", method, path, answer.Body)
	}
	return object
}

func (w *workspace) text(name string) string {
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		return "(missing)"
	}
	return string(b)
}

// The token in the address becomes a cookie once, and leaves the address.
func TestTokenWorksOnce(t *testing.T) {
	w := newWorkspace(t)
	without := func(r *http.Request) { r.Header.Del("Cookie") }
	token := w.page.token
	for _, wrong := range []string{"/", "/?token=", "/?token=x", "/page.js?token=" + token, "/api/changes?token=" + token} {
		if a := w.request("GET", wrong, without); a.Code != http.StatusForbidden || len(a.Result().Cookies()) > 0 {
			t.Errorf("%s: %d %v", wrong, a.Code, a.Result().Cookies())
		}
	}
	a := w.request("GET", "/?token="+token, without)
	cookies := a.Result().Cookies()
	if a.Code != http.StatusSeeOther || a.Header().Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("%d %v", a.Code, a.Header())
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value == token || c.Domain != "" {
		t.Errorf("%+v", c)
	}
	if a := w.request("GET", "/", func(r *http.Request) { without(r); r.AddCookie(cookies[0]) }); a.Code != http.StatusOK {
		t.Errorf("with the cookie: %d", a.Code)
	}
	if a := w.request("GET", "/?token="+token, without); a.Code != http.StatusForbidden || len(a.Result().Cookies()) > 0 {
		t.Errorf("a second time: %d", a.Code)
	}
	if a := w.request("GET", "/?token="+token, nil); a.Code != http.StatusSeeOther {
		t.Errorf("a second time in the same browser: %d", a.Code)
	}
}

// Requests of other pages, by other names and without the cookie get nothing and change nothing.
func TestOthersAreRefused(t *testing.T) {
	w := newWorkspace(t)
	id := w.change("f", "old canary\n", "new\n")
	key := w.ask("POST", "/api/preview", "id", id)["key"].(string)
	change := map[string]func(*http.Request){
		"no cookie":         func(r *http.Request) { r.Header.Del("Cookie") },
		"another cookie":    func(r *http.Request) { r.Header.Set("Cookie", w.page.cookie+"=x") },
		"localhost":         func(r *http.Request) { r.Host = "localhost:4567" },
		"another port":      func(r *http.Request) { r.Host = "127.0.0.1:4568" },
		"a name":            func(r *http.Request) { r.Host = "attacker.example:4567" },
		"no port":           func(r *http.Request) { r.Host = "127.0.0.1" },
		"another site":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another port's":    func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"POST: no origin":   func(r *http.Request) { r.Header.Del("Origin") },
		"POST: null":        func(r *http.Request) { r.Header.Set("Origin", "null") },
		"POST: other port":  func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:4568") },
		"POST: other name":  func(r *http.Request) { r.Header.Set("Origin", "http://attacker.example:4567") },
		"POST: no header":   func(r *http.Request) { r.Header.Del(changesHeader) },
		"POST: in a frame?": func(r *http.Request) { r.Method = "GET" },
	}
	routes := []string{"GET /", "GET /page.js", "GET /page.css", "GET /api/changes", "GET /api/change?id=" + id, "GET /events", "POST /api/preview?id=" + id, "POST /api/restore?key=" + key}
	for name, spoil := range change {
		for _, route := range routes {
			method, target, _ := strings.Cut(route, " ")
			if strings.HasPrefix(name, "POST") && method != "POST" {
				continue
			}
			a := w.request(method, target, spoil)
			if a.Code < 400 || strings.Contains(a.Body.String(), "canary") || a.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s, %s: %d %s", name, route, a.Code, a.Body)
			}
		}
	}
	if got := w.text("f"); got != "new\n" {
		t.Fatalf("f holds %q", got)
	}
	// The control: the same request of the page itself.
	if a := w.request("POST", "/api/restore?key="+key, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }); a.Code != 200 || w.text("f") != "old canary\n" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// Each answer, a refusal too, tells the browser what the page may do.
func TestEveryAnswerHasThePolicy(t *testing.T) {
	w := newWorkspace(t)
	for _, target := range []string{"/", "/page.css", "/page.js", "/api/changes", "/api/change?id=x", "/nothing", "/picture/x"} {
		for _, spoil := range []func(*http.Request){nil, func(r *http.Request) { r.Host = "x" }} {
			h := w.request("GET", target, spoil).Header()
			policy := h.Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
				if !strings.Contains(policy, part) {
					t.Errorf("%s: %s lacks %s", target, policy, part)
				}
			}
			if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%s: %v", target, h)
			}
		}
	}
	page, _ := files.ReadFile("page.html")
	if found := regexp.MustCompile(`(?i)https?:|//|\son\w+=|<style|javascript:|<script>`).FindString(string(page)); found != "" {
		t.Errorf("the page has %q", found)
	}
}

// Nothing of a file that the rules deny is in any answer. The control is the same requests
// without the rule.
func TestDeniedFilesAreInNoAnswer(t *testing.T) {
	w := newWorkspace(t)
	id := w.change("secret/name.txt", "the canary\n", "the Canary, changed\n")
	picture := w.change("secret/p.png", "", pngOf(t))
	w.change("open.txt", "a\n", "b\n")
	preview := func() map[string]any { return w.ask("POST", "/api/preview", "id", id) }
	key, _ := preview()["key"].(string)
	shown := w.ask("GET", "/api/change", "id", picture)["view"].(map[string]any)["pictures"].([]any)[1].([]any)[0].(string)
	for _, denied := range []bool{false, true} {
		if denied {
			w.rules = []perm.RuleText{{List: perm.Deny, Text: "Read(secret/**)"}}
		}
		for name, answer := range map[string]map[string]any{
			"the list": w.ask("GET", "/api/changes"), "all": w.ask("GET", "/api/changes", "all", "1"), "a name": w.ask("GET", "/api/changes", "q", "NAME"),
			"a text": w.ask("GET", "/api/changes", "q", "canary"), "the change": w.ask("GET", "/api/change", "id", id), "a preview": preview(),
		} {
			text, _ := json.Marshal(answer)
			if found := strings.Contains(strings.ToLower(string(text)), "name.txt"); found == denied {
				t.Errorf("denied: %v, %s: %s", denied, name, text)
			}
			if strings.Contains(strings.ToLower(string(text)), "canary") && denied {
				t.Errorf("%s: %s", name, text)
			}
		}
		if a := w.request("GET", "/picture/"+shown, nil); (a.Code == 200) == denied {
			t.Errorf("denied: %v, the picture: %d", denied, a.Code)
		}
	}
	if l := w.ask("GET", "/api/changes"); l["denied"] != 2.0 || len(l["changes"].([]any)) != 1 {
		t.Errorf("%v", l)
	}
	if answer := w.ask("POST", "/api/restore", "key", key); answer["error"] == nil || w.text("secret/name.txt") != "the Canary, changed\n" {
		t.Errorf("restored: %v", answer)
	}
	w.rules = []perm.RuleText{{List: perm.Deny, Text: "Edit(open.txt)"}} // may be seen, but not changed
	l := w.ask("GET", "/api/changes", "q", "open.txt")["changes"].([]any)
	if answer := w.ask("POST", "/api/preview", "id", l[0].(map[string]any)["id"].(string)); answer["error"] == nil {
		t.Errorf("a preview of what may not be changed: %v", answer)
	}
}

// A change is taken back by two requests: the first one shows what the second one does, once.
func TestRestoreTakesTwoRequests(t *testing.T) {
	w := newWorkspace(t)
	id := w.change("f", "1\n2\n3\n4\n", "1\ntwo\n3\n4\n")
	w.check(os.WriteFile(w.path("f"), []byte("1\ntwo\n3\nfour\n"), 0o644))
	if answer := w.ask("POST", "/api/restore", "key", id); answer["error"] == nil {
		t.Error("restored without a preview")
	}
	shown := w.ask("POST", "/api/preview", "id", id)
	step := shown["steps"].([]any)[0].(map[string]any)
	if diff := step["view"].(map[string]any)["diff"]; diff != "@@ -1,4 +1,4 @@\n 1\n-two\n+2\n 3\n four\n" {
		t.Errorf("%q", diff)
	}
	if w.text("f") != "1\ntwo\n3\nfour\n" {
		t.Fatal("the preview changed the file")
	}
	if answer := w.ask("POST", "/api/restore", "key", shown["key"].(string)); answer["error"] != nil || w.text("f") != "1\n2\n3\nfour\n" {
		t.Errorf("%v, f holds %q", answer, w.text("f"))
	}
	if answer := w.ask("POST", "/api/restore", "key", shown["key"].(string)); answer["error"] == nil {
		t.Error("a key works twice")
	}
	// The file changes between the two.
	shown = w.ask("POST", "/api/preview", "id", w.change("g", "a\n2\n3\n", "b\n2\n3\n"))
	w.check(os.WriteFile(w.path("g"), []byte("b\n2\n3\nmore\n"), 0o644))
	if answer := w.ask("POST", "/api/restore", "key", shown["key"].(string)); !strings.Contains(answer["error"].(string), "changed since it was shown") || w.text("g") != "b\n2\n3\nmore\n" {
		t.Errorf("%v, g holds %q", answer, w.text("g"))
	}
	// A conflict is told by the first one.
	w.check(os.WriteFile(w.path("f"), []byte("1\nother\n3\nfour\n"), 0o644))
	if answer := w.ask("POST", "/api/preview", "id", id); !strings.Contains(answer["error"].(string), "the same place was changed since") {
		t.Errorf("%v", answer)
	}
}

// The search finds names and changed lines, in any case, and no lines that stayed.
func TestSearch(t *testing.T) {
	w := newWorkspace(t)
	w.change("Report.txt", "one\nstays\n", "Eins\nstays\n")
	w.change("other.txt", "x\n", "y\n")
	for words, want := range map[string]int{"": 2, "report": 1, "EINS": 1, "one": 1, "stays": 0, "nothing": 0, ".TXT": 2, " y ": 1} {
		if got := w.ask("GET", "/api/changes", "q", words)["changes"].([]any); len(got) != want {
			t.Errorf("%q: %v", words, got)
		}
	}
	hit := w.ask("GET", "/api/changes", "q", "eins")["changes"].([]any)[0].(map[string]any)["hit"]
	if hit != "Eins" {
		t.Errorf("%q", hit)
	}
}

// A long list comes in parts that together are the whole.
func TestListInParts(t *testing.T) {
	w := newWorkspace(t)
	for i := range mostListed + 5 {
		w.change("f", "x", strings.Repeat("y", i))
	}
	seen, after := make(map[string]bool), ""
	for parts := 0; parts == 0 || after != ""; parts++ {
		l := w.ask("GET", "/api/changes", "after", after)
		for _, c := range l["changes"].([]any) {
			seen[c.(map[string]any)["id"].(string)] = true
		}
		after, _ = l["next"].(string)
	}
	if len(seen) != mostListed+5 {
		t.Errorf("%d changes", len(seen))
	}
}

func pngOf(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Only pictures without scripts are served as such; whatever else a file holds is text in JSON.
func TestViews(t *testing.T) {
	w := newWorkspace(t)
	view := func(name, old, now string) map[string]any {
		return w.ask("GET", "/api/change", "id", w.change(name, old, now))["view"].(map[string]any)
	}
	keys := view("p.png", "", pngOf(t))["pictures"].([]any)
	if keys[0] != nil {
		t.Errorf("a picture before: %v", keys)
	}
	a := w.request("GET", "/picture/"+keys[1].([]any)[0].(string), nil)
	if a.Body.String() != pngOf(t) || a.Header().Get("Content-Type") != "image/png" || a.Header().Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
		t.Errorf("%v", a.Header())
	}
	for name, content := range map[string]string{
		"a.svg": "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>\n", "a.png": "<script>alert(1)</script>\n",
		"<img src=x onerror=alert(1)>.html": "<script>alert(1)</script>\n", "GIF89a": "GIF89a/*<script>*/=1\n",
	} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "<>") {
			continue
		}
		if v := view(name, "", content); v["pictures"] != nil || !strings.Contains(v["diff"].(string), "+"+content) {
			t.Errorf("%s: %v", name, v)
		}
	}
	if v := view("b.bin", "\x00\x01\x02", "\x00\x01\x02\x03"); v["note"] != "This is no text: 3 bytes before, 4 bytes after." {
		t.Errorf("%v", v)
	}
	const nb = `{"cells":[{"cell_type":"code","id":"a","metadata":{},"outputs":[],"execution_count":1,"source":"x = 1"}],"metadata":{},"nbformat":4,"nbformat_minor":5}`
	cells := view("n.ipynb", nb, strings.Replace(nb, "x = 1", "x = 2", 1))["cells"].([]any)
	if c := cells[0].(map[string]any); len(cells) != 1 || c["kind"] != "changed" || c["source"] != "@@ -1 +1 @@\n-x = 1\n+x = 2\n" {
		t.Errorf("%v", cells)
	}
}

// The server ends when the last page is closed, and when none comes; not while one is open.
func TestServerEndsWithThePage(t *testing.T) {
	if err := Serve(t.Context(), Options{First: time.Millisecond, Ready: func(string) {}}); err != http.ErrServerClosed && err != nil {
		t.Errorf("without a page: %v", err)
	}
	address, ended := make(chan string, 1), make(chan error, 1)
	w := newWorkspace(t)
	go func() {
		ended <- Serve(t.Context(), Options{Gone: time.Millisecond, Ready: func(a string) { address <- a }, Open: w.page.Open})
	}()
	jar := &oneCookie{}
	client := &http.Client{Jar: jar, Transport: &http.Transport{}}
	first := <-address
	base, _, _ := strings.Cut(first, "?")
	get := func(target string) *http.Response {
		t.Helper()
		a, err := client.Get(target)
		if err != nil || a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v %v", target, a, err)
		}
		return a
	}
	if a := get(first); a.Request.URL.String() != base {
		t.Errorf("the address stays %s", a.Request.URL)
	}
	one, two := get(base+"events"), get(base+"events")
	one.Body.Close()
	get(base + "api/changes").Body.Close()
	select {
	case err := <-ended:
		t.Fatalf("it ended while a page was open: %v", err)
	default:
	}
	two.Body.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// oneCookie holds the last cookie.
type oneCookie struct{ cookies []*http.Cookie }

func (j *oneCookie) SetCookies(_ *url.URL, c []*http.Cookie) { j.cookies = c }
func (j *oneCookie) Cookies(*url.URL) []*http.Cookie         { return j.cookies }

// The page stays small: 900 lines that are neither blank nor comments, with its command.
func TestSize(t *testing.T) {
	names := []string{"page.html", "page.css", "page.js", filepath.Join("..", "..", "cmd", "fsmcp", "historyopen.go")}
	own, _ := filepath.Glob("*.go")
	lines := 0
	for _, name := range append(names, own...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(f)
		f.Close()
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
	}
	if lines > 900 || lines < 500 {
		t.Errorf("%d lines", lines)
	}
}
