package state

import (
	"bytes"
	"crypto/sha256"
	"sync"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// File is a file of at most InMemory bytes as it is now, read whole, beside the record of
// it. Its methods work out records and never touch the disk.
type File struct {
	Path  string // resolved: the key of its record
	Raw   []byte
	Stamp fsys.Stamp
	// Settled: the stamp was older than the clock's grain when it was taken.
	Settled bool
	// Whole says that the file is compared as a whole whatever its size.
	Whole bool
	// Record is the conversation's record of the file; Known says that there is one.
	Record Record
	Known  bool
	// Doc is nil of a notebook, which is UTF-8 as it was parsed, until its lines
	// are wanted.
	Doc *text.Doc
	// Hash returns the SHA-256 of the file, computed once, where it is wanted.
	Hash   func() Sum
	hashed bool // it was computed
	// Unchanged reports whether the file has all the bytes of Record. It never believes a
	// stamp: a program that writes through a memory map can change a file without a
	// new one.
	Unchanged func() bool
}

// Compare gets a file ready to be compared with its record.
func (f *File) Compare() {
	rec := &f.Record
	f.Unchanged = sync.OnceValue(func() bool {
		switch {
		case !f.Known || rec.Stamp.Size != f.Stamp.Size:
			return false
		case rec.Content != nil:
			return bytes.Equal(rec.Content, f.Raw)
		}
		return rec.Hash != (Sum{}) && rec.Hash == f.Hash()
	})
	f.Hash = sync.OnceValue(func() Sum {
		f.hashed = true
		if rec.Content != nil && rec.Hash != (Sum{}) && f.Unchanged() {
			return rec.Hash
		}
		return sha256.Sum256(f.Raw)
	})
}

// Use replaces the bytes by equal ones that another caller keeps, with their hash.
func (f *File) Use(raw []byte, hash func() Sum) { f.Raw, f.Hash, f.hashed = raw, hash, true }

// Content is the file's text as the record keeps it.
func (f *File) Content() []byte {
	if len(f.Raw) > KeepContent {
		return nil
	}
	return f.Raw
}

// ByParts reports whether only what was shown of the file is compared.
func (f *File) ByParts() bool { return !f.Whole && len(f.Raw) > WholeHash }

// Recorded returns a record of the file's present bytes; shown are those that were
// shown.
func (f *File) Recorded(shown span.Set, origin Origin) Record {
	rec := f.Stamped(Record{Shown: shown, Origin: origin, Content: f.Content()})
	switch {
	case f.ByParts():
		rec.Parts = PartsIn(f.Raw, shown)
		rec.Hash = WholeSum(rec.Parts, f.Stamp.Size)
	case rec.Content == nil:
		rec.Hash = f.Hash()
	}
	return rec
}

// Stamped brings a record whose bytes are those of the file to its stamp, and
// to how they are read.
func (f *File) Stamped(rec Record) Record {
	rec.Stamp, rec.Settled, rec.Enc = f.Stamp, f.Settled, text.Encoding{}
	if f.Doc != nil {
		rec.Enc = f.Doc.Enc
	}
	return rec
}

// Standing is the record as it stands for the file's present bytes. lost says that
// something that was shown is not there any more. Of a record of parts it looks at
// those that touch spans, nil: at all of them.
func (f *File) Standing(spans []span.Span) (rec Record, lost bool) {
	if f.Record.Parts == nil {
		switch {
		case !f.Unchanged():
			return rec, true
		case f.ByParts():
			return f.Recorded(f.Record.Shown, f.Record.Origin), false
		}
		return f.Stamped(f.Record), false
	}
	if !f.ByParts() { // it has become that small
		spans = nil
	}
	parts, lost, _ := Standing(bytes.NewReader(f.Raw), f.Record.Parts, spans)
	if !f.ByParts() {
		return f.Recorded(ShownBy(parts), f.Record.Origin), lost
	}
	rec = f.Record
	if lost || rec.Stamp.Size != f.Stamp.Size {
		rec = Record{Origin: rec.Origin}
	}
	rec.Parts, rec.Shown = parts, ShownBy(parts)
	return f.Stamped(rec), lost
}

// WithShown returns the record of the file's present bytes with more that was shown.
func (f *File) WithShown(rec Record, shown span.Set) Record {
	rec.Shown = rec.Shown.Union(shown)
	if f.ByParts() {
		for _, p := range PartsIn(f.Raw, shown) {
			rec.Parts = WithPart(rec.Parts, p)
		}
	}
	return rec
}

// Kept is the text as it was when the record was made.
func (f *File) Kept() (*text.Doc, bool) {
	if f.Record.Content == nil {
		return nil, false
	}
	d, err := text.DecodeAs(f.Record.Content, f.Record.Enc)
	return d, err == nil
}

// Carried are the parts of a large file once splices are made.
func (f *File) Carried(rec Record, splices []span.Splice, shown span.Set) ([]Part, error) {
	if rec.Parts == nil {
		return PartsOf(bytes.NewReader(f.Raw), f.Stamp.Size, splices, shown)
	}
	return CarryParts(bytes.NewReader(f.Raw), f.Stamp.Size, rec.Parts, splices)
}

// hashAside is the size in bytes from which hashing is worth a goroutine.
const hashAside = 32 << 10

// Becoming works out the new file: its hash, and its bytes up to a size of keep. Of a large
// one the hash is worked out on the side, together with that of the old one: both
// begin alike, and that is hashed once.
func (f *File) Becoming(splices []span.Splice, size, keep int64) func() (Sum, []byte) {
	var content []byte
	if size <= keep {
		content = span.Apply(f.Raw, splices)
	}
	if size <= hashAside {
		sum := Sum(sha256.Sum256(content))
		return func() (Sum, []byte) { return sum, content }
	}
	sums := sync.OnceValues(func() (was, is Sum) { return SumsOf(f.Raw, splices, size) })
	if f.hashed || f.Record.Content != nil && f.Record.Hash != (Sum{}) && f.Unchanged() {
		sums = sync.OnceValues(func() (was, is Sum) {
			is, _ = SumSpliced(bytes.NewReader(f.Raw), f.Stamp.Size, splices, span.Span{End: size})
			return was, is
		})
	} else {
		f.Hash = func() Sum { was, _ := sums(); return was }
	}
	go sums()
	return func() (Sum, []byte) { _, is := sums(); return is, content }
}
