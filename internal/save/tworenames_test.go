package save

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"testing"

	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// oneName is a system whose renames replace nothing, as on FAT; before is called ahead of each
// rename and removal.
type oneName struct {
	sys.Sys
	before func() error
}

func (o oneName) Rename(dir int, from, to string, flags uint) error {
	if flags != sys.NoReplace {
		return syscall.ENOSYS
	}
	if err := o.before(); err != nil {
		return err
	}
	err := o.Sys.Rename(dir, from, to, flags)
	if sys.Is(err, syscall.EINVAL) { // os.Root has no exclusive rename
		err = o.Sys.Rename(dir, from, to, 0)
	}
	return err
}

func (o oneName) Unlink(dir int, name string, flags int) error {
	if err := o.before(); err != nil {
		return err
	}
	return o.Sys.Unlink(dir, name, flags)
}

func (o oneName) Offers() (exchange, inPlace bool) { return false, false }

// twoRenamesOf makes a change of the file f, with before called ahead of each rename and
// removal of the change itself.
func twoRenamesOf(d *testFolder, before func() error) (Written, error) {
	armed := false
	d.open(func(o *Options) {
		o.Sys = oneName{sys.New(nil), func() error {
			if armed {
				return before()
			}
			return nil
		}}
	})
	file, err := resolve(d.path("f"))
	if err != nil {
		return Written{}, err
	}
	defer file.Close()
	x, err := d.save.Begin(context.Background(), file)
	if err != nil {
		return Written{}, err
	}
	defer x.Close()
	s := &twoRenames{replacement: &replacement{at: x.at, old: x.old}}
	x.Before(func() error { armed = true; return nil })
	defer func() { // what a dead process would not hold open
		if s.new != nil {
			s.new.closeFD()
		}
		if s.entry != nil {
			s.entry.close()
		}
		d.save.state.end(true)
	}()
	return x.change(context.Background(), s, []span.Splice{{Start: 0, End: 3, New: []byte("newer")}})
}

// A process that dies ahead of any rename or removal leaves the old or the new file after the
// next start, and no other one. (A process that dies between the two renames leaves no file
// of that name until then.)
func TestDeathWhileRenaming(t *testing.T) {
	missing := false
	for last := 0; ; last++ {
		d := newTestFolder(t)
		d.put("f", "old")
		calls := 0
		ended, finished := make(chan struct{}), false
		go func() {
			defer close(ended)
			_, err := twoRenamesOf(d, func() error {
				if calls++; calls > last {
					runtime.Goexit()
				}
				return nil
			})
			finished = err == nil
		}()
		<-ended
		between := d.get("f") == "(missing)"
		missing = missing || between
		d.open()
		report, err := d.save.Sweep(t.Context())
		if err != nil || len(report.Saved)+len(report.Torn)+len(report.Pending) > 0 {
			t.Errorf("death at call %d: %+v, %v", last, report, err)
		}
		if got := d.get("f"); got != "old" && (got != "newer" || between) {
			t.Errorf("death at call %d: f holds %q", last, got)
		}
		d.wantNames("f")
		if finished {
			if d.want("f", "newer"); last < 4 || !missing {
				t.Errorf("only %d calls; the name was missing: %v", last, missing)
			}
			return
		}
	}
}

// An error of any rename or removal leaves the old file, or the new one with success.
func TestFaultWhileRenaming(t *testing.T) {
	for last := 0; last < 8; last++ {
		d := newTestFolder(t)
		d.put("f", "old")
		calls := 0
		_, err := twoRenamesOf(d, func() error {
			if calls++; calls == last+1 {
				return syscall.EACCES
			}
			return nil
		})
		want := "newer"
		if err != nil {
			want = "old"
		}
		d.want("f", want)
		if ioerr := (*IOError)(nil); err != nil && (!errors.As(err, &ioerr) || ioerr.Changed) {
			t.Errorf("an error at call %d: %v", last, err)
		}
		d.open()
		if report, err := d.save.Sweep(t.Context()); err != nil || len(report.Saved)+len(report.Pending) > 0 {
			t.Errorf("an error at call %d: %+v, %v", last, report, err)
		}
		d.wantNames("f")
	}
}
