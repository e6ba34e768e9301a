package server

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/server/wire"
)

// workspace notes what the server says of the client's roots.
type workspace struct {
	mu    sync.Mutex
	dirs  []string
	calls int
	wait  chan struct{} // where not nil, taking them lasts until it is closed
}

func (p *workspace) take(dirs, _ []string) {
	if p.wait != nil {
		<-p.wait
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirs = dirs
	p.calls++
}

func (p *workspace) first() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.dirs) == 0 {
		return "none"
	}
	return p.dirs[0]
}

// rooted is a server that wants roots and answers Reads of f with the first.
func rooted(t *testing.T, p *workspace) (*Server, *fakes) {
	f := &fakes{texts: map[string]string{}, where: p.first}
	return newFake(t, f, func(o *Options) { o.WantRoots, o.Roots = true, p.take }), f
}

const hasRoots = `{"roots":{"listChanged":true}}`

const rootsChanged = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`

// askedForRoots takes the next message, which must ask for them.
func (w *client) askedForRoots() (id string) {
	w.t.Helper()
	line := w.line()
	id = strings.TrimSuffix(strings.TrimPrefix(line, `{"jsonrpc":"2.0","id":`), `,"method":"roots/list"}`)
	if len(id) > 3 {
		w.t.Fatalf("no question for roots: %s", line)
	}
	return id
}

// onDrive returns the path of a URL that names the folder on the system that runs the test.
func onDrive(path string) string {
	if nativetest.Windows {
		return "/C:" + path
	}
	return path
}

func rootsOfDirs(dirs ...string) string {
	var items []string
	for _, d := range dirs {
		items = append(items, `{"uri":"file://`+onDrive(d)+`","name":"x"}`)
	}
	return `{"roots":[` + strings.Join(items, ",") + `]}`
}

// Before 2026-07-28 the first call has the client asked, and waits for it; a
// changed list is asked for before the next call, and not before.
func TestRoots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &workspace{}
		s, _ := rooted(t, p)
		w := greet(t, s, hasRoots)
		w.send(pingLine(9))
		w.got(9, "")
		w.send(readLine(1, "/where"))
		id := w.askedForRoots()
		w.send(readLine(2, "/where"))
		w.send(pingLine(3))
		w.got(3, "")
		w.user(id, rootsOfDirs("/a%20b", "/c"))
		w.got(1, nativetest.Name("/a b"))
		w.got(2, nativetest.Name("/a b"))
		w.send(readLine(4, "/where"))
		w.got(4, nativetest.Name("/a b"))

		w.send(rootsChanged)
		w.send(rootsChanged)
		w.send(pingLine(5))
		w.got(5, "")
		w.send(readLine(6, "/where"))
		w.user(w.askedForRoots(), rootsOfDirs("/d"))
		w.got(6, nativetest.Name("/d"))

		w.send(rootsChanged)
		w.send(readLine(7, "/where"))
		w.user(w.askedForRoots(), rootsOfDirs())
		w.got(7, "none")
		if p.calls != 3 {
			t.Errorf("told %d times", p.calls)
		}
	})
}

// Calls do not wait for a client without roots, or one that does not answer; a late answer
// counts from then on.
func TestRootsThatDoNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &workspace{}
		s, _ := rooted(t, p)
		w := greet(t, s, `{}`)
		w.send(readLine(1, "/where"))
		w.got(1, "none")

		for _, answer := range []string{`"error":{"code":-32601,"message":"no"}`, `"result":{}`, `"result":{"roots":7}`, `"result":[]`} {
			s, _ := rooted(t, p)
			w := greet(t, s, hasRoots)
			w.send(readLine(1, "/where"))
			w.send(`{"jsonrpc":"2.0","id":` + w.askedForRoots() + `,` + answer + `}`)
			w.got(1, "none")
			w.send(readLine(2, "/where"))
			w.got(2, "none")
		}

		s, _ = rooted(t, p)
		w = greet(t, s, hasRoots)
		began := time.Now()
		w.send(readLine(1, "/where"))
		id := w.askedForRoots()
		w.got(1, "none")
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
		w.send(readLine(2, "/where"))
		w.got(2, "none")
		w.user(id, rootsOfDirs("/late"))
		synctest.Wait()
		w.send(readLine(3, "/where"))
		w.got(3, nativetest.Name("/late"))
	})
}

// Roots on a disk that does not answer hold nothing up for longer.
func TestRootsThatCannotBeTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &workspace{wait: make(chan struct{})}
		s, _ := rooted(t, p)
		w := greet(t, s, hasRoots)
		began := time.Now()
		w.send(readLine(1, "/where"))
		w.user(w.askedForRoots(), rootsOfDirs("/hangs"))
		w.send(pingLine(2))
		w.got(2, "")
		w.got(1, "none")
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
		close(p.wait)
		synctest.Wait()
		w.send(readLine(3, "/where"))
		w.got(3, nativetest.Name("/hangs"))
	})
}

// Held calls can be cancelled, keep the order of their file, and run at the
// end of input.
func TestCallsHeldForRoots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &workspace{}
		s, f := rooted(t, p)
		w := greet(t, s, hasRoots)
		w.send(readLine(1, "/f"))
		w.askedForRoots()
		for i := 2; i <= 20; i++ {
			w.send(readLine(i, "/f"))
		}
		w.send(cancelLine("1"))
		w.send(cancelLine("3"))
		rest := w.rest()
		if len(rest) != 18 {
			t.Fatalf("%q", rest)
		}
		last := 0
		for _, line := range rest {
			a := parse(t, line)
			if a.ID <= last {
				t.Errorf("%d after %d", a.ID, last)
			}
			last = a.ID
		}
		if len(f.order) != 18 {
			t.Errorf("%d calls ran", len(f.order))
		}
	})
}

// From 2026-07-28 on the question is the answer to the call.
func TestModernRoots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &workspace{}
		s, _ := rooted(t, p)
		w := dial(t, s)
		const want = `{"jsonrpc":"2.0","id":1,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fsmcp","version":"test","title":"fsmcp"}},` +
			`"inputRequests":{"roots":{"method":"roots/list","params":{}}},"resultType":"input_required"}}`
		call := func(extra string) string { return modernLine("1", "/where", hasRoots, extra) }
		reported := func(dirs ...string) string { return call(`,"inputResponses":{"roots":` + rootsOfDirs(dirs...) + `}`) }
		for range 2 {
			w.send(call(""))
			if got := w.line(); got != want {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
		}
		w.reads(reported("/a"), nativetest.Name("/a"))
		w.reads(reported("/a"), nativetest.Name("/a"))
		w.reads(call(""), nativetest.Name("/a"))
		w.send(rootsChanged)
		w.send(call(""))
		if got := w.line(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		w.reads(reported("/b"), nativetest.Name("/b"))
		if p.calls != 2 {
			t.Errorf("told %d times", p.calls)
		}
		w.reads(modernLine("2", "/where", `{}`, ""), nativetest.Name("/b"))

		// A client that does not come back with them is not asked again and again.
		w.send(rootsChanged)
		w.send(call(""))
		w.line()
		time.Sleep(2 * time.Second)
		w.reads(call(""), nativetest.Name("/b"))
		w.reads(reported("/late"), nativetest.Name("/late"))
		w.reads(call(`,"inputResponses":{"roots":{}}`), nativetest.Name("/late"))
	})
}

// Roots first, then consent: each in its own round.
func TestModernRootsAndConsent(t *testing.T) {
	p := &workspace{}
	s, _ := rooted(t, p)
	w := dial(t, s)
	call := func(extra string) string { return modernLine("1", "/ask/f", `{"roots":{},"elicitation":{}}`, extra) }
	w.send(call(""))
	if m := w.modern(); m.Result.InputRequests["roots"].Method != "roots/list" {
		t.Errorf("%+v", m)
	}
	state := w.state(call(`,"inputResponses":{"roots":` + rootsOfDirs("/a") + `}`))
	w.reads(call(again(state, yesOnce)), "/ask/f")
}

// If directories were named, the client is not asked.
func TestRootsNotWanted(t *testing.T) {
	w := greet(t, newFake(t, &fakes{}, nil), hasRoots)
	w.send(rootsChanged)
	w.send(readLine(1, "/f"))
	w.got(1, "/f")
	w.reads(modernLine("2", "/f", hasRoots, `,"inputResponses":{"roots":`+rootsOfDirs("/")+`}`), "/f")
}

func TestDirOf(t *testing.T) {
	for _, c := range []struct{ uri, system, want string }{
		{"file:///a/b", "linux", "/a/b"},
		{"file:///a/b/", "linux", "/a/b"},
		{"file:///", "linux", "/"},
		{"FILE:///a", "linux", "/a"},
		{"file://localhost/a", "linux", "/a"},
		{"file:///a%20b/%C3%BC%23", "linux", "/a b/ü#"},
		{"file:///a b/ü", "linux", "/a b/ü"},
		{"file:///a/../../b", "linux", "/b"},
		{"file:///a/%2e%2e/b", "linux", "/b"},
		{"file:/a", "linux", "/a"},
		{"file://host/a", "linux", ""},
		{"file:a", "linux", ""},
		{"file:", "linux", ""},
		{"/a", "linux", ""},
		{"", "linux", ""},
		{"https://localhost/a", "linux", ""},
		{"file:///a%00b", "linux", ""},
		{"file:///a%zz", "linux", ""},
		{"file:///a%2", "linux", ""},
		{"file:///a%+1", "linux", ""},
		{"file:///a#b", "linux", "/a"},
		{"file:///a?b", "linux", "/a"},
		{"file://", "linux", "/"},
		{"file:///C:/a%20b/", "windows", `C:\a b`},
		{"file:///c%3A/", "windows", `c:\`},
		{"file:///a", "windows", ""},
	} {
		got, ok := dirOf(c.uri, c.system)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q on %s: %q, %v", c.uri, c.system, got, ok)
		}
	}
}

func TestRootsOf(t *testing.T) {
	read := func(s string) ([]string, bool) {
		dirs, _, ok := rootsOf(wire.Value{Raw: []byte(s), Kind: wire.ValueKind(s[0])}, "linux")
		return dirs, ok
	}
	raw := `{"roots":[{"uri":"file:///proj"},{"uri":"file:///C|/proj"},{"uri":"file://server/share"},{"uri":"x:/y"},{}]}`
	dirs, unusable, ok := rootsOf(wire.Value{Raw: []byte(raw), Kind: wire.Object}, "windows")
	if !ok || !slices.Equal(dirs, []string{`C:\proj`}) || !slices.Equal(unusable, []string{"file:///proj", "file://server/share", "x:/y"}) {
		t.Error(dirs, unusable, ok)
	}
	if dirs, ok := read(`{"roots":[{"uri":"file:///a"},7,{"uri":7},{},{"uri":"x:/y"},{"name":"n","uri":"file:\/\/\/b"}]}`); !ok || !slices.Equal(dirs, []string{"/a", "/b"}) {
		t.Error(dirs, ok)
	}
	if dirs, ok := read(rootsOfDirs(strings.Split(strings.Repeat("/a ", 500), " ")...)); !ok || len(dirs) > maxRoots {
		t.Error(len(dirs), ok)
	}
	for _, bad := range []string{`{}`, `[]`, `{"roots":{}}`, `"x"`} {
		if dirs, ok := read(bad); ok {
			t.Error(bad, dirs)
		}
	}
}

// What a client is told before it has named its roots.
func TestInstructionsWithRoots(t *testing.T) {
	for want, dirs := range map[string][]string{
		"the client's root directories, or where it names none, /w.": {"/w"},
		"the client's root directories.":                             nil,
	} {
		if got := (Options{Workspace: dirs}).instructions(true); !strings.Contains(got, want) {
			t.Error(got)
		}
	}
	if many := (Options{Workspace: slices.Repeat([]string{"/" + strings.Repeat("d", 200)}, 50)}).instructions(true); len(many) > maxInstructions {
		t.Error(fmt.Sprint(len(many), " bytes"))
	}
}
