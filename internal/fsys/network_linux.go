package fsys

import "golang.org/x/sys/unix"

func remote(st *unix.Statfs_t) bool { return isRemote(uint32(st.Type)) }

func isRemote(magic uint32) bool {
	switch magic {
	case 0x6969, // NFS
		0x517B, 0xFF534D42, 0xFE534D42, // SMB, CIFS, SMB 2
		0x65735546,             // FUSE, virtiofs
		0x01021997,             // 9p
		0x5346414F, 0x6B414653, // AFS
		0x73757245,             // Coda
		0x564C,                 // NCP
		0x00C36400,             // Ceph
		0x0BD00BD0,             // Lustre
		0x47504653,             // GPFS
		0x01161970, 0x7461636F, // GFS2, OCFS2
		0x19830326,             // BeeGFS
		0xAAD7AAEA,             // PanFS
		0x786F4256, 0xBACBACBC, // VirtualBox and VMware shared folders
		0x7C7C6673: // Parallels shared folders
		return true
	}
	return false
}
