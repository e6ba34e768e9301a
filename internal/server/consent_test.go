package server

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

func initLine(capabilities string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"c","version":"1"}}}`
}

// greet shakes hands as a client of these capabilities.
func greet(t *testing.T, s *Server, capabilities string) *client {
	t.Helper()
	w := dial(t, s)
	w.send(initLine(capabilities))
	w.line()
	return w
}

const asksUser = `{"elicitation":{}}`

// message is any message from the server.
type fromServer struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Message         string
		RequestID       json.RawMessage
		RequestedSchema json.RawMessage
	}
	answered
}

func (w *client) message() (m fromServer) {
	w.t.Helper()
	line := w.line()
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		w.t.Fatal(err, line)
	}
	m.answered = parse(w.t, idless(line))
	return m
}

// idless makes way for ids that are no numbers.
func idless(line string) string {
	var m map[string]json.RawMessage
	json.Unmarshal([]byte(line), &m)
	delete(m, "id")
	b, _ := json.Marshal(m)
	return string(b)
}

// asked takes the next message, which must be a question, and returns its id.
func (w *client) asked(about string) string {
	w.t.Helper()
	m := w.message()
	if m.Method != "elicitation/create" || !strings.Contains(m.Params.Message, about) {
		w.t.Fatalf("no question about %s: %+v", about, m)
	}
	return string(m.ID)
}

// user answers a question.
func (w *client) user(id, result string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`)
}

const (
	yesOnce    = `{"action":"accept","content":{"answer":"once"}}`
	yesSession = `{"action":"accept","content":{"answer":"session"}}`
	saysNo     = `{"action":"decline"}`
	saysCancel = `{"action":"cancel"}`
)

// got takes the next message, which must be the answer to a call.
func (w *client) got(id int, text string) {
	w.t.Helper()
	m := w.message()
	if m.Method != "" || string(m.ID) != fmt.Sprint(id) || !strings.Contains(m.text(), text) {
		w.t.Fatalf("not the answer %q to %d: %+v", text, id, m)
	}
	if denied := strings.Contains(text, "Nothing was done") || strings.Contains(text, "cannot be asked"); denied && m.Result.Meta["fsmcp/error"] != "denied" {
		w.t.Errorf("%+v", m)
	}
}

// What the user may answer, and what becomes of the call.
func TestConsent(t *testing.T) {
	const cannot = "which cannot be asked for here"
	for name, c := range map[string]struct{ answer, want, again string }{
		"once":                    {`"result":` + yesOnce, `"/ask/f"`, "asks"},
		"session":                 {`"result":` + yesSession, `"/ask/f"`, `"/ask/f"`},
		"decline":                 {`"result":` + saysNo, "the user declined", "asks"},
		"cancel":                  {`"result":` + saysCancel, "the user dismissed the question", "asks"},
		"decline with content":    {`"result":{"action":"decline","content":{"answer":"session"}}`, "the user declined", "asks"},
		"no content":              {`"result":{"action":"accept"}`, "no answer that can be understood", "asks"},
		"content is no object":    {`"result":{"action":"accept","content":"once"}`, "no answer that can be understood", "asks"},
		"no answer in content":    {`"result":{"action":"accept","content":{}}`, "no answer that can be understood", "asks"},
		"another answer":          {`"result":{"action":"accept","content":{"answer":"always"}}`, "no answer that can be understood", "asks"},
		"another kind of answer":  {`"result":{"action":"accept","content":{"answer":true}}`, "no answer that can be understood", "asks"},
		"another action":          {`"result":{"action":"Accept","content":{"answer":"once"}}`, "no answer that can be understood", "asks"},
		"no action":               {`"result":{"content":{"answer":"once"}}`, "no answer that can be understood", "asks"},
		"no object":               {`"result":"once"`, cannot, "asks"},
		"client error":            {`"error":{"code":-32601,"message":"no such method"}`, cannot, "asks"},
		"answered before as once": {`"result":{"action":"accept","content":{"answer":"once","other":1}}`, `"/ask/f"`, "asks"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakes{rule: "Read(f)"}
			w := greet(t, newFake(t, f, nil), asksUser)
			w.send(readLine(1, "/ask/f"))
			id := w.asked("Read /ask/f?\nRule: Read(f)")
			w.send(`{"jsonrpc":"2.0","id":` + id + `,` + c.answer + `}`)
			w.got(1, c.want)
			w.send(readLine(2, "/ask/f"))
			if c.again == "asks" {
				w.user(w.asked("/ask/f"), saysNo)
				w.got(2, "declined")
			} else {
				w.got(2, c.again)
			}
			if rest := w.rest(); len(rest) > 0 {
				t.Errorf("more: %q", rest)
			}
		})
	}
}

// Only a client that can show a form is asked.
func TestWhoIsAsked(t *testing.T) {
	for capabilities, asks := range map[string]bool{
		`{}`:                                     false,
		`{"elicitation":{}}`:                     true,
		`{"elicitation":{"form":{}}}`:            true,
		`{"elicitation":{"form":{},"url":{}}}`:   true,
		`{"elicitation":{"url":{}}}`:             false,
		`{"sampling":{},"roots":{}}`:             false,
		`{"elicitation":{"applyDefaults":true}}`: true,
	} {
		w := greet(t, newFake(t, &fakes{}, nil), capabilities)
		w.send(readLine(1, "/ask/f"))
		if asks {
			w.user(w.asked("/ask/f"), yesOnce)
			w.got(1, "/ask/f")
		} else {
			w.got(1, "cannot be asked for here")
		}
		w = dial(t, newFake(t, &fakes{}, nil))
		w.send(modernLine("1", "/ask/f", capabilities, ""))
		if m := w.modern(); (m.Result.ResultType == "input_required") != asks {
			t.Errorf("%s: %+v", capabilities, m)
		}
	}
}

// An answer is waited for outside of the file's order, without a worker, and
// past the deadline of calls; other calls go on, also on that file.
func TestAskingHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakes{allowed: map[string]bool{}}
		w := greet(t, newFake(t, f, func(o *Options) { o.bounds = defaultBounds(); o.bounds.Width = 1 }), asksUser)
		w.send(readLine(1, "/ask/f"))
		id := w.asked("/ask/f")
		f.mu.Lock()
		f.allowed["/ask/f"] = true
		f.mu.Unlock()
		w.send(readLine(2, "/ask/f"))
		w.got(2, "/ask/f")
		w.send(readLine(3, "/g"))
		w.got(3, "/g")
		time.Sleep(45 * time.Second)
		w.send(pingLine(4))
		w.got(4, "")
		w.user(id, yesOnce)
		w.got(1, "/ask/f")
		w.user(id, saysNo) // known no more
		w.user("77", yesOnce)
		w.user(`"1"`, yesOnce)
		w.send(pingLine(5))
		w.got(5, "")
	})
}

// A call that asks gives its file to the next one, and comes behind it after
// the answer.
func TestAskingCallComesAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated()
		w := greet(t, newFake(t, f, func(o *Options) {
			o.ParseFile = func(string) toolcall.FileArgument { return toolcall.FileArgument{Key: "one"} }
		}), asksUser)
		w.send(readLine(1, "/ask/f"))
		id := w.asked("/ask/f")
		f.gates["/g"] = make(chan struct{})
		w.send(readLine(2, "/g"))
		synctest.Wait()
		w.user(id, yesOnce)
		synctest.Wait()
		w.send(readLine(3, "/h"))
		synctest.Wait()
		close(f.gates["/g"])
		w.got(2, "/g")
		w.got(1, "/ask/f")
		w.got(3, "/h")
	})
}

// A deny that was made meanwhile wins, and so does anything else that the call
// finds when it is made afresh.
func TestAskedCallIsCheckedAgain(t *testing.T) {
	f := &fakes{}
	w := greet(t, newFake(t, f, nil), asksUser)
	w.send(readLine(1, "/ask/two"))
	w.user(w.asked("/ask/two#1"), yesOnce)
	w.user(w.asked("/ask/two#2"), yesOnce)
	w.got(1, "/ask/two")
	w.send(readLine(2, "/ask/more"))
	for range maxQuestions {
		w.user(w.asked("/ask/more#"), yesOnce)
	}
	w.got(2, "cannot be asked for here")
}

func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := greet(t, newFake(t, &fakes{}, nil), asksUser)
		began := time.Now()
		w.send(readLine(1, "/ask/f"))
		id := w.asked("/ask/f")
		if m := w.message(); m.Method != "notifications/cancelled" || string(m.Params.RequestID) != id {
			t.Errorf("%+v", m)
		}
		w.got(1, "the user did not answer within 50s")
		if took := time.Since(began); took != 50*time.Second {
			t.Errorf("took %v", took)
		}
		w.user(id, yesSession) // too late
		w.send(readLine(2, "/ask/f"))
		w.user(w.asked("/ask/f"), yesOnce)
		w.got(2, "/ask/f")
	})
}

// Different questions are asked side by side, equal ones one by one.
func TestManyQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := greet(t, newFake(t, &fakes{}, nil), asksUser)
		thread := func(id int, name string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":{"threadId":"%s"},"name":"Read","arguments":{"file_path":"/ask/f"}}}`, id, name)
		}
		w.send(readLine(1, "/ask/f"))
		f := w.asked("/ask/f")
		w.send(readLine(2, "/ask/g"))
		g := w.asked("/ask/g")
		w.send(readLine(3, "/ask/f"))
		w.send(readLine(4, "/ask/f"))
		w.send(thread(5, "other"))
		other := w.asked("/ask/f")
		synctest.Wait()

		w.user(f, yesOnce) // counts for the first call alone
		seen := []string{}
		for range 2 {
			m := w.message()
			seen = append(seen, string(m.ID)+m.Method)
			if m.Method != "" {
				f = string(m.ID)
			}
		}
		if slices.Sort(seen); !slices.Equal(seen, []string{"1", "4elicitation/create"}) {
			t.Fatalf("%q", seen)
		}
		w.user(g, saysNo)
		w.got(2, "declined")
		w.user(f, yesSession) // counts for all others of this conversation
		w.got(3, "/ask/f")
		w.got(4, "/ask/f")
		w.user(other, saysNo)
		w.got(5, "declined")
		w.send(readLine(6, "/ask/f"))
		w.got(6, "/ask/f")
		if rest := w.rest(); len(rest) > 0 {
			t.Errorf("more: %q", rest)
		}
	})
}

// A cancelled call takes its question along, and an equal one moves up.
func TestCancelledQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := greet(t, newFake(t, &fakes{}, nil), asksUser)
		w.send(readLine(1, "/ask/f"))
		id := w.asked("/ask/f")
		w.send(readLine(2, "/ask/f"))
		w.send(readLine(3, "/ask/f"))
		synctest.Wait()
		w.send(cancelLine("2"))
		w.send(cancelLine("1"))
		if m := w.message(); m.Method != "notifications/cancelled" || string(m.Params.RequestID) != id {
			t.Errorf("%+v", m)
		}
		next := w.asked("/ask/f")
		w.user(id, yesSession)
		w.user(next, saysNo)
		w.got(3, "declined")
		w.send(cancelLine("3"))
		if rest := w.rest(); len(rest) > 0 {
			t.Errorf("more: %q", rest)
		}
	})
}

// The end of input ends all questions, also those behind others.
func TestEndOfInputEndsQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated("/ask/slow")
		w := greet(t, newFake(t, f, nil), asksUser)
		w.send(readLine(1, "/ask/f"))
		w.asked("/ask/f")
		w.send(readLine(2, "/ask/f"))
		w.send(readLine(3, "/ask/slow"))
		synctest.Wait()
		began := time.Now()
		go func() { time.Sleep(time.Second); close(f.gates["/ask/slow"]) }()
		rest := w.rest()
		if len(rest) != 3 {
			t.Fatalf("%q", rest)
		}
		for i, want := range []string{"can no longer be asked", "can no longer be asked", "cannot be asked for here"} {
			if a := parse(t, rest[i]); a.ID != i+1 || !strings.Contains(a.text(), want) {
				t.Errorf("%s", rest[i])
			}
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// Told to stop, the server refuses what asks, and withdraws its question.
func TestStopEndsQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := greet(t, newFake(t, &fakes{}, nil), asksUser)
		w.send(readLine(1, "/ask/f"))
		w.asked("/ask/f")
		w.stop()
		all, _ := io.ReadAll(w.out)
		answers := 0
		for line := range strings.Lines(string(all)) {
			if !strings.Contains(line, wire.MethodCancelled) { // which comes before or after it
				wantBusy(t, parse(t, line))
				answers++
			}
		}
		if answers != 1 {
			t.Errorf("%d answers", answers)
		}
		if err := <-w.done; err != nil {
			t.Error(err)
		}
		w.done <- nil
	})
}

// Told to stop, the server does not wait for ever for a client that reads nothing.
func TestStopLeavesAClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := greet(t, newFake(t, &fakes{}, nil), asksUser)
		w.send(readLine(1, "/ask/f"))
		w.asked("/ask/f")
		w.stop()
		if err := <-w.done; err != nil {
			t.Error(err)
		}
		w.done <- nil
	})
}

// What waits for an answer counts among what waits.
func TestQuestionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := greet(t, newFake(t, &fakes{}, func(o *Options) { o.bounds = defaultBounds(); o.bounds.Queued = 3 }), asksUser)
		for i := range 3 {
			w.send(readLine(i+1, fmt.Sprintf("/ask/%d", i)))
			w.asked("/ask/")
		}
		w.send(readLine(9, "/f"))
		wantBusy(t, parse(t, w.line()))
	})
}

// A question inside an array of messages holds up the array's answer alone.
func TestQuestionOfABatch(t *testing.T) {
	w := dial(t, newFake(t, &fakes{}, nil))
	w.send(strings.Replace(initLine(asksUser), "2025-11-25", "2025-03-26", 1))
	w.line()
	w.send("[" + readLine(1, "/ask/f") + "," + readLine(2, "/g") + "]")
	id := w.asked("/ask/f")
	w.send(pingLine(3))
	w.got(3, "")
	w.send("[" + `{"jsonrpc":"2.0","id":` + id + `,"result":` + yesOnce + `}` + "]")
	if line := w.line(); !strings.Contains(line, `/ask/f`) || !strings.Contains(line, `/g`) {
		t.Error(line)
	}
}

// Calls, questions, answers and cancellations in any order: every call that was
// not cancelled is answered once.
func TestManyQuestionsAtRandom(t *testing.T) {
	w := greet(t, newFake(t, &fakes{}, nil), asksUser)
	const calls = 600
	answers := make(chan string, 10*calls)
	go func() {
		for a := range answers {
			if _, err := io.WriteString(w.in, a+"\n"); err != nil {
				return // the test is over: a cancelled question needs no answer
			}
		}
	}()
	go func() {
		for i := range calls {
			answers <- readLine(i+1, fmt.Sprintf("/ask/%d", i%40))
			if i%9 == 0 {
				answers <- cancelLine(fmt.Sprint(i + 1))
			}
		}
	}()
	count, open := map[string]int{}, calls-calls/9-1
	for open > 0 {
		m := w.message()
		switch m.Method {
		case "":
			if count[string(m.ID)]++; count[string(m.ID)] == 1 && !cancelled(m.ID) {
				open--
			}
		case "elicitation/create":
			result := []string{yesOnce, saysNo, yesOnce, saysCancel, `{}`}[len(count)%5]
			answers <- `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`
		}
	}
	for id, n := range count {
		if n != 1 {
			t.Errorf("%s was answered %d times", id, n)
		}
	}
}

func cancelled(id json.RawMessage) bool {
	var n int
	json.Unmarshal(id, &n)
	return (n-1)%9 == 0
}

// A person at a terminal is asked, too.
func TestCallAsks(t *testing.T) {
	s := newFake(t, &fakes{rule: "R"}, nil)
	session := s.opts.NewSession("")
	var said []ConsentAnswer
	ask := func(message string) ConsentAnswer {
		if message != "Read /ask/f?\nRule: R" {
			t.Error(message)
		}
		a := said[0]
		said = said[1:]
		return a
	}
	for _, c := range []struct {
		said []ConsentAnswer
		want string
	}{{[]ConsentAnswer{No}, "declined"}, {[]ConsentAnswer{Once}, "/ask/f"}, {[]ConsentAnswer{Session}, "/ask/f"}, {nil, "/ask/f"}} {
		said = c.said
		r, err := s.Call(t.Context(), toolcall.Call{Session: session}, "Read", []byte(`{"file_path":"/ask/f"}`), ask)
		if err != nil || !strings.Contains(r.Blocks[0].Text, c.want) {
			t.Errorf("%v: %+v, %v", c.said, r, err)
		}
	}
	r, err := s.Call(t.Context(), toolcall.Call{Session: new(toolcall.Session)}, "Read", []byte(`{"file_path":"/ask/f"}`), nil)
	if err != nil || !r.IsError || !strings.Contains(r.Blocks[0].Text, "cannot be asked") {
		t.Error(r, err)
	}
}
