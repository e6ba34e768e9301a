package sys

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// TestNumber: each system's numbers become those that the strategies know.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		system    string
		err, want error
	}{
		{"darwin", &os.LinkError{Err: syscall.Errno(45)}, syscall.EOPNOTSUPP}, // a volume without links
		{"darwin", &os.LinkError{Err: syscall.EOPNOTSUPP}, syscall.EOPNOTSUPP},
		{"linux", &os.LinkError{Err: syscall.Errno(45)}, syscall.Errno(45)},
		{"windows", fs.ErrExist, syscall.EEXIST},
		{"windows", fs.ErrNotExist, syscall.ENOENT},
		{"windows", &os.PathError{Err: syscall.Errno(32)}, syscall.ETXTBSY}, // a sharing violation
		{"windows", &os.PathError{Err: syscall.Errno(112)}, syscall.ENOSPC},
		{"linux", fs.ErrNotExist, fs.ErrNotExist},
		{"linux", nil, nil},
	} {
		if got := numberOn(c.system, c.err); got != c.want {
			t.Errorf("%v on %s is %v, want %v", c.err, c.system, got, c.want)
		}
	}
}
