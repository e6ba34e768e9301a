package tools

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

func TestReadThenEdit(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", "one\ntwo\nthree\n")
	if got := b.ok(&ReadArgs{FilePath: p}); got != "1\tone\n2\ttwo\n3\tthree" {
		t.Fatalf("%q", got)
	}
	got := b.ok(&EditArgs{FilePath: p, OldString: "two", NewString: "zwei"})
	holds(t, got, "The file "+p+" has been updated.", "2\tzwei")
	b.want("a.txt", "one\nzwei\nthree\n")
	b.ok(&EditArgs{FilePath: p, OldString: "zwei\n", NewString: ""})
	b.want("a.txt", "one\nthree\n")
}

func TestNothingUnseenIsReplaced(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", strings.Repeat("line\n", 50)+"last\n")
	b.fails(2, refusal.SlugNotRead, &WriteArgs{FilePath: p, Content: "x"})
	limit := 5
	b.ok(&ReadArgs{FilePath: p, Limit: &limit})
	text := b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "last", NewString: "x"})
	holds(t, text, "51\tlast")
	b.ok(&EditArgs{FilePath: p, OldString: "last", NewString: "x"})
	b.want("a.txt", strings.Repeat("line\n", 50)+"x\n")
}

func TestAnOutsideChangeIsShownAndTheCallRepeated(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", "one\ntwo\nthree\n")
	b.ok(&ReadArgs{FilePath: p})
	b.put("a.txt", "one\nTWO\nthree\nfour\n")
	text := b.fails(7, refusal.SlugModified, &EditArgs{FilePath: p, OldString: "three\nfour", NewString: "3\nfour"})
	holds(t, text, "File has been modified since read; the change is shown below and counts as read.", "-2\ttwo", "+2\tTWO", "+4\tfour")
	b.ok(&EditArgs{FilePath: p, OldString: "three", NewString: "3"})
	b.want("a.txt", "one\nTWO\n3\nfour\n")
}

func TestATouchedFileIsNotChanged(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", "one\n")
	b.ok(&ReadArgs{FilePath: p})
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(p, later, later); err != nil {
		t.Fatal(err)
	}
	b.ok(&EditArgs{FilePath: p, OldString: "one", NewString: "two"})
	b.want("a.txt", "two\n")
}

func TestWriteCreatesAndReplaces(t *testing.T) {
	b := newBench(t)
	p := b.path("new/deep/a.txt")
	holds(t, b.ok(&WriteArgs{FilePath: p, Content: "one\n"}), "has been created (1 line, 4 bytes)")
	holds(t, b.ok(&WriteArgs{FilePath: p, Content: "two\n"}), "has been updated", "-one", "+two")
	holds(t, b.ok(&WriteArgs{FilePath: p, Content: "two\n"}), "nothing was written")
	b.fails(12, refusal.SlugBadArgument, &WriteArgs{FilePath: p, Content: stub})
}

func TestStubForAnUnchangedRead(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", "one\n")
	first := b.ok(&ReadArgs{FilePath: p})
	if got := b.ok(&ReadArgs{FilePath: p}); got != stub {
		t.Fatalf("%q", got)
	}
	if got := b.ok(&ReadArgs{FilePath: p}); got != first {
		t.Fatalf("two stubs in a row: %q", got)
	}
	b.put("a.txt", "two\n")
	if got := b.ok(&ReadArgs{FilePath: p}); got != "1\ttwo" {
		t.Fatalf("%q", got)
	}
}

func TestAnEditOfAHugeOneLineFile(t *testing.T) {
	b := newBench(t)
	line := strings.Repeat("x", 150_000) + "NEEDLE" + strings.Repeat("y", 150_000)
	p := b.put("a.js", line)
	holds(t, b.ok(&ReadArgs{FilePath: p}), "(PARTIAL: line 1 of 1 goes on. Next: Read offset=1, column=4001.")
	one := 1
	b.ok(&ReadArgs{FilePath: p, Offset: &one, Limit: &one, Column: &one})
	b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "NEEDLE", NewString: "pin"})
	answer := b.ok(&EditArgs{FilePath: p, OldString: "NEEDLE", NewString: "pin"})
	if len(answer) > 1024+3 {
		t.Fatalf("answer of %d bytes", len(answer))
	}
	b.want("a.js", strings.Replace(line, "NEEDLE", "pin", 1))
}

func TestAnAnswerIsSmallForAnyEdit(t *testing.T) {
	b := newBench(t)
	for i, added := range []string{"x", strings.Repeat("long ", 5000), strings.Repeat("l\n", 3000), "", "ü"} {
		name := fmt.Sprintf("%d.txt", i)
		p := b.put(name, strings.Repeat(strings.Repeat("w", 300)+"\n", 20)+"KEY\n"+strings.Repeat("tail\n", 20))
		b.ok(&ReadArgs{FilePath: p})
		answer := b.ok(&EditArgs{FilePath: p, OldString: "KEY", NewString: added})
		if len(answer) > 1024+len(added) {
			t.Errorf("%d: answer of %d bytes for %d new ones", i, len(answer), len(added))
		}
	}
}

// bigLog makes a log of n lines of 100 bytes.
// largeLog is the number of lines of a log of 100 bytes each that is a large file.
func largeLog() int { return int(state.InMemory) / 100 * 21 / 20 }

// TestMain makes smaller files large than fsmcp does: make faults has the true bound.
func TestMain(m *testing.M) {
	if !shortrun.Full() {
		state.InMemory = 12 << 20
	}
	os.Exit(m.Run())
}

func (b *bench) bigLog(name string, n int) string {
	b.t.Helper()
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "%08d %s\n", i+1, strings.Repeat("x", 90))
	}
	return b.put(name, s.String())
}

func TestABigLogIsEditedWhereItWasShown(t *testing.T) {
	shortrun.Skip(t, "it takes large files")
	b := newBench(t)
	n := 100 * (largeLog() / 100)
	p := b.bigLog("big.log", n)
	first, few := n-n/8/100*100, 3
	number := func(line int) string { return fmt.Sprintf("%08d", line) }
	old := number(first) + " xxx"
	b.fails(6, refusal.SlugNotRead, &EditArgs{FilePath: p, OldString: old, NewString: number(first) + " yyy"})
	got := b.ok(&ReadArgs{FilePath: p, Offset: &first, Limit: &few})
	holds(t, got, fmt.Sprintf("%d\t%s", first, old), fmt.Sprintf("%d\t", first+2))

	f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, "grown")
	f.Close()
	holds(t, b.ok(&EditArgs{FilePath: p, OldString: old, NewString: number(first) + "\nyyy"}), fmt.Sprintf("%d\t%s", first, number(first)), fmt.Sprintf("%d\tyyy", first+1))
	// What was shown moved with the edit and still counts.
	b.ok(&EditArgs{FilePath: p, OldString: number(first+1) + " xxx", NewString: "z"})
	// Elsewhere the match is shown first.
	holds(t, b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "00000007 x", NewString: "7"}), "00000007 x")
	b.ok(&EditArgs{FilePath: p, OldString: "00000007 x", NewString: "7"})
	b.fails(9, refusal.SlugNotUnique, &EditArgs{FilePath: p, OldString: "00007", NewString: "7"})
	b.fails(8, refusal.SlugNoMatch, &EditArgs{FilePath: p, OldString: "nowhere", NewString: "7"})

	raw, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	if want := n*100 + 6 - 3 + 4 - 12 + 1 - 9; len(raw) < want-100 || len(raw) > want+100 {
		t.Fatalf("%d bytes", len(raw))
	}
	text := string(raw)
	holds(t, text[:2000], "\n7"+strings.Repeat("x", 89)+"\n")
	if !strings.HasSuffix(text, "grown\n") {
		t.Fatal("the grown line is lost")
	}
	if i := strings.Index(text, number(first)+"\nyyy"); i < 0 {
		t.Fatal("the edit is not there")
	}

	// Of each place that the answer shows it shows the new text.
	second, ten := n/2/100*100-1, 12
	b.ok(&ReadArgs{FilePath: p, Offset: &second, Limit: &ten})
	tens := number(second + 1)[:7]
	if got := b.ok(&EditArgs{FilePath: p, OldString: "\n" + tens, NewString: "\n6-", ReplaceAll: true}); strings.Contains(got, tens) || !strings.Contains(got, "6-0 xxx") {
		t.Error(got)
	}
}

func TestABigFileThatChangedWhereItWasShownIsRefused(t *testing.T) {
	shortrun.Skip(t, "it takes large files")
	b := newBench(t)
	p := b.bigLog("big.log", largeLog())
	first, few := 10, 3
	b.ok(&ReadArgs{FilePath: p, Offset: &first, Limit: &few})
	f, err := os.OpenFile(p, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt([]byte("CHANGED"), 9*100)
	f.Close()
	b.fails(7, refusal.SlugModified, &EditArgs{FilePath: p, OldString: "00000011 x", NewString: "7"})
	b.ok(&ReadArgs{FilePath: p, Offset: &first, Limit: &few})
	b.ok(&EditArgs{FilePath: p, OldString: "00000011 x", NewString: "7"})
}

func TestAnAnswerThatIsNeverSentHasShownNothing(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", "one\n")
	b.unsent(&ReadArgs{FilePath: p})
	b.fails(6, refusal.SlugNotRead, &EditArgs{FilePath: p, OldString: "one", NewString: "two"})
	if got := b.ok(&ReadArgs{FilePath: p}); got != "1\tone" {
		t.Fatalf("%q", got)
	}
	b.put("a.txt", "three\n")
	b.unsent(&EditArgs{FilePath: p, OldString: "three", NewString: "3"})
	b.fails(7, refusal.SlugModified, &EditArgs{FilePath: p, OldString: "three", NewString: "3"})
	b.ok(&EditArgs{FilePath: p, OldString: "three", NewString: "3"})
}

// A call says why it was ended: a deadline and a server that stops are no cancelling.
// Packages below return the context's error or its cause; both are tried.
func TestEndOfACallsTime(t *testing.T) {
	b := newBench(t)
	path := b.put("a.txt", "one\n")
	b.ok(&ReadArgs{FilePath: path})
	for _, c := range []struct {
		cause error
		says  string
	}{
		{fmt.Errorf("the call took too long: %w", context.DeadlineExceeded), "could not be served in time"},
		{refusal.ErrStopping, "The server is stopping"},
		{fmt.Errorf("given up: %w", context.Canceled), "The call was cancelled"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(c.cause)
		for _, err := range []error{ctx.Err(), context.Cause(ctx), fmt.Errorf("deep: %w", ctx.Err())} {
			if got := refusal.Of(path, endOf(ctx, err)); got.Slug != refusal.SlugBusy || !strings.Contains(got.Text, c.says) || !strings.Contains(got.Text, "Nothing was changed") {
				t.Errorf("%v of %v: %s %s", err, c.cause, got.Slug, got.Text)
			}
		}
		r := b.within(ctx, &WriteArgs{FilePath: path, Content: "two\n"})
		if !r.IsError || r.Facts.Error != refusal.SlugBusy || !strings.Contains(r.Blocks[0].Text, c.says) {
			t.Errorf("%v: %+v", c.cause, r)
		}
		b.want("a.txt", "one\n")
	}
}

// A size has the unit that it reaches, and one above a limit does not read like it.
func TestAmounts(t *testing.T) {
	for n, want := range map[int64]string{
		1: "1 byte", 10239: "10239 bytes", 10 << 10: "10 KB", 10 << 20: "10.0 MB", 1<<30 - 1<<20: "1023.0 MB", 1<<30 - 1: "1 GB", 1 << 30: "1 GB", 3 << 29: "1.5 GB", 5 << 40: "5120 GB",
	} {
		if got := phrase.Bytes(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for _, limit := range []int64{256 << 10, 32 << 20, 64 << 20, toolcall.MaxEditBytes} {
		for _, n := range []int64{limit + 1, limit + limit/4096, 2 * limit} {
			if got := phrase.Above(n, limit); got == phrase.Bytes(limit) {
				t.Errorf("%d reads like its limit: %s", n, got)
			}
		}
	}
}
