package server

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/tools"
)

// parkedJob is a call that came long ago and waits for the user.
func parkedJob(t *testing.T, p *pool) *job {
	t.Helper()
	j := &job{key: "1", to: &conn{}, at: time.Now().Add(-time.Hour)}
	j.ctx, j.cancel = context.WithCancelCause(context.Background())
	if why := p.park(j); why != "" {
		t.Fatal(why)
	}
	return j
}

// A user may take longer than any call may last. While the answer to a call
// that was parked so long is on its way, the watch leaves it alone.
func TestWatchLeavesEndedCallsAlone(t *testing.T) {
	p := newPool(defaultBounds())
	p.late = func(*job, bool) *tools.Result { t.Error("answered for"); return nil }
	p.answer = func(*job, *tools.Result) {}
	j := parkedJob(t, p)
	p.end(j, p.watch)
	if len(p.live) != 0 || p.count != [isOver]int{} {
		t.Errorf("%d calls live, counted as %v", len(p.live), p.count)
	}
	select {
	case <-p.whenEmpty():
	default:
		t.Error("the pool is not quiet")
	}
}

// A question may be answered before its sender has checked whether the call was cancelled.
// By then the call may have asked another question, which stays.
func TestAnsweredQuestionLeavesTheNextOne(t *testing.T) {
	c := newFake(t, &fakes{}, nil).connect(t.Context(), strings.NewReader(""), io.Discard)
	running := &job{to: c, call: tools.Call{Session: new(tools.Session)}, phase: isRunning, spec: c.specs["Read"]}
	next := &asked{job: running, question: &tools.Question{Path: "/next"}, timer: time.NewTimer(time.Hour)}
	c.dialogue.waiting = []*asked{next}
	c.question(running, &tools.Result{Ask: &tools.Question{Path: "/first"}})
	if w := c.dialogue.waiting; len(w) != 1 || w[0] != next {
		t.Errorf("%d questions wait", len(w))
	}
}

// While a program with a deadline of its own runs, a call is not given up; the time
// before and after it counts.
func TestAClockThatRests(t *testing.T) {
	b := defaultBounds()
	b.tick = time.Hour // it is looked at when the test says so
	p := newPool(b)
	gaveUp := 0
	p.late = func(*job, bool) *tools.Result { gaveUp++; return &tools.Result{} }
	p.answer = func(*job, *tools.Result) {}
	j := &job{key: "1", to: &conn{}, at: time.Now().Add(-20 * time.Second)}
	j.ctx, j.cancel = context.WithCancelCause(context.Background())
	if _, mine := p.submit(j, true); !mine {
		t.Fatal("it waits")
	}
	resume := j.Rest()
	j.at, j.rests = j.at.Add(-time.Hour), j.rests.Add(-time.Hour) // an hour goes by
	p.watch()
	resume()
	p.watch()
	if gaveUp != 0 || j.ctx.Err() != nil {
		t.Fatal("it was given up for the time of another program")
	}
	j.at = j.at.Add(-10 * time.Second)
	p.watch()
	if gaveUp != 1 || context.Cause(j.ctx) != errDeadline {
		t.Error("it was not given up for its own time")
	}
}

// A server that was stopped itself, as by Ctrl-Z, does not hold that time against the
// calls that it found; the time before and after it counts, and so does a short wait.
func TestTimeInWhichAllStoodStill(t *testing.T) {
	b := defaultBounds()
	b.tick = 5 * time.Second // so that it is looked at when the test says so
	p := newPool(b)
	gaveUp := 0
	p.late = func(*job, bool) *tools.Result { gaveUp++; return &tools.Result{} }
	p.answer = func(*job, *tools.Result) {}
	j := &job{key: "1", to: &conn{}, at: time.Now().Add(-20 * time.Second)}
	j.ctx, j.cancel = context.WithCancelCause(context.Background())
	if _, mine := p.submit(j, true); !mine {
		t.Fatal("it waits")
	}
	pass := func(d time.Duration) {
		p.mu.Lock()
		j.at, p.looked = j.at.Add(-d), p.looked.Add(-d)
		p.mu.Unlock()
		p.watch()
	}
	pass(time.Hour)
	if gaveUp != 0 || j.ctx.Err() != nil {
		t.Fatal("it was given up for the time of another")
	}
	for range 2 {
		pass(6 * time.Second)
	}
	if gaveUp != 1 || context.Cause(j.ctx) != errDeadline {
		t.Error("it was not given up for its own time")
	}
}

// Calls that wait for programs of the user's leave their places to others at once, but
// no more of them than there are places: what starts programs stays bounded.
func TestCallsThatRestMakeRoom(t *testing.T) {
	b := defaultBounds()
	b.width, b.tick = 2, time.Hour
	p := newPool(b)
	p.answer = func(*job, *tools.Result) {}
	began, over, ended := make(chan string, 8), make(chan struct{}), make(chan string, 8)
	p.run = func(j *job) *tools.Result {
		began <- j.key
		if j.key != "read" {
			resume := j.Rest()
			<-over
			resume()
		}
		ended <- j.key
		return &tools.Result{}
	}
	add := func(key string) {
		j := &job{key: key, lane: key, to: &conn{}, at: time.Now()}
		j.ctx, j.cancel = context.WithCancelCause(t.Context())
		if why, _ := p.submit(j, false); why != "" {
			t.Fatal(why)
		}
	}
	for i := range 5 {
		add(fmt.Sprint("edit", i))
	}
	for range 4 { // two that rest and count no longer, and two in the places
		<-began
	}
	select {
	case key := <-began:
		t.Errorf("%s began, too", key)
	case <-time.After(50 * time.Millisecond):
	}
	close(over)
	<-began // the fifth
	for range 5 {
		<-ended
	}
	over = make(chan struct{})
	add("edit")
	add("edit again")
	<-began
	<-began
	add("read")
	<-began
	if key := <-ended; key != "read" {
		t.Errorf("%s ended first", key)
	}
	close(over)
	<-ended
	<-ended
	<-p.whenEmpty()
	if p.count != [isOver]int{} {
		t.Errorf("counted as %v", p.count)
	}
}
