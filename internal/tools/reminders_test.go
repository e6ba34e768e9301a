package tools

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	pngfile "image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/toolcall"
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

// remindersIn are the texts of reminders in an answer.
func remindersIn(r *toolcall.Result) (out []string) {
	for _, b := range r.Blocks {
		if strings.HasPrefix(b.Text, "<system-reminder>") {
			out = append(out, b.Text)
		}
	}
	return out
}

// TestReminderWithoutWatches: of files that cannot be watched the stamps are looked at
// before each answer, and a change is reported exactly once as well.
func TestReminderWithoutWatches(t *testing.T) {
	b := newBench(t)
	w := &handed{room: 8}
	b.service.reminders.Watcher = w
	for i := range 12 {
		if err := os.Mkdir(b.path(fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
		b.ok(&ReadArgs{FilePath: b.put(fmt.Sprintf("%d/f", i), "one\n")})
	}
	for _, i := range []int{10, 11} {
		b.put(fmt.Sprintf("%d/f", i), "two\n")
	}
	got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "x"}))
	if len(got) != 1 || strings.Count(got[0], "+1\ttwo") != 2 {
		t.Errorf("%q", got)
	}
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "y"})); got != nil {
		t.Errorf("told again: %q", got)
	}
	// One that is watched is told of when it was touched, and not before.
	b.put("3/f", "three\n")
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "z"})); got != nil {
		t.Errorf("nobody said so: %q", got)
	}
	w.touched = []string{b.path("3/f"), b.path("5/f"), "/nobody/reads/this"}
	got = remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "w"}))
	if len(got) != 1 || !strings.Contains(got[0], "+1\tthree") || strings.Contains(got[0], "5/f") {
		t.Errorf("%q", got)
	}
}

// TestReminderOfEachConversation: each hears of a change that it has not made.
func TestReminderOfEachConversation(t *testing.T) {
	b := newBench(t)
	w := &handed{room: 8}
	b.service.reminders.Watcher = w
	file := b.put("f", "one\n")
	first, second := b.call, toolcall.Call{Session: b.service.NewSession("")}
	for _, c := range []toolcall.Call{first, second} {
		b.call = c
		b.ok(&ReadArgs{FilePath: file})
	}
	b.ok(&EditArgs{FilePath: file, OldString: "one", NewString: "two"}) // by the second
	w.touched = []string{file}
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "x"})); got != nil {
		t.Errorf("of its own change: %q", got)
	}
	b.call = first
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("y"), Content: "x"})); len(got) != 1 || !strings.Contains(got[0], "+1\ttwo") {
		t.Errorf("%q", got)
	}
}

// TestReminderOfLargeFiles: of what is not kept, name and size alone.
func TestReminderOfLargeFiles(t *testing.T) {
	b := newBench(t)
	w := &handed{room: 8}
	b.service.reminders.Watcher = w
	line := strings.Repeat("x", 99) + "\n"
	file := b.put("f", "")
	b.ok(&WriteArgs{FilePath: file, Content: strings.Repeat(line, 4000)})
	b.put("f", strings.Repeat(line, 4001))
	w.touched = []string{file}
	got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "x"}))
	if len(got) != 1 || !strings.Contains(got[0], "(391 KB now)") || strings.Contains(got[0], "xxx") {
		t.Errorf("%q", got)
	}
	w.touched = []string{file}
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "y"})); got != nil {
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
				t.service.reminders.Watcher = marks
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
	b.service.reminders.Watcher = w
	var png bytes.Buffer
	if err := pngfile.Encode(&png, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	file := b.put("p.png", png.String())
	if r := b.run(&ReadArgs{FilePath: file}); len(r.Blocks) < 2 || r.Blocks[1].MIME != "image/png" {
		t.Fatalf("no picture was shown: %+v", r.Blocks)
	}
	b.put("p.png", png.String()+"more")
	w.touched = []string{file}
	got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "x"}))
	if len(got) != 1 || !strings.Contains(got[0], "p.png was changed outside") {
		t.Errorf("%q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	w.touched = []string{file}
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "y"})); len(got) != 1 || !strings.Contains(got[0], "deleted or moved") {
		t.Errorf("%q", got)
	}
	w.touched = []string{file}
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "z"})); got != nil {
		t.Errorf("told again: %q", got)
	}
}

// TestReminderOfAnAnswerThatIsNotSent: a call that is given up has told nothing.
func TestReminderOfAnAnswerThatIsNotSent(t *testing.T) {
	b := newBench(t)
	w := &handed{room: 8}
	b.service.reminders.Watcher = w
	file := b.put("f", "one\n")
	b.ok(&ReadArgs{FilePath: file})
	b.put("f", "two\n")
	w.touched = []string{file}
	ctx, giveUp := context.WithCancel(context.Background())
	r := b.within(ctx, &WriteArgs{FilePath: b.path("x"), Content: "x"})
	if got := remindersIn(r); len(got) != 1 {
		t.Fatalf("%q", got)
	}
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("y"), Content: "y"})); got != nil {
		t.Errorf("told by two answers: %q", got)
	}
	giveUp()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // what follows from it may take a moment
		got := remindersIn(b.run(&WriteArgs{FilePath: b.path("y"), Content: rand.Text()}))
		if len(got) == 1 && strings.Contains(got[0], "+1\ttwo") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("never told")
}

// TestReminderWaitsForWhoWorksOnTheFile: the bytes that a call is about to put into
// a file, and has not noted yet, are not another's.
func TestReminderWaitsForWhoWorksOnTheFile(t *testing.T) {
	b := newBench(t)
	w := &handed{room: 8}
	b.service.reminders.Watcher = w
	file := b.put("f", "one\n")
	b.ok(&ReadArgs{FilePath: file})
	b.ok(&WriteArgs{FilePath: b.path("x"), Content: "x"})
	done, err := b.call.Session.Files.Lock(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	b.put("f", "two\n") // as a commit does before it notes so
	w.touched = []string{file}
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "y"})); got != nil {
		t.Errorf("%q", got)
	}
	done()
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "z"})); len(got) != 1 {
		t.Errorf("forgotten: %q", got)
	}
}

// stuck is a Watcher whose Follow does not return for one file.
type stuck struct {
	handed
	name string
	free chan struct{}
}

func (w *stuck) Follow(name string) (bool, error) {
	if name == w.name && w.free != nil {
		<-w.free
		return false, nil
	}
	return w.handed.Follow(name)
}

// TestReminderDoesNotHoldAnAnswerUp where the disk does not answer: an answer waits for
// so long and no longer, by a clock that stands still while anybody works.
func TestReminderDoesNotHoldAnAnswerUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.service.reminders.LookFor = reminders.DefaultLookFor
		w := &stuck{handed: handed{room: 8}}
		b.service.reminders.Watcher = w
		first, second := b.put("a", "one\n"), b.put("b", "one\n")
		b.ok(&ReadArgs{FilePath: first})
		b.ok(&ReadArgs{FilePath: second})
		b.put("a", "two\n")
		b.put("b", "two\n")
		w.name, w.free, w.touched = first, make(chan struct{}), []string{first, second}
		begun := time.Now()
		got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "x"}))
		if took := time.Since(begun); took > reminders.DefaultLookFor {
			t.Errorf("the answer took %v", took)
		}
		for i := range 3 { // no call queues up behind it
			begun = time.Now()
			got = append(got, remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: fmt.Sprint(i)}))...)
			if took := time.Since(begun); took > reminders.DefaultLookFor {
				t.Errorf("a later answer took %v", took)
			}
		}
		close(w.free)
		for i := 0; i < 100 && strings.Count(strings.Join(got, ""), "+1\ttwo") < 2; i++ {
			got = append(got, remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: rand.Text()}))...)
			time.Sleep(5 * time.Millisecond)
		}
		if all := strings.Join(got, ""); strings.Count(all, "+1\ttwo") != 2 {
			t.Errorf("%q", got)
		}
	})
}

// BenchmarkRemindersOfMany is an answer after so many files have changed, and one
// where they were only touched.
func BenchmarkRemindersOfMany(b *testing.B) {
	for _, files := range []int{1, 300, 1000} {
		for _, change := range []bool{true, false} {
			b.Run(fmt.Sprint(files, change), func(b *testing.B) {
				t := newBench(b)
				w := &handed{room: 8}
				t.service.reminders.Watcher = w
				var names []string
				text := strings.Repeat("a line of text\n", 300)
				for i := range files {
					names = append(names, t.put(fmt.Sprint("f", i), text))
					t.ok(&ReadArgs{FilePath: names[i]})
				}
				x := t.put("x", "x")
				t.run(&ReadArgs{FilePath: x, Offset: new(int)})
				for i := 0; b.Loop(); i++ {
					b.StopTimer()
					if change {
						for _, n := range names {
							if err := os.WriteFile(n, fmt.Append(nil, text, i), 0o644); err != nil {
								b.Fatal(err)
							}
						}
					}
					w.touched = names
					b.StartTimer()
					t.run(&ReadArgs{FilePath: x, Offset: new(int)})
				}
			})
		}
	}
}

// broken is a Watcher that fails inside for one file.
type broken struct {
	handed
	name string
}

func (w *broken) Follow(name string) (bool, error) {
	if name == w.name {
		panic("a bug")
	}
	return w.handed.Follow(name)
}

// TestReminderThatFailsInside costs no answer, and says so.
func TestReminderThatFailsInside(t *testing.T) {
	b := newBench(t)
	w := &broken{handed: handed{room: 8}}
	b.service.reminders.Watcher = w
	first, second := b.put("a", "one\n"), b.put("b", "one\n")
	b.ok(&ReadArgs{FilePath: first})
	b.ok(&ReadArgs{FilePath: second})
	b.put("a", "two\n")
	b.put("b", "two\n")
	w.name, w.touched = first, []string{first, second}
	r := b.run(&WriteArgs{FilePath: b.path("x"), Content: "x"})
	if got := remindersIn(r); r.IsError || len(got) != 1 || strings.Count(got[0], "+1\ttwo") != 1 {
		t.Errorf("%v %q", r.IsError, got)
	}
	if last := r.Blocks[len(r.Blocks)-1].Text; !strings.Contains(last, "a has changed: a bug. This is a bug of fsmcp") {
		t.Errorf("%q", last)
	}
	w.name, w.touched = "", []string{first}
	if got := remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: "y"})); len(got) != 1 {
		t.Errorf("nothing was told afterwards: %q", got)
	}
}

// TestReminderOfManyFiles: three with their lines, and one line that counts the others
// and names twenty.
func TestReminderOfManyFiles(t *testing.T) {
	b := newBench(t)
	w := &handed{room: 8}
	b.service.reminders.Watcher = w
	for _, files := range []int{3, 4, 23, 24, 300} {
		var touched []string
		for i := range files {
			name := b.put(fmt.Sprintf("%d-%03d", files, i), "one\n")
			b.ok(&ReadArgs{FilePath: name})
			touched = append(touched, name)
		}
		b.ok(&WriteArgs{FilePath: b.path("x"), Content: rand.Text()})
		for i := range files {
			b.put(fmt.Sprintf("%d-%03d", files, i), "two\n")
		}
		w.touched = touched
		got := strings.Join(remindersIn(b.run(&WriteArgs{FilePath: b.path("x"), Content: rand.Text()})), "")
		lines, tags, names := strings.Count(got, "+1\ttwo"), strings.Count(got, "<system-reminder>"), strings.Count(got, b.dir)
		count := fmt.Sprintf("<system-reminder>%d more files that", files-3)
		if files == 4 {
			count = "<system-reminder>1 more file that"
		}
		if lines != 3 || tags != 3+min(1, files-3) || names != min(files, 23) || files > 3 && !strings.Contains(got, count) || strings.Contains(got, ", …") != (files > 23) {
			t.Errorf("%d files: %s", files, got)
		}
	}
}
