package save

import (
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// Meta holds the metadata of a file, a folder or a link.
type Meta struct {
	Kind     fsys.Kind         `json:"kind"`
	Mode     uint32            `json:"mode"` // permissions, with set-id bits
	UID, GID uint32            `json:",omitzero"`
	Mtime    int64             `json:"mtime"`          // Unix nanoseconds
	Attrs    map[string][]byte `json:"attrs,omitzero"` // access lists are among them
	Flags    uint32            `json:"flags,omitzero"` // as chattr shows them
	Link     []byte            `json:"link,omitzero"`  // where a link leads
}

// readLinkMeta reads the Meta of a link.
func readLinkMeta(calls sys.Sys, dir int, name string, s fsys.Stamp) (Meta, error) {
	text, err := calls.Readlink(dir, name)
	return Meta{Kind: fsys.Link, Mode: s.Mode & sys.PermBits, UID: s.UID, GID: s.GID, Mtime: s.Mtime, Link: []byte(text)}, err
}

// readMeta reads the Meta of an open file or folder.
func readMeta(calls sys.Sys, fd int, s fsys.Stamp) (m Meta, err error) {
	m = Meta{Kind: kindOf(s), Mode: s.Mode & sys.PermBits, UID: s.UID, GID: s.GID, Mtime: s.Mtime}
	attrs, err := readXattrs(calls, fd)
	if err != nil {
		return m, err
	}
	if len(attrs) > 0 {
		m.Attrs = attrs
	}
	flags, err := calls.Flags(fd)
	if err == nil {
		m.Flags = flags & keptFlags
	}
	return m, onlyTrouble(err)
}

// give gives an open file or folder, which is new, this Meta but for the time. An owner that
// may not be set costs the set-id bits, as at a copy.
func (m Meta) give(calls sys.Sys, fd int) error {
	now, err := calls.Fstat(fd)
	if err != nil {
		return err
	}
	mode := m.Mode
	if now.UID != m.UID || now.GID != m.GID {
		if err := calls.Chown(fd, m.UID, m.GID); onlyTrouble(err) != nil {
			return err
		} else if err != nil {
			mode &^= sys.SetIDBits
		}
	}
	have, err := readXattrs(calls, fd)
	if err != nil {
		return err
	}
	if _, err := changeXattrs(calls, fd, have, m.Attrs); err != nil {
		return err
	}
	if err := calls.Chmod(fd, mode); err != nil {
		return err
	}
	if m.Flags != 0 {
		flags, err := calls.Flags(fd)
		if err == nil && flags&keptFlags != m.Flags {
			err = calls.SetFlags(fd, flags&^uint32(keptFlags)|m.Flags)
		}
		return onlyTrouble(err)
	}
	return nil
}
