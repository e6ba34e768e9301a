package watch

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/fsmcp/fsmcp/internal/nativetest"
)

// options are those of a Watcher under test; 0 is the default.
type options struct {
	notify      func(error)
	quiet, most time.Duration
}

func assembleWith(o options) *Watcher {
	w := assemble(o.notify)
	w.quiet, w.most = cmp.Or(o.quiet, w.quiet), cmp.Or(o.most, w.most)
	return w
}

func newWith(o options) *Watcher {
	w := assembleWith(o)
	w.running.Go(w.work)
	return w
}

// The times at which changes are reported, without any clock.
func TestQuietAndMost(t *testing.T) {
	for _, c := range []struct {
		name   string
		events map[int]string // by milliseconds
		want   []int
	}{
		{"one event", map[int]string{0: "/d/f"}, []int{250}},
		{"quiet starts anew", map[int]string{0: "/d/f", 200: "/d/f"}, []int{450}},
		{"never quiet", map[int]string{0: "/d/f", 200: "/d/f", 400: "/d/f", 600: "/d/f", 749: "/d/f", 900: "/d/f"}, []int{750, 1150}},
		{"together", map[int]string{0: "/d/f", 100: "/d/g"}, []int{350}},
		{"another's file", map[int]string{0: "/d/x", 5: "/d"}, nil},
	} {
		start := time.Now()
		ms := 0
		w := assembleWith(options{})
		w.now = func() time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
		w.names = map[string]bool{nativetest.Name("/d"): false, nativetest.Name("/d/f"): true, nativetest.Name("/d/g"): true}
		var got []int
		for ms = range 2000 {
			if name, ok := c.events[ms]; ok {
				w.note(fsnotify.Event{Name: nativetest.Name(name), Op: fsnotify.Write})
			}
			report, wait, _ := w.due()
			if wait <= 0 {
				t.Fatalf("%s: asked again at once", c.name)
			}
			if report {
				got = append(got, ms)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestWhatAnEventMeans(t *testing.T) {
	for _, c := range []struct {
		name    string
		event   fsnotify.Event
		pending bool
		moved   bool
	}{
		{"write", fsnotify.Event{Name: "/a/f", Op: fsnotify.Write}, true, false},
		{"unclean name", fsnotify.Event{Name: "//a/f", Op: fsnotify.Write}, true, false},
		{"attributes", fsnotify.Event{Name: "/a/f", Op: fsnotify.Chmod}, false, false},
		{"attributes and write", fsnotify.Event{Name: "/a/f", Op: fsnotify.Chmod | fsnotify.Write}, true, false},
		{"made", fsnotify.Event{Name: "/a/f", Op: fsnotify.Create}, true, true},
		{"folder gone", fsnotify.Event{Name: "/a", Op: fsnotify.Remove}, true, true},
		{"folder renamed", fsnotify.Event{Name: "/a", Op: fsnotify.Rename}, true, true},
		{"something in the folder", fsnotify.Event{Name: "/a", Op: fsnotify.Write}, false, false},
		{"made in a watched folder", fsnotify.Event{Name: "/b/x", Op: fsnotify.Create}, true, false},
	} {
		w := assembleWith(options{})
		w.names = map[string]bool{nativetest.Name("/a"): false, nativetest.Name("/a/f"): true, anyName(nativetest.Name("/b")): true}
		c.event.Name = nativetest.Name(c.event.Name)
		w.note(c.event)
		if w.first.IsZero() == c.pending || w.moved != c.moved {
			t.Errorf("%s: %v, moved %v", c.name, w.first, w.moved)
		}
	}
}

func TestBlindIsReportedOnce(t *testing.T) {
	w := assembleWith(options{})
	for _, want := range []bool{true, false} {
		w.fail(blind(errors.New("x")))
		if report, _, err := w.due(); report != want || errors.Is(err, ErrBlind) != want {
			t.Error(report, err)
		}
	}
}
