package volumetest

import (
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// node is a file, a folder or a link.
type node struct {
	fuse.Attr        // without the size
	data      []byte // of a file, or the target of a link
	names     map[string]*name
	order     []*name // of the folder, oldest first
	up        *node
	attrs     map[string][]byte
}

// name is an entry of a folder, in the spelling that it was made with.
type name struct {
	text string
	node *node
}

// touch sets the times of content and of change, or of change alone.
func (n *node) touch(content bool) {
	now := time.Now()
	n.SetTimes(nil, nil, &now)
	if content {
		n.SetTimes(nil, &now, nil)
	}
}

// volume is a file system in memory.
type volume struct {
	fuse.RawFileSystem
	last  uint64
	nodes map[uint64]*node
}

func newVolume() *volume {
	v := &volume{RawFileSystem: fuse.NewDefaultRawFileSystem(), nodes: make(map[uint64]*node)}
	v.make(unix.S_IFDIR|0o755, fuse.Owner{})
	return v
}

func (v *volume) make(mode uint32, owner fuse.Owner) *node {
	v.last++
	n := &node{Attr: fuse.Attr{Ino: v.last, Mode: mode, Owner: owner}, attrs: make(map[string][]byte)}
	now := time.Now()
	n.SetTimes(&now, &now, &now)
	if n.IsDir() {
		n.names, n.Nlink, n.up = make(map[string]*name), 1, n
	}
	v.nodes[n.Ino] = n
	return n
}

func (n *node) find(text string) *node {
	if entry := n.names[fold(text)]; entry != nil {
		return entry.node
	}
	return nil
}

func (n *node) add(text string, child *node) syscall.Errno {
	if len(text) > 255 {
		return unix.ENAMETOOLONG
	}
	if n.find(text) != nil {
		return unix.EEXIST
	}
	entry := &name{text, child}
	n.names[fold(text)] = entry
	n.order = append(n.order, entry)
	child.Nlink++
	if child.IsDir() {
		child.up = n
	}
	child.touch(false)
	n.touch(true)
	return 0
}

func (n *node) remove(text string) {
	entry := n.names[fold(text)]
	delete(n.names, fold(text))
	n.order = slices.DeleteFunc(n.order, func(e *name) bool { return e == entry })
	entry.node.Nlink--
	if entry.node.IsDir() {
		entry.node.Nlink = 0
	}
	entry.node.touch(false)
	n.touch(true)
}

// unlink removes a file, or with dir an empty folder.
func (n *node) unlink(text string, dir bool) syscall.Errno {
	child := n.find(text)
	switch {
	case child == nil:
		return unix.ENOENT
	case dir && !child.IsDir():
		return unix.ENOTDIR
	case !dir && child.IsDir():
		return unix.EISDIR
	case len(child.names) > 0:
		return unix.ENOTEMPTY
	}
	n.remove(text)
	return 0
}

// rename moves a name, swaps two, or fails if the new one is taken, by the kernel's flags.
func (n *node) rename(from string, to *node, text string, flags uint32) syscall.Errno {
	child, there := n.find(from), to.find(text)
	switch {
	case child == nil, flags&unix.RENAME_EXCHANGE != 0 && there == nil:
		return unix.ENOENT
	case flags&unix.RENAME_NOREPLACE != 0 && there != nil:
		return unix.EEXIST
	case flags&unix.RENAME_EXCHANGE != 0:
		n.names[fold(from)].node, to.names[fold(text)].node = there, child
		for _, moved := range []*node{child, there, n, to} {
			moved.touch(moved == n || moved == to)
		}
		return 0
	case flags&^unix.RENAME_NOREPLACE != 0:
		return unix.EINVAL
	}
	if there != nil {
		if no := to.unlink(text, there.IsDir()); no != 0 {
			return no
		}
	}
	n.remove(from)
	return to.add(text, child)
}

func (n *node) read(off, size uint64) []byte {
	from := min(off, uint64(len(n.data)))
	return n.data[from:min(from+size, uint64(len(n.data)))]
}

func (n *node) write(off uint64, p []byte) {
	if end := int(off) + len(p); end > len(n.data) {
		n.resize(uint64(end))
	}
	copy(n.data[off:], p)
	n.touch(true)
}

func (n *node) resize(size uint64) {
	if size <= uint64(len(n.data)) {
		n.data = n.data[:size:size]
	} else {
		n.data = append(n.data, make([]byte, size-uint64(len(n.data)))...)
	}
	n.touch(true)
}

// attrNames returns the names of the extended attributes, each with a zero behind it.
func (n *node) attrNames() []byte {
	var all strings.Builder
	for name := range n.attrs {
		all.WriteString(name + "\x00")
	}
	return []byte(all.String())
}
