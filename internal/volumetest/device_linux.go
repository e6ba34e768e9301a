package volumetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Reflinks mounts a file system that can clone files (FICLONE) on a loop device, XFS or else
// Btrfs, and returns its top folder.
func Reflinks(t testing.TB) string {
	t.Helper()
	var why string
	for _, mkfs := range [][]string{{"mkfs.xfs", "-q", "-m", "reflink=1"}, {"mkfs.btrfs", "-q"}} {
		top, err := onDevice(t, mkfs)
		if err == "" {
			return top
		}
		why += mkfs[0] + ": " + err + "; "
	}
	t.Skipf("!!! NOT TESTED: no file system that clones files: %s!!!", why)
	return ""
}

// deviceSize is the least that mkfs.xfs accepts.
const deviceSize = 300 << 20

// onDevice makes a file system in a file and mounts it. The error says what is missing.
func onDevice(t testing.TB, mkfs []string) (top, why string) {
	t.Helper()
	dir := t.TempDir()
	image, top := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
	if err := os.Mkdir(top, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, deviceSize); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(mkfs[0], append(mkfs[1:], image)...).CombinedOutput(); err != nil {
		return "", err.Error() + " " + string(out)
	}
	out, err := exec.Command("losetup", "--find", "--show", image).CombinedOutput()
	if err != nil {
		return "", "losetup: " + err.Error() + " " + string(out)
	}
	device := strings.TrimSpace(string(out))
	t.Cleanup(func() { exec.Command("losetup", "--detach", device).Run() })
	if out, err := exec.Command("mount", device, top).CombinedOutput(); err != nil {
		return "", "mount: " + err.Error() + " " + string(out)
	}
	t.Cleanup(func() { unmount(t, top) })
	return top, ""
}

// unmount waits for processes that are about to close their files.
func unmount(t testing.TB, top string) {
	for range 1000 {
		if unix.Unmount(top, 0) != unix.EBUSY {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%s is still in use", top)
	unix.Unmount(top, unix.MNT_DETACH)
}
