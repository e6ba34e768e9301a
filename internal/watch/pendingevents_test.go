package watch

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The times at which changes are told, without any clock.
func TestQuietAndMost(t *testing.T) {
	f, g := target{name: "/d/f"}, target{name: "/d/g"}
	type reported struct {
		at    int
		names []string
	}
	for _, c := range []struct {
		name   string
		events map[int]string // by milliseconds
		want   []reported
	}{
		{"one event", map[int]string{0: "/d/f"}, []reported{{300, []string{"/d/f"}}}},
		{"quiet starts anew", map[int]string{0: "/d/f", 200: "/d/f"}, []reported{{500, []string{"/d/f"}}}},
		{"never quiet", map[int]string{0: "/d/f", 200: "/d/f", 400: "/d/f", 600: "/d/f", 749: "/d/f", 900: "/d/f"}, []reported{{750, []string{"/d/f"}}, {1200, []string{"/d/f"}}}},
		{"together", map[int]string{0: "/d/f", 10: "/d/g"}, []reported{{300, []string{"/d/f", "/d/g"}}}},
		{"each by its own quiet", map[int]string{0: "/d/f", 100: "/d/g"}, []reported{{300, []string{"/d/f"}}, {400, []string{"/d/g"}}}},
		{"nobody's file", map[int]string{0: "/d/x", 5: "/d"}, nil},
	} {
		l := newPendingEvents(DefaultQuiet, DefaultMost)
		l.expect(f, map[string]bool{"/d": false, "/d/f": true})
		l.expect(g, map[string]bool{"/d": false, "/d/g": true})
		start := time.Now()
		var got []reported
		for ms := range 2000 {
			now := start.Add(time.Duration(ms) * time.Millisecond)
			if name, ok := c.events[ms]; ok {
				l.note(fsnotify.Event{Name: name, Op: fsnotify.Write}, now)
			}
			change, wait := l.due(now)
			if wait <= 0 {
				t.Fatalf("%s: asked again at once", c.name)
			}
			if change.Names != nil {
				got = append(got, reported{ms, change.Names})
			}
		}
		if !slices.EqualFunc(got, c.want, func(a, b reported) bool { return a.at == b.at && slices.Equal(a.names, b.names) }) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestWhatAnEventMeans(t *testing.T) {
	f := target{name: "/a/f"}
	marks := map[string]bool{"/a": false, "/a/f": true}
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
	} {
		l := newPendingEvents(1, 1)
		l.expect(f, marks)
		l.note(c.event, time.Now())
		if p := l.pending[f]; (p != nil) != c.pending || p != nil && p.moved != c.moved {
			t.Errorf("%s: %+v", c.name, p)
		}
		l.expect(f, nil)
		if len(l.marks)+len(l.of)+len(l.pending) > 0 {
			t.Errorf("%s: something is left: %+v", c.name, l)
		}
	}
}

func TestStaleIsTheFolderAndAllBelow(t *testing.T) {
	s := stale{"/a/b"}
	for dir, want := range map[string]bool{"/a/b": true, "/a/b/c": true, "/a": false, "/a/bc": false, "/": false} {
		if s.has(dir) != want {
			t.Errorf("%s: %v", dir, !want)
		}
	}
	if !(stale{""}).has("/") || (stale(nil)).has("/") {
		t.Error("everything or nothing is told wrongly")
	}
}

func TestErrorsAreTakenOutOnce(t *testing.T) {
	l := newPendingEvents(1, 1)
	l.fail(blind(errors.New("x")))
	if c, _ := l.due(time.Now()); !errors.Is(c.Err, ErrBlind) {
		t.Error(c.Err)
	}
	if c, _ := l.due(time.Now()); c.Err != nil {
		t.Error(c.Err)
	}
}
