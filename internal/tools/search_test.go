package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools/find"
)

func (b *bench) grep(pattern, path string) *toolcall.Result {
	b.t.Helper()
	r := b.unsent(&find.GrepArgs{Pattern: pattern, Path: path, OutputMode: "content"})
	if r.IsError {
		b.t.Fatalf("%s", r.Blocks[0].Text)
	}
	return r
}

// An answer that is never sent has shown nothing.
func TestASearchShowsOnceItIsSent(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", "one\ntwo\n")
	r := b.grep("two", "")
	if _, known := b.call.Session.Files.Get(p); known {
		t.Fatal("it counts as shown before it is sent")
	}
	b.service.Sent(b.call, r)
	if shown, whole := b.shownOf(p); shown != "two\n" || whole {
		t.Fatalf("%q", shown)
	}
	b.ok(&EditArgs{FilePath: p, OldString: "two", NewString: "2"})
	b.want("a.txt", "one\n2\n")
}

// The answer to a search may be sent after a change that it has not seen.
func TestAnOldSearchTakesNothingAway(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", "one\ntwo\nthree\n")
	b.ok(&ReadArgs{FilePath: p})
	old := b.grep("one", "")
	time.Sleep(30 * time.Millisecond) // a later change has a later stamp
	b.ok(&EditArgs{FilePath: p, OldString: "two", NewString: "2"})
	b.service.Sent(b.call, old)
	if _, whole := b.shownOf(p); !whole {
		t.Fatal("an earlier search took away what was shown since")
	}
	b.ok(&WriteArgs{FilePath: p, Content: "all\n"})
}

func TestASearchAddsToWhatWasShown(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", "one\ntwo\nthree\nfour\n")
	b.part(p, 1, 2)
	b.service.Sent(b.call, b.grep("four", p))
	if shown, _ := b.shownOf(p); shown != "one\ntwo\nfour\n" {
		t.Fatalf("%q", shown)
	}
	later := time.Now().Add(time.Hour) // touched, and the same bytes
	if err := os.Chtimes(p, later, later); err != nil {
		t.Fatal(err)
	}
	b.service.Sent(b.call, b.grep("three", p))
	if shown, whole := b.shownOf(p); !whole {
		t.Fatalf("%q", shown)
	}
	b.ok(&WriteArgs{FilePath: p, Content: "all\n"})
	// After an outside change only what the search showed counts.
	b.put("a.txt", "alles\nneu\nhier\n")
	b.service.Sent(b.call, b.grep("neu", p))
	if shown, _ := b.shownOf(p); shown != "neu\n" {
		t.Fatalf("%q", shown)
	}
	b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "hier", NewString: "da"})
}

// Of a large file only what was shown is compared.
func TestASearchOfALargeFile(t *testing.T) {
	b := newBench(t)
	p := b.put("large.txt", strings.Repeat("a line of text\n", 2<<20/15)+"the needle\n"+strings.Repeat("more\n", 1000))
	b.part(p, 1, 1)
	b.service.Sent(b.call, b.grep("needle", p))
	if shown, _ := b.shownOf(p); shown != "a line of text\nthe needle\n" {
		t.Fatalf("%q", shown)
	}
	b.ok(&EditArgs{FilePath: p, OldString: "the needle", NewString: "a needle"})
	b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "a needle" + strings.Repeat("\nmore", 5), NewString: "x"})
}

func TestASearchKeepsTheEncoding(t *testing.T) {
	b := newBench(t)
	p := b.put("latin.txt", strings.Repeat("Gr\xfc\xdfe aus K\xf6ln und D\xfcsseldorf\r\n", 5)+"der Schlu\xdf\r\n")
	r := b.grep("Schluß", "")
	holds(t, r.Blocks[0].Text, "latin.txt:6:der Schluß")
	b.service.Sent(b.call, r)
	b.ok(&EditArgs{FilePath: p, OldString: "der Schluß", NewString: "das Ende für heute"})
	b.want("latin.txt", strings.Repeat("Gr\xfc\xdfe aus K\xf6ln und D\xfcsseldorf\r\n", 5)+"das Ende f\xfcr heute\r\n")
}

// The user's yes to a folder outside the workspace covers what lies below it, but for what a
// rule names.
func TestConsentToAFolderCoversItsFiles(t *testing.T) {
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(outside, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(outside, name), []byte("needle\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"free.txt", "deep/er/free.txt", "asked/a.txt", "denied/b.txt"} {
		put(name)
	}
	rule := func(list perm.List, text string) perm.RuleText {
		return perm.RuleText{Text: text, List: list, Source: perm.Source{Name: "test", Level: perm.User, Anchor: "/"}}
	}
	anchored := "//" + strings.TrimPrefix(filepath.ToSlash(outside), "/")
	b := newBench(t, rule(perm.Ask, "Read("+anchored+"/asked/**)"), rule(perm.Deny, "Read("+anchored+"/denied/**)"))
	b.call.CanAsk = true
	args := &find.GrepArgs{Pattern: "needle", Path: outside}
	r := b.unsent(args)
	if r.Question == nil {
		t.Fatalf("no question: %s", r.Blocks[0].Text)
	}
	holds(t, r.Question.Message, "Read "+outside+"?", "It searches the file, or the folder with all below it")
	b.call.Consent = r.Question.Consent()
	text := b.unsent(args).Blocks[0].Text
	holds(t, text, filepath.Join(outside, "free.txt"), filepath.Join(outside, "deep", "er", "free.txt"))
	if strings.Contains(text, "asked") || strings.Contains(text, "denied") {
		t.Errorf("%s", text)
	}
	b.call.Consent = nil
	if r := b.unsent(args); r.Question == nil {
		t.Error("the consent to one call holds for the next")
	}
	b.call.Session.Grant(r.Question)
	holds(t, b.unsent(&find.GlobArgs{Pattern: "*.txt", Path: outside}).Blocks[0].Text, "free.txt")
}
