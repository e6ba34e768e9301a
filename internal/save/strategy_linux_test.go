//go:build !fsys_portable

package save

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// strategyCase is a change, and the strategy that makes it.
type strategyCase struct {
	strategy strategy // of the type that the driver ends with
	system   poorer
	links    bool   // the file has another name, and Options.KeepHardLinks is set
	old, new string // "(missing)" before a new file and after a removal
	// Another program renames a file of its own to the name right before the step that
	// shows: the driver reports replaced, and the name leads to file then.
	replaced error
	file     string
}

var strategyCases = map[string]strategyCase{
	"exchange":           {strategy: &exchange{}, old: "old", new: "newer", replaced: ErrModified, file: "theirs"},
	"exchange, no lease": {strategy: &exchange{}, system: poorer{noLease: true}, old: "old", new: "newer", replaced: ErrModified, file: "theirs"},
	"exchange, named":    {strategy: &exchange{}, system: poorer{noUnnamed: true}, old: "old", new: "newer", replaced: ErrModified, file: "theirs"},
	// Nothing is displaced that could be checked: the other program's file is lost.
	// Between its two renames the name is free: the driver finds what appears there.
	"two renames":              {strategy: &twoRenames{}, system: poorer{noExchange: true, noReplace: true}, old: "old", new: "newer", replaced: ErrModified, file: "theirs"},
	"two renames, no lease":    {strategy: &twoRenames{}, system: poorer{noExchange: true, noReplace: true, noLease: true}, old: "old", new: "newer", replaced: ErrModified, file: "theirs"},
	"rename":                   {strategy: &rename{}, system: poorer{noExchange: true}, old: "old", new: "newer", file: "newer"},
	"exchange, mac":            {strategy: &exchange{}, system: poorer{mac: true}, old: "old", new: "newer", replaced: ErrModified, file: "theirs"},
	"exchange, mac, no clones": {strategy: &exchange{}, system: poorer{mac: true, noClone: true}, old: "old", new: "newer", replaced: ErrModified, file: "theirs"},
	"rename, mac":              {strategy: &rename{}, system: poorer{mac: true, noExchange: true}, old: "old", new: "newer", file: "newer"},
	"create, mac":              {strategy: &create{}, system: poorer{mac: true}, old: "(missing)", new: "newer", replaced: ErrExists, file: "theirs"},
	"in place, mac":            {strategy: &inPlace{}, system: poorer{mac: true, busy: true}, old: "old", new: "newer", file: "theirs"},
	"removal, mac":             {strategy: &removal{}, system: poorer{mac: true}, old: "old", new: "(missing)", replaced: ErrModified, file: "theirs"},
	"rename, portable":         {strategy: &rename{}, system: poorer{portable: true}, old: "old", new: "newer", file: "newer"},
	"create":                   {strategy: &create{}, old: "(missing)", new: "newer", replaced: ErrExists, file: "theirs"},
	"create, portable":         {strategy: &create{}, system: poorer{portable: true}, old: "(missing)", new: "newer", replaced: ErrExists, file: "theirs"},
	// The bytes go to the file that was compared, which has lost its name.
	"in place":            {strategy: &inPlace{}, system: poorer{busy: true}, old: "old", new: "newer", file: "theirs"},
	"in place, the links": {strategy: &inPlace{}, links: true, old: "old", new: "newer", file: "theirs"},
	"removal":             {strategy: &removal{}, old: "old", new: "(missing)", replaced: ErrModified, file: "theirs"},
	"removal, portable":   {strategy: &removal{}, system: poorer{portable: true}, old: "old", new: "(missing)", replaced: ErrModified, file: "theirs"},
}

// steps are the steps of the driver, in their order.
var steps = []string{"stage", "before", "publish", "verify", "finish"}

// stepping is a strategy that calls after when a step has succeeded; an error of it counts as
// the step's. Of a strategy that is given up for a better one the steps are those of the
// better one.
type stepping struct {
	strategy
	after func(step string) error
}

func (s stepping) stage(c []span.Splice) error {
	if err := s.strategy.stage(c); err != nil {
		return err
	}
	return s.after("stage")
}

func (s stepping) publish() error {
	if err := s.strategy.publish(); err != nil {
		return err
	}
	return s.after("publish")
}

func (s stepping) verify() error {
	if err := s.strategy.verify(); err != nil {
		return err
	}
	return s.after("verify")
}

func (s stepping) finish() Written {
	out := s.strategy.finish()
	s.after("finish")
	return out
}

// folder makes the old file and a Saver on the case's system. act is called before each
// system call.
func (c strategyCase) folder(t *testing.T, act func(call)) *testFolder {
	t.Helper()
	d := newTestFolderIn(t, memory(t))
	if c.old != "(missing)" {
		d.put("f", c.old)
	}
	if c.links {
		os.Link(d.path("f"), d.path("other"))
	}
	d.open(func(o *Options) {
		o.KeepHardLinks = c.links
		o.Sys = hooked{base: c.system.base(), before: func(k call) error {
			act(k)
			return c.system.before(k)
		}}
	})
	return d
}

// change runs the driver until it comes to the case's strategy, with after called behind
// that one's steps.
func (c strategyCase) change(d *testFolder, after func(s strategy, step string) error) (Written, error) {
	file, err := resolve(d.path("f"))
	if err != nil {
		panic(err)
	}
	defer file.Close()
	x, err := d.save.Begin(context.Background(), file)
	if err != nil {
		panic(err)
	}
	defer x.Close()
	splices := []span.Splice{{Start: 0, End: int64(len(strings.TrimPrefix(c.old, "(missing)"))), New: []byte(c.new)}}
	s := x.firstStrategy()
	if c.new == "(missing)" {
		s, splices = &removal{at: x.at, old: x.old}, nil
	}
	for reflect.TypeOf(s) != reflect.TypeOf(c.strategy) {
		_, err := x.try(s, splices)
		next := x.next(s, err)
		if next == nil {
			panic(fmt.Sprintf("%T ends with %v and is not followed by %T", s, err, c.strategy))
		}
		s = next
	}
	x.Before(func() error { return after(s, "before") })
	return x.change(context.Background(), stepping{s, func(step string) error { return after(s, step) }}, splices)
}

// wantAll checks what the folder holds: the file with this content, its other name, and
// nothing else.
func (c strategyCase) wantAll(d *testFolder, content string) {
	d.t.Helper()
	d.want("f", content)
	var names []string
	if content != "(missing)" {
		names = append(names, "f")
	}
	if c.links {
		names = append(names, "other")
		d.want("other", content)
	}
	d.wantNames(names...)
}

// Every strategy takes the driver's steps in one order, and an error after any of them
// leaves the old bytes and no other file.
func TestFaultAfterEachStep(t *testing.T) {
	errFault := errors.New("fault")
	for name, c := range strategyCases {
		t.Run(name, func(t *testing.T) {
			for _, last := range steps {
				fds := openFiles(t)
				d := c.folder(t, func(call) {})
				var taken []string
				_, err := c.change(d, func(_ strategy, step string) error {
					taken = append(taken, step)
					if step == last {
						return errFault
					}
					return nil
				})
				d.save.Close()
				want, content := errFault, c.old
				if last == "finish" {
					want, content = nil, c.new
				}
				if got := (*IOError)(nil); err != want && !(errors.As(err, &got) && got.Err == want && !got.Changed) {
					t.Errorf("after %s: %v", last, err)
				}
				if got := strings.Join(taken, " "); !strings.HasSuffix(got, last) || !strings.HasPrefix(strings.Join(steps, " "), got) {
					t.Errorf("after %s: the steps were %s", last, got)
				}
				c.wantAll(d, content)
				if got := openFiles(t); got != fds {
					t.Errorf("after %s: %d descriptors stay open", last, got-fds)
				}
			}
		})
	}
}

// A process that dies after any step leaves the old or the new bytes (in place: after the
// next start), and nothing else when that has swept. The new bytes are in place from the
// step publish on.
func TestDeathAfterEachStep(t *testing.T) {
	for name, c := range strategyCases {
		t.Run(name, func(t *testing.T) {
			for _, last := range steps {
				d := c.folder(t, func(call) {})
				died := make(chan struct{})
				go c.change(d, func(s strategy, step string) error {
					if step == last {
						letGo(s)
						d.save.state.end(true)
						close(died)
						select {} // for ever; what is deferred is not done
					}
					return nil
				})
				<-died
				d.open(func(o *Options) { o.KeepHardLinks = c.links })
				report, err := d.save.Sweep(t.Context())
				if err != nil || len(report.Saved)+len(report.Torn)+len(report.Pending) > 0 {
					t.Errorf("after %s: %+v, %v", last, report, err)
				}
				content := c.old
				if last == "publish" || last == "verify" || last == "finish" {
					content = c.new
				}
				c.wantAll(d, content)
			}
		})
	}
}

// letGo closes what a dead process would not hold open any more: locks on temporary files
// and journals, and the lease.
func letGo(s strategy) {
	free := func(at *place, fd int) { at.sys.Flock(fd, sys.Unlock) }
	switch s := s.(type) {
	case *exchange:
		s.new.closeFD()
		free(s.at, s.old.fd)
		s.old.release()
	case *rename:
		s.new.closeFD()
		free(s.at, s.old.fd)
		s.old.release()
	case *twoRenames:
		s.new.closeFD()
		if s.entry != nil {
			s.entry.close()
		}
		free(s.at, s.old.fd)
		s.old.release()
	case *create:
		s.new.closeFD()
	case *inPlace:
		free(s.at, s.journal.fd)
		s.old.release()
	case *removal:
		free(s.at, s.old.fd)
		s.old.release()
	}
}

// shows reports whether a call, made after the history's word, is the one that shows, or
// the first try of it.
func (c strategyCase) shows(k call) bool {
	switch c.strategy.(type) {
	case *exchange:
		return k.name == "Rename" && k.flags == sys.Exchange
	case *inPlace:
		return k.name == "Pwrite"
	}
	return k.name == "Rename" || k.name == "Link"
}

// Another program renames a file of its own to the name, in the moment before the step that
// shows: strategyCase states what each strategy makes of it.
func TestReplacedBeforePublish(t *testing.T) {
	for name, c := range strategyCases {
		t.Run(name, func(t *testing.T) {
			var d *testFolder
			ready, acted := false, false
			d = c.folder(t, func(k call) {
				if ready && !acted && c.shows(k) {
					acted = true
					renameOnto(d.path("f"), "theirs")
				}
			})
			out, err := c.change(d, func(_ strategy, step string) error {
				ready = ready || step == "before"
				return nil
			})
			if !errors.Is(err, c.replaced) || !acted {
				t.Errorf("%v, want %v (acted: %v)", err, c.replaced, acted)
			}
			d.want("f", c.file)
			if len(out.Saved)+len(out.Left) > 0 {
				t.Errorf("%+v", out)
			}
		})
	}
}
