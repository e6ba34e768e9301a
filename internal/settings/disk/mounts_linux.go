package disk

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// madeUp are file systems that have no owners and modes of their own, or show those of
// another machine: FAT and NTFS, CIFS, and the folders that Windows, a host of virtual
// machines or Docker Desktop shares.
var madeUp = strings.Fields(`vfat msdos exfat ntfs ntfs3 fuseblk cifs smb3 smbfs 9p drvfs virtiofs vboxsf vmhgfs
	fuse.vmhgfs-fuse prl_fs fuse.prl_fsd fuse.grpcfuse fuse.osxfs osxfs fakeowner`)

// madeUpModes returns the type of a device's file system if it makes modes up, else "". A
// folder of Windows in WSL that is mounted with "metadata" has modes of its own (source:
// Microsoft, "Advanced settings configuration in WSL"). Format: proc_pid_mountinfo(5).
func madeUpModes(dev uint64) string {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	number := fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		separator := slices.Index(fields, "-")
		if separator < 6 || len(fields) < separator+4 || fields[2] != number {
			continue
		}
		system, options := fields[separator+1], fields[5]+","+strings.Join(fields[separator+2:], ",")
		own := strings.FieldsFunc(options, func(r rune) bool { return r == ',' || r == ';' })
		if slices.Contains(madeUp, system) && !slices.Contains(own, "metadata") {
			return system
		}
	}
	return ""
}

// hasAccessList reports whether a file has an access list. The bits of its group then bound
// what the list gives to others (acl(5)).
func hasAccessList(name string) bool {
	n, err := unix.Getxattr(name, "system.posix_acl_access", nil)
	return err == nil && n > 0
}
