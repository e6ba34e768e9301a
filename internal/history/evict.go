package history

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/filelock"
)

// spared is the age below which nothing is evicted, whatever its size.
const spared = time.Hour

// lockName is the file that a process locks while it evicts.
const lockName = "lock"

// segment is a pack and its journal in the folder.
type segment struct {
	id, stem string
	root     *os.Root
	size     int64
	changed  time.Time // the later time of both
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
		stem, ok := strings.CutSuffix(e.Name(), packExt)
		if !ok {
			stem, ok = strings.CutSuffix(e.Name(), journalExt)
		}
		_, id, marked := strings.Cut(stem, "-")
		if !ok || !marked {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // evicted meanwhile
		}
		s := found[stem]
		if s == nil {
			s = &segment{id: id, stem: stem, root: root}
			found[stem] = s
		}
		s.size += info.Size()
		if info.ModTime().After(s.changed) {
			s.changed = info.ModTime()
		}
	}
	var all []*segment
	for _, s := range found {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *segment) int { return strings.Compare(a.stem, b.stem) })
	return all, nil
}

// evict removes segments that are too old, and then the oldest ones while all together are
// too large. It does nothing while another process evicts.
func evict(root *os.Root, settings Settings, now time.Time) error {
	lock, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if got, err := tryLock(lock); !got {
		return err
	}
	all, err := segments(root)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, s := range all {
		total += s.size
	}
	for _, s := range all {
		age := now.Sub(s.changed)
		if age < spared || age < settings.MaxAge && total <= settings.MaxSize {
			continue
		}
		if s.remove() {
			total -= s.size
		}
	}
	return nil
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

// remove removes a segment unless a living process adds to it. It removes the journal
// first: bytes that no entry names do no harm.
func (s *segment) remove() bool {
	f, err := s.root.OpenFile(s.stem+journalExt, os.O_RDWR, 0)
	if err == nil {
		defer f.Close()
		if got, _ := tryLock(f); !got {
			return false
		}
		if s.root.Remove(s.stem+journalExt) != nil {
			return false
		}
	}
	return s.root.Remove(s.stem+packExt) == nil || err == nil
}
