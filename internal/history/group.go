package history

import (
	"crypto/rand"
	"errors"
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
