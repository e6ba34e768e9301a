package save

import (
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// Lock keeps other users of this package away from one name, in this process and
// in others that have the same state folder.
type Lock struct {
	key    string
	unlock func()
}

// Lock waits until no other writer has the name that t leads to: for at most LockWait
// (then *BusyError) and until ctx ends. Resolve the path again once it is held, and see
// whether the lock Covers the target.
func (s *Saver) Lock(ctx context.Context, t *fsys.Target) (*Lock, error) {
	key, err := lockKeyOf(t)
	if err != nil {
		return nil, err
	}
	return s.lockKey(ctx, key)
}

func (s *Saver) lockKey(ctx context.Context, key string) (*Lock, error) {
	unlock, err := s.lockKeys(ctx, []stripedKey{{stripeOf(key), key}}, false)
	if err != nil {
		return nil, err
	}
	return &Lock{key: key, unlock: unlock}, nil
}

// Covers reports that the lock is the one that t needs.
func (l *Lock) Covers(t *fsys.Target) bool {
	key, err := lockKeyOf(t)
	return err == nil && key == l.key
}

// Unlock lets the next writer in. It may be called again.
func (l *Lock) Unlock() { l.unlock() }

// lockKeyOf names what a lock protects: the folder by identity, the entry by its
// folded name. The file's own inode would not do: it changes with every write.
func lockKeyOf(t *fsys.Target) (string, error) {
	dev, ino, err := t.ParentID()
	if errors.Is(err, fsys.ErrMoved) && t.Kind != fsys.Missing {
		// Replaced since it was resolved, as happens if many programs write. For
		// the lock the folder will do: what it covers is checked again.
		var folder fsys.Stamp
		folder, err = fsys.Lstat(filepath.Dir(t.Path))
		dev, ino = folder.Dev, folder.Ino
	}
	if err != nil {
		return "", err
	}
	names := slices.Concat(t.MissingDirs(), []string{t.Base()})
	return lockKeyIn(dev, ino, strings.Join(names, "/")), nil
}

// lockKeyIn is the key of a name in the folder of that identity.
func lockKeyIn(dev, ino uint64, name string) string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], dev)
	binary.BigEndian.PutUint64(id[8:], ino)
	return string(id[:]) + foldName(name)
}

// foldName makes names equal that some file system takes for one. It is coarser than that: two
// files that it makes one merely wait for each other.
func foldName(name string) string { return glob.FoldText(name) }
