package history

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/owndir"
)

// thin removes the bytes of the middle entries of each file that has more than most bytes in
// the segments. Its oldest and its newest entries keep theirs, and so do those in segments
// that are spared. An error is that of a segment that stays as it is.
//
// Changes of places are neither counted nor thinned: a restore of an earlier one needs to
// know where the later ones are.
func thin(all []*segment, most int64, spare func(*segment) bool) (err error) {
	files := make(map[string][]stored)
	all = slices.DeleteFunc(slices.Clone(all), func(s *segment) bool { return s.earlier })
	for _, s := range all {
		s.collect(files)
	}
	gone := make(map[string][]stored)
	for path, list := range files {
		if m := middle(list, most); len(m) > 0 {
			gone[path] = m
		}
	}
	for _, s := range all {
		err = errors.Join(err, s.rewrite(spare(s), func(e Entry) bool {
			m := gone[e.Path]
			return !e.Thinned && !e.Partial() && len(m) > 0 && m[0].time <= e.line.Time && e.line.Time <= m[len(m)-1].time
		}))
	}
	return err
}

// stored is the size of what an entry stored.
type stored struct{ time, size int64 }

// collect adds what the entries of the segment stored to those of their files.
func (s *segment) collect(files map[string][]stored) {
	entries, _ := s.read()
	seen := make(map[int64]bool)
	for _, e := range entries {
		if e.Partial() {
			continue
		}
		of := stored{time: e.line.Time}
		for _, o := range e.line.objects() {
			for _, c := range slices.Concat(o.Base, o.Chunks) {
				if !seen[c.At] {
					of.size += c.Len
				}
				seen[c.At] = true
			}
		}
		files[e.Path] = append(files[e.Path], of)
	}
}

// middle returns the entries to thin, so that the others have at most most bytes. The newest
// one always stays, and the oldest one if both have room. Of the room, the oldest entries and
// the newest ones have half each, or what one of them leaves to the other.
func middle(list []stored, most int64) []stored {
	slices.SortFunc(list, func(a, b stored) int { return cmp.Compare(a.time, b.time) })
	list, newest := list[:len(list)-1], list[len(list)-1]
	total := newest.size
	for _, s := range list {
		total += s.size
	}
	if total <= most {
		return nil
	}
	before, behind := most/2, most/2
	if len(list) > 0 && list[0].size+newest.size <= most {
		before = max(list[0].size, min(before, most-newest.size))
		behind = most - before
	}
	for room := before; len(list) > 0 && list[0].size <= room; list = list[1:] {
		room -= list[0].size
	}
	for room := behind - newest.size; len(list) > 0 && list[len(list)-1].size <= room; list = list[:len(list)-1] {
		room -= list[len(list)-1].size
	}
	return list
}

// rewrite replaces the segment by a copy without the bytes of some entries. While both are
// there the copy does not count. It fails if the segment is spared, or a living process adds to
// it.
func (s *segment) rewrite(spared bool, thinned func(Entry) bool) error {
	journal, got := s.lock()
	defer journal.Close()
	entries, bad := s.read()
	if len(bad) > 0 || !slices.ContainsFunc(entries, thinned) {
		return nil
	}
	if spared || !got {
		return errors.New("the segment is young, or a process adds to it")
	}
	stem, _, _ := strings.Cut(s.stem, "-")
	born, err := time.Parse(stemTime, stem)
	if err != nil {
		return err
	}
	w, err := newWriter(s.root, s.id, func() time.Time { return born.Add(time.Millisecond) })
	if err != nil {
		return err
	}
	err = s.copyTo(w, entries, thinned)
	for _, ext := range []string{packExt, journalExt} {
		if err == nil {
			err = s.root.Chtimes(w.stem+ext, s.changed, s.changed)
		}
	}
	if err == nil {
		err = w.sync() // a loss of power may cost the newest changes, and none of these
	}
	w.closeFiles()
	if err != nil {
		(&segment{root: s.root, stem: w.stem}).delete()
		return err
	}
	// As long as the old journal is there, the copy does not count: it goes first, and for good.
	if err := s.root.Remove(s.stem + journalExt); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if owndir.SyncNames(s.root) == nil {
		s.root.Remove(s.stem + packExt)
	}
	return nil
}

// copyTo copies the entries and the bytes of those that are not thinned.
func (s *segment) copyTo(w *writer, entries []Entry, thinned func(Entry) bool) error {
	p, done, err := s.pack()
	if err != nil {
		return err
	}
	defer done()
	moved := make(map[int64]chunk)
	for _, e := range entries {
		for _, o := range e.line.objects() {
			if thinned(e) {
				*o = object{Sum: o.Sum, Thinned: true}
			}
			for _, chunks := range [][]chunk{o.Base, o.Chunks} {
				if err := p.copyTo(w, chunks, moved); err != nil {
					return err
				}
			}
		}
		if err := w.writeLine(e.line); err != nil {
			return err
		}
	}
	return nil
}

// copyTo copies chunks that were not moved before, and corrects their offsets.
func (p pack) copyTo(w *writer, chunks []chunk, moved map[int64]chunk) error {
	for i, c := range chunks {
		to, done := moved[c.At]
		if !done {
			b, err := p.frame(c)
			if err == nil {
				to, err = w.add(b)
			}
			if err != nil {
				return err
			}
			moved[c.At] = to
		}
		chunks[i] = to
	}
	return nil
}
