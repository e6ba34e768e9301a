package history

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/owndir"
)

// Archive reads the history. It changes nothing, and may be used while others write; it
// need not see segments that are made after Open.
type Archive struct {
	root     *os.Root // nil: there is no history
	segments []*segment
	// packs are open from their first read to Close: a process that evicts or thins meanwhile
	// takes nothing from a restore that has begun.
	packs map[*segment]*os.File
	// earlier says that there are segments of an earlier build.
	earlier bool
}

// Earlier reports whether there are changes that an earlier build of fsmcp stored in another
// form. They are not read.
func (a *Archive) Earlier() bool { return a.earlier }

// Open opens the history of a state folder. A missing history is an empty Archive.
func Open(stateDir string) (*Archive, error) {
	root, err := owndir.Sub(stateDir, Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return &Archive{}, nil
	}
	if err != nil {
		return nil, err
	}
	a := &Archive{root: root, packs: make(map[*segment]*os.File)}
	if err := a.list(); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *Archive) list() (err error) {
	a.segments, err = segments(a.root)
	a.earlier = slices.ContainsFunc(a.segments, func(s *segment) bool { return s.earlier && s.journal })
	a.segments = slices.DeleteFunc(a.segments, func(s *segment) bool { return s.copy || s.earlier })
	return err
}

// Close closes the archive.
func (a *Archive) Close() {
	for _, f := range a.packs {
		f.Close()
	}
	if a.root != nil {
		a.root.Close()
	}
}

// pack returns the open pack of an entry.
func (a *Archive) pack(e Entry) (pack, error) {
	f := a.packs[e.from]
	if f == nil {
		var err error
		if f, err = openRegular(e.from.root, e.from.stem+packExt); err != nil {
			return pack{}, e.damage(err)
		}
		a.packs[e.from] = f
	}
	return pack{f}, nil
}

// Damage is something in the history that cannot be read.
type Damage struct {
	// File is the name of a journal or pack, Line a line of the journal or 0.
	File string
	Line int
	// ID is the entry that is lost; "" if that is not known.
	ID  string
	Err error
}

// Error says what is damaged.
func (d Damage) Error() string {
	switch {
	case d.ID != "":
		return fmt.Sprintf("the entry %s in %s cannot be used: %v", d.ID, d.File, d.Err)
	case d.Line > 0:
		return fmt.Sprintf("%s:%d: %v", d.File, d.Line, d.Err)
	}
	return fmt.Sprintf("%s: %v", d.File, d.Err)
}

// damage says that the entry's bytes cannot be read.
func (e Entry) damage(err error) Damage {
	return Damage{File: e.from.stem + packExt, ID: e.ID, Err: err}
}

// Unwrap returns the cause.
func (d Damage) Unwrap() error { return d.Err }

// Entries returns the changes whose bytes are whole, newest first, and the damage. Only the
// bytes of paths for which want is true are looked at; nil means all. A change that a crash
// cut off before it was made is left out.
func (a *Archive) Entries(want func(path string) bool) ([]Entry, []Damage) {
	all, bad := a.read()
	all = slices.DeleteFunc(a.made(all), func(e Entry) bool { return want != nil && !want(e.Path) })
	bySegment := make(map[*segment][]Entry)
	for _, e := range slices.Backward(all) {
		bySegment[e.from] = append(bySegment[e.from], e)
	}
	all = all[:0]
	for _, s := range a.segments {
		whole, damage := a.whole(s, bySegment[s])
		all, bad = append(all, whole...), append(bad, damage...)
	}
	if slices.ContainsFunc(a.segments, (*segment).gone) && a.list() == nil {
		return a.Entries(want) // a copy may have replaced a segment meanwhile
	}
	sortEntries(all)
	return all, bad
}

// read reads all journals. The entries are sorted, newest first.
func (a *Archive) read() (all []Entry, bad []Damage) {
	for _, s := range a.segments {
		entries, damage := s.read()
		all, bad = append(all, entries...), append(bad, damage...)
	}
	sortEntries(all)
	return all, bad
}

func sortEntries(all []Entry) {
	slices.SortStableFunc(all, func(x, y Entry) int {
		if c := y.Time.Compare(x.Time); c != 0 {
			return c
		}
		return y.line.Number - x.line.Number
	})
}

// gone reports whether the journal was removed since the segment was listed.
func (s *segment) gone() bool {
	_, err := s.root.Lstat(s.stem + journalExt)
	return s.journal && errors.Is(err, fs.ErrNotExist)
}

// read reads a journal.
func (s *segment) read() ([]Entry, []Damage) {
	name := s.stem + journalExt
	b, err := readIn(s.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // evicted meanwhile, or a pack whose journal is
	}
	if err != nil {
		return nil, []Damage{{File: name, Err: err}}
	}
	entries, lines := readJournal(b, s)
	var bad []Damage
	for _, n := range lines {
		bad = append(bad, Damage{File: name, Line: n, Err: damaged("the line does not fit its check")})
	}
	return entries, bad
}

func readIn(root *os.Root, name string) ([]byte, error) {
	f, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// openRegular opens a regular file of this user. It never waits: a FIFO under the name
// would block a reader of the history for ever.
func openRegular(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = damaged(fmt.Sprintf("%s lies in its place", owndir.KindOf(info.Mode())))
	}
	if err == nil {
		err = owndir.Check(f.Name(), info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// whole returns the entries of a segment without those whose bytes are damaged.
func (a *Archive) whole(s *segment, entries []Entry) (fine []Entry, bad []Damage) {
	if len(entries) == 0 {
		return nil, nil
	}
	p, done, missing := s.pack()
	if missing == nil {
		defer done()
	}
	known := make(map[int64]error)
	for _, e := range entries {
		if e.line.Deposit != nil && !e.line.Deposit.exists(s.root) {
			continue // the file was not removed after all
		}
		err := missing
		for _, o := range e.line.objects() {
			if err == nil {
				err = p.verify(o, known)
			}
		}
		if err != nil {
			bad = append(bad, e.damage(err))
			continue
		}
		fine = append(fine, e)
	}
	return fine, bad
}

func (s *segment) pack() (pack, func(), error) {
	f, err := openRegular(s.root, s.stem+packExt)
	if err != nil {
		return pack{}, nil, err
	}
	return pack{f}, func() { f.Close() }, nil
}

// ErrUnknown says that there is no such entry, or no longer.
var ErrUnknown = errors.New("no such change")

// Find returns the entry with an ID.
func (a *Archive) Find(id string) (Entry, error) {
	stem, _, ok := strings.Cut(id, "-")
	if !ok {
		return Entry{}, ErrUnknown
	}
	for _, s := range a.segments {
		if s.id != stem {
			continue
		}
		entries, _ := s.read()
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == id })
		if i >= 0 && entries[i].line.Pending {
			all, _ := a.read()
			entries = a.made(all)
			i = slices.IndexFunc(entries, func(e Entry) bool { return e.ID == id })
		}
		if i >= 0 {
			return entries[i], nil
		}
	}
	return Entry{}, ErrUnknown
}

// ErrPlacesOnly says that only the places that the change touched are stored.
var ErrPlacesOnly = errors.New("only the changed places are kept of a file of that size")

// Before returns the bytes that a change replaced; nil if there was no file.
func (a *Archive) Before(e Entry) ([]byte, error) { return a.state(e, e.line.Old) }

// After returns the bytes that a change made; nil if it removed the file.
func (a *Archive) After(e Entry) ([]byte, error) { return a.state(e, e.line.New) }

func (a *Archive) state(e Entry, o *object) ([]byte, error) {
	switch {
	case e.Partial():
		return nil, ErrPlacesOnly
	case o == nil:
		return nil, nil
	}
	p, err := a.pack(e)
	if err != nil {
		return nil, err
	}
	b, err := p.state(o)
	if err != nil {
		return nil, e.damage(err)
	}
	return b, nil
}
