package crashstates

// Model says which effects may be missing after a loss of power.
type Model struct {
	Name string
	// inOrder: names, attributes and sizes last in the order of the calls.
	inOrder bool
	// grown: a file grows only when its sectors are on the disk.
	grown bool
	// withNames: a sync of a file covers its names.
	withNames bool
	// alone: a sync covers nothing beside; what is earlier may still be missing.
	alone bool
	stale byte // fills what was never written
}

// The models; see the package comment.
var (
	Weakest   = Model{Name: "the weakest of POSIX"}
	Ordered   = Model{Name: "ext4 data=ordered, xfs", inOrder: true, grown: true, withNames: true}
	Writeback = Model{Name: "ext4 data=writeback", inOrder: true, withNames: true, stale: 0xdb}
	Btrfs     = Model{Name: "btrfs", inOrder: true, grown: true, withNames: true, alone: true}
	Models    = []Model{Weakest, Ordered, Writeback, Btrfs}
)

// needs reports whether a cannot be on the disk without the earlier effect b.
func (m Model) needs(a, b effect) bool {
	if a.sameThing(b) {
		return true
	}
	if m.grown && a.grows && b.what == sector && a.ino == b.ino {
		return true
	}
	// A growing size is written to the file system's journal when the sectors are, which may be
	// later: no other effect needs it.
	return m.inOrder && a.what != sector && b.what != sector && !b.grows && a.fs() == b.fs()
}

// sameThing reports whether two effects change the same: they last in their order.
func (a effect) sameThing(b effect) bool {
	if a.what != b.what {
		return false
	}
	if a.what != entries {
		return a.ino == b.ino && a.sector == b.sector
	}
	for _, x := range a.names {
		for _, y := range b.names {
			if x == y && x != (Name{}) {
				return true
			}
		}
	}
	return false
}

func (a effect) fs() uint64 {
	switch {
	case a.what != entries:
		return a.ino.FS
	case a.names[0] == (Name{}):
		return a.files[0].FS
	}
	return a.names[0].Folder.FS
}

// covers reports whether a sync of a file or folder has to bring the effect to the disk.
func (m Model) covers(sync Op, e effect) bool {
	if e.op >= sync.Before {
		return false
	}
	if e.what != entries {
		return e.ino == sync.Ino
	}
	for _, n := range e.names {
		if n.Folder == sync.Ino {
			return true
		}
	}
	if m.withNames {
		for _, f := range e.files {
			if f == sync.Ino {
				return true
			}
		}
	}
	return false
}
