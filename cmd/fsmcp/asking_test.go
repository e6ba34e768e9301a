//go:build unix

//lint:file-ignore SA1019 roots are deprecated from 2026-07-28 on, and served as long as clients name them

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// bothEras are a revision with requests to the client, and the one without.
var bothEras = []string{"2025-11-25", "2026-07-28"}

// someEras is one of both, for each case another, or both where all is to be tested.
func someEras(number int) []string {
	if shortrun.Full() {
		return bothEras
	}
	return bothEras[number%2:][:1]
}

// user is the person behind the official client, and what is asked of it.
type user struct {
	says func(ctx context.Context, message string) (*mcp.ElicitResult, error)

	mu     sync.Mutex
	asked  []string
	schema any // of the answer that the last question wants
}

func (u *user) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	u.mu.Lock()
	u.asked = append(u.asked, r.Params.Message)
	u.schema = r.Params.RequestedSchema
	says := u.says
	u.mu.Unlock()
	return says(ctx, r.Params.Message)
}

func (u *user) will(action, answer string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.says = func(context.Context, string) (*mcp.ElicitResult, error) {
		r := &mcp.ElicitResult{Action: action}
		if answer != "" {
			r.Content = map[string]any{"answer": answer}
		}
		return r, nil
	}
}

// questions returns what was asked since it was last called.
func (u *user) questions() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	asked := u.asked
	u.asked = nil
	return asked
}

// person is a session of the official client with a simulated user.
type person struct {
	*user
	t       *testing.T
	client  *mcp.Client
	session *mcp.ClientSession
}

// scene says where a server is started for the official client, and as which user.
type scene struct {
	revision  string
	dir, home string // the working directory, and HOME
	env       []string
	roots     []string
	deaf      bool // the client cannot ask its user
}

// meet starts the server in dir with these words behind serve.
func meet(t *testing.T, revision, dir string, roots []string, words ...string) *person {
	t.Helper()
	return scene{revision: revision, dir: dir, home: t.TempDir(), roots: roots}.meet(t, words...)
}

func (s scene) meet(t *testing.T, words ...string) *person {
	t.Helper()
	cmd := exec.Command(program, append([]string{"serve"}, words...)...)
	cmd.Args[0] = "fsmcp"
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "CLAUDE_PROJECT_DIR=", "CLAUDE_CONFIG_DIR=")
	cmd.Env = append(cmd.Env, s.env...)
	cmd.Stderr = os.Stderr
	p := &person{user: &user{}, t: t}
	p.will("decline", "")
	var err error
	options := &mcp.ClientOptions{ElicitationHandler: p.elicit}
	if s.deaf {
		options.ElicitationHandler = nil
	}
	p.client = mcp.NewClient(&mcp.Implementation{Name: "asking", Version: "1"}, options)
	for _, r := range s.roots {
		p.client.AddRoots(&mcp.Root{URI: "file://" + r})
	}
	p.session, err = p.client.Connect(t.Context(), startValidated(t, cmd), &mcp.ClientSessionOptions{ProtocolVersion: s.revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.session.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return p
}

// answer is the result of one call.
type answer struct {
	text    string
	isError bool
	slug    string
	code    int
}

// try makes a call, whatever comes back.
func (p *person) try(tool string, args map[string]any) answer {
	p.t.Helper()
	r, err := p.session.CallTool(p.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		p.t.Fatal(err)
	}
	a := answer{isError: r.IsError}
	for _, c := range r.Content {
		a.text += c.(*mcp.TextContent).Text
	}
	a.slug, _ = r.Meta["fsmcp/error"].(string) // "" where it is no error
	code, _ := r.Meta["fsmcp/errorCode"].(float64)
	a.code = int(code)
	return a
}

// call makes a call, whose answer must hold the words.
func (p *person) call(tool string, args map[string]any, wantError bool, words ...string) {
	p.t.Helper()
	a := p.try(tool, args)
	if a.isError != wantError {
		p.t.Errorf("%s answered (error: %v) %s", tool, a.isError, a.text)
	}
	for _, w := range words {
		if !strings.Contains(a.text, w) {
			p.t.Errorf("%s answered %q without %q", tool, a.text, w)
		}
	}
}

func (p *person) wasAsked(words ...string) {
	p.t.Helper()
	asked := p.questions()
	if len(asked) != len(words) {
		p.t.Fatalf("asked %q", asked)
	}
	for i, w := range words {
		if !strings.Contains(asked[i], w) {
			p.t.Errorf("asked %q, not of %q", asked[i], w)
		}
	}
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantFile(t *testing.T, path, text string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("%s holds %q (%v), not %q", path, got, err, text)
	}
}

// TestAsking lets the official client be asked, in both eras: yes for one call,
// yes for the session, no, and no answer on purpose.
func TestAsking(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			file := writeFile(t, work, "a.txt", "one\n")
			other := writeFile(t, work, "b.txt", "one\n")
			p := meet(t, revision, work, nil, "--ask", "Edit(*.txt)", work)
			write := func(path, text string) map[string]any {
				return map[string]any{"file_path": path, "content": text}
			}
			read := func(path string) { p.call("Read", map[string]any{"file_path": path}, false) }
			read(file)
			read(other)
			p.wasAsked()

			p.will("decline", "")
			p.call("Write", write(file, "x\n"), true, "consent was needed", "the user declined", "Edit(*.txt) (--ask)")
			p.will("cancel", "")
			p.call("Write", write(file, "x\n"), true, "the user dismissed the question")
			p.wasAsked(file+"?\nRule: Edit(*.txt) (--ask)", file)
			wantAnswerSchema(t, p.schema)
			wantFile(t, file, "one\n")

			p.will("accept", "once")
			p.call("Write", write(file, "two\n"), false)
			p.call("Write", write(file, "three\n"), false)
			p.wasAsked(file, file)
			wantFile(t, file, "three\n")

			p.will("accept", "session")
			p.call("Write", write(file, "four\n"), false)
			p.call("Edit", map[string]any{"file_path": file, "old_string": "four", "new_string": "five"}, false)
			p.wasAsked(file)
			wantFile(t, file, "five\n")

			p.will("decline", "")
			p.call("Write", write(other, "x\n"), true, "declined")
			p.wasAsked(other)
			wantFile(t, other, "one\n")
		})
	}
}

// wantAnswerSchema: the answer is one required word of two.
func wantAnswerSchema(t *testing.T, schema any) {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Type       string
		Required   []string
		Properties map[string]struct {
			Type string
			Enum []string
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	a := got.Properties["answer"]
	if got.Type != "object" || len(got.Properties) != 1 || !slices.Equal(got.Required, []string{"answer"}) || a.Type != "string" || !slices.Equal(a.Enum, []string{"once", "session"}) {
		t.Errorf("the answer wanted is %s", text)
	}
}

// TestConsentIsNarrow: a yes for the session holds for that file and that group
// of tools alone, under whatever name it is asked for, and not in the next
// session; a yes for once not even for the next call.
func TestConsentIsNarrow(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			work, away := t.TempDir(), t.TempDir()
			file := writeFile(t, away, "a.txt", "one\n")
			other := writeFile(t, away, "b.txt", "one\n")
			link := filepath.Join(work, "link")
			if err := os.Symlink(file, link); err != nil {
				t.Fatal(err)
			}
			read := func(path string) map[string]any { return map[string]any{"file_path": path} }
			p := meet(t, revision, work, nil, work)
			p.will("accept", "session")
			p.call("Read", read(file), false, "1\tone")
			p.wasAsked("Read " + file)
			p.call("Read", read(link), false) // the same file
			p.call("Read", read(file), false)
			p.wasAsked()
			p.will("decline", "")
			p.call("Edit", map[string]any{"file_path": file, "old_string": "one", "new_string": "two"}, true, "declined") // another group
			p.call("Read", read(other), true, "declined")                                                                 // another file
			p.wasAsked("Edit "+file, "Read "+other)
			p.will("accept", "")
			p.call("Read", read(other), true, "gave no answer that can be understood")
			p.wasAsked("Read " + other)
			p.will("accept", "once")
			p.call("Read", read(other), false)
			p.will("decline", "")
			p.call("Read", read(other), true, "declined")
			p.wasAsked("Read "+other, "Read "+other)
			next := meet(t, revision, work, nil, work)
			next.call("Read", read(file), true, "declined")
			next.wasAsked("Read " + file)
			wantFile(t, file, "one\n")
		})
	}
}

// TestLinkRelaidWhileAsked: the yes is to the file that the name led to when it
// was asked for. Where it leads to another one by then, that one is asked for.
func TestLinkRelaidWhileAsked(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			work, away := t.TempDir(), t.TempDir()
			first := writeFile(t, away, "first.txt", "harmless\n")
			second := writeFile(t, away, "second.txt", "SECRET\n")
			link := filepath.Join(work, "link")
			relay := func(to string) {
				if err := errors.Join(os.Symlink(to, link+".new"), os.Rename(link+".new", link)); err != nil {
					t.Error(err)
				}
			}
			for _, answer := range []string{"once", "session"} {
				relay(first)
				p := meet(t, revision, work, nil, work)
				p.says = func(_ context.Context, message string) (*mcp.ElicitResult, error) {
					if strings.Contains(message, second) {
						return &mcp.ElicitResult{Action: "decline"}, nil
					}
					relay(second)
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer}}, nil
				}
				a := p.try("Read", map[string]any{"file_path": link})
				if a.slug != "denied" || strings.Contains(a.text, "SECRET") || !strings.Contains(a.text, "declined") {
					t.Errorf("%s: answered %+v", answer, a)
				}
				p.wasAsked("leads to "+first, "leads to "+second)
				a = p.try("Write", map[string]any{"file_path": link, "content": "x\n"})
				if a.slug != "denied" {
					t.Errorf("%s: answered %+v", answer, a)
				}
			}
			wantFile(t, first, "harmless\n")
			wantFile(t, second, "SECRET\n")
		})
	}
}

// TestAskedBehindALink: the question names the link's target and the rule on it. Only
// denials hide them.
func TestAskedBehindALink(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			f := newFort(t)
			target := f.put("vault/key", "one\n")
			f.link("vault/key", "link")
			settings := f.put(f.home+"/.config/fsmcp/settings.json", rules{"ask": []string{"Read(vault/**)", "Edit(vault/**)"}}.text())
			s := scene{revision: revision, dir: f.ws, home: f.home}
			read := map[string]any{"file_path": f.abs("link")}
			p := s.meet(t, f.ws)
			p.call("Read", read, true, "declined", "Rule: Read(vault/**) ("+settings+":4)")
			p.wasAsked("Read " + f.abs("link") + "?\nRule: Read(vault/**) (" + settings + ":4)\nIt leads to " + target)
			s.deaf = true
			s.meet(t, f.ws).call("Read", read, true, "needs the user's consent", "Rule: Read(vault/**) ("+settings+":4)")
		})
	}
}

// TestAskingHoldsNobodyUp has one call wait for its user while others go on,
// on that file, too, and finds the file as it then is.
func TestAskingHoldsNobodyUp(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			file := writeFile(t, work, "a.txt", "one\n")
			p := meet(t, revision, work, nil, "--ask", "Edit(a.txt)", work)
			p.call("Read", map[string]any{"file_path": file}, false)
			asked, answer := make(chan bool), make(chan bool)
			p.says = func(context.Context, string) (*mcp.ElicitResult, error) {
				asked <- true
				<-answer
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "once"}}, nil
			}
			done := make(chan bool)
			go func() {
				defer close(done)
				p.call("Write", map[string]any{"file_path": file, "content": "x\n"}, true, "modified since read")
			}()
			<-asked
			p.call("Read", map[string]any{"file_path": file}, false)
			writeFile(t, work, "a.txt", strings.Repeat("of somebody else\n", 100))
			answer <- true
			<-done
			p.call("Read", map[string]any{"file_path": writeFile(t, work, "b.txt", "b\n")}, false, "1\tb")
		})
	}
}

// TestNobodyAnswers has the client give up a call whose question stays unanswered, and
// then asks again.
func TestNobodyAnswers(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			p := meet(t, revision, work, nil, "--ask", "Edit(a.txt)", work)
			asked, gone := make(chan bool, 1), make(chan bool, 1)
			p.says = func(ctx context.Context, _ string) (*mcp.ElicitResult, error) {
				asked <- true
				<-ctx.Done()
				gone <- true
				return nil, ctx.Err()
			}
			args := map[string]any{"file_path": filepath.Join(work, "a.txt"), "content": "x\n"}
			ctx, giveUp := context.WithCancel(t.Context())
			go func() { <-asked; giveUp() }()
			if r, err := p.session.CallTool(ctx, &mcp.CallToolParams{Name: "Write", Arguments: args}); err == nil {
				t.Errorf("a cancelled call was answered: %+v", r)
			}
			<-gone
			if _, err := os.Stat(filepath.Join(work, "a.txt")); err == nil {
				t.Error("it was written")
			}
			p.will("accept", "once")
			p.call("Write", args, false)
			wantFile(t, filepath.Join(work, "a.txt"), "x\n")
		})
	}
}

// TestNoAnswerInTime waits until the server gives up the question, which the
// settings have it do soon. Other calls go on meanwhile.
func TestNoAnswerInTime(t *testing.T) {
	t.Parallel()
	best := time.Hour // the machine may hold one of them up
	for tries := 0; tries < 4 && best > 10*time.Second; tries++ {
		best = min(best, unanswered(t))
	}
	if best > 10*time.Second {
		t.Errorf("took %v at best", best)
	}
}

// unanswered measures a call whose question stays unanswered and is given up after a
// second.
func unanswered(t *testing.T) (took time.Duration) {
	t.Helper()
	work, home := t.TempDir(), t.TempDir()
	file := writeFile(t, work, "a.txt", "one\n")
	if err := os.MkdirAll(filepath.Join(home, ".config/fsmcp"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, home, ".config/fsmcp/settings.json", `{"ask": {"timeout": "1s"}}`)
	p := scene{revision: "2025-11-25", dir: work, home: home}.meet(t, "--ask", "Edit(a.txt)", work)
	asked := make(chan bool, 1)
	p.says = func(ctx context.Context, _ string) (*mcp.ElicitResult, error) {
		asked <- true
		<-ctx.Done() // the server takes its question back
		return nil, ctx.Err()
	}
	p.call("Read", map[string]any{"file_path": file}, false)
	began := time.Now()
	done := make(chan bool)
	go func() {
		defer close(done)
		p.call("Write", map[string]any{"file_path": file, "content": "x\n"}, true, "the user did not answer within 1s", "Edit(a.txt) (--ask)")
	}()
	<-asked
	p.call("Read", map[string]any{"file_path": file, "limit": 1}, false, "1\tone")
	<-done
	if took = time.Since(began); took < time.Second {
		t.Errorf("took %v", took)
	}
	wantFile(t, file, "one\n")
	return took
}

// TestRoots lets the official client name its roots, in both eras, and change
// them.
func TestRoots(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			one, two, away := t.TempDir(), t.TempDir(), t.TempDir()
			writeFile(t, one, "a.txt", "of one\n")
			writeFile(t, two, "a.txt", "of two\n")
			writeFile(t, away, "a.txt", "of the working directory\n")
			relative := map[string]any{"file_path": "a.txt"}
			inDir := func(dir string) map[string]any { return map[string]any{"file_path": filepath.Join(dir, "a.txt")} }

			p := meet(t, revision, away, []string{one})
			p.call("Read", relative, false, "of one", filepath.Join(one, "a.txt"))
			p.wasAsked()
			p.call("Read", inDir(two), true, "declined")
			p.call("Read", inDir(away), true, "declined")
			p.wasAsked(two, away)

			p.client.AddRoots(&mcp.Root{URI: "file://" + two})
			p.client.RemoveRoots("file://" + one)
			p.call("Read", relative, false, "of two")
			p.call("Read", inDir(one), true, "declined")
			p.wasAsked(one)

			p.client.RemoveRoots("file://" + two)
			p.call("Read", relative, false, "of the working directory")

			p.client.AddRoots(&mcp.Root{URI: "file:///"}) // counts only when the command line names it
			p.call("Read", relative, false)
			p.call("Read", inDir(one), true, "declined")
			p.wasAsked(one)
		})
	}
}

// TestRootsWidenNothing: directories that the command line names are neither
// widened nor replaced.
func TestRootsWidenNothing(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			named, root := t.TempDir(), t.TempDir()
			writeFile(t, named, "a.txt", "of the named\n")
			file := writeFile(t, root, "a.txt", "of the root\n")
			p := meet(t, revision, root, []string{root}, named)
			p.call("Read", map[string]any{"file_path": "a.txt"}, false, "of the named")
			p.call("Read", map[string]any{"file_path": file}, true, "declined")
			p.wasAsked(file)
		})
	}
}

// TestRulesOfRoots: the client's roots bring the rules of their own files, the
// ones that come later as well, and these are followed.
func TestRulesOfRoots(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			inTime(t, func(f *fort) {
				one, two := f.outside+"/one", f.outside+"/two"
				for _, dir := range []string{one, two} {
					f.put(dir+"/a.txt", "x\n")
					f.put(dir+"/b.txt", "x\n")
					f.put(dir+"/.claude/settings.json", deny("Read(b.txt)").text())
				}
				p := scene{revision: revision, dir: f.ws, home: f.home, roots: []string{one}}.meet(t)
				slug := func(name string) string {
					return p.try("Read", map[string]any{"file_path": name}).slug
				}
				read := func(name, want string) {
					t.Helper()
					if got := slug(name); got != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
				read(one+"/a.txt", "")
				read(one+"/b.txt", "denied")
				p.wasAsked()
				p.client.AddRoots(&mcp.Root{URI: "file://" + two})
				read(two+"/a.txt", "")
				read(two+"/b.txt", "denied")
				p.wasAsked()
				f.replace(two+"/.claude/settings.json", deny("Read(a.txt)").text()) // at once: a half-written file is broken, and the user is asked about it
				f.soon("the rules of a root that came later are followed", func() bool { return slug(two+"/a.txt") == "denied" })
				p.wasAsked()
				read(one+"/a.txt", "denied") // relative rules hold in every workspace directory
			})
		})
	}
}

// TestRootThatLeadsElsewhereLater: a root of the client keeps the folder that it led
// to when it was first named, also when the list of roots changes and settings are
// read again.
func TestRootThatLeadsElsewhereLater(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			f := newFort(t)
			one, two := f.outside+"/one", f.outside+"/two"
			f.put(one+"/a.txt", "x\n")
			f.put(two+"/a.txt", "x\n")
			f.put(f.home+"/secret/s.txt", canary+"\n")
			p := scene{revision: revision, dir: f.ws, home: f.home, roots: []string{one}}.meet(t)
			p.call("Read", map[string]any{"file_path": one + "/a.txt"}, false)
			f.check(os.Rename(one, one+"-old"))
			f.link(f.home+"/secret", one)
			f.put(f.home+"/.config/fsmcp/settings.json", deny("Read(b.txt)").text())
			f.soon("settings were read again", func() bool {
				return p.try("Read", map[string]any{"file_path": one + "/b.txt"}).slug == "denied"
			})
			p.will("decline", "")
			p.questions()
			p.call("Read", map[string]any{"file_path": one + "/s.txt"}, true, "declined")
			p.client.AddRoots(&mcp.Root{URI: "file://" + two})
			f.soon("the other root", func() bool {
				return p.try("Read", map[string]any{"file_path": two + "/a.txt"}).slug == ""
			})
			p.questions()
			p.call("Read", map[string]any{"file_path": one + "/s.txt"}, true, "declined")
			p.wasAsked("Read " + one + "/s.txt")
		})
	}
}
