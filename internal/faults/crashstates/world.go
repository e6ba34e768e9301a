package crashstates

import (
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"maps"
	"slices"
)

// Inode is a file, a folder or a link.
type Inode struct {
	Mode   fs.FileMode
	Time   int64
	Data   []byte // of a file, or as much of it as was written
	size   int64  // of a file that is being played; see settle
	Target string
	Xattrs map[string]string
	Names  map[string]ID // of a folder
}

// World holds all inodes of some file systems. The number of each root is 1.
type World map[ID]*Inode

// clone copies a world. Data is shared, and copied when it is written.
func (w World) clone() World {
	c := make(World, len(w))
	for id, n := range w {
		m := *n
		m.Data, m.size = slices.Clip(n.Data), int64(len(n.Data))
		m.Names, m.Xattrs = maps.Clone(n.Names), maps.Clone(n.Xattrs)
		c[id] = &m
	}
	return c
}

// settle ends the playing of a log: files get their size. What was never written is stale.
func (w World) settle(stale byte) {
	for _, n := range w {
		for int64(len(n.Data)) < n.size {
			n.Data = append(n.Data, stale)
		}
		n.Data = n.Data[:n.size]
	}
}

// Reached returns what has a name that leads to it from a root, in the order of the numbers, and
// one name of each by which it is made. The others are in also.
func (w World) Reached() (list []ID, names map[ID]Name, also map[Name]ID) {
	names, also = make(map[ID]Name), make(map[Name]ID)
	var walk func(ID)
	walk = func(id ID) {
		n := w[id]
		for _, name := range slices.Sorted(maps.Keys(n.Names)) {
			at, to := Name{id, name}, n.Names[name]
			if _, known := names[to]; known {
				also[at] = to
				continue
			}
			names[to] = at
			list = append(list, to)
			walk(to)
		}
	}
	for id := range w {
		if id.Ino == 1 {
			walk(id)
		}
	}
	slices.SortFunc(list, func(a, b ID) int {
		if a.FS != b.FS {
			return int(a.FS) - int(b.FS)
		}
		return int(a.Ino) - int(b.Ino)
	})
	return list, names, also
}

// Sum is equal for equal worlds. Times of folders do not count.
func (w World) Sum() (sum [32]byte) {
	h := sha256.New()
	text := func(s string) {
		h.Write(binary.AppendUvarint(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	number := func(n ...uint64) {
		for _, v := range n {
			h.Write(binary.AppendUvarint(nil, v))
		}
	}
	list, names, also := w.Reached()
	for _, id := range list {
		n := w[id]
		number(id.FS, id.Ino, names[id].Folder.Ino, uint64(n.Mode))
		text(names[id].Name)
		text(string(n.Data))
		text(n.Target)
		for _, x := range slices.Sorted(maps.Keys(n.Xattrs)) {
			text(x + "=" + n.Xattrs[x])
		}
		if !n.Mode.IsDir() {
			number(uint64(n.Time))
		}
		var more []string
		for at, to := range also {
			if to == id {
				more = append(more, string(binary.AppendUvarint(nil, at.Folder.Ino))+at.Name)
			}
		}
		slices.Sort(more)
		for _, m := range more {
			text(m)
		}
	}
	h.Sum(sum[:0])
	return sum
}
