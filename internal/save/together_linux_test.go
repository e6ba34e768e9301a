//go:build !fsys_portable

package save

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fsmcp/fsmcp/internal/span"
)

// together replaces the first three bytes of files, in order, with one sync of their folder. Those
// after the first that fails are undone.
func (d *testFolder) together(names ...string) (errs []error) {
	ctx := context.Background()
	errs = make([]error, len(names))
	type waiting struct {
		at     int
		goOn   func() (struct{}, bool)
		giveUp func()
	}
	var all []waiting
	var list []*Txn
	for i, name := range names {
		x, err := d.save.Begin(ctx, target(d.t, d.path(name)))
		if errs[i] = err; err != nil {
			break
		}
		defer x.Close()
		c := []span.Splice{{End: 3, New: []byte("new")}}
		x.Stage(c)
		goOn, giveUp := iter.Pull(func(yield func(struct{}) bool) {
			x.Together(func() error {
				if yield(struct{}{}) {
					return nil
				}
				return ErrStopped
			})
			_, errs[i] = x.Replace(ctx, c)
		})
		if _, waits := goOn(); waits {
			all, list = append(all, waiting{i, goOn, giveUp}), append(list, x)
		} else if errs[i] != nil {
			break
		}
	}
	SyncTogether(list)
	for len(all) > 0 {
		w := all[0]
		all = all[1:]
		if w.goOn(); errs[w.at] != nil {
			break
		}
	}
	for _, w := range slices.Backward(all) {
		w.giveUp()
	}
	return errs
}

// Whichever system call fails while files are replaced together, each is as its error says: new
// without one, and else old. Nothing is left beside them.
func TestTogetherWithEachCallFailing(t *testing.T) {
	tried, givenUp := 0, 0
	for n := 0; ; n++ {
		d := newTestFolderIn(t, memory(t))
		names := []string{"a", "b", "c"}
		for _, name := range names {
			d.put(name, "old "+name)
		}
		count, failed := 0, ""
		d.open(func(o *Options) {
			o.Durability = Full
			o.Sys = hooked{before: func(c call) error {
				if count++; count == n && c.name != "Close" {
					failed = c.name
					return syscall.EIO
				}
				return nil
			}}
		})
		errs := d.together(names...)
		stopped := false
		for i, name := range names {
			err, now := errs[i], d.get(name)
			changed := (*IOError)(nil)
			switch {
			case errors.As(err, &changed) && changed.Changed:
			case errors.Is(err, ErrStopped):
				givenUp++
				fallthrough
			case err != nil, stopped:
				if now != "old "+name {
					t.Errorf("%s, call %d: %s is %q, error %v", failed, n, name, now, err)
				}
			case now != "new "+name:
				t.Errorf("%s, call %d: %s is %q without an error", failed, n, name, now)
			}
			stopped = stopped || err != nil
		}
		d.save.Close()
		d.open()
		if _, err := d.save.Sweep(context.Background()); err != nil {
			t.Error(err)
		}
		if got := strings.Join(d.names(), " "); got != "a b c" {
			t.Errorf("%s, call %d: left %s", failed, n, got)
		}
		if n > 0 && failed == "" && count < n {
			break
		}
		tried++
	}
	if tried < 40 || givenUp == 0 {
		t.Errorf("%d calls failed, and %d files were undone: the test proves little", tried, givenUp)
	}
	t.Log(fmt.Sprint(tried, " calls failed, ", givenUp, " files were undone"))
}
