package crashstates

import (
	"fmt"
	"maps"
)

// sectorSize is the size of what is written whole or not.
const sectorSize = 512

// what is the part of a file or folder that an effect changes.
type what int

const (
	entries what = iota
	sector
	size
	attrs
)

// effect is the smallest part of a call that may last by itself.
type effect struct {
	op     int
	what   what
	ino    ID
	names  []Name // that it changes
	files  []ID   // that these lead to, before or after
	sector int64
	// grows says that a write made the file longer.
	grows bool
	do    func(w World)
}

// effects returns the effects of the first calls, in order. It plays the log on a copy of the
// world, since the effect of a call depends on what was there.
func (l Log) effects(start World) (all []effect, end World) {
	w := l.made(start)
	for i, op := range l {
		for _, e := range op.effects(w) {
			e.op = i
			all = append(all, e)
			e.do(w)
		}
	}
	return all, w
}

func (op Op) effects(w World) []effect {
	switch op.Kind {
	case Create, Link:
		return []effect{{what: entries, names: []Name{op.At}, files: []ID{op.Ino}, do: func(w World) { w.set(op.At, op.Ino) }}}
	case Remove:
		return []effect{{what: entries, names: []Name{op.At}, files: []ID{w.at(op.At)}, do: func(w World) { w.set(op.At, ID{}) }}}
	case Rename, Exchange:
		return []effect{{what: entries, names: []Name{op.At, op.To}, files: []ID{w.at(op.At), w.at(op.To)}, do: func(w World) {
			from, to := w.at(op.At), w.at(op.To)
			if op.Kind == Rename {
				to = ID{}
			}
			w.set(op.At, to)
			w.set(op.To, from)
		}}}
	case Truncate:
		return []effect{{what: size, ino: op.Ino, do: op.truncate}}
	case Reserve:
		return []effect{{what: attrs, ino: op.Ino, do: func(w World) {
			if n := w.node(op.Ino); int64(len(n.Data)) < op.Size {
				n.put(op.Size-1, []byte{0})
			}
		}}}
	case Attr:
		return []effect{{what: attrs, ino: op.Ino, do: op.setAttr}}
	case Write:
		return op.write(w)
	}
	return nil
}

func (op Op) inode() *Inode {
	n := &Inode{Mode: op.Mode, Time: op.Time, Target: op.Target}
	if op.Mode.IsDir() {
		n.Names = map[string]ID{}
	}
	return n
}

// write has an effect for each sector, and one for the size if that grows. A sector behind the end
// does not show.
func (op Op) write(w World) (list []effect) {
	end := op.Off + int64(len(op.Data))
	for at := op.Off; at < end; {
		next, off := min(end, at-at%sectorSize+sectorSize), at
		part := op.Data[at-op.Off : next-op.Off]
		list = append(list, effect{what: sector, ino: op.Ino, sector: at / sectorSize, do: func(w World) {
			w.node(op.Ino).put(off, part)
			w.node(op.Ino).Time = op.Time
		}})
		at = next
	}
	if w.node(op.Ino).size < end {
		list = append(list, effect{what: size, ino: op.Ino, grows: true, do: func(w World) {
			n := w.node(op.Ino)
			n.size, n.Time = end, op.Time
		}})
	}
	return list
}

func (op Op) truncate(w World) {
	n := w.node(op.Ino)
	if op.Size > n.size {
		n.put(n.size, make([]byte, op.Size-n.size))
	}
	n.Data, n.size, n.Time = n.Data[:min(op.Size, int64(len(n.Data)))], op.Size, op.Time
}

func (op Op) setAttr(w World) {
	n := w.node(op.Ino)
	n.Mode, n.Time = op.Mode, op.Time
	if op.Xattr != "" {
		n.Xattrs = maps.Clone(n.Xattrs)
		if n.Xattrs == nil {
			n.Xattrs = map[string]string{}
		}
		n.Xattrs[op.Xattr] = string(op.Data)
	}
}

func (w World) node(id ID) *Inode {
	if w[id] == nil {
		panic(fmt.Sprintf("the log has not made %v", id))
	}
	return w[id]
}

func (w World) at(n Name) ID {
	if f := w[n.Folder]; f != nil {
		return f.Names[n.Name]
	}
	return ID{}
}

// set gives a name to an inode, or removes it.
func (w World) set(n Name, to ID) {
	if n == (Name{}) {
		return
	}
	f := w.node(n.Folder)
	if f.Names[n.Name] = to; to == (ID{}) {
		delete(f.Names, n.Name)
	}
}

// put writes bytes. What lies between them and what was written before is zero.
func (n *Inode) put(off int64, b []byte) {
	data := make([]byte, max(int64(len(n.Data)), off+int64(len(b))))
	copy(data, n.Data)
	copy(data[off:], b)
	n.Data = data
}
