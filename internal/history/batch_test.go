package history

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save"
)

// A Batch leaves the same entries and bytes as a Keep for each change, whatever is kept or voided
// beside it.
func TestBatchAsEachAlone(t *testing.T) {
	for seed := range uint64(20) {
		var both [2]string
		for way := range both {
			rng := rand.New(rand.NewPCG(seed, 5))
			k := newKept(t)
			batch := k.Batch()
			var marks []*Mark
			for i := range 60 {
				content := []byte(strings.Repeat(fmt.Sprint("line ", rng.IntN(20), "\n"), rng.IntN(4)*rng.IntN(200)))
				c := PendingChange{Names: []string{fmt.Sprintf("/w/f%d", rng.IntN(9))}, Session: "s", Tool: "Delete", Group: "g", Gone: true}
				switch rng.IntN(4) {
				case 0:
					c.Operation, c.To = OpMove, fmt.Sprintf("/w/to%d", i)
				case 1:
					c.Operation, c.Meta = OpDelete, &save.Meta{Kind: fsys.Link, Link: []byte("x")}
				default:
					c.Operation, c.Meta = OpDelete, &save.Meta{Kind: fsys.Regular}
					c.Old, c.Size = bytes.NewReader(content), int64(len(content))
				}
				keep := batch.Keep
				if way == 1 {
					keep = k.Store.Keep
				}
				m, err := keep(context.Background(), c)
				if err != nil {
					t.Fatal(err)
				}
				marks = append(marks, m)
				if rng.IntN(6) == 0 { // before or after the write
					marks[rng.IntN(len(marks))].Void()
				}
				if rng.IntN(9) == 0 {
					if err := batch.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := batch.Flush(); err != nil {
				t.Fatal(err)
			}
			for _, m := range marks {
				m.Done()
			}
			k.Close()
			both[way] = k.spell()
		}
		if both[0] != both[1] {
			t.Fatalf("seed %d: together\n%s\neach alone\n%s", seed, both[0], both[1])
		}
	}
}

// kept is a Store and the folder that it fills.
type kept struct {
	*testing.T
	*Store
	dir string
}

func newKept(t *testing.T) *kept {
	k := &kept{T: t, dir: t.TempDir()}
	k.Store = New(Options{
		Dir:      func(context.Context) (string, error) { return k.dir, nil },
		Settings: func() Settings { return Settings{Required: true, MaxSize: 1 << 30, MaxAge: 1 << 40} },
	})
	return k
}

// spell spells all entries, oldest first, with the bytes that come back.
func (k *kept) spell() string {
	a, err := Open(k.dir)
	if err != nil {
		k.Fatal(err)
	}
	defer a.Close()
	list, bad := a.Entries(nil)
	if len(bad) > 0 {
		k.Errorf("damaged: %v", bad)
	}
	var b strings.Builder
	for _, e := range slices.Backward(list) {
		raw, err := a.Before(e)
		fmt.Fprintf(&b, "%s %s %s %v %q %v\n", e.Operation, e.Path, e.To, e.Meta, raw, err)
	}
	return b.String()
}

// What waits in a Batch is not in the history yet; what could not be written is not kept, and
// says so.
func TestBatchThatCannotBeWritten(t *testing.T) {
	k := newKept(t)
	change := PendingChange{Names: []string{"/w/f"}, Operation: OpMove, To: "/w/to"}
	batch := k.Batch()
	mark, err := batch.Keep(context.Background(), change)
	if err != nil || mark.ID() != "" {
		t.Fatalf("%v, %q", err, mark.ID())
	}
	if k.spell() != "" {
		t.Error("it was written before its time")
	}
	batch.w.journal.Close() // every write fails
	if err := batch.Flush(); err == nil {
		t.Error("no error")
	}
	if mark.ID() != "" || mark.Missed == nil {
		t.Errorf("%q, %v", mark.ID(), mark.Missed)
	}
	mark.Void()
	mark.Done()
}

// A Batch that is given up before its Flush leaves nothing behind, and holds no file open.
func TestBatchGivenUp(t *testing.T) {
	k := newKept(t)
	batch := k.Batch()
	mark, err := batch.Keep(context.Background(), PendingChange{Names: []string{"/w/f"}, Operation: OpMove, To: "/w/to"})
	if err != nil {
		t.Fatal(err)
	}
	w := batch.w
	mark.Void()
	batch.Discard()
	mark.Done()
	if w.users != 1 { // the Store's
		t.Errorf("%d users of the files are left", w.users)
	}
	k.Close()
	if got := k.spell(); got != "" {
		t.Errorf("it was written: %s", got)
	}
}
