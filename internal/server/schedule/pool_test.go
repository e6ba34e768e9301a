package schedule

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// parkedJob is a call that came long ago and waits for the user.
func parkedJob(t *testing.T, p *Pool) *Job {
	t.Helper()
	j := &Job{Key: "1", At: time.Now().Add(-time.Hour)}
	_, j.Cancel = context.WithCancelCause(context.Background())
	if why := p.Park(j); why != "" {
		t.Fatal(why)
	}
	return j
}

// A user may take longer than any call may last. While the answer to a call
// that was parked so long is on its way, the watch leaves it alone.
func TestWatchLeavesEndedCallsAlone(t *testing.T) {
	p := New(DefaultBounds())
	p.Late = func(*Job, bool) { t.Error("answered for") }
	p.Answer = func(*Job) {}
	j := parkedJob(t, p)
	p.End(j, p.watch)
	if len(p.live.jobs) != 0 || p.count != [isOver]int{} {
		t.Errorf("%d calls live, counted as %v", len(p.live.jobs), p.count)
	}
	select {
	case <-p.WhenEmpty():
	default:
		t.Error("the pool is not quiet")
	}
}

// running is a pool with one job that has run for 20 seconds. gaveUp counts how often the
// pool gives one up.
func running(t *testing.T, b Bounds, gaveUp *int) (*Pool, *Job, context.Context) {
	t.Helper()
	p := New(b)
	p.Late = func(*Job, bool) { *gaveUp++ }
	p.Answer = func(*Job) {}
	p.Dropped = func(*Job) {}
	ctx, cancel := context.WithCancelCause(context.Background())
	j := &Job{Key: "1", At: time.Now().Add(-20 * time.Second), Cancel: cancel}
	if _, mine := p.Submit(j, true); !mine {
		t.Fatal("it waits")
	}
	return p, j, ctx
}

// While a program with a deadline of its own runs, a call is not given up; the time
// before and after it counts.
func TestAClockThatRests(t *testing.T) {
	b := DefaultBounds()
	b.Tick = time.Hour // it is looked at when the test says so
	gaveUp := 0
	p, j, ctx := running(t, b, &gaveUp)
	resume := j.Rest()
	j.At, j.rests = j.At.Add(-time.Hour), j.rests.Add(-time.Hour) // an hour goes by
	p.watch()
	resume()
	p.watch()
	if gaveUp != 0 || ctx.Err() != nil {
		t.Fatal("it was given up for the time of another program")
	}
	j.At = j.At.Add(-10 * time.Second)
	p.watch()
	if gaveUp != 1 || context.Cause(ctx) != ErrDeadline {
		t.Error("it was not given up for its own time")
	}
}

// A server that was stopped itself, as by Ctrl-Z, does not hold that time against the
// calls that it found; the time before and after it counts, and so does a short wait.
func TestTimeInWhichAllStoodStill(t *testing.T) {
	b := DefaultBounds()
	b.Tick = 5 * time.Second // so that it is looked at when the test says so
	gaveUp := 0
	p, j, ctx := running(t, b, &gaveUp)
	pass := func(d time.Duration) {
		p.mu.Lock()
		j.At, p.looked = j.At.Add(-d), p.looked.Add(-d)
		p.mu.Unlock()
		p.watch()
	}
	pass(time.Hour)
	if gaveUp != 0 || ctx.Err() != nil {
		t.Fatal("it was given up for the time of another")
	}
	for range 2 {
		pass(6 * time.Second)
	}
	if gaveUp != 1 || context.Cause(ctx) != ErrDeadline {
		t.Error("it was not given up for its own time")
	}
}

// Calls that wait for programs of the user's leave their places to others at once, but
// no more of them than there are places: what starts programs stays bounded.
func TestCallsThatRestMakeRoom(t *testing.T) {
	b := DefaultBounds()
	b.Width, b.Tick = 2, time.Hour
	p := New(b)
	p.Answer = func(*Job) {}
	began, over, ended := make(chan string, 8), make(chan struct{}), make(chan string, 8)
	p.Run = func(j *Job) bool {
		began <- j.Key
		if j.Key != "read" {
			resume := j.Rest()
			<-over
			resume()
		}
		ended <- j.Key
		return false
	}
	add := func(key string) {
		j := &Job{Key: key, Lane: key, At: time.Now()}
		_, j.Cancel = context.WithCancelCause(t.Context())
		if why, _ := p.Submit(j, false); why != "" {
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
	<-p.WhenEmpty()
	if p.count != [isOver]int{} {
		t.Errorf("counted as %v", p.count)
	}
}

// Searches wait for each other and for nothing else, and no other call waits for them.
func TestSearchesRunBesideOtherCalls(t *testing.T) {
	b := DefaultBounds()
	p := New(b)
	began, end := make(chan *Job, 100), make(chan struct{})
	answered := make(chan *Job, 100)
	p.Run = func(j *Job) bool {
		began <- j
		if j.Search {
			<-end
		}
		return false
	}
	p.Answer = func(j *Job) { answered <- j }
	submit := func(key string, search bool) {
		j := &Job{Key: key, Lane: key, Search: search, At: time.Now()}
		_, j.Cancel = context.WithCancelCause(context.Background())
		if why, mine := p.Submit(j, search); why != "" || mine {
			t.Fatal(why, mine)
		}
	}
	for i := range 50 {
		submit(fmt.Sprintf("search %d", i), true)
	}
	for range b.Searches {
		<-began
	}
	for i := range 3 * b.Width {
		submit(fmt.Sprintf("call %d", i), false)
		if j := <-answered; j.Search {
			t.Fatal("a search was answered")
		}
		if j := <-began; j.Search {
			t.Fatalf("%s began beside %d others", j.Key, b.Searches)
		}
	}
	close(end)
	for range 50 {
		<-answered
	}
	<-p.WhenEmpty()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.searching != 0 || p.count != [isOver]int{} {
		t.Errorf("%d searches are counted, and %v", p.searching, p.count)
	}
}

// A search that was given up and has not returned keeps no other from its place.
func TestAStuckSearchFreesItsPlace(t *testing.T) {
	b := DefaultBounds()
	b.Tick, b.Searches = time.Hour, 1
	p := New(b)
	began, end := make(chan *Job, 2), make(chan struct{})
	p.Run = func(j *Job) bool {
		began <- j
		<-end
		return false
	}
	p.Late = func(*Job, bool) {}
	p.Answer = func(*Job) {}
	for i, key := range []string{"1", "2"} {
		j := &Job{Key: key, Lane: key, Search: true, At: time.Now().Add(time.Duration(i-1) * time.Minute)}
		_, j.Cancel = context.WithCancelCause(context.Background())
		p.Submit(j, false)
	}
	<-began
	p.watch()
	<-began
	close(end)
	for p.searches != nil { // both return
		p.mu.Lock()
		over := p.searching == 0 && p.count == [isOver]int{}
		p.mu.Unlock()
		if over {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// A call learns that another one of its lane waits, whether that came before it asked or later.
func TestFollowed(t *testing.T) {
	p := New(DefaultBounds())
	asked, later := make(chan struct{}), make(chan struct{})
	p.Run = func(j *Job) bool {
		switch j.Key {
		case "1":
			followed := j.Followed()
			select {
			case <-followed:
				t.Error("followed by a call of another lane")
			default:
			}
			close(asked)
			<-followed
			<-j.Followed()
			close(later)
		case "2":
			select {
			case <-j.Followed():
				t.Error("followed by nothing")
			default:
			}
		}
		return false
	}
	p.Answer = func(*Job) {}
	submit := func(key, lane string) {
		j := &Job{Key: key, Lane: lane, At: time.Now(), Cancel: func(error) {}}
		if why, _ := p.Submit(j, false); why != "" {
			t.Fatal(why)
		}
	}
	submit("0", "other")
	submit("1", "file")
	<-asked
	submit("2", "file")
	<-later
	<-p.WhenEmpty()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lanes.followed) > 0 {
		t.Error("a lane is left")
	}
}
