package fsys

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"testing/synctest"
)

// A file that another program holds is waited for on Windows, and for 2 s alone.
func TestOpenHeld(t *testing.T) {
	held := &fs.PathError{Op: "open", Path: "f", Err: errSharing}
	for _, c := range []struct {
		windows bool
		holds   int // so many tries fail
		tries   int
		want    any
	}{
		{true, 0, 1, nil},
		{true, 50, 51, nil},
		{true, 1000, 201, &HeldError{}},
		{false, 1000, 1, held}, // another error there
	} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			_, err := openHeld(c.windows, "f", func() (*File, error) {
				if tries++; tries <= c.holds {
					return nil, held
				}
				return &File{}, nil
			})
			if c.want == nil && err != nil || c.want == held && err != held {
				t.Errorf("%+v: %v", c, err)
			}
			if as := (*HeldError)(nil); c.tries == 201 && !errors.As(err, &as) {
				t.Errorf("%+v: %v", c, err)
			}
			if tries < c.tries-1 || tries > c.tries+1 {
				t.Errorf("%+v: %d tries", c, tries)
			}
		})
	}
	if _, err := openHeld(true, "f", func() (*File, error) { return nil, os.ErrNotExist }); err != os.ErrNotExist {
		t.Error(err)
	}
}
