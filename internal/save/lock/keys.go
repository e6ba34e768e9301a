package lock

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// KeyOf names what a lock protects: the folder by identity, the entry by its
// folded name. The file's own inode would not do, it changes with every write.
func KeyOf(t *fsys.Target) (string, error) {
	dev, ino, err := t.ParentID()
	if errors.Is(err, fsys.ErrMoved) && t.Kind != fsys.Missing {
		// Replaced since it was resolved, as happens where many write. For
		// the lock the folder will do: what it covers is looked at again.
		var folder fsys.Stamp
		folder, err = fsys.Lstat(filepath.Dir(t.Path))
		dev, ino = folder.Dev, folder.Ino
	}
	if err != nil {
		return "", err
	}
	names := slices.Concat(t.MissingDirs(), []string{t.Base()})
	return KeyIn(dev, ino, strings.Join(names, "/")), nil
}

// KeyIn is the key of a name in the folder of that identity.
func KeyIn(dev, ino uint64, name string) string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], dev)
	binary.BigEndian.PutUint64(id[8:], ino)
	return string(id[:]) + fold(name)
}

// fold makes names equal that some file system takes for one. It is coarser than that: two
// files that it makes one merely wait for each other.
func fold(name string) string { return glob.FoldText(name) }
