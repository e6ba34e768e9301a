package volumetest

import (
	"bytes"
	"encoding/binary"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The requests of FUSE that the volume answers (source: linux/fuse.h).
const (
	opLookup = 1 + iota
	opForget
	opGetattr
	opSetattr
	opReadlink
	opSymlink
	_
	opMknod
	opMkdir
	opUnlink
	opRmdir
	opRename
	opLink
	opOpen
	opRead
	opWrite
	opStatfs
	opRelease
	_
	opFsync
	opSetxattr
	opGetxattr
	opListxattr
	opRemovexattr
	opFlush
	opInit
	opOpendir
	opReaddir
	opReleasedir
	opFsyncdir
	opCreate      = 35
	opInterrupt   = 36
	opDestroy     = 38
	opBatchForget = 42
	opRename2     = 45
)

const (
	fuseMinor  = 31
	maxWrite   = 1 << 20
	bigWrites  = 1 << 5
	maxPages   = 1 << 22
	headerSize = 40
)

var order = binary.NativeEndian

// serve answers the kernel until the volume is unmounted.
func (v *volume) serve(device int) error {
	buf := make([]byte, maxWrite+4096)
	for {
		n, err := unix.Read(device, buf)
		switch {
		case err == unix.EINTR, err == unix.ENOENT, err == unix.EAGAIN:
			continue
		case err == unix.ENODEV:
			return nil
		case err != nil:
			return err
		}
		r := request{op: order.Uint32(buf[4:]), unique: order.Uint64(buf[8:]), node: v.nodes[order.Uint64(buf[16:])],
			uid: order.Uint32(buf[24:]), gid: order.Uint32(buf[28:]), in: buf[headerSize:n]}
		switch r.op {
		case opForget, opBatchForget, opInterrupt:
			continue
		}
		no := unix.ESTALE
		if r.node != nil || r.op == opInit || r.op == opDestroy {
			no = v.answer(&r)
		}
		if no != 0 {
			r.out.Reset()
		}
		head := make([]byte, 16, 16+r.out.Len())
		order.PutUint32(head, uint32(16+r.out.Len()))
		order.PutUint32(head[4:], uint32(-int32(no)))
		order.PutUint64(head[8:], r.unique)
		if _, err := unix.Write(device, append(head, r.out.Bytes()...)); err != nil && err != unix.ENOENT && err != unix.ENODEV {
			return err
		}
	}
}

// request is a call of the kernel, and its answer.
type request struct {
	op       uint32
	unique   uint64
	node     *node
	uid, gid uint32
	in       []byte
	out      bytes.Buffer
}

func (r *request) u32(at int) uint32 { return order.Uint32(r.in[at:]) }
func (r *request) u64(at int) uint64 { return order.Uint64(r.in[at:]) }

// texts returns the strings behind a struct of the given size.
func (r *request) texts(at int) []string {
	var all []string
	for _, text := range bytes.Split(bytes.TrimSuffix(r.in[at:], []byte{0}), []byte{0}) {
		all = append(all, string(text))
	}
	return all
}

func (r *request) put(values ...any) {
	for _, value := range values {
		binary.Write(&r.out, order, value)
	}
}

func (v *volume) answer(r *request) syscall.Errno {
	switch r.op {
	case opInit:
		r.put(uint32(7), uint32(fuseMinor), r.u32(8), uint32(bigWrites|maxPages), uint16(0), uint16(0), uint32(maxWrite), uint32(1), uint16(maxWrite/4096), [34]byte{})
	case opStatfs:
		r.put([5]uint64{1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19}, uint32(4096), uint32(255), uint32(4096), [28]byte{})
	case opOpen, opOpendir:
		r.put([16]byte{})
	case opRelease, opReleasedir, opFsync, opFsyncdir, opFlush, opDestroy:
	case opGetattr:
		r.putAttr(r.node)
	case opSetattr:
		r.setAttr()
		r.putAttr(r.node)
	case opReadlink:
		r.out.Write(r.node.data)
	case opRead:
		r.out.Write(r.node.read(r.u64(8), uint64(r.u32(16))))
	case opWrite:
		r.node.write(r.u64(8), r.in[40:])
		r.put(r.u32(16), uint32(0))
	case opReaddir:
		r.list()
	case opSetxattr, opGetxattr, opListxattr, opRemovexattr:
		return r.attribute()
	default:
		return v.nameRequest(r)
	}
	return 0
}

// nameRequest answers the requests that find or change names.
func (v *volume) nameRequest(r *request) syscall.Errno {
	switch r.op {
	case opLookup:
		child := r.node.find(r.texts(0)[0])
		if child == nil {
			return unix.ENOENT
		}
		r.putEntry(child)
	case opMknod:
		return v.child(r, r.u32(0)&^r.u32(8), r.texts(16)[0])
	case opMkdir:
		return v.child(r, unix.S_IFDIR|r.u32(0)&^r.u32(4), r.texts(8)[0])
	case opSymlink:
		texts := r.texts(0)
		no := v.child(r, unix.S_IFLNK|0o777, texts[0])
		if no == 0 {
			r.node.find(texts[0]).data = []byte(texts[1])
		}
		return no
	case opCreate:
		no := v.child(r, unix.S_IFREG|r.u32(4)&0o7777&^r.u32(8), r.texts(16)[0])
		r.put([16]byte{})
		return no
	case opLink:
		old := v.nodes[r.u64(0)]
		no := r.node.add(r.texts(8)[0], old)
		r.putEntry(old)
		return no
	case opUnlink, opRmdir:
		return r.node.unlink(r.texts(0)[0], r.op == opRmdir)
	case opRename:
		return r.node.rename(r.texts(8)[0], v.nodes[r.u64(0)], r.texts(8)[1], 0)
	case opRename2:
		return r.node.rename(r.texts(16)[0], v.nodes[r.u64(0)], r.texts(16)[1], r.u32(8))
	default:
		return unix.ENOSYS
	}
	return 0
}

// child makes a file, a folder or a link.
func (v *volume) child(r *request, mode uint32, text string) syscall.Errno {
	if r.node.links == 0 {
		return unix.ENOENT
	}
	child := v.make(mode, r.uid, r.gid)
	no := r.node.add(text, child)
	r.putEntry(child)
	return no
}

// list writes the entries of a folder from an offset, as many as fit.
func (r *request) list() {
	entries := append([]*name{{".", r.node}, {"..", r.node.up}}, r.node.order...)
	for at := int(r.u64(8)); at < len(entries); at++ {
		e := entries[at]
		padded := (len(e.text) + 7) &^ 7
		if r.out.Len()+24+padded > int(r.u32(16)) {
			return
		}
		r.put(e.node.id, uint64(at+1), uint32(len(e.text)), e.node.mode>>12)
		r.out.Write(append([]byte(e.text), make([]byte, padded-len(e.text))...))
	}
}

// The bits of an opSetattr that say which attributes it sets.
const (
	setMode     = 1 << 0
	setUID      = 1 << 1
	setGID      = 1 << 2
	setSize     = 1 << 3
	setAtime    = 1 << 4
	setMtime    = 1 << 5
	setAtimeNow = 1 << 7
	setMtimeNow = 1 << 8
)

func (r *request) setAttr() {
	n, valid := r.node, r.u32(0)
	if valid&setMode != 0 {
		n.mode = n.mode&unix.S_IFMT | r.u32(68)&0o7777
	}
	if valid&setUID != 0 {
		n.uid = r.u32(76)
	}
	if valid&setGID != 0 {
		n.gid = r.u32(80)
	}
	if valid&setSize != 0 {
		n.resize(r.u64(16))
	}
	n.touch(false)
	for i, bits := range [2][2]uint32{{setAtime, setAtimeNow}, {setMtime, setMtimeNow}} {
		if valid&bits[1] != 0 {
			n.times[i] = n.times[2]
		} else if valid&bits[0] != 0 {
			n.times[i] = time.Unix(int64(r.u64(32+8*i)), int64(r.u32(56+4*i)))
		}
	}
}

// attribute answers the requests for extended attributes.
func (r *request) attribute() syscall.Errno {
	var value []byte
	switch r.op {
	case opListxattr:
		value = r.node.attrNames()
	case opGetxattr:
		var has bool
		if value, has = r.node.attrs[r.texts(8)[0]]; !has {
			return unix.ENODATA
		}
	case opSetxattr:
		name, value, _ := bytes.Cut(r.in[8:], []byte{0})
		r.node.attrs[string(name)] = bytes.Clone(value)
		r.node.touch(false)
		return 0
	case opRemovexattr:
		if _, has := r.node.attrs[r.texts(0)[0]]; !has {
			return unix.ENODATA
		}
		delete(r.node.attrs, r.texts(0)[0])
		r.node.touch(false)
		return 0
	}
	switch size := int(r.u32(0)); {
	case size == 0:
		r.put(uint32(len(value)), uint32(0))
	case size < len(value):
		return unix.ERANGE
	default:
		r.out.Write(value)
	}
	return 0
}

// putEntry writes a name's node. The kernel may keep none of it, since another spelling of
// the name may change it.
func (r *request) putEntry(n *node) {
	r.put(n.id, [32]byte{})
	r.attr(n)
}

func (r *request) putAttr(n *node) {
	r.put([16]byte{})
	r.attr(n)
}

func (r *request) attr(n *node) {
	size := uint64(len(n.data))
	r.put(n.id, size, (size+511)/512)
	for _, t := range n.times {
		r.put(t.Unix())
	}
	for _, t := range n.times {
		r.put(uint32(t.Nanosecond()))
	}
	r.put(n.mode, n.links, n.uid, n.gid, uint32(0), uint32(4096), uint32(0))
}
