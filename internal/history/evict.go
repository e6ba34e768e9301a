package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsmcp/fsmcp/internal/filelock"
)

// spared is the age below which nothing is evicted or thinned, unless the history is twice as large as
// it may be.
const spared = time.Hour

// lockName is the file that a process locks while it evicts. It holds the size of the history
// when it was last thinned.
const lockName = "lock"

// segment is a pack and its journal in the folder.
type segment struct {
	id, stem string
	root     *os.Root
	size     int64
	changed  time.Time // the later time of both
	journal  bool      // there is one
	// copy says that an older segment has the same id: this one is an unfinished copy of it.
	copy bool
	// earlier says that an earlier build made the segment. It is only evicted.
	earlier bool
}

// files returns the names of the segment's journal and pack.
func (s *segment) files() (journal, pack string) {
	if s.earlier {
		return s.stem + earlierJournalExt, s.stem + earlierPackExt
	}
	return s.stem + journalExt, s.stem + packExt
}

// segments lists the segments in the folder, the oldest first.
func segments(root *os.Root) ([]*segment, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*segment)
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		stem := strings.TrimSuffix(e.Name(), ext)
		journal := ext == journalExt || ext == earlierJournalExt
		_, id, marked := strings.Cut(stem, "-")
		if !journal && ext != packExt && ext != earlierPackExt || !marked {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // evicted meanwhile
		}
		s := found[stem]
		if s == nil {
			s = &segment{id: id, stem: stem, root: root, earlier: ext == earlierJournalExt || ext == earlierPackExt}
			found[stem] = s
		}
		s.journal = s.journal || journal
		s.size += info.Size()
		if info.ModTime().After(s.changed) {
			s.changed = info.ModTime()
		}
	}
	var all []*segment
	first := make(map[string]bool)
	for _, s := range found {
		all = append(all, s)
	}
	for id, size := range depositSizes(root) {
		for _, s := range all {
			if s.id == id {
				s.size += size
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b *segment) int { return strings.Compare(a.stem, b.stem) })
	for _, s := range all {
		s.copy = first[s.id]
		first[s.id] = s.copy || s.journal
	}
	return all, nil
}

// evict removes segments that are too old and thins files that take up too much room. Then
// it removes the oldest segments while all together are too large. It does nothing while
// another process evicts.
func evict(root *os.Root, settings Settings, now time.Time) error {
	lock, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if got, err := tryLock(lock); !got {
		return err
	}
	defer removeDeposits(root)
	all, err := segments(root)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s *segment) bool {
		age := now.Sub(s.changed)
		return (s.copy || age >= spared && age >= settings.MaxAge) && s.remove()
	})
	if settings.Off {
		return nil
	}
	total, thinned := sizeOf(all), int64(0)
	fmt.Fscan(lock, &thinned) // the size after the last time: reading all journals takes time
	if total > settings.MaxSize/4 && max(total-thinned, thinned-total) > settings.MaxSize/packs {
		crowded := total > 2*settings.MaxSize
		partly := thin(all, settings.MaxSize/4, func(s *segment) bool { return !crowded && now.Sub(s.changed) < spared })
		if all, err = segments(root); err != nil {
			return err
		}
		total = sizeOf(all)
		if partly == nil {
			lock.WriteAt(fmt.Appendf(nil, "%-20d", total), 0)
		}
	}
	for _, s := range all {
		young := now.Sub(s.changed) < spared
		if total > settings.MaxSize && (!young || total > 2*settings.MaxSize) && s.remove() {
			total -= s.size
		}
	}
	return nil
}

func sizeOf(all []*segment) (n int64) {
	for _, s := range all {
		n += s.size
	}
	return n
}

// tryLock locks a file for as long as it is open, unless another process holds the lock. On
// a file system without locks only the age of a segment protects it.
func tryLock(f *os.File) (bool, error) {
	got, err := filelock.Try(f)
	if errors.Is(err, filelock.ErrNone) {
		return true, nil
	}
	return got, err
}

// lock locks the journal of a segment, if there is one. It fails if a living process adds
// to it.
func (s *segment) lock() (*os.File, bool) {
	name, _ := s.files()
	f, err := s.root.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist)
	}
	if got, _ := tryLock(f); !got {
		f.Close()
		return nil, false
	}
	return f, true
}

// remove removes a segment unless a living process adds to it.
func (s *segment) remove() bool {
	journal, got := s.lock()
	if got {
		defer journal.Close()
	}
	return got && s.delete()
}

// delete removes the journal first: bytes that no entry names do no harm.
func (s *segment) delete() bool {
	journal, pack := s.files()
	err := s.root.Remove(journal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return s.root.Remove(pack) == nil || err == nil
}
