package tools

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

func (b *bench) part(p string, offset, limit int) string {
	b.t.Helper()
	return b.ok(&ReadArgs{FilePath: p, Offset: &offset, Limit: &limit})
}

// A file of a mark and nothing else has no line to be shown with.
func TestAFileOfAByteOrderMarkAloneIsReadAndWritten(t *testing.T) {
	for name, mark := range map[string]string{"8": "\xef\xbb\xbf", "16le": "\xff\xfe", "16be": "\xfe\xff"} {
		b := newBench(t)
		p := b.put(name, mark)
		if got := b.ok(&ReadArgs{FilePath: p}); got != emptyReminder {
			t.Errorf("%s: %q", name, got)
		}
		b.ok(&WriteArgs{FilePath: p, Content: "a\n"})
		if raw, _ := os.ReadFile(p); !strings.HasPrefix(string(raw), mark) || len(raw) <= len(mark) {
			t.Errorf("%s: the mark is lost: %q", name, raw)
		}
		p = b.put(name+"-filled", mark)
		b.ok(&ReadArgs{FilePath: p})
		b.ok(&EditArgs{FilePath: p, NewString: "a\n"})
		if raw, _ := os.ReadFile(p); !strings.HasPrefix(string(raw), mark) || len(raw) <= len(mark) {
			t.Errorf("%s: filling lost the mark: %q", name, raw)
		}
	}
}

func TestAColumnBehindTheLineSaysSo(t *testing.T) {
	b := newBench(t)
	p := b.put("a", "abc\nde\n")
	one, two, many := 1, 2, 99
	for _, offset := range []*int{&one, &two} {
		got := b.ok(&ReadArgs{FilePath: p, Offset: offset, Limit: &one, Column: &many})
		holds(t, got, fmt.Sprintf("line %d ", *offset), "99", "2 lines")
		if strings.Contains(got, "shorter than the provided offset") {
			t.Errorf("%q", got)
		}
	}
	holds(t, b.ok(&ReadArgs{FilePath: p, Offset: &many, Limit: &one, Column: &one}), "shorter than the provided offset (99). The file has 2 lines.")
}

// What an error shows counts as shown, so it must be no more than a client
// passes on, however short the lines are.
func TestAnErrorShowsNoMoreThanAClientPassesOn(t *testing.T) {
	for name, limits := range map[string]toolcall.ClientLimits{"none": {}, "chars": {Chars: 40_000}, "few": {Chars: 8_000}, "tokens": {Tokens: 2_000}} {
		b := newBench(t)
		b.call.Client = limits
		bound := 40_000
		if limits.Chars > 0 {
			bound = min(bound, limits.Chars)
		}
		if limits.Tokens > 0 {
			bound = min(bound, limits.Tokens*4)
		}
		check := func(what, text string) {
			if len(text) > bound {
				t.Errorf("%s, %s: %d bytes", name, what, len(text))
			}
		}
		p := b.put("nl", "a\n"+strings.Repeat("\n", 16_000))
		b.part(p, 1, 1)
		check("unseen lines", b.fails(2, refusal.SlugPartlyRead, &WriteArgs{FilePath: p, Content: "x"}))
		b.put("nl", "A\n"+strings.Repeat("\n", 16_000))
		check("a change and unseen lines", b.fails(3, refusal.SlugModified, &WriteArgs{FilePath: p, Content: "x"}))

		p = b.put("match", "a\n"+strings.Repeat("b\n", 20_000)+strings.Repeat("\n", 4_000)+"KEY\n"+strings.Repeat("\n", 200))
		b.part(p, 1, 1)
		check("a match", b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: strings.Repeat("\n", 3_500) + "KEY", NewString: "x"}))
	}
}

func TestATellingShowsWhatLooksTheSame(t *testing.T) {
	for old, c := range map[string]struct{ now, want string }{
		"a\r\nb\r\n":   {"a\nb\n", "line ending"},
		"a\nb":         {"a\nb\n", "line ending"},
		"a\rb\rc\r":    {"a\rX\rc\r", "-2\tb\n+2\tX"},
		"a\rb\rc\rd":   {"a\rb\rnew\rc\rd", "+3\tnew"},
		"a\rb\r":       {"a\nb\n", "-1\ta\n-2\tb\n+1\ta\n+2\tb"},
		"\ta\nb\n":     {"    a\nb\n", "-1\t\ta\n+1\t    a"},
		"a\nb\nc\nd\n": {"a\nd\n", "-2\tb\n-3\tc"},
	} {
		b := newBench(t)
		p := b.put("a", old)
		b.ok(&ReadArgs{FilePath: p})
		b.put("a", c.now)
		got := b.fails(3, refusal.SlugModified, &WriteArgs{FilePath: p, Content: "x"})
		if !strings.Contains(got, c.want) || strings.Contains(got, "\r") {
			t.Errorf("%q to %q: %q", old, c.now, got)
		}
		b.ok(&WriteArgs{FilePath: p, Content: "x"})
	}
}

// A file that is scanned is read in several goes: what is recorded must be of
// the bytes that the answer shows.
func TestAChangeUnderAScanIsNotTakenForShown(t *testing.T) {
	b := newBench(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	const lines = 200_000
	p := b.put("a", strings.Repeat(strings.Repeat("x", 99)+"\n", lines)+"A\n")
	set := func(letter string) {
		f, err := os.OpenFile(p, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		f.WriteAt([]byte(letter), lines*100)
		f.Close()
	}
	for i := range shortrun.Most(t, 30, 10, "changes under a scan") {
		b.call.Session.Files.Forget(p)
		set("A")
		time.Sleep(30 * time.Millisecond)
		changed := make(chan bool)
		go func() {
			time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond)
			set("B")
			close(changed)
		}()
		last, one := lines+1, 1
		r := b.run(&ReadArgs{FilePath: p, Offset: &last, Limit: &one})
		<-changed
		if r.IsError || !strings.HasSuffix(r.Blocks[0].Text, "\tA") {
			continue
		}
		if r := b.run(&EditArgs{FilePath: p, OldString: "B\n", NewString: "C\n"}); !r.IsError {
			t.Fatalf("try %d: a line that was never shown was replaced", i)
		}
	}
}

// A file that an own edit carries over a bound of what is kept of it, in either
// direction, is still one that was shown, and no more of it than before.
func TestAnOwnEditAcrossABoundStaysShown(t *testing.T) {
	shortrun.Skip(t, "it takes large files")
	for _, bound := range []int{state.KeepText, 1 << 20, int(state.InMemory)} {
		b := newBench(t)
		line := strings.Repeat("x", 99) + "\n"
		p := b.put("a", "first\nsecond\n"+strings.Repeat(line, bound/100-1)+"last\n")
		b.part(p, 1, 3)
		long := strings.Repeat("y", 400)
		b.ok(&EditArgs{FilePath: p, OldString: "first", NewString: long})
		b.ok(&EditArgs{FilePath: p, OldString: "second", NewString: "2nd"})
		b.ok(&EditArgs{FilePath: p, OldString: long, NewString: ""})
		b.ok(&EditArgs{FilePath: p, OldString: "2nd", NewString: "second"})
		b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "last", NewString: "x"})
		b.fails(2, refusal.SlugPartlyRead, &WriteArgs{FilePath: p, Content: "x"})
	}
}

// What was shown of a large file is compared by itself. A page that does not stand any
// more is not carried through an edit of one that does, although they overlap.
func TestAPageThatChangedIsNotCarried(t *testing.T) {
	shortrun.Skip(t, "it takes large files")
	for _, lines := range []int{20_000, int(state.InMemory)/100 + 1_000} {
		b := newBench(t)
		p := b.bigLog("big.log", lines)
		b.part(p, 10, 20)
		f, err := os.OpenFile(p, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteAt([]byte("CHANGED"), 10*100) // line 11
		f.Close()
		b.part(p, 20, 20)
		b.ok(&EditArgs{FilePath: p, OldString: "00000025 x", NewString: "25 y"})
		b.ok(&EditArgs{FilePath: p, OldString: "25 y", NewString: "25 z"})
		holds(t, b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "CHANGED", NewString: "mine"}), "CHANGED")
		b.ok(&EditArgs{FilePath: p, OldString: "CHANGED", NewString: "mine"})
	}
}

// A large file that was read page by page is one that was shown in full; one that
// changed meanwhile is none.
func TestPagesOfALargeFileAreAllOfIt(t *testing.T) {
	shortrun.Skip(t, "it takes files of 10 MB")
	b := newBench(t)
	b.with(func(o *Options) { o.MaxTokens = 1 << 30 })
	for _, lines := range []int{20_000, 100_000} { // held, and scanned
		p := b.bigLog("big.log", lines)
		for page := range 4 {
			b.part(p, page*lines/4+1, lines/4)
		}
		b.ok(&WriteArgs{FilePath: p, Content: "mine\n"})
		p = b.bigLog("other.log", lines)
		b.part(p, 1, lines/4)
		f, err := os.OpenFile(p, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteAt([]byte("CHANGED"), 1000)
		f.Close()
		for page := range 3 {
			b.part(p, (page+1)*lines/4+1, lines/4)
		}
		b.fails(2, refusal.SlugPartlyRead, &WriteArgs{FilePath: p, Content: "mine\n"})
	}
}

func TestManyMatchesTakeLittleTime(t *testing.T) {
	shortrun.Skip(t, "it takes seconds")
	b := newBench(t)
	p := b.path("a")
	start := time.Now()
	b.ok(&WriteArgs{FilePath: p, Content: strings.Repeat("ab\n", 500_000)})
	b.ok(&EditArgs{FilePath: p, OldString: "a", NewString: "xy", ReplaceAll: true})
	b.want("a", strings.Repeat("xyb\n", 500_000))

	p = b.put("b", "first\n"+strings.Repeat("ab"+strings.Repeat(" ", 500)+"\n", 60_000))
	b.part(p, 1, 1)
	b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "ab", NewString: "x", ReplaceAll: true})

	p = b.put("c", strings.Repeat("a", 3_000_000))
	one := 1
	b.ok(&ReadArgs{FilePath: p, Offset: &one, Limit: &one, Column: &one})
	text := b.fails(10, refusal.SlugTooLarge, &EditArgs{FilePath: p, OldString: "a", NewString: "b", ReplaceAll: true})
	holds(t, text, "3000000 times", "2000000")
	if took := time.Since(start); took > time.Minute {
		t.Errorf("%v", took)
	}
}

func TestAVanishedFileHasTheSameCodeInEveryTool(t *testing.T) {
	b := newBench(t)
	for _, args := range []func(p string) Args{
		func(p string) Args { return &EditArgs{FilePath: p, OldString: "a", NewString: "b"} },
		func(p string) Args { return &WriteArgs{FilePath: p, Content: "b"} },
	} {
		p := b.put("a", "a\n")
		b.ok(&ReadArgs{FilePath: p})
		os.Remove(p)
		holds(t, b.fails(19, refusal.SlugNotFound, args(p)), "is gone now")
	}
}

// In Shift-JIS the second byte of a character may be a backslash.
func TestABigFileInALegacyCharsetIsEditedByCharacters(t *testing.T) {
	shortrun.Skip(t, "it takes large files")
	encode := func(e encoding.Encoding, s string) string {
		out, err := e.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, c := range map[string]struct {
		enc       encoding.Encoding
		line, key string
		within    string
	}{
		"shift-jis":    {enc: japanese.ShiftJIS, line: "これは日本語のテキストです。設定ファイルを読み込みました。漢字かな交じり文。\n", key: "表ソn", within: "\\n"},
		"windows-1252": {enc: charmap.Windows1252, line: "Voilà déjà un été, garçon. Ça va être très élégant à la fenêtre. L'hôtel coûte 30€.\n", key: "clé", within: "nowhere"},
	} {
		if name != "shift-jis" && !shortrun.Full() {
			t.Log("windows-1252 is left out; make faults tries it")
			continue
		}
		b := newBench(t)
		line, key := encode(c.enc, c.line), encode(c.enc, c.key)
		n := int(state.InMemory)/len(line) + 1
		p := b.put(name, strings.Repeat(line, n)+key+"\n"+strings.Repeat(line, 10))
		b.part(p, n, 12)
		b.fails(8, refusal.SlugNoMatch, &EditArgs{FilePath: p, OldString: c.within, NewString: "XY"})
		b.call.Session.Files.Forget(p)
		b.part(p, 1, 1)
		holds(t, b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: c.key, NewString: "k"}), c.key)
		holds(t, b.ok(&EditArgs{FilePath: p, OldString: c.key, NewString: "k"}), fmt.Sprintf("\n%d\tk\n", n+1))
		b.want(name, strings.Repeat(line, n)+"k\n"+strings.Repeat(line, 10))
	}
}

func TestABigFileOfCarriageReturnsIsNumberedAsReadDoes(t *testing.T) {
	b := newBench(t)
	n := int(state.InMemory)/7 + 1
	p := b.put("a", strings.Repeat("a line\r", n)+"KEY\r")
	b.part(p, 1, 1)
	want := fmt.Sprintf("\n%d\ta line\n%d\t", n, n+1)
	holds(t, b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "KEY", NewString: "k"}), want+"KEY")
	holds(t, b.ok(&EditArgs{FilePath: p, OldString: "KEY", NewString: "k"}), want+"k")
}

func TestAnAnswerIsSmallForManyLinesInACRLFFile(t *testing.T) {
	b := newBench(t)
	p := b.put("a", "one\r\ntwo\r\n")
	b.ok(&ReadArgs{FilePath: p})
	added := strings.Repeat("X\n", 600)
	if answer := b.ok(&EditArgs{FilePath: p, OldString: "one", NewString: added}); len(answer) > 1024+len(added) {
		t.Errorf("answer of %d bytes for %d new ones", len(answer), len(added))
	}
}

func TestARegionThatEndsWithinALineSaysSo(t *testing.T) {
	b := newBench(t)
	p := b.put("a", strings.Repeat("ab\n", 40))
	b.ok(&ReadArgs{FilePath: p})
	got := b.ok(&EditArgs{FilePath: p, OldString: "\n", NewString: "-\n-", ReplaceAll: true})
	if !strings.HasSuffix(got, "\n5\t-ab-\n6\t-…") {
		t.Errorf("%q", got)
	}
}

// What an Edit's answer shows around the change counts once the answer is sent to a client
// that passes all of it on, and only of the bytes that it was made of.
func TestTheLinesAroundAnEditCountOnceTheyAreSent(t *testing.T) {
	for name, c := range map[string]struct {
		limits toolcall.ClientLimits
		new    string
		send   func(b *bench, p string, r *toolcall.Result)
		shown  bool
	}{
		"sent":     {new: "2\n", shown: true, send: func(b *bench, _ string, r *toolcall.Result) { b.service.Sent(b.call, r) }},
		"not sent": {new: "2\n", send: func(*bench, string, *toolcall.Result) {}},
		"cut by the client": {
			limits: toolcall.ClientLimits{Chars: 7000}, new: strings.Repeat(strings.Repeat("x", 99)+"\n", 70),
			send: func(b *bench, _ string, r *toolcall.Result) { b.service.Sent(b.call, r) },
		},
		"followed by what hooks say": {
			limits: toolcall.ClientLimits{Chars: 7000}, new: "2\n",
			send: func(b *bench, _ string, r *toolcall.Result) {
				r.Blocks[0].Text += strings.Repeat("\nsaid by a hook", 600)
				b.service.Sent(b.call, r)
			},
		},
		"followed by many lines": {
			limits: toolcall.ClientLimits{Lines: 2000}, new: "2\n",
			send: func(b *bench, _ string, r *toolcall.Result) {
				r.Blocks = append(r.Blocks, toolcall.Block{Text: strings.Repeat("\n", 2000)})
				b.service.Sent(b.call, r)
			},
		},
		"changed before it is sent": {new: "2\n", send: func(b *bench, p string, r *toolcall.Result) {
			one := 1
			b.put("a", "ONE\n2\nthree\n")
			b.ok(&ReadArgs{FilePath: p, Limit: &one})
			rec, _ := b.call.Session.Files.Get(p)
			r.Shown[len(r.Shown)-1].Record.Stamp = rec.Stamp // as within one step of the clock
			b.service.Sent(b.call, r)
		}},
	} {
		b := newBench(t)
		b.call.Client = c.limits
		p := b.put("a", "one\ntwo\nthree\n")
		b.part(p, 2, 1)
		r := b.unsent(&EditArgs{FilePath: p, OldString: "two\n", NewString: c.new})
		holds(t, r.Blocks[0].Text, "\tthree")
		c.send(b, p, r)
		if r := b.unsent(&EditArgs{FilePath: p, OldString: "three", NewString: "3"}); r.IsError == c.shown {
			t.Errorf("%s: %s", name, r.Blocks[0].Text)
		}
	}
}
