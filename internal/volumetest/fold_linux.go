package volumetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
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
	server, err := fuse.NewServer(newVolume(), top, &fuse.MountOptions{
		FsName: "fsmcp-folding", Name: "folding", Options: []string{"default_permissions"}, AllowOther: true, DirectMountStrict: true,
		SingleThreaded: true, DisableReadDirPlus: true,
	})
	if err != nil {
		t.Skipf("!!! NOT TESTED: no volume that folds names: %v !!!", err)
	}
	go server.Serve()
	t.Cleanup(func() {
		unmount(t, top)
		server.Wait()
	})
	if err := server.WaitMount(); err != nil {
		t.Fatal(err)
	}
	return top
}

// fold returns what all spellings of a name have in common.
func fold(name string) string {
	return norm.NFD.String(cases.Fold().String(norm.NFD.String(name)))
}
