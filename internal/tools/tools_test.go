package tools

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
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
	b.fails(6, slugNotRead, &EditArgs{FilePath: p, OldString: "last", NewString: "x"})
	b.fails(2, slugNotRead, &WriteArgs{FilePath: p, Content: "x"})
	limit := 10
	b.ok(&ReadArgs{FilePath: p, Limit: &limit})
	text := b.fails(6, slugPartlyRead, &EditArgs{FilePath: p, OldString: "last", NewString: "x"})
	holds(t, text, "11\tline", "51\tlast")
	b.ok(&EditArgs{FilePath: p, OldString: "last", NewString: "x"})
	b.want("a.txt", strings.Repeat("line\n", 50)+"x\n")
}

func TestAnOutsideChangeIsToldAndTheCallRepeated(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", "one\ntwo\nthree\n")
	b.ok(&ReadArgs{FilePath: p})
	b.put("a.txt", "one\nTWO\nthree\nfour\n")
	text := b.fails(7, slugModified, &EditArgs{FilePath: p, OldString: "three", NewString: "3"})
	holds(t, text, "File has been modified since read", "2\t-two", "2\t+TWO", "4\t+four")
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
	b.fails(12, slugBadArgument, &WriteArgs{FilePath: p, Content: stub})
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
	text := b.fails(6, slugTooLarge, &ReadArgs{FilePath: p})
	holds(t, text, "offset=1, limit=1, column=1")
	one := 1
	b.ok(&ReadArgs{FilePath: p, Offset: &one, Limit: &one, Column: &one})
	b.fails(6, slugPartlyRead, &EditArgs{FilePath: p, OldString: "NEEDLE", NewString: "pin"})
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
