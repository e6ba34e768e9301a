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
		f.Put(fmt.Sprint(i), Record{Content: make([]byte, KeepContent)})
	}
	if f.kept > keepTotal {
		t.Fatalf("%d bytes kept, bound %d", f.kept, keepTotal)
	}
	first, ok := f.Get("0")
	if !ok || first.Content != nil {
		t.Fatalf("the oldest text is still kept, or its record is gone (%v)", ok)
	}
	if first.Sum() != sha256.Sum256(make([]byte, KeepContent)) {
		t.Fatal("the hash of an evicted text is not known")
	}
	if last, _ := f.Get("399"); last.Content == nil {
		t.Fatal("the newest text was evicted")
	}
	for i := range keepFiles + 10 {
		f.Put(fmt.Sprint("x", i), Record{})
	}
	if f.used.Len() > keepFiles || len(f.byKey) > keepFiles {
		t.Fatalf("%d records", f.used.Len())
	}
	f.Put("big", Record{Content: make([]byte, KeepContent+1)})
	if big, ok := f.Get("big"); !ok || big.Content != nil {
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
	v := View{Offset: 1, Limit: 2000}
	if f.Stub("a", v, Sum{}) {
		t.Fatal("a stub for a file that was never served")
	}
	f.Put("a", Record{})
	f.Served("a", v, Sum{})
	if !f.Stub("a", v, Sum{}) || f.Stub("a", v, Sum{}) {
		t.Fatal("want one stub, then the text")
	}
	if f.Stub("a", View{Offset: 2, Limit: 2000}, Sum{}) {
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
	f.Put("a", Record{Origin: ByEdit})
	if f.Stub("a", v, Sum{}) {
		t.Fatal("a stub after an edit")
	}
}

// A reminder's lines count beside those that were shown, and parts count only if they
// can be compared as a whole.
func TestInFull(t *testing.T) {
	all, half := span.Set{{End: 10}}, span.Set{{End: 5}}
	small, large := fsys.Stamp{Size: 10}, fsys.Stamp{Size: InMemory + 1}
	for _, c := range []struct {
		name string
		rec  Record
		want bool
	}{
		{"shown", Record{Stamp: small, Shown: all}, true},
		{"shown in part", Record{Stamp: small, Shown: half}, false},
		{"the rest was reported", Record{Stamp: small, Shown: half, Reported: span.Set{{Start: 5, End: 10}}}, true},
		{"parts with a hash", Record{Stamp: small, Shown: all, Parts: []Part{{}}, Hash: Sum{1}}, true},
		{"parts without one", Record{Stamp: small, Shown: all, Parts: []Part{{}}}, false},
		{"parts above the bound", Record{Stamp: large, Shown: span.Set{{End: InMemory + 1}}, Parts: []Part{{}}, Hash: Sum{1}}, false},
	} {
		if got := c.rec.InFull(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
