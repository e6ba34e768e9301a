package history

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// Operation says what a change did.
type Operation string

// The operations. Builds that know only edits take a move for a change that did nothing.
const (
	OpEdit   Operation = "" // of bytes: a file was created, changed or removed
	OpMove   Operation = "move"
	OpCopy   Operation = "copy"
	OpDelete Operation = "delete" // by Delete: a file, a link or a folder
)

// groupLen is enough that no two groups of a user have the same name.
const groupLen = 12

// NewGroup names the changes of one call.
func NewGroup() string { return "g" + strings.ToLower(rand.Text()[:groupLen]) }

// SyncMarks makes what was stored for changes survive a loss of power. It syncs each journal
// and pack once.
func SyncMarks(marks []*Mark) (err error) {
	synced := make(map[*writer]bool)
	for _, m := range marks {
		if m != nil && m.w != nil && !synced[m.w] {
			synced[m.w] = true
			err = errors.Join(err, m.w.sync())
		}
	}
	return err
}

// Done tells the marks of one call that all their changes were made; see Mark.Done.
func Done(marks []*Mark) {
	made := make(map[*writer][]int)
	for _, m := range marks {
		if m != nil && m.w != nil && !m.void && m.number > 0 {
			made[m.w] = append(made[m.w], m.number)
		}
	}
	for w, numbers := range made {
		w.append(line{Made: numbers})
	}
	for _, m := range marks {
		m.release()
	}
}

// IsCopy reports whether a file with this size and time is still the one that a copy made.
func (e Entry) IsCopy(size, mtime int64) bool {
	c := e.line.Copied
	return c != nil && c.Size == size && c.Mtime == mtime
}

// Follow returns where a file is now that had the path of a change after it: later moves of
// it, and of folders that held it, are followed. entries are newest first.
func Follow(e Entry, entries []Entry) string {
	path := e.Path
	if e.Operation == OpMove || e.Operation == OpCopy {
		path = e.To
	}
	for _, later := range slices.Backward(entries) {
		if later.Operation != OpMove || !e.before(later) {
			continue
		}
		path = movedBy(later, path)
	}
	return path
}

// movedBy returns the name that a file with this path has after a move, of it or of a folder
// that holds it.
func movedBy(move Entry, path string) string {
	if move.Path == path {
		return move.To
	}
	if rest, below := strings.CutPrefix(path, move.Path+string(filepath.Separator)); below {
		return filepath.Join(move.To, rest)
	}
	return path
}

// before reports whether a change was made before another one.
func (e Entry) before(o Entry) bool { return e.line.Time < o.line.Time && e.ID != o.ID }
