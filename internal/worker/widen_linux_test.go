package worker

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// The pipes to a worker hold what they are to hold, whatever form the standard
// library hands them out in.
func TestPipesAreWide(t *testing.T) {
	w, err := launch(newPool(t, nil).opts)
	if err != nil {
		t.Fatal(err)
	}
	defer w.kill()
	in, ok := w.in.(*os.File)
	if !ok {
		t.Fatalf("the pipe is a %T", w.in)
	}
	raw, err := in.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	raw.Control(func(fd uintptr) { size, err = unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0) })
	if err != nil || size < 64<<10 {
		t.Fatalf("%d bytes: %v", size, err)
	}
	if size != pipeSize {
		t.Skipf("!!! NOT TESTED: this machine does not allow wider pipes than %d bytes !!!", size)
	}
}
