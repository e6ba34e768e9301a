package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools/find"
)

// knowledge is a file on the disk beside the conversation's record of it.
type knowledge struct {
	content string
	exists  bool
	record  state.Record
	known   bool
}

// shownSpans returns the bytes that a record says were shown.
func shownSpans(r state.Record) span.Set { return r.Shown() }

// effectsWalk makes random calls on a few files and checks after each what the conversation
// remembers.
type effectsWalk struct {
	*bench
	rng   *rand.Rand
	names []string
	lines int // numbers the lines, so that each is there once
}

func (w *effectsWalk) line() string {
	w.lines++
	return fmt.Sprintf("line %05d of %d\n", w.lines, w.rng.IntN(1000))
}

func (w *effectsWalk) text(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(w.line())
	}
	return b.String()
}

func (w *effectsWalk) content(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(raw)
}

// look returns what is known of all files.
func (w *effectsWalk) look() map[string]knowledge {
	all := map[string]knowledge{}
	for _, name := range w.names {
		_, err := os.Stat(w.path(name))
		k := knowledge{content: w.content(w.path(name)), exists: err == nil}
		k.record, k.known = w.call.Session.Files.Get(w.path(name))
		all[w.path(name)] = k
	}
	return all
}

// outside has another program change a file.
func (w *effectsWalk) outside() {
	name := w.names[w.rng.IntN(len(w.names))]
	switch old := w.content(w.path(name)); {
	case strings.HasSuffix(name, ".ipynb"):
		w.put(name, strings.Replace(old, "one", "two", 1))
	case w.rng.IntN(3) == 0:
		_ = os.Remove(w.path(name))
	case old == "":
		w.put(name, w.text(30))
	default:
		w.put(name, old+w.line())
	}
}

// args returns the arguments of a call.
func (w *effectsWalk) args() Args {
	path := w.path(w.names[w.rng.IntN(len(w.names))])
	lines := strings.SplitAfter(w.content(path), "\n")
	line := lines[w.rng.IntN(len(lines))]
	switch w.rng.IntN(8) {
	case 0, 1:
		return &ReadArgs{FilePath: path}
	case 2:
		return &ReadArgs{FilePath: path, Offset: new(1 + w.rng.IntN(len(lines))), Limit: new(1 + w.rng.IntN(5))}
	case 3:
		return &WriteArgs{FilePath: path, Content: w.text(w.rng.IntN(40))}
	case 4:
		return &NotebookEditArgs{NotebookPath: w.path("n.ipynb"), CellID: "a", NewSource: new(w.line())}
	case 5:
		return &find.GrepArgs{Pattern: strings.TrimSuffix(line, "\n"), Path: w.dir, OutputMode: "content"}
	}
	return &EditArgs{FilePath: path, OldString: line, NewString: w.line()}
}

// ran checks the memory after a call that was not sent yet: it follows the disk alone.
func (w *effectsWalk) ran(step string, before, after map[string]knowledge) {
	for path, is := range after {
		was := before[path]
		if was.content == is.content && was.exists == is.exists {
			if was.known != is.known || !reflect.DeepEqual(was.record, is.record) {
				w.t.Fatalf("%s: the record of %s has changed before the answer was sent, though the file has not", step, path)
			}
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			w.t.Fatal(err)
		}
		if s := is.record.Stamp; !is.known || s.Size != info.Size() || s.Mtime != info.ModTime().UnixNano() {
			w.t.Fatalf("%s: the call has changed %s, and its record has another state", step, path)
		}
	}
}

// sent checks the memory after an answer was sent: it has changed for the files that the
// answer shows alone, and each line that counts as shown now is in the answer.
func (w *effectsWalk) sent(step string, r *toolcall.Result, before, after map[string]knowledge) {
	answer := ""
	for _, b := range r.Blocks {
		answer += b.Text
	}
	for path, is := range after {
		was := before[path]
		if reflect.DeepEqual(was.record, is.record) {
			continue
		}
		if !slices.ContainsFunc(r.Shown, func(s toolcall.Shown) bool { return s.Path == path }) {
			w.t.Fatalf("%s: the record of %s has changed, which the answer does not show", step, path)
		}
		if strings.HasSuffix(path, ".ipynb") || was.known && was.record.Stamp != is.record.Stamp {
			continue // what was shown before may be in other places now
		}
		for _, s := range shownSpans(is.record) {
			at := s.Start
			for line := range strings.Lines(is.content[s.Start:s.End]) {
				here := span.Span{Start: at, End: at + int64(len(line))}
				if at = here.End; !shownSpans(was.record).Covers(here) && !strings.Contains(answer, strings.TrimSuffix(line, "\n")) {
					w.t.Fatalf("%s: %q counts as shown, and is not in the answer:\n%s", step, line, answer)
				}
			}
		}
	}
}

// Whatever a call returns, the record of a file follows the disk when the call has run, also
// if it was cancelled; and what the answer shows once it is sent, and never if it is not.
func TestEffectsAreAppliedWhenTheyHappen(t *testing.T) {
	for seed := range uint64(shortrun.Count(t, shortrun.Most(t, 6, 3, "walks"), 2, "walks")) {
		w := &effectsWalk{bench: newBench(t), rng: rand.New(rand.NewPCG(seed, 7)), names: []string{"a.txt", "b.txt", "large.txt", "n.ipynb", "new.txt"}}
		w.put("a.txt", w.text(30))
		w.put("b.txt", w.text(3))
		w.put("large.txt", w.text(60_000))
		w.put("n.ipynb", `{"cells":[{"cell_type":"raw","id":"a","metadata":{},"source":"one"}],"metadata":{},"nbformat":4,"nbformat_minor":5}`)
		fates := map[string]int{}
		for i := range shortrun.Count(t, 300, 120, "calls") {
			if w.rng.IntN(6) == 0 {
				w.outside()
			}
			args, fate := w.args(), []string{"sent", "sent", "never sent", "cancelled"}[w.rng.IntN(4)]
			step := fmt.Sprintf("seed %d, call %d, %T, %s", seed, i, args, fate)
			ctx, cancel := context.WithCancel(context.Background())
			if fate == "cancelled" {
				late := &cancelledAfter{Context: ctx, cancel: cancel}
				late.left.Store(w.rng.Int64N(40)) // some calls end before they begin, some are over first
				ctx = late
			}
			before := w.look()
			r := w.within(ctx, args)
			after := w.look()
			w.ran(step, before, after)
			if fate == "sent" {
				w.service.Sent(w.call, r)
				w.sent(step, r, after, w.look())
			}
			if cancel(); !r.IsError {
				fates[fate]++
			}
		}
		for _, fate := range []string{"sent", "never sent", "cancelled"} {
			if fates[fate] == 0 {
				t.Errorf("seed %d: no call succeeded that was %s", seed, fate)
			}
		}
	}
}

// cancelledAfter is a context that is cancelled when it has been asked for its end so often.
type cancelledAfter struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func (c *cancelledAfter) count() {
	if c.left.Add(-1) <= 0 {
		c.cancel()
	}
}

func (c *cancelledAfter) Err() error {
	c.count()
	return c.Context.Err()
}

func (c *cancelledAfter) Done() <-chan struct{} {
	c.count()
	return c.Context.Done()
}
