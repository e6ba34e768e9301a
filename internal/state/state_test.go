package state

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/span"
)

func TestBoundsEvictAndNeverRefuse(t *testing.T) {
	f := New(time.Now)
	for i := range 400 {
		f.Put(fmt.Sprint(i), Record{Text: make([]byte, KeepText), Parts: []Part{{Span: span.Span{End: 10}}}})
	}
	if f.kept > keepTotal {
		t.Fatalf("%d bytes kept, bound %d", f.kept, keepTotal)
	}
	first, ok := f.Get("0")
	if !ok || first.Text != nil {
		t.Fatalf("the oldest text is still kept, or its record is gone (%v)", ok)
	}
	if len(first.Parts) != 1 || first.Parts[0].Sum != sha256.Sum256(make([]byte, 10)) {
		t.Fatal("the hash of what was shown of an evicted text is not known")
	}
	if last, _ := f.Get("399"); last.Text == nil {
		t.Fatal("the newest text was evicted")
	}
	for i := range keepFiles + 10 {
		f.Put(fmt.Sprint("x", i), Record{})
	}
	if f.used.Len() > keepFiles || len(f.byKey) > keepFiles {
		t.Fatalf("%d records", f.used.Len())
	}
	f.Put("big", Record{Text: make([]byte, KeepText+1)})
	if big, ok := f.Get("big"); !ok || big.Text != nil {
		t.Fatal("text above the bound is kept")
	}
	f.Forget("big")
	if _, ok := f.Get("big"); ok {
		t.Fatal("forgotten, yet known")
	}
}

func TestStubsAreRareEnough(t *testing.T) {
	now := time.Unix(1000, 0)
	f := New(func() time.Time { return now })
	v := PageRequest{Offset: 1, Limit: 2000}
	if f.Stub("a", v, Sum{}) {
		t.Fatal("a stub for a file that was never served")
	}
	f.Put("a", Record{})
	f.Served("a", v, Sum{})
	for range 2 {
		if !f.Stub("a", v, Sum{}) {
			t.Fatal("want a stub as long as none was sent")
		}
	}
	if f.Stubbed("a", v); f.Stub("a", v, Sum{}) {
		t.Fatal("want one stub, then the text")
	}
	if f.Stub("a", PageRequest{Offset: 2, Limit: 2000}, Sum{}) {
		t.Fatal("a stub for another range")
	}
	f.Served("a", v, Sum{1})
	if f.Stub("a", v, Sum{2}) || !f.Stub("a", v, Sum{1}) {
		t.Fatal("want a stub for the same bytes, and for no others")
	}
	f.Served("a", v, Sum{})
	now = now.Add(stubAge + time.Second)
	if f.Stub("a", v, Sum{}) {
		t.Fatal("a stub after too long")
	}
	f.Served("a", v, Sum{})
	for range stubCalls + 1 {
		f.CountCall()
	}
	if f.Stub("a", v, Sum{}) {
		t.Fatal("a stub after too many calls")
	}
	f.Served("a", v, Sum{})
	f.Put("a", Record{})
	if f.Stub("a", v, Sum{}) {
		t.Fatal("a stub after an edit")
	}
}

// A reminder's lines count beside those that were shown.
func TestInFull(t *testing.T) {
	part := func(start, end int64) []Part { return []Part{{Span: span.Span{Start: start, End: end}}} }
	small, large := fsys.Stamp{Size: 10}, fsys.Stamp{Size: InMemory + 1}
	for name, c := range map[string]struct {
		rec  Record
		want bool
	}{
		"shown":                 {rec: Record{Stamp: small, Parts: part(0, 10)}, want: true},
		"shown in two parts":    {rec: Record{Stamp: small, Parts: append(part(0, 6), part(4, 10)...)}, want: true},
		"shown in part":         {rec: Record{Stamp: small, Parts: part(0, 5)}},
		"the rest was reported": {rec: Record{Stamp: small, Parts: part(0, 5), Reported: part(5, 10)}, want: true},
		"a large file":          {rec: Record{Stamp: large, Parts: part(0, InMemory+1)}},
	} {
		if got := c.rec.InFull(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
