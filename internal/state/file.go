package state

import (
	"bytes"
	"crypto/sha256"
	"io"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Comparison is the outcome of comparing a file with the record of it.
type Comparison struct {
	// Record is the record without what is not in its place any more.
	Record Record
	// Seen are the bytes of the file that were shown, and Lost those that were shown of an
	// earlier state and have changed since, as far as the comparison has looked.
	Seen, Lost span.Set
	// Changed says that the record knows of bytes, shown or not, that have changed.
	Changed bool
}

// Compare compares a file of size bytes with the record of it. A record with a Text or an All
// is compared as a whole: if any byte differs, nothing of it is Seen. Of another record only
// the parts that touch needed spans are compared (nil: all); the others stay in Seen
// unverified, so that a change of other bytes refuses nothing. It never believes a stamp: a
// program that writes through a memory map can change a file without a new one.
func Compare(r io.ReaderAt, size int64, rec Record, need []span.Span) (c Comparison, err error) {
	changed, err := differs(r, size, rec)
	switch {
	case err != nil:
		return c, err
	case changed:
		return Comparison{Lost: rec.Shown(), Changed: true}, nil
	}
	if c.Record = rec; rec.Text == nil {
		var lost span.Set
		if c.Record.Parts, c.Lost, err = verified(r, rec.Parts, need); err != nil {
			return c, err
		}
		c.Record.Reported, lost, err = verified(r, rec.Reported, need)
		c.Changed = len(c.Lost)+len(lost) > 0
	}
	c.Seen = c.Record.Shown()
	return c, err
}

// differs reports whether a file does not have the bytes that the record knows as a whole.
func differs(r io.ReaderAt, size int64, rec Record) (bool, error) {
	switch {
	case rec.Text != nil && size != int64(len(rec.Text)):
		return true, nil
	case rec.Text != nil:
		var buf []byte
		now, err := read(r, span.Span{End: size}, &buf)
		return !bytes.Equal(now, rec.Text), err
	case rec.All == Sum{}:
		return false, nil
	}
	sum, err := sumOf(r, size)
	return sum != rec.All, err
}

// sumOf hashes a file.
func sumOf(r io.ReaderAt, size int64) (sum Sum, err error) {
	if c, ok := r.(*Content); ok {
		return c.Sum(), nil
	}
	h := sha256.New()
	_, err = io.Copy(h, io.NewSectionReader(r, 0, size))
	h.Sum(sum[:0])
	return sum, err
}

// Outside returns the spans that are not wholly in a set.
func Outside(set span.Set, spans []span.Span) (out span.Set) {
	for _, s := range spans {
		if !set.Covers(s) {
			out = append(out, s)
		}
	}
	return out
}

// KnownFile is a file as it is now, read whole, beside the record of it. Its methods work out
// records and never touch the disk.
type KnownFile struct {
	*Content
	Path  string // resolved: the key of its record
	Stamp fsys.Stamp
	// Settled: the stamp was older than the clock's step when it was taken.
	Settled bool
	// Record is the conversation's record of the file; Known says that there is one.
	Record Record
	Known  bool
	// Notebook says that cells of the file are shown: its records prove all of it.
	Notebook bool
	// Doc is nil of a notebook, which is UTF-8 as it was parsed, until its lines
	// are wanted.
	Doc *text.Doc
}

// HasText reports whether the file has the text that its record keeps.
func (f *KnownFile) HasText() bool {
	if !f.Known || f.Record.Text == nil {
		return false
	}
	changed, _ := differs(f.Content, int64(len(f.Raw)), f.Record) // from memory
	return !changed
}

// Compare verifies the record against the file's bytes, as the function Compare does, and
// brings what holds to the file's stamp. The record is empty if there was none.
func (f *KnownFile) Compare(need []span.Span) Comparison { return f.compare(f.Record, need) }

// compare is Compare for a record of the caller. Bytes that were shown in another charset
// count as changed: they were other characters.
func (f *KnownFile) compare(rec Record, need []span.Span) (c Comparison) {
	if f.otherCharset(rec) {
		c = Comparison{Lost: rec.Shown(), Changed: true}
	} else {
		if len(f.Raw) <= KeepText { // the record is about to get the text, which proves all its parts
			need = nil
		}
		c, _ = Compare(f.Content, int64(len(f.Raw)), rec, need) // from memory
	}
	c.Record = f.stamped(c.Record)
	return c
}

// otherCharset reports whether the file was decoded by another encoding than the record has.
// A record with a text decodes that itself, and one without parts has shown nothing.
func (f *KnownFile) otherCharset(rec Record) bool {
	return f.Doc != nil && rec.Text == nil && rec.Parts != nil && rec.Enc != f.Doc.Enc && !rec.Stamp.Same(f.Stamp)
}

// stamped brings a record to the file's stamp, and to how the file is read. It verifies
// nothing: the caller knows that the file has the record's bytes.
func (f *KnownFile) stamped(rec Record) Record {
	if !rec.Proves(f.Stamp) {
		rec.Index = nil
		if rec.Text == nil {
			rec.views = nil
		}
	}
	rec.Older = rec.Text == nil && rec.All == Sum{} && len(rec.Parts) > 0 && (rec.Older || !rec.Stamp.Same(f.Stamp))
	if len(f.Raw) <= KeepText && rec.Text == nil {
		rec.Parts, rec.Reported = unproven(rec.Shown()), unproven(rec.ReportedSpans())
		rec.Text = f.Raw
	}
	if rec.All = (Sum{}); f.Notebook {
		rec.All = f.Sum()
	}
	rec.Stamp, rec.Settled, rec.Enc = f.Stamp, f.Settled, text.Encoding{}
	if f.Doc != nil {
		rec.Enc = f.Doc.Enc
	}
	return rec
}

// Recorded returns a record of the file as it is after just these bytes of it were shown.
func (f *KnownFile) Recorded(shown span.Set) Record { return f.WithShown(f.stamped(Record{}), shown) }

// WithShown returns a record with more bytes of the file that were shown. It takes for
// granted that the file has the record's text, as after Compare or Recorded.
func (f *KnownFile) WithShown(rec Record, shown span.Set) Record {
	if rec.Text != nil {
		rec.Parts = unproven(rec.Shown().Union(shown))
	} else {
		rec.Parts = joined(rec.Parts, partsIn(f.Raw, shown))
	}
	return rec
}

// WithReported returns a record with these bytes of the file as those that only a reminder
// has shown. It takes the same for granted as WithShown.
func (f *KnownFile) WithReported(rec Record, reported span.Set) Record {
	if rec.Reported = partsIn(f.Raw, reported); rec.Text != nil {
		rec.Reported = unproven(reported)
	}
	return rec
}

// Edited takes a record of the file as it is through splices. The new bytes count as shown.
// now holds them; it may be nil above KeepText.
func (f *KnownFile) Edited(rec Record, splices []span.Splice, now *Content) Record {
	size := int64(len(f.Raw)) + span.Growth(splices)
	if size > KeepText {
		rec = rec.withoutText()
		return Record{Parts: moved(f.Raw, rec.Parts, splices, true), Reported: moved(f.Raw, rec.Reported, splices, false), Enc: rec.Enc, Older: rec.Older}
	}
	if rec.Text == nil {
		rec = f.compare(rec, nil).Record // from now on its text proves all parts
	}
	return Record{
		Parts:    unproven(rec.Shown().Through(splices, true)),
		Reported: unproven(rec.ReportedSpans().Through(splices, false)),
		Text:     now.Raw, Enc: rec.Enc,
	}
}

// OldText is the text as it was when the record was made.
func (f *KnownFile) OldText() (*text.Doc, bool) {
	if f.Record.Text == nil {
		return nil, false
	}
	d, err := text.DecodeAs(f.Record.Text, f.Record.Enc)
	return d, err == nil
}
