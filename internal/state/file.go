package state

import (
	"bytes"
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
	// Missing are the needed spans that are not in Seen, in part or as a whole.
	Missing span.Set
	// Changed says that the record knows of bytes, shown or not, that have changed.
	Changed bool
}

// Compare compares a file of size bytes with the record of it. A record with a text is
// compared as a whole; else only those parts are that touch needed spans (nil: all), so
// that the rest of a file may change meanwhile. It never believes a stamp: a program that
// writes through a memory map can change a file without a new one.
func Compare(r io.ReaderAt, size int64, rec Record, need []span.Span) (c Comparison, err error) {
	if rec.Text != nil {
		c.Changed, err = differs(r, size, rec.Text)
		if c.Record = rec; c.Changed {
			c.Record, c.Lost = Record{}, rec.Shown()
		}
	} else {
		c.Record = rec
		var lost span.Set
		if c.Record.Parts, c.Lost, err = verified(r, rec.Parts, need); err != nil {
			return c, err
		}
		c.Record.Reported, lost, err = verified(r, rec.Reported, need)
		c.Changed = len(c.Lost)+len(lost) > 0
	}
	c.Seen = c.Record.Shown()
	if c.Missing = Outside(c.Seen, need); need == nil {
		c.Missing = c.Seen.Missing(size)
	}
	return c, err
}

// differs reports whether a file does not have just these bytes.
func differs(r io.ReaderAt, size int64, want []byte) (bool, error) {
	if size != int64(len(want)) {
		return true, nil
	}
	var buf []byte
	now, err := read(r, span.Span{End: size}, &buf)
	return !bytes.Equal(now, want), err
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

// File is a file as it is now, read whole, beside the record of it. Its methods work out
// records and never touch the disk.
type File struct {
	*Content
	Path  string // resolved: the key of its record
	Stamp fsys.Stamp
	// Settled: the stamp was older than the clock's step when it was taken.
	Settled bool
	// Record is the conversation's record of the file; Known says that there is one.
	Record Record
	Known  bool
	// Doc is nil of a notebook, which is UTF-8 as it was parsed, until its lines
	// are wanted.
	Doc *text.Doc
}

// HasText reports whether the file has the text that its record keeps.
func (f *File) HasText() bool {
	if !f.Known || f.Record.Text == nil {
		return false
	}
	changed, _ := differs(Memory(f.Raw), int64(len(f.Raw)), f.Record.Text) // from memory
	return !changed
}

// Compare compares the file with its record, as the function Compare does, and brings the
// record to the file's stamp. The record is empty if there was none.
func (f *File) Compare(need []span.Span) Comparison { return f.compare(f.Record, need) }

func (f *File) compare(rec Record, need []span.Span) Comparison {
	look, size := need, int64(len(f.Raw))
	if size <= KeepText { // the record is about to get the text, which proves all its parts
		look = nil
	}
	c, _ := Compare(Memory(f.Raw), size, rec, look) // from memory
	if c.Record = f.stamped(c.Record); need != nil {
		c.Missing = Outside(c.Seen, need)
	}
	return c
}

// stamped brings a record that the file has to its stamp, and to how it is read.
func (f *File) stamped(rec Record) Record {
	if !rec.Proves(f.Stamp) {
		rec.Index = nil
		if rec.Text == nil {
			rec.views = nil
		}
	}
	if len(f.Raw) <= KeepText && rec.Text == nil {
		rec.Parts, rec.Reported = unproven(rec.Shown()), unproven(rec.ReportedSpans())
		rec.Text = f.Raw
	}
	rec.Stamp, rec.Settled, rec.Enc = f.Stamp, f.Settled, text.Encoding{}
	if f.Doc != nil {
		rec.Enc = f.Doc.Enc
	}
	return rec
}

// Recorded returns a record of the file as it is after just these bytes were shown.
func (f *File) Recorded(shown span.Set) Record { return f.WithShown(f.stamped(Record{}), shown) }

// WithShown returns a record of the file as it is with more bytes that were shown.
func (f *File) WithShown(rec Record, shown span.Set) Record {
	if rec.Text != nil {
		rec.Parts = unproven(rec.Shown().Union(shown))
	} else {
		rec.Parts = joined(rec.Parts, partsIn(f.Raw, shown))
	}
	return rec
}

// WithReported returns a record of the file as it is with these bytes as those that only a
// reminder has shown.
func (f *File) WithReported(rec Record, reported span.Set) Record {
	if rec.Reported = partsIn(f.Raw, reported); rec.Text != nil {
		rec.Reported = unproven(reported)
	}
	return rec
}

// Edited takes a record of the file as it is through splices. The new bytes count as shown.
// now holds them; it may be nil above KeepText.
func (f *File) Edited(rec Record, splices []span.Splice, now *Content) Record {
	size := int64(len(f.Raw)) + span.Growth(splices)
	if size > KeepText {
		rec = rec.withoutText()
		return Record{Parts: moved(f.Raw, rec.Parts, splices, true), Reported: moved(f.Raw, rec.Reported, splices, false), Enc: rec.Enc}
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
func (f *File) OldText() (*text.Doc, bool) {
	if f.Record.Text == nil {
		return nil, false
	}
	d, err := text.DecodeAs(f.Record.Text, f.Record.Enc)
	return d, err == nil
}
