package server

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// modernLine is a Read of the revision 2026-07-28; extra members of its params
// begin with a comma.
func modernLine(id, path, capabilities, extra string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"Read","arguments":{"file_path":"` + path + `"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}` + extra + `}}`
}

// again are the params that a retry adds.
func again(state, result string) string {
	return `,"requestState":"` + state + `","inputResponses":{"consent":` + result + `}`
}

type modernAnswer struct {
	Result struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]struct {
			Method string
			Params struct{ Message string }
		}
		Content []struct{ Text string }
		IsError bool
		Meta    map[string]any `json:"_meta"`
	}
}

func (w *client) modern() (m modernAnswer) {
	w.t.Helper()
	line := w.line()
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		w.t.Fatal(err, line)
	}
	if (m.Result.ResultType == "input_required") == (m.Result.Content != nil) {
		w.t.Errorf("content is for complete results: %s", line)
	}
	return m
}

// state sends a call, which must be answered by a question, and returns the
// state of it.
func (w *client) state(line string) string {
	w.t.Helper()
	w.send(line)
	m := w.modern()
	q, ok := m.Result.InputRequests["consent"]
	if !ok || m.Result.ResultType != "input_required" || q.Method != "elicitation/create" || m.Result.RequestState == "" {
		w.t.Fatalf("no question: %+v", m)
	}
	return m.Result.RequestState
}

// reads sends a call, which must be answered by the text.
func (w *client) reads(line, text string) {
	w.t.Helper()
	w.send(line)
	m := w.modern()
	if m.Result.ResultType != "complete" || !strings.Contains(m.Result.Content[0].Text, text) {
		w.t.Errorf("not %q: %+v", text, m)
	}
}

func TestModernConsent(t *testing.T) {
	call := func(extra string) string { return modernLine("1", "/ask/f", asksUser, extra) }
	for name, c := range map[string]struct {
		result, want string // no want: it asks again
		next         bool   // and the next call asks
	}{
		"once":       {yesOnce, "/ask/f", true},
		"session":    {yesSession, "/ask/f", false},
		"decline":    {saysNo, "the user declined", true},
		"cancel":     {saysCancel, "the user dismissed", true},
		"unreadable": {`{"action":"accept"}`, "no answer that can be understood", true},
		"no object":  {`7`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := dial(t, newFake(t, &fakes{rule: "R"}, nil))
			state := w.state(call(""))
			if c.want == "" {
				w.state(call(again(state, c.result)))
			} else {
				w.reads(call(again(state, c.result)), c.want)
			}
			if c.next {
				w.state(call(""))
			} else {
				w.reads(call(""), "/ask/f")
			}
		})
	}
}

// A state is good for one retry of the call that it was issued to. Whatever
// else comes with a yes is asked again.
func TestStateOfAnotherCall(t *testing.T) {
	f := &fakes{rule: "R", allowed: map[string]bool{}}
	s := newFake(t, f, nil)
	w := dial(t, s)
	call := func(extra string) string { return modernLine("1", "/ask/f", asksUser, extra) }
	foreign := dial(t, newFake(t, f, nil)).state(call(""))
	thread := func(name, extra string) string {
		return strings.Replace(call(extra), `"_meta":{`, `"_meta":{"threadId":"`+name+`",`, 1)
	}
	for name, retry := range map[string]func(state string) string{
		"foreign":          func(string) string { return call(again(foreign, yesOnce)) },
		"none":             func(string) string { return call(`,"inputResponses":{"consent":` + yesOnce + `}`) },
		"empty":            func(string) string { return call(again("", yesOnce)) },
		"no string":        func(string) string { return call(`,"requestState":7,"inputResponses":{"consent":` + yesOnce + `}`) },
		"no base64":        func(string) string { return call(again("%%%", yesOnce)) },
		"short":            func(s string) string { return call(again(s[:20], yesOnce)) },
		"long":             func(s string) string { return call(again(s+"AAAA", yesOnce)) },
		"another nonce":    func(s string) string { return call(again(flip(s, 0), yesOnce)) },
		"another expiry":   func(s string) string { return call(again(flip(s, 16), yesOnce)) },
		"another seal":     func(s string) string { return call(again(flip(s, 30), yesOnce)) },
		"another file":     func(s string) string { return modernLine("1", "/ask/g", asksUser, again(s, yesOnce)) },
		"another spelling": func(s string) string { return modernLine("1", "/ask/../ask/f", asksUser, again(s, yesSession)) },
		"more arguments": func(s string) string {
			return strings.Replace(call(again(s, yesOnce)), `"/ask/f"`, `"/ask/f","limit":1`, 1)
		},
		"another tool": func(s string) string {
			return strings.Replace(strings.Replace(call(again(s, yesOnce)), `"Read"`, `"Write"`, 1), `"/ask/f"`, `"/ask/f","content":""`, 1)
		},
		"another thread": func(s string) string { return thread("a", again(s, yesOnce)) },
		"no answer":      func(s string) string { return call(`,"requestState":"` + s + `"`) },
		"another input": func(s string) string {
			return call(`,"requestState":"` + s + `","inputResponses":{"x":` + yesOnce + `}`)
		},
		"inputs are no object": func(s string) string { return call(`,"requestState":"` + s + `","inputResponses":[]`) },
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			state := w.state(call(""))
			next := w.state(retry(state))
			if next == state {
				t.Error("the same state again")
			}
		})
	}
	t.Run("replayed", func(t *testing.T) {
		w.t = t
		state := w.state(call(""))
		w.reads(call(again(state, yesOnce)), "/ask/f")
		w.state(call(again(state, yesOnce)))
		w.reads(call(again(state, saysNo)), "the user declined")
	})
	t.Run("same arguments in another spelling", func(t *testing.T) {
		w.t = t
		state := w.state(strings.Replace(call(""), `"/ask/f"`, `"/ask/f","limit":10`, 1))
		w.reads(strings.Replace(call(again(state, yesOnce)), `{"file_path":"/ask/f"}`, `{"limit":"1e1", "file_path":"\u002fask/f"}`, 1), "/ask/f")
	})
	t.Run("rule", func(t *testing.T) {
		w.t = t
		state := w.state(call(""))
		f.rule = "another"
		state = w.state(call(again(state, yesOnce)))
		w.reads(call(again(state, yesOnce)), "/ask/f")
	})
	t.Run("allowed meanwhile", func(t *testing.T) {
		w.t = t
		state, refused := w.state(call("")), w.state(call(""))
		f.mu.Lock()
		f.allowed["/ask/f"] = true
		f.mu.Unlock()
		w.reads(call(again(state, yesOnce)), "/ask/f")
		w.reads(call(again(refused, saysNo)), "the user declined")
	})
}

// flip changes one byte of a state.
func flip(state string, at int) string {
	b, _ := base64.RawURLEncoding.DecodeString(state)
	b[at] ^= 1
	return base64.RawURLEncoding.EncodeToString(b)
}

func TestStateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, newFake(t, &fakes{}, nil))
		call := func(extra string) string { return modernLine("1", "/ask/f", asksUser, extra) }
		state := w.state(call(""))
		time.Sleep(49 * time.Second)
		w.reads(call(again(state, yesOnce)), "/ask/f")
		state = w.state(call(""))
		time.Sleep(50 * time.Second)
		w.state(call(again(state, yesOnce)))
	})
}

// A call may need several yeses; each round remembers those before, and there
// are not many rounds.
func TestModernRounds(t *testing.T) {
	w := dial(t, newFake(t, &fakes{}, nil))
	call := func(path, extra string) string { return modernLine("1", path, asksUser, extra) }
	state := w.state(call("/ask/two", ""))
	state = w.state(call("/ask/two", again(state, yesOnce)))
	w.reads(call("/ask/two", again(state, yesOnce)), "/ask/two")

	state = w.state(call("/ask/more", ""))
	for range maxQuestions - 1 {
		state = w.state(call("/ask/more", again(state, yesOnce)))
	}
	w.reads(call("/ask/more", again(state, yesOnce)), "cannot be asked for here")
}

// Two calls may be asked about at once; a yes for the session lets both pass.
func TestModernQuestionsAtOnce(t *testing.T) {
	w := dial(t, newFake(t, &fakes{}, nil))
	f := func(extra string) string { return modernLine("1", "/ask/f", asksUser, extra) }
	g := func(extra string) string { return modernLine("2", "/ask/g", asksUser, extra) }
	first, second, other := w.state(f("")), w.state(f("")), w.state(g(""))
	w.reads(modernLine("3", "/h", asksUser, ""), "/h")
	w.reads(f(again(first, yesSession)), "/ask/f")
	w.reads(f(again(second, yesOnce)), "/ask/f")
	w.reads(g(again(other, saysNo)), "declined")
}

// What is kept for clients that do not come back is bounded.
func TestTicketsAreBounded(t *testing.T) {
	s := newFake(t, &fakes{}, nil)
	w := dial(t, s)
	first := w.state(modernLine("1", "/ask/f", asksUser, ""))
	for i := range maxTickets {
		w.state(modernLine(fmt.Sprint(i), "/ask/g", asksUser, ""))
	}
	if n := len(s.tickets.out); n > maxTickets {
		t.Errorf("%d tickets", n)
	}
	w.state(modernLine("1", "/ask/f", asksUser, again(first, yesOnce)))
}
