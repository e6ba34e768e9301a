package volumetest

import (
	"bytes"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Lookup and the methods below answer the kernel's requests, which go-fuse reads one at a time.
func (v *volume) Lookup(_ <-chan struct{}, h *fuse.InHeader, text string, out *fuse.EntryOut) fuse.Status {
	child := v.nodes[h.NodeId].find(text)
	if child == nil {
		return fuse.ENOENT
	}
	child.entry(out)
	return fuse.OK
}

func (v *volume) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.Attr = v.nodes[in.NodeId].attr()
	return fuse.OK
}

func (v *volume) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	n := v.nodes[in.NodeId]
	if mode, is := in.GetMode(); is {
		n.Mode = n.Mode&unix.S_IFMT | mode
	}
	if uid, is := in.GetUID(); is {
		n.Uid = uid
	}
	if gid, is := in.GetGID(); is {
		n.Gid = gid
	}
	if size, is := in.GetSize(); is {
		n.resize(size)
	}
	n.touch(false)
	if t, is := in.GetATime(); is {
		n.SetTimes(&t, nil, nil)
	}
	if t, is := in.GetMTime(); is {
		n.SetTimes(nil, &t, nil)
	}
	out.Attr = n.attr()
	return fuse.OK
}

func (v *volume) Readlink(_ <-chan struct{}, h *fuse.InHeader) ([]byte, fuse.Status) {
	return v.nodes[h.NodeId].data, fuse.OK
}

func (v *volume) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.OK }

// ReadDir lists the entries of a folder from an offset, as many as fit.
func (v *volume) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	n := v.nodes[in.NodeId]
	entries := append([]*name{{".", n}, {"..", n.up}}, n.order...)
	for _, e := range entries[min(in.Offset, uint64(len(entries))):] {
		if !out.AddDirEntry(fuse.DirEntry{Name: e.text, Ino: e.node.Ino, Mode: e.node.Mode}) {
			break
		}
	}
	return fuse.OK
}

func (v *volume) Read(_ <-chan struct{}, in *fuse.ReadIn, _ []byte) (fuse.ReadResult, fuse.Status) {
	return fuse.ReadResultData(v.nodes[in.NodeId].read(in.Offset, uint64(in.Size))), fuse.OK
}

func (v *volume) Write(_ <-chan struct{}, in *fuse.WriteIn, p []byte) (uint32, fuse.Status) {
	v.nodes[in.NodeId].write(in.Offset, p)
	return uint32(len(p)), fuse.OK
}

func (v *volume) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	*out = fuse.StatfsOut{Blocks: 1 << 20, Bfree: 1 << 19, Bavail: 1 << 19, Files: 1 << 20, Ffree: 1 << 19, Bsize: 4096, NameLen: 255, Frsize: 4096}
	return fuse.OK
}

func (v *volume) Mknod(_ <-chan struct{}, in *fuse.MknodIn, text string, out *fuse.EntryOut) fuse.Status {
	return v.child(&in.InHeader, in.Mode&^in.Umask, text, nil, out)
}

func (v *volume) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, text string, out *fuse.EntryOut) fuse.Status {
	return v.child(&in.InHeader, unix.S_IFDIR|in.Mode&^in.Umask, text, nil, out)
}

func (v *volume) Symlink(_ <-chan struct{}, h *fuse.InHeader, target, text string, out *fuse.EntryOut) fuse.Status {
	return v.child(h, unix.S_IFLNK|0o777, text, []byte(target), out)
}

func (v *volume) Create(_ <-chan struct{}, in *fuse.CreateIn, text string, out *fuse.CreateOut) fuse.Status {
	return v.child(&in.InHeader, unix.S_IFREG|in.Mode&0o7777&^in.Umask, text, nil, &out.EntryOut)
}

// child makes a file, a folder or a link.
func (v *volume) child(h *fuse.InHeader, mode uint32, text string, data []byte, out *fuse.EntryOut) fuse.Status {
	parent := v.nodes[h.NodeId]
	if parent.Nlink == 0 {
		return fuse.ENOENT
	}
	child := v.make(mode, h.Owner)
	child.data = data
	child.entry(out)
	return fuse.Status(parent.add(text, child))
}

func (v *volume) Link(_ <-chan struct{}, in *fuse.LinkIn, text string, out *fuse.EntryOut) fuse.Status {
	old := v.nodes[in.Oldnodeid]
	no := v.nodes[in.NodeId].add(text, old)
	old.entry(out)
	return fuse.Status(no)
}

func (v *volume) Unlink(_ <-chan struct{}, h *fuse.InHeader, text string) fuse.Status {
	return fuse.Status(v.nodes[h.NodeId].unlink(text, false))
}

func (v *volume) Rmdir(_ <-chan struct{}, h *fuse.InHeader, text string) fuse.Status {
	return fuse.Status(v.nodes[h.NodeId].unlink(text, true))
}

func (v *volume) Rename(_ <-chan struct{}, in *fuse.RenameIn, from, text string) fuse.Status {
	return fuse.Status(v.nodes[in.NodeId].rename(from, v.nodes[in.Newdir], text, in.Flags))
}

func (v *volume) GetXAttr(_ <-chan struct{}, h *fuse.InHeader, name string, out []byte) (uint32, fuse.Status) {
	value, has := v.nodes[h.NodeId].attrs[name]
	if !has {
		return 0, fuse.ENODATA
	}
	return fill(out, value)
}

func (v *volume) ListXAttr(_ <-chan struct{}, h *fuse.InHeader, out []byte) (uint32, fuse.Status) {
	return fill(out, v.nodes[h.NodeId].attrNames())
}

// fill copies a value, if there is room for it, and returns its size.
func fill(out, value []byte) (uint32, fuse.Status) {
	if len(out) < len(value) {
		return uint32(len(value)), fuse.ERANGE
	}
	return uint32(copy(out, value)), fuse.OK
}

func (v *volume) SetXAttr(_ <-chan struct{}, in *fuse.SetXAttrIn, name string, value []byte) fuse.Status {
	n := v.nodes[in.NodeId]
	n.attrs[name] = bytes.Clone(value)
	n.touch(false)
	return fuse.OK
}

func (v *volume) RemoveXAttr(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	n := v.nodes[h.NodeId]
	if _, has := n.attrs[name]; !has {
		return fuse.ENODATA
	}
	delete(n.attrs, name)
	n.touch(false)
	return fuse.OK
}

// entry says which node a name leads to. The kernel may keep none of it, since another spelling
// of the name may change it.
func (n *node) entry(out *fuse.EntryOut) {
	*out = fuse.EntryOut{NodeId: n.Ino, Attr: n.attr()}
}

func (n *node) attr() fuse.Attr {
	a := n.Attr
	a.Size, a.Blksize = uint64(len(n.data)), 4096
	a.Blocks = (a.Size + 511) / 512
	return a
}
