package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// littleRoom bounds unsent output to a megabyte.
func littleRoom(o *Options) {
	o.bounds = defaultBounds()
	o.bounds.unsent = 1 << 20
}

// TestOutputIsBounded: a client sends requests and reads nothing. The server stops reading
// them while little memory is in use. When the client reads, each request is answered
// once, and requests other than calls in their order.
func TestOutputIsBounded(t *testing.T) {
	long := strings.Repeat("m", 100)
	for _, c := range []struct {
		name  string
		line  func(id int) string
		calls bool
		many  int
	}{
		{"pings", pingLine, false, 210_000},
		{"unknown methods", func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s"}`, id, long) }, false, 10_000},
		{"no version", func(id int) string { return fmt.Sprintf(`{"id":%d,"method":"ping"}`, id) }, false, 210_000},
		{"lists", func(id int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"x":"%s"}}`, id, strings.Repeat(long, 20))
		}, false, 1_000},
		{"unknown tools", func(id int) string { return callLine(fmt.Sprint(id), "Raed", "{}") }, false, 10_000},
		{"faulty calls", func(id int) string { return callLine(fmt.Sprint(id), "Read", "{}") }, true, 10_000},
		{"calls", func(id int) string { return readLine(id, fmt.Sprintf("/f%d", id%50)) }, true, 10_000},
		{"calls of one file", func(id int) string { return readLine(id, "/f") }, true, 10_000},
		{"arrays", func(id int) string { return "[" + pingLine(id) + "]" }, false, 25_000},
		{"arrays of calls", func(id int) string { return "[" + readLine(id, "/f") + "]" }, true, 10_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			many := c.many
			if many > 16_000 { // so many still fill the output and what is read ahead
				many = shortrun.Count(t, many, 16_000, "requests")
			}
			synctest.Test(t, func(t *testing.T) {
				w := dial(t, newFake(t, &fakes{}, func(o *Options) {
					o.bounds = defaultBounds()
					o.bounds.unsent = 64 << 10
				}))
				w.send(strings.Replace(initLine("{}"), "2025-11-25", "2025-03-26", 1))
				w.line()
				var sent bytes.Buffer
				for id := range many {
					sent.WriteString(c.line(id + 1))
					sent.WriteByte('\n')
				}
				before := heap()
				done := false
				go func() {
					io.Copy(w.in, &sent)
					w.in.Close()
					done = true
				}()
				allBlock()
				if done {
					t.Error("the server reads on")
				}
				if grown := heap() - before; grown > 4<<20 {
					t.Errorf("%d MB in use", grown>>20)
				}
				seen := make([]bool, many+1)
				for n := range many {
					a := parse(t, strings.Trim(w.line(), "[]"))
					if !c.calls && a.ID != n+1 {
						t.Fatalf("answer %d comes as number %d", a.ID, n+1)
					}
					if seen[a.ID] {
						t.Fatalf("%d was answered twice", a.ID)
					}
					seen[a.ID] = true
				}
				if err := <-w.done; err != nil {
					t.Error(err)
				}
				w.done <- nil
			})
		})
	}
}

// heap returns the bytes that are in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// fillOutput has the client send pings, read nothing, and then send these lines. The
// server has stopped answering when it returns.
func fillOutput(w *client, then ...string) (pings int) {
	pings = 27_000 // a little over a megabyte of answers
	var all strings.Builder
	for id := range pings {
		all.WriteString(pingLine(id) + "\n")
	}
	w.send(all.String())
	for _, line := range then {
		w.send(line)
	}
	allBlock()
	return pings
}

// allBlock returns when all goroutines wait, also after the reader was relieved of an
// answer that the client does not take.
func allBlock() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// TestCancelWhileOutputIsFull: a cancellation reaches calls, those that run and those that
// wait, though the client reads nothing.
func TestCancelWhileOutputIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := gated("/a", "/b")
		w := dial(t, newFake(t, f, littleRoom))
		w.send(readLine(100_001, "/slow"))
		w.send(readLine(100_002, "/a"))
		w.send(readLine(100_003, "/a"))
		synctest.Wait()
		pings := fillOutput(w,
			cancelLine("100001"), cancelLine("100003"), // early
			readLine(100_004, "/b"), cancelLine("100004"), readLine(100_005, "/b")) // in their turn
		f.mu.Lock()
		ran := fmt.Sprint(f.order)
		f.mu.Unlock()
		close(f.gates["/a"])
		allBlock()
		// 100004 is running when its cancellation is read.
		time.AfterFunc(time.Second, func() { close(f.gates["/b"]) })
		rest := w.rest()
		count := map[int]int{}
		for _, line := range rest {
			count[parse(t, line).ID]++
		}
		if len(rest) != pings+2 || count[100_002] != 1 || count[100_005] != 1 {
			t.Errorf("%d answers to %d pings, those to calls: %d %d", len(rest), pings, count[100_002], count[100_005])
		}
		if ran != "[/slow /a]" {
			t.Errorf("ran %s", ran)
		}
	})
}

// TestEndWhileOutputIsFull: the input ends and the client reads nothing: the server ends.
// The client of the other case reads late, and gets every answer.
func TestEndWhileOutputIsFull(t *testing.T) {
	for _, reads := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := dial(t, newFake(t, &fakes{}, littleRoom))
			pings := fillOutput(w, readLine(100_001, "/a"), pingLine(100_002))
			began := time.Now()
			w.in.Close()
			if reads {
				time.Sleep(20 * time.Second)
				if rest := w.rest(); len(rest) != pings+2 {
					t.Errorf("%d answers to %d requests", len(rest), pings+2)
				}
			}
			if err := <-w.done; err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
			w.done <- nil
		})
	}
}

// TestStopWhileOutputIsFull: told to stop, the server does not wait for the client.
func TestStopWhileOutputIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, newFake(t, &fakes{}, littleRoom))
		fillOutput(w, readLine(100_001, "/a"))
		began := time.Now()
		w.stop()
		if err := <-w.done; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("took %v", took)
		}
		w.done <- nil
	})
}

// TestOpenArraysAreBounded: arrays whose last call waits for the user gather answers. When
// they take all room, the next array is answered at once, and what is open goes on.
func TestOpenArraysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, newFake(t, &fakes{}, littleRoom))
		w.send(strings.Replace(initLine(asksUser), "2025-11-25", "2025-03-26", 1))
		w.line()
		var questions []string
		array := func(n int) string {
			items := []string{readLine(1000*n, fmt.Sprintf("/ask/%d", n))}
			for i := range 99 {
				items = append(items, pingLine(1000*n+i+1))
			}
			return "[" + strings.Join(items, ",") + "]"
		}
		open := 0
		for n := 1; n <= 5; n++ {
			w.send(array(n))
			synctest.Wait()
			line := w.line()
			if strings.HasPrefix(line, "[") {
				var all []json.RawMessage
				if err := json.Unmarshal([]byte(line), &all); err != nil || len(all) != 100 {
					t.Fatalf("%d answers, %v", len(all), err)
				}
				wantBusy(t, parse(t, string(all[0])))
				if a := parse(t, string(all[99])); a.Error == nil || !strings.Contains(a.Error.Message, "Too much output") {
					t.Errorf("%s", all[99])
				}
				continue
			}
			open++
			questions = append(questions, string(parseMessage(t, line).ID))
		}
		if open != 2 {
			t.Errorf("%d arrays are open", open)
		}
		for _, id := range questions {
			w.user(id, yesOnce)
			if line := w.line(); strings.Count(line, `"id":`) != 100 || strings.Contains(line, "error") {
				t.Errorf("%.200s", line)
			}
		}
		w.send(array(6))
		w.asked("/ask/6")
	})
}

// TestLongMessagesInArrays: an array that is longer than the room for output is answered,
// and an id that is too long to be repeated in each answer is not.
func TestLongMessagesInArrays(t *testing.T) {
	w := dial(t, newFake(t, &fakes{}, littleRoom))
	w.send(strings.Replace(initLine(asksUser), "2025-11-25", "2025-03-26", 1))
	w.line()
	long := strings.Repeat("x", 3<<20)
	w.send("[" + readLine(1, "/a") + `,{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"` + long + `"}}]`)
	if line := w.line(); strings.Contains(line, "error") || strings.Count(line, `"result"`) != 2 {
		t.Errorf("%.300s", line)
	}
	w.send(`[` + pingLine(3) + `,{"jsonrpc":"2.0","id":"` + long + `","method":"ping"}]`)
	if line := w.line(); len(line) > 1000 || !strings.Contains(line, `{"jsonrpc":"2.0","id":3,"result":{}}`) || !strings.Contains(line, "-32600") {
		t.Errorf("%.300s", line)
	}
}

func parseMessage(t *testing.T, line string) (m fromServer) {
	t.Helper()
	if err := json.Unmarshal([]byte(idless(line)), &m); err != nil {
		t.Fatal(err)
	}
	var id struct{ ID json.RawMessage }
	json.Unmarshal([]byte(line), &id)
	m.ID = id.ID
	return m
}
