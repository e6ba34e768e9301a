//go:build linux

package faults

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/faults/crashstates"
)

// disk is two file systems in memory: near has the workspace and the home, far is another one.
// A tmpfs numbers its inodes from 1, in the order in which they are made. So a state of the disk
// is made anew with the numbers that it was recorded with, by which fsmcp knows files.
type disk struct {
	t     *testing.T
	roots []string
	p     place
	next  []uint64 // the number that each file system gives next
}

func newDisk(t *testing.T) *disk {
	dir := t.TempDir()
	d := &disk{t: t, roots: []string{filepath.Join(dir, "near"), filepath.Join(dir, "far")}, next: make([]uint64, 2)}
	for _, root := range d.roots {
		must(t, os.Mkdir(root, 0o755))
	}
	t.Cleanup(d.unmount)
	d.mount()
	d.p = place{ws: filepath.Join(d.roots[0], "ws"), home: filepath.Join(d.roots[0], "home")}
	must(t, os.Mkdir(d.p.ws, 0o755))
	must(t, os.Mkdir(d.p.home, 0o755))
	return d
}

// mount gives both roots new, empty file systems.
func (d *disk) mount() {
	for i, root := range d.roots {
		if err := unix.Mount("fsmcp-crash", root, "tmpfs", 0, "size=64m,mode=755,nr_inodes=100k"); err != nil {
			d.t.Skipf("!!! NOT TESTED: no file system can be mounted: %v !!!", err)
		}
		d.next[i] = 2
	}
}

func (d *disk) unmount() {
	for _, root := range d.roots {
		unix.Unmount(root, unix.MNT_DETACH)
	}
}

func (d *disk) far(name string) string { return filepath.Join(d.roots[1], name) }

// scan reads what is there.
func (d *disk) scan() crashstates.World {
	w := crashstates.World{}
	for i, root := range d.roots {
		must(d.t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			must(d.t, err)
			var st unix.Stat_t
			must(d.t, unix.Lstat(path, &st))
			n := &crashstates.Inode{Mode: modeOf(st), Time: st.Mtim.Nano()}
			switch n.Mode.Type() {
			case 0:
				n.Data, err = os.ReadFile(path)
			case fs.ModeSymlink:
				n.Target, err = os.Readlink(path)
			case fs.ModeDir:
				n.Names = map[string]crashstates.ID{}
			}
			must(d.t, err)
			id := crashstates.ID{FS: uint64(i), Ino: st.Ino}
			w[id] = n
			if path != root {
				var up unix.Stat_t
				must(d.t, unix.Lstat(filepath.Dir(path), &up))
				w[crashstates.ID{FS: uint64(i), Ino: up.Ino}].Names[filepath.Base(path)] = id
			}
			return nil
		}))
	}
	return w
}

// build makes the disk hold a state, and nothing else.
func (d *disk) build(w crashstates.World) {
	d.unmount()
	d.mount()
	list, names, also := w.Reached()
	staged := func(id crashstates.ID) string { return fmt.Sprintf("%s/.%d", d.roots[id.FS], id.Ino) }
	for _, id := range list {
		d.make(id, w[id], staged(id))
	}
	paths := map[crashstates.ID]string{{FS: 0, Ino: 1}: d.roots[0], {FS: 1, Ino: 1}: d.roots[1]}
	var put func(id crashstates.ID) string
	put = func(id crashstates.ID) string {
		if paths[id] == "" {
			paths[id] = filepath.Join(put(names[id].Folder), names[id].Name)
			must(d.t, os.Rename(staged(id), paths[id]))
		}
		return paths[id]
	}
	for _, id := range list {
		put(id)
	}
	for at, id := range also {
		must(d.t, os.Link(paths[id], filepath.Join(paths[at.Folder], at.Name)))
	}
	for _, id := range slices.Backward(list) {
		n := w[id]
		if n.Mode&fs.ModeSymlink == 0 {
			for name, value := range n.Xattrs {
				must(d.t, unix.Setxattr(paths[id], name, []byte(value), 0))
			}
			must(d.t, os.Chmod(paths[id], n.Mode))
		}
		at := unix.NsecToTimespec(n.Time)
		must(d.t, unix.UtimesNanoAt(unix.AT_FDCWD, paths[id], []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW))
	}
}

// make makes an inode with its number.
func (d *disk) make(id crashstates.ID, n *crashstates.Inode, path string) {
	for ; d.next[id.FS] < id.Ino; d.next[id.FS]++ {
		fd, err := unix.Open(d.roots[id.FS], unix.O_TMPFILE|unix.O_RDWR, 0o600)
		must(d.t, err)
		unix.Close(fd)
	}
	switch n.Mode.Type() {
	case 0:
		must(d.t, os.WriteFile(path, n.Data, 0o600))
	case fs.ModeSymlink:
		must(d.t, os.Symlink(n.Target, path))
	case fs.ModeDir:
		must(d.t, os.Mkdir(path, 0o700))
	}
	d.next[id.FS]++
	var st unix.Stat_t
	must(d.t, unix.Lstat(path, &st))
	if st.Ino != id.Ino {
		d.t.Fatalf("!!! an inode got the number %d, not %d: the file system does not count them !!!", st.Ino, id.Ino)
	}
}
