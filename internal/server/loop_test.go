package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/server/schedule"
	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

func readLine(id int, path string) string {
	return callLine(fmt.Sprint(id), "Read", `{"file_path":"`+path+`"}`)
}

func pingLine(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id)
}

func cancelLine(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

// gated makes fakes whose Reads of these names wait.
func gated(names ...string) *fakes {
	f := &fakes{gates: make(map[string]chan struct{}), began: make(chan string, 10_000)}
	for _, name := range names {
		f.gates[name] = make(chan struct{})
	}
	return f
}

// answered holds the parts of an answer that these tests compare.
type answered struct {
	ID     int
	Result struct {
		Meta    map[string]any `json:"_meta"`
		IsError bool
		Content []struct{ Text string }
	}
	Error *struct {
		Code    int
		Message string
	}
}

func parse(tb testing.TB, line string) (a answered) {
	tb.Helper()
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		tb.Fatalf("%v: %s", err, line)
	}
	return a
}

func (a answered) text() string {
	if len(a.Result.Content) == 0 {
		return ""
	}
	return a.Result.Content[0].Text
}

// wantBusy fails where the answer is not "busy" (code 16).
func wantBusy(t *testing.T, a answered) {
	t.Helper()
	if !a.Result.IsError || a.Result.Meta["fsmcp/errorCode"] != 16.0 || a.Result.Meta["fsmcp/error"] != "busy" {
		t.Errorf("not busy: %+v", a)
	}
}

// A call that hangs holds up neither the reader nor calls on other files, only
// those on its own file, which then run in the order they came. It does not
// matter how the file is spelt.
func TestCallsKeepTheOrderOfTheirFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated("/a")
		w := dial(t, newFake(t, f, nil))
		w.send(readLine(1, "/a"))
		<-f.began
		w.send(callLine("2", "Write", `{"file_path":"/./a","content":"x"}`))
		w.send(readLine(3, "/x/../a"))
		w.send(readLine(4, "/b"))
		w.send(pingLine(5))
		if a := parse(t, w.line()); a.ID != 4 {
			t.Errorf("first answer to %d", a.ID)
		}
		if a := parse(t, w.line()); a.ID != 5 {
			t.Errorf("second answer to %d", a.ID)
		}
		close(f.gates["/a"])
		for _, id := range []int{1, 2, 3} {
			if a := parse(t, w.line()); a.ID != id {
				t.Errorf("answer to %d, not to %d", a.ID, id)
			}
		}
		if want := []string{"/a", "/b", "/./a", "/x/../a"}; !slices.Equal(f.order, want) {
			t.Errorf("ran as %q", f.order)
		}
	})
}

// Cancelled calls are not answered: neither the running one nor the waiting one, which
// never starts.
//
// TestShownBeforeItIsSeen: a client that has the answer may rely on it, even in a call on
// another name of the file, which waits for no other call.
func TestShownBeforeItIsSeen(t *testing.T) {
	w := dial(t, newFake(t, &fakes{}, nil))
	w.send(readLine(1, "/shows"))
	w.line()
	w.send(readLine(2, "/shown?"))
	if got := parse(t, w.line()); got.Result.Content[0].Text != "yes" {
		t.Errorf("answered %+v", got)
	}
}

// The audit hears of every call, even of one that ended before it started: cancelled,
// given up while it waited, or dropped at the end.
func TestCallsThatNeverBeganAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated("/a")
		var mu sync.Mutex
		var reported []string
		w := dial(t, newFake(t, f, func(o *Options) {
			o.Refused = func(tool, given string, call toolcall.Call, waited time.Duration, r *toolcall.Result) {
				mu.Lock()
				defer mu.Unlock()
				reported = append(reported, fmt.Sprintf("%s %s %s %v %s", call.ID, tool, given, waited.Round(time.Second), r.Facts.Error))
				if call.Session == nil {
					t.Errorf("%s: in no session", call.ID)
				}
			}
		}))
		w.send(readLine(1, "/a"))
		<-f.began
		w.send(callLine(`"two"`, "Write", `{"file_path":"/a","content":"x"}`))
		time.Sleep(2 * time.Second)
		w.send(cancelLine(`"two"`))
		w.send(readLine(3, "/a"))
		for range 2 { // 1 and 3 are given up
			w.line()
		}
		synctest.Wait() // it is told of once it is answered
		w.send(readLine(4, "/a"))
		w.send(pingLine(5))
		w.line()
		w.stop()
		if a := parse(t, w.line()); a.ID != 4 {
			t.Errorf("answer to %d", a.ID)
		}
		close(f.gates["/a"])
		w.rest()
		want := []string{`"two" Write /a 2s busy`, "3 Read /a 29s busy", "4 Read /a 0s busy"}
		if !slices.Equal(reported, want) {
			t.Errorf("%q", reported)
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated("/a")
		w := dial(t, newFake(t, f, nil))
		w.send(readLine(1, "/a"))
		<-f.began
		w.send(callLine(`"two"`, "Write", `{"file_path":"/a","content":"x"}`))
		w.send(readLine(3, "/a"))
		w.send(readLine(4, "/slow"))
		<-f.began
		w.send(cancelLine(`"\u0074wo"`))
		w.send(cancelLine("1"))
		w.send(cancelLine("4"))
		w.send(cancelLine("4"))
		w.send(pingLine(5))
		if a := parse(t, w.line()); a.ID != 5 {
			t.Errorf("answer to %d", a.ID)
		}
		close(f.gates["/a"])
		if a := parse(t, w.line()); a.ID != 3 {
			t.Errorf("answer to %d", a.ID)
		}
		if rest := w.rest(); len(rest) > 0 {
			t.Errorf("more answers: %q", rest)
		}
		if want := []string{"/a", "/slow", "/a"}; !slices.Equal(f.order, want) {
			t.Errorf("ran as %q", f.order)
		}
	})
}

// At the end of input all that was asked is answered, and Serve returns nil.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated("/a", "/b")
		w := dial(t, newFake(t, f, nil))
		w.send(readLine(1, "/a"))
		w.send(readLine(2, "/a"))
		w.send(readLine(3, "/b"))
		go func() {
			time.Sleep(time.Second)
			close(f.gates["/a"])
			time.Sleep(time.Second)
			close(f.gates["/b"])
		}()
		rest := w.rest()
		if len(rest) != 3 || parse(t, rest[0]).ID != 1 || parse(t, rest[1]).ID != 2 || parse(t, rest[2]).ID != 3 {
			t.Errorf("answers %q", rest)
		}
		if err := <-w.done; err != nil {
			t.Error(err)
		}
		w.done <- nil
	})
}

// Told to stop, the server answers what runs, refuses what waits, and does not
// wait for what hangs.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated("/a", "/hangs")
		w := dial(t, newFake(t, f, nil))
		w.send(readLine(1, "/a"))
		w.send(readLine(2, "/a"))
		w.send(readLine(3, "/hangs"))
		synctest.Wait()
		began := time.Now()
		w.stop()
		if a := parse(t, w.line()); a.ID != 2 {
			t.Errorf("answer to %d", a.ID)
		} else {
			wantBusy(t, a)
		}
		close(f.gates["/a"])
		if a := parse(t, w.line()); a.ID != 1 || a.Result.IsError {
			t.Errorf("answer %+v", a)
		}
		if err := <-w.done; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		close(f.gates["/hangs"])
		w.done <- nil
	})
}

// Every call is answered within thirty seconds: one that hangs, those behind
// it, and one that hangs after its context has ended.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated("/a", "/w")
		w := dial(t, newFake(t, f, nil))
		began := time.Now()
		w.send(readLine(1, "/a"))
		w.send(readLine(2, "/a"))
		w.send(callLine("3", "Write", `{"file_path":"/w","content":"x"}`))
		w.send(readLine(4, "/slow"))
		got := map[int]answered{}
		for range 4 {
			a := parse(t, w.line())
			got[a.ID] = a
		}
		if took := time.Since(began); took < 25*time.Second || took > 30*time.Second {
			t.Errorf("took %v", took)
		}
		for id, says := range map[int]string{1: "Nothing was changed", 2: "Nothing was done", 3: "may still complete"} {
			wantBusy(t, got[id])
			if !strings.Contains(got[id].text(), says) {
				t.Errorf("%d: %s", id, got[id].text())
			}
		}
		if text := got[4].text(); text != "ended: "+schedule.ErrDeadline.Error() {
			t.Errorf("a call that heeds its context was answered %q", text)
		}
		// The file stays taken until the call that hangs has returned.
		w.send(readLine(5, "/a"))
		w.send(pingLine(6))
		if a := parse(t, w.line()); a.ID != 6 {
			t.Errorf("answer to %d", a.ID)
		}
		close(f.gates["/a"])
		close(f.gates["/w"])
		if a := parse(t, w.line()); a.ID != 5 || a.Result.IsError {
			t.Errorf("%+v", a)
		}
		if rest := w.rest(); len(rest) > 0 {
			t.Errorf("late results were sent: %q", rest)
		}
	})
}

// Calls that hang make room for others, up to a number of them; beyond it
// calls are refused at once, and again taken when they have returned.
func TestStuckCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for i := range 32 {
			names = append(names, fmt.Sprintf("/stuck%d", i))
		}
		f := gated(names...)
		w := dial(t, newFake(t, f, nil))
		for i, name := range names {
			w.send(readLine(i, name))
		}
		time.Sleep(6 * time.Second)
		w.send(readLine(100, "/free"))
		if a := parse(t, w.line()); a.ID != 100 || a.Result.IsError {
			t.Errorf("%+v", a)
		}
		for range names {
			wantBusy(t, parse(t, w.line()))
		}
		w.send(readLine(101, "/free"))
		a := parse(t, w.line())
		wantBusy(t, a)
		if !strings.Contains(a.text(), "hang") {
			t.Error(a.text())
		}
		for _, name := range names {
			close(f.gates[name])
		}
		synctest.Wait()
		w.send(readLine(102, "/free"))
		if a := parse(t, w.line()); a.ID != 102 || a.Result.IsError {
			t.Errorf("%+v", a)
		}
	})
}

// More calls than may wait are refused at once; the rest are all answered.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated("/a")
		w := dial(t, newFake(t, f, nil))
		const sent = 1100
		go func() {
			for i := range sent {
				w.send(readLine(i, "/a"))
			}
		}()
		busy := 0
		for range sent - 1001 {
			wantBusy(t, parse(t, w.line()))
			busy++
		}
		synctest.Wait()
		close(f.gates["/a"])
		for i := range 1001 {
			if a := parse(t, w.line()); a.Result.IsError || a.ID != i {
				t.Fatalf("%+v, not %d", a, i)
			}
		}
	})
}

func TestQueueIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated("/a")
		s := newFake(t, f, func(o *Options) {
			o.bounds = defaultBounds()
			o.bounds.Bytes = 1000
		})
		w := dial(t, s)
		w.send(readLine(1, "/a"))
		w.send(callLine("2", "Write", `{"file_path":"/a","content":"`+strings.Repeat("x", 500)+`"}`))
		w.send(callLine("3", "Write", `{"file_path":"/a","content":"`+strings.Repeat("x", 500)+`"}`))
		a := parse(t, w.line())
		if wantBusy(t, a); a.ID != 3 {
			t.Errorf("%+v", a)
		}
		close(f.gates["/a"])
		w.lines(2)
		synctest.Wait()
		w.send(callLine("4", "Write", `{"file_path":"/a","content":"`+strings.Repeat("x", 500)+`"}`))
		if a := parse(t, w.line()); a.Result.IsError || a.ID != 4 {
			t.Errorf("%+v", a)
		}
	})
}

// Progress comes before its answer, rises, and carries the token as written.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, newFake(t, &fakes{}, nil))
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":12345678901234567890},"name":"Read","arguments":{"file_path":"/progress"}}}`)
		for i := 1; i <= 3; i++ {
			want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":12345678901234567890,"progress":%d,"total":3,"message":"part"}}`, i)
			if got := w.line(); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		}
		if a := parse(t, w.line()); a.ID != 1 || a.text() != "done" {
			t.Errorf("%+v", a)
		}
		w.send(readLine(2, "/progress"))
		if a := parse(t, w.line()); a.ID != 2 {
			t.Errorf("%+v", a)
		}
	})
}

// Conversations have their own memory, the latest 64 of them.
func TestThreads(t *testing.T) {
	f := &fakes{}
	w := dial(t, newFake(t, f, nil))
	ask := func(thread string) string {
		meta := ""
		if thread != "" {
			meta = `"_meta":{"threadId":` + thread + `},`
		}
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `"name":"Read","arguments":{"file_path":"/session"}}}`)
		return parse(t, w.line()).text()
	}
	for _, c := range []struct{ thread, want string }{
		{"", "session 0"}, {`"a"`, "session 1"}, {`"b"`, "session 2"}, {"7", "session 3"}, {`"7"`, "session 4"},
		{`"a"`, "session 1"}, {"", "session 0"}, {"null", "session 0"}, {"{}", "session 0"},
		{`"` + strings.Repeat("x", 1000) + `"`, "session 5"}, {`"` + strings.Repeat("x", 1000) + `"`, "session 5"},
	} {
		if got := ask(c.thread); got != c.want {
			t.Errorf("%s: %s, not %s", c.thread, got, c.want)
		}
	}
	for i := range 63 {
		ask(fmt.Sprintf(`"t%d"`, i))
	}
	if got := ask(`"x0"`); got == "session 1" {
		t.Error("a new conversation has the memory of another")
	}
	if got := ask(`"a"`); got == "session 1" {
		t.Error("more than 64 conversations are remembered")
	}
	if got := ask(`"t62"`); got != "session 68" {
		t.Errorf("a recent conversation was forgotten: %s", got)
	}
	if got := ask(""); got != "session 0" {
		t.Errorf("the unnamed conversation was forgotten: %s", got)
	}
}

// A tool gets the limits of the client that calls it.
func TestClientLimits(t *testing.T) {
	w := dial(t, newFake(t, &fakes{}, nil))
	w.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"codex-mcp-client","version":"1"}}}`)
	w.line()
	w.send(readLine(1, "/client"))
	limits := knownLimits("codex-mcp-client")
	want := fmt.Sprintf(`{"Name":"codex-mcp-client","Chars":%d,"Tokens":%d,"Answer":%d} 1`, limits.Chars, limits.Tokens, limits.Answer)
	if got := parse(t, w.line()).text(); got != want {
		t.Errorf("the tool got %s, not %s", got, want)
	}
}

// A client that writes much and reads nothing is served when it begins to
// read: the reader is not held up by what cannot be sent.
func TestClientThatReadsLate(t *testing.T) {
	f := &fakes{texts: map[string]string{"/big": strings.Repeat("line\n", 50_000)}}
	w := dial(t, newFake(t, f, nil))
	calls := shortrun.Count(t, 50, 20, "calls")
	sent := make(chan bool)
	go func() {
		for i := range calls {
			w.send(readLine(i, "/big"))
			w.send(pingLine(1000 + i))
		}
		close(sent)
	}()
	select {
	case <-sent:
	case <-time.After(time.Minute):
		t.Fatal("the server stopped reading")
	}
	seen := map[int]bool{}
	for range 2 * calls {
		seen[parse(t, w.line()).ID] = true
	}
	if len(seen) != 2*calls {
		t.Errorf("%d answers", len(seen))
	}
}

// A client that is gone ends the server without an error.
func TestClientThatIsGone(t *testing.T) {
	inR, inW := io.Pipe()
	defer inW.Close()
	done := make(chan error, 1)
	s := newFake(t, &fakes{}, nil)
	go func() { done <- s.Serve(t.Context(), inR, brokenWriter{}) }()
	io.WriteString(inW, pingLine(1)+"\n")
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// A line past the limit is refused, with its id where it can be found, and
// the stream stays in step.
func TestLineLimit(t *testing.T) {
	out := answersWithin(t, 1<<20,
		fmt.Sprintf(`{"method":"tools/call","params":{"name":"Write","arguments":{"file_path":"/f","content":"%s"}},"jsonrpc":"2.0","id":7}`, strings.Repeat("x", 3<<20)),
		strings.Repeat("[", 2<<20), pingLine(8))
	want := `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"The message is longer than 1 MB. It was not read."}}
{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The message is longer than 1 MB. It was not read."}}
{"jsonrpc":"2.0","id":8,"result":{}}
`
	if out != want {
		t.Errorf("got\n%s", out)
	}
}

// answersWithin returns all that a server answers to these lines, with a bound of their length.
func answersWithin(t *testing.T, limit int, lines ...string) string {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := newFake(t, &fakes{}, nil).connect(t.Context(), inR, outW)
	c.in.Limit = limit
	go func() { c.read(); outW.Close() }()
	go func() {
		for _, line := range lines {
			fmt.Fprintln(inW, line)
		}
		inW.Close()
	}()
	out, _ := io.ReadAll(outR)
	return string(out)
}

// What is not UTF-8 is never sent back as it came: the output is UTF-8.
func TestIDsThatAreNotUTF8(t *testing.T) {
	const bad, parseError = "\"a\xffb\"", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`
	initialize := strings.Replace(strings.Replace(initLine("{}"), "2025-11-25", "2025-03-26", 1), `"id":0`, `"id":`+bad, 1)
	for name, line := range map[string]string{
		"request":        `{"jsonrpc":"2.0","id":` + bad + `,"method":"ping"}`,
		"unknown method": `{"jsonrpc":"2.0","id":` + bad + `,"method":"no/such"}`,
		"call":           callLine(bad, "Read", `{"file_path":"/f"}`),
		"no such tool":   callLine(bad, "None", `{}`),
		"subscription":   `{"jsonrpc":"2.0","id":` + bad + `,"method":"subscriptions/listen","params":{}}`,
		"no version":     `{"id":` + bad + `,"method":"ping"}`,
		"no method":      `{"jsonrpc":"2.0","id":` + bad + `}`,
		"in an array":    "[" + callLine(bad, "Read", `{"file_path":"/f"}`) + "]",
		"array's start":  "[" + initialize + "]",
	} {
		w := dial(t, newFake(t, &fakes{}, nil))
		w.send(strings.Replace(initLine("{}"), "2025-11-25", "2025-03-26", 1))
		w.line()
		w.send(line)
		if got := strings.TrimPrefix(w.line(), "["); !strings.HasPrefix(got, parseError) {
			t.Errorf("%s: %q", name, got)
		}
		w.send(pingLine(8))
		w.got(8, "")
	}
	for name, line := range map[string]string{
		"member twice":   `{"jsonrpc":"2.0","id":` + bad + `,"id":1,"method":"ping"}`,
		"progress token": strings.Replace(readLine(7, "/progress"), `"arguments"`, `"_meta":{"progressToken":`+bad+`},"arguments"`, 1),
	} {
		w := dial(t, newFake(t, &fakes{}, nil))
		w.send(line)
		for _, got := range append([]string{w.line()}, w.rest()...) {
			if !utf8.ValidString(got) {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
	tooLong := `{"id":` + bad + `,"x":"` + strings.Repeat("x", 1<<20) + `"}`
	got := answersWithin(t, 1<<20, tooLong)
	if !strings.Contains(got, "The message is longer than 1 MB.") || !utf8.ValidString(got) {
		t.Errorf("too long: %q", got)
	}
}

// The answers of arrays have a bound together. What does not fit is "busy", and its
// Sent is not called; small answers always fit; what was sent takes no room any more.
func TestArrayAnswersAreBounded(t *testing.T) {
	shortrun.Skip(t, "it takes arrays of 64 MB")
	const size = 3 << 20
	f := &fakes{texts: map[string]string{"/big": strings.Repeat("x", size)}}
	w := dial(t, newFake(t, f, nil))
	w.send(strings.Replace(initLine("{}"), "2025-11-25", "2025-03-26", 1))
	w.line()
	var items []string
	for i := range 30 {
		items = append(items, readLine(i, "/big"))
	}
	items = append(items, callLine("30", "Write", `{"file_path":"/big","content":"x"}`), pingLine(31))
	for range 2 {
		w.send("[" + strings.Join(items, ",") + "]")
		line := w.line()
		if len(line) > wire.MaxUnsent+1<<20 {
			t.Errorf("an array of %d bytes", len(line))
		}
		var all []json.RawMessage
		if err := json.Unmarshal([]byte(line), &all); err != nil || len(all) != len(items) {
			t.Fatalf("%d answers, %v", len(all), err)
		}
		whole := 0
		for _, one := range all {
			a := parse(t, string(one))
			switch {
			case len(one) > size:
				whole++
			case a.ID < 30:
				wantBusy(t, a)
			case a.Result.IsError:
				t.Errorf("%s", one)
			}
		}
		if whole != wire.MaxUnsent/size {
			t.Errorf("%d answers are whole", whole)
		}
	}
}

// An answer over 8 MB is not sent.
func TestAnswerLimit(t *testing.T) {
	f := &fakes{texts: map[string]string{"/big": strings.Repeat("x", 9<<20)}}
	w := dial(t, newFake(t, f, nil))
	w.send(readLine(1, "/big"))
	if a := parse(t, w.line()); a.Result.Meta["fsmcp/error"] != "too_large" {
		t.Errorf("%.300v", a)
	}
}

// A panic is logged with its stack, and calls are logged without content.
func TestLog(t *testing.T) {
	var out syncBuffer
	f := &fakes{}
	w := dial(t, newFake(t, f, func(o *Options) { o.Log = zerolog.New(&out).Level(zerolog.InfoLevel) }))
	w.send(callLine("1", "Write", `{"file_path":"/panic","content":"SECRET"}`))
	w.line()
	w.send(callLine("2", "Write", `{"file_path":"/f","content":"SECRET"}`))
	w.line()
	w.rest()
	<-w.done
	w.done <- nil
	log := out.String()
	for _, want := range []string{`"panic":"boom"`, "fake_test.go", `"level":"info","error":"io","tool":"Write","id":"1"`, `"message":"call answered"`} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in\n%s", want, log)
		}
	}
	if strings.Contains(log, "SECRET") {
		t.Errorf("content in\n%s", log)
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Many calls on few files at once, cancelled at random: each file's calls run
// in order and one by one, and all that was not cancelled is answered once.
func TestManyCalls(t *testing.T) {
	f := &fakes{}
	const calls = 2000
	w := dial(t, newFake(t, f, func(o *Options) {
		o.bounds = defaultBounds()
		o.bounds.Queued = calls // those that are refused at once are answered out of turn
	}))
	go func() {
		for i := range calls {
			w.send(callLine(fmt.Sprint(i), "Write", fmt.Sprintf(`{"file_path":"/%d","content":"%d"}`, i%7, i)))
			if i%11 == 0 {
				w.send(cancelLine(fmt.Sprint(i)))
			}
			if i%13 == 0 {
				w.send(pingLine(100_000 + i))
			}
		}
		w.in.Close()
	}()
	count := map[int]int{}
	last := map[int]int{}
	for _, line := range w.rest2() {
		a := parse(t, line)
		count[a.ID]++
		if a.ID >= 100_000 {
			continue
		}
		if a.ID < last[a.ID%7] {
			t.Errorf("%d was answered after %d", a.ID, last[a.ID%7])
		}
		last[a.ID%7] = a.ID
	}
	for i := range calls {
		if n := count[i]; n > 1 || n == 0 && i%11 != 0 {
			t.Errorf("%d was answered %d times", i, n)
		}
	}
}

// rest2 reads all answers until the output ends.
func (w *client) rest2() []string {
	all, _ := io.ReadAll(w.out)
	return strings.Split(strings.TrimSuffix(string(all), "\n"), "\n")
}

func TestCallOutsideAConnection(t *testing.T) {
	s := newFake(t, &fakes{}, nil)
	call := toolcall.Call{Session: s.opts.NewSession("")}
	r, err := s.Call(context.Background(), call, "Read", []byte(` {"file_path":"/f"} `), nil)
	if err != nil || !strings.Contains(string(EncodeResult(r)), `\"file_path\":\"/f\"`) {
		t.Error(r, err)
	}
	if r, err := s.Call(context.Background(), call, "Read", []byte(`{"paths":"/f"}`), nil); err != nil || !r.IsError {
		t.Error(r, err)
	}
	if _, err := s.Call(context.Background(), call, "Raed", []byte(`{}`), nil); !errors.Is(err, ErrNoTool) {
		t.Error(err)
	}
	if _, err := s.Call(context.Background(), call, "Read", []byte(`{`), nil); !errors.Is(err, ErrJSON) {
		t.Error(err)
	}
}
