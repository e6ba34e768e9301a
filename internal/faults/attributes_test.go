//go:build linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const lastSet = "user.fsmcp.last"

// attributeSetter sets an attribute by name again and again until it is stopped, and
// counts how often it is gone a while later.
func attributeSetter(file string, stop chan struct{}) (sets, lost int, err error) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return sets, lost, nil
		default:
		}
		want := fmt.Sprint(n)
		if err := unix.Setxattr(file, lastSet, []byte(want), 0); err != nil {
			return sets, lost, err
		}
		sets++
		time.Sleep(5 * time.Millisecond) // a replace that was under way is over by then
		b := make([]byte, 32)
		if size, err := unix.Getxattr(file, lastSet, b); err != nil || string(b[:size]) != want {
			lost++
		}
	}
}

// besideSetter runs a writer beside an attributeSetter.
func besideSetter(t *testing.T, file string, write func(stop chan struct{})) (sets, lost int) {
	t.Helper()
	must(t, os.WriteFile(file, []byte("n 0\n"), 0o666))
	if err := unix.Setxattr(file, lastSet, nil, 0); errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("!!! NOT TESTED: this file system has no attributes !!!")
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		sets, lost, err = attributeSetter(file, stop)
		done <- err
	}()
	write(stop)
	must(t, <-done)
	return sets, lost
}

// TestAttributesSetMeanwhileStay edits a file while another program sets an attribute of
// it. At most one in a hundred is lost: the kernel has no lease for attributes, so a
// program that found the old file by its name and is held up until that is removed sets
// them on a file that goes. The control arm copies attributes once, and loses far more.
func TestAttributesSetMeanwhileStay(t *testing.T) {
	edits := count(t, "FSMCP_ATTRIBUTE_EDITS", 200)
	p := newPlace(t)
	c := p.start(t)
	file, refused := p.file("a.txt"), 0
	sets, lost := besideSetter(t, file, func(stop chan struct{}) {
		defer close(stop)
		mustCall(t, c, "Read", args{"file_path": file})
		for n := 0; n < edits; {
			res, err := c.Call("Edit", args{"file_path": file, "old_string": fmt.Sprintf("n %d\n", n), "new_string": fmt.Sprintf("n %d\n", n+1)})
			must(t, err)
			switch {
			case !res.IsError:
				n++
			case res.Slug == "modified" || res.Slug == "busy":
				refused++
				mustCall(t, c, "Read", args{"file_path": file})
			default:
				t.Fatalf("%d %s: %s", res.Code, res.Slug, clip(res.Text))
			}
		}
	})
	must(t, c.Close())
	naiveSets, naiveLost := besideSetter(t, p.file("naive.txt"), func(stop chan struct{}) {
		defer close(stop)
		for range 2000 {
			copyOnce(t, p.file("naive.txt"))
		}
	})
	report(t, "%d edits, %d refused; %d attributes set, %d lost; by a naive writer %d of %d", edits, refused, sets, lost, naiveLost, naiveSets)
	if lost > max(1, sets/100) || strings.TrimSpace(string(read(t, file))) != fmt.Sprintf("n %d", edits) {
		t.Errorf("%d attributes are lost, the file holds %q", lost, read(t, file))
	}
	if naiveLost <= max(1, naiveSets/100) {
		t.Errorf("the naive writer lost %d of %d alone", naiveLost, naiveSets)
	}
}

// copyOnce replaces a file as programs do that copy its attributes first.
func copyOnce(t *testing.T, file string) {
	t.Helper()
	b := make([]byte, 32)
	size, err := unix.Getxattr(file, lastSet, b)
	must(t, err)
	temp := file + ".new"
	must(t, os.WriteFile(temp, []byte("new\n"), 0o666))
	must(t, unix.Setxattr(temp, lastSet, b[:size], 0))
	must(t, os.Rename(temp, file))
}
