package volumetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Folding mounts a volume whose names ignore case and normal form and keep the spelling that
// they were made with, as APFS does by default, and returns its top folder. It lies in memory
// and is served by this process through FUSE, since few kernels are built with folding names
// (CONFIG_UNICODE, for ext4's casefold).
//
// Differences from APFS: a rename that changes only the case of a name does nothing, since
// the kernel sees one file under both names, and /proc/self/fd shows the spelling that a file
// was opened by, not the one in the folder. A process that is started must not have its
// working folder in the volume: this process would wait for itself.
func Folding(t testing.TB) string {
	t.Helper()
	top := filepath.Join(t.TempDir(), "mount")
	if err := os.Mkdir(top, 0o755); err != nil {
		t.Fatal(err)
	}
	device, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("!!! NOT TESTED: no volume that folds names: /dev/fuse: %v !!!", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40755,user_id=0,group_id=0,default_permissions,allow_other", device)
	if err := unix.Mount("fsmcp-folding", top, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		unix.Close(device)
		t.Skipf("!!! NOT TESTED: no volume that folds names: mount: %v !!!", err)
	}
	served := make(chan error, 1)
	go func() { served <- newVolume().serve(device) }()
	t.Cleanup(func() {
		unmount(t, top)
		if err := <-served; err != nil {
			t.Errorf("the volume: %v", err)
		}
		unix.Close(device)
	})
	if err := pollOnce(top + "/poll"); err != nil {
		t.Fatal(err)
	}
	return top
}

// pollOnce polls a file, which the volume does not support. The kernel then asks for it no
// more: the runtime adds each file that is opened to its poller in a call during which this
// process could not answer.
func pollOnce(path string) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return errors.Join(err, unix.Close(fd), unix.Unlink(path))
}

// fold returns what all spellings of a name have in common.
func fold(name string) string {
	return norm.NFD.String(cases.Fold().String(norm.NFD.String(name)))
}
