package tools

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	pngfile "image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/watch"
)

// handed is a Watcher that can look after so many folders, and is told by hand what
// was touched.
type handed struct {
	room    int
	folders []string
	touched []string
}

func (w *handed) Follow(name string) (bool, error) {
	dir := filepath.Dir(name)
	if slices.Contains(w.folders, dir) {
		return false, nil
	}
	if len(w.folders) == w.room {
		return false, errors.New("no watches are left")
	}
	w.folders = append(w.folders, dir)
	return true, nil
}

func (w *handed) Touched() []string {
	t := w.touched
	w.touched = nil
	return t
}

// reminders are the texts of reminders in an answer.
func reminders(r *Result) (out []string) {
	for _, b := range r.Blocks {
		if strings.HasPrefix(b.Text, "<system-reminder>") {
			out = append(out, b.Text)
		}
	}
	return out
}

// TestReminderWithoutWatches: of files that nobody can watch the stamps are looked
// at before each answer, and a change is told exactly once as well.
func TestReminderWithoutWatches(t *testing.T) {
	b := newBench(t)
	w := &handed{room: 8}
	b.house.Watcher = w
	for i := range 12 {
		if err := os.Mkdir(b.path(fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
		b.ok(&ReadArgs{FilePath: b.put(fmt.Sprintf("%d/f", i), "one\n")})
	}
	for _, i := range []int{10, 11} {
		b.put(fmt.Sprintf("%d/f", i), "two\n")
	}
	got := reminders(b.run(&WriteArgs{FilePath: b.path("x"), Content: "x"}))
	if len(got) != 1 || strings.Count(got[0], "1\t+two") != 2 {
		t.Errorf("%q", got)
	}
	if got := reminders(b.run(&WriteArgs{FilePath: b.path("x"), Content: "y"})); got != nil {
		t.Errorf("told again: %q", got)
	}
	// One that is watched is told of when it was touched, and not before.
	b.put("3/f", "three\n")
	if got := reminders(b.run(&WriteArgs{FilePath: b.path("x"), Content: "z"})); got != nil {
		t.Errorf("nobody said so: %q", got)
	}
	w.touched = []string{b.path("3/f"), b.path("5/f"), "/nobody/reads/this"}
	got = reminders(b.run(&WriteArgs{FilePath: b.path("x"), Content: "w"}))
	if len(got) != 1 || !strings.Contains(got[0], "1\t+three") || strings.Contains(got[0], "5/f") {
		t.Errorf("%q", got)
	}
}

// TestReminderOfEachConversation: each hears of a change that it has not made.
func TestReminderOfEachConversation(t *testing.T) {
	b := newBench(t)
	w := &handed{room: 8}
	b.house.Watcher = w
	file := b.put("f", "one\n")
	first, second := b.call, Call{Session: b.house.NewSession()}
	for _, c := range []Call{first, second} {
		b.call = c
		b.ok(&ReadArgs{FilePath: file})
	}
	b.ok(&EditArgs{FilePath: file, OldString: "one", NewString: "two"}) // by the second
	w.touched = []string{file}
	if got := reminders(b.run(&WriteArgs{FilePath: b.path("x"), Content: "x"})); got != nil {
		t.Errorf("of its own change: %q", got)
	}
	b.call = first
	if got := reminders(b.run(&WriteArgs{FilePath: b.path("y"), Content: "x"})); len(got) != 1 || !strings.Contains(got[0], "1\t+two") {
		t.Errorf("%q", got)
	}
}

// TestReminderOfLargeFiles: of what is not kept, name and size alone.
func TestReminderOfLargeFiles(t *testing.T) {
	b := newBench(t)
	w := &handed{room: 8}
	b.house.Watcher = w
	line := strings.Repeat("x", 99) + "\n"
	file := b.put("f", "")
	b.ok(&WriteArgs{FilePath: file, Content: strings.Repeat(line, 4000)})
	b.put("f", strings.Repeat(line, 4001))
	w.touched = []string{file}
	got := reminders(b.run(&WriteArgs{FilePath: b.path("x"), Content: "x"}))
	if len(got) != 1 || !strings.Contains(got[0], "(391 KB now)") || strings.Contains(got[0], "xxx") {
		t.Errorf("%q", got)
	}
	w.touched = []string{file}
	if got := reminders(b.run(&WriteArgs{FilePath: b.path("x"), Content: "y"})); got != nil {
		t.Errorf("told again: %q", got)
	}
}

// BenchmarkReminders is a Read of 1 KB with and without 500 folders being watched.
func BenchmarkReminders(b *testing.B) {
	for _, folders := range []int{0, 500} {
		b.Run(fmt.Sprint(folders), func(b *testing.B) {
			t := newBench(b)
			marks := &watch.Marks{}
			defer marks.Close()
			if folders > 0 {
				t.house.Watcher = marks
			}
			for i := range folders {
				if err := os.Mkdir(t.path(fmt.Sprint(i)), 0o755); err != nil {
					b.Fatal(err)
				}
				t.ok(&ReadArgs{FilePath: t.put(fmt.Sprintf("%d/f", i), "one\n")})
			}
			one, two := t.put("one", strings.Repeat("a line of some text\n", 50)), t.put("two", strings.Repeat("another line of text\n", 50))
			for b.Loop() {
				t.run(&ReadArgs{FilePath: one, Offset: new(int)})
				t.run(&ReadArgs{FilePath: two, Offset: new(int)})
			}
		})
	}
}

// TestReminderOfPictures: by their stamp, with name and size alone.
func TestReminderOfPictures(t *testing.T) {
	b := newBench(t)
	w := &handed{room: 8}
	b.house.Watcher = w
	var png bytes.Buffer
	if err := pngfile.Encode(&png, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	file := b.put("p.png", png.String())
	if r := b.run(&ReadArgs{FilePath: file}); !pictured(r) {
		t.Skipf("no picture was shown: %+v", r.Blocks)
	}
	b.put("p.png", png.String()+"more")
	w.touched = []string{file}
	got := reminders(b.run(&WriteArgs{FilePath: b.path("x"), Content: "x"}))
	if len(got) != 1 || !strings.Contains(got[0], "p.png was changed outside") {
		t.Errorf("%q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	w.touched = []string{file}
	if got := reminders(b.run(&WriteArgs{FilePath: b.path("x"), Content: "y"})); len(got) != 1 || !strings.Contains(got[0], "deleted or moved") {
		t.Errorf("%q", got)
	}
	w.touched = []string{file}
	if got := reminders(b.run(&WriteArgs{FilePath: b.path("x"), Content: "z"})); got != nil {
		t.Errorf("told again: %q", got)
	}
}
