package toolcall

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Loader reads files as a whole.
type Loader struct {
	Now func() time.Time
	// heavy admits one scan of a big file at a time, so that the others stay quick, and
	// large one change of a file above state.InMemory, which takes its size in memory. A call
	// that has the place in large never waits for heavy: one that has heavy may wait for
	// large, if its file has grown.
	heavy, large chan struct{}
}

// NewLoader returns a loader of files for all conversations. now is the clock.
func NewLoader(now func() time.Time) Loader {
	return Loader{Now: now, heavy: make(chan struct{}, 1), large: make(chan struct{}, 1)}
}

// heavyFrom is the size in bytes from which a file's scan waits for its turn.
const heavyFrom = 8 << 20

// Admit waits for the one place for heavy work when a file is that big.
func (l Loader) Admit(ctx context.Context, size int64) (leave func(), err error) {
	if size < heavyFrom {
		return func() {}, nil
	}
	return acquire(ctx, l.heavy)
}

// AdmitChange waits for the one place for heavy work when a file is that big. One above
// state.InMemory has a place of its own, which it takes when it is loaded.
func (l Loader) AdmitChange(ctx context.Context, size int64) (leave func(), err error) {
	if size > state.InMemory {
		return func() {}, nil
	}
	return l.Admit(ctx, size)
}

// admitLarge waits for the one place for a change of a large file, which s keeps until Drop. It
// refuses the change if that would take more memory than the system has to give.
func (l Loader) admitLarge(ctx context.Context, s *Target, size int64) error {
	if s.large != nil {
		return nil
	}
	done, err := acquire(ctx, l.large)
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // that of a file which was read before
	if free, known := fsys.FreeMemory(); known && free < size+size/memoryBeside {
		done()
		return refusal.New(refusal.TooLittleMemory, phrase.Bytes(size), phrase.Bytes(free), s.Name())
	}
	s.large = func() {
		go func() { // the answer need not wait for that
			debug.FreeOSMemory()
			done()
		}()
	}
	return nil
}

// Drop gives back the place for a change of a large file, if the target has it. The file's
// bytes must not be used any more.
func (t *Target) Drop() {
	if t.large != nil {
		t.large()
		t.large = nil
	}
}

// memoryBeside is the share of a large file's size that a change takes beside its bytes.
const memoryBeside = 8

// acquire waits for the one place of a channel.
func acquire(ctx context.Context, place chan struct{}) (leave func(), err error) {
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// LoadText reads and decodes a file, of at most MaxEditBytes if it is to be changed.
func (l Loader) LoadText(ctx context.Context, session *Session, s *Target, f *fsys.File) (*state.KnownFile, error) {
	c, err := l.Load(session, s, f)
	if e := (*fsys.TooLargeError)(nil); errors.As(err, &e) && s.Op.Changes() {
		c, err = l.loadLarge(ctx, session, s, f)
	}
	if err != nil {
		return nil, err
	}
	return c, Decode(s, c)
}

// Load reads a file of at most state.InMemory.
func (l Loader) Load(session *Session, s *Target, f *fsys.File) (*state.KnownFile, error) {
	raw, stamp, err := f.ReadAll(state.InMemory)
	if err != nil {
		return nil, err
	}
	c := l.loaded(session, s, stamp)
	c.Content, c.Notebook = state.NewContent(raw), IsNotebook(s)
	return c, nil
}

// loadLarge reads a file above state.InMemory, of at most MaxEditBytes, for a change.
func (l Loader) loadLarge(ctx context.Context, session *Session, s *Target, f *fsys.File) (*state.KnownFile, error) {
	stamp, err := f.Stamp()
	switch _, known := session.Files.Get(s.Path); {
	case err != nil:
		return nil, err
	case stamp.Size <= MaxEditBytes: // else it is refused without being read
		if err := l.admitLarge(ctx, s, stamp.Size); err != nil {
			if e := (*refusal.Refusal)(nil); !known && errors.As(err, &e) {
				err = refusal.New(refusal.NotRead, s.Name())
			}
			return nil, err
		}
	}
	raw, stamp, err := f.ReadLarge(MaxEditBytes)
	if err != nil {
		return nil, err
	}
	c := l.loaded(session, s, stamp)
	c.Content = state.NewContent(raw)
	return c, nil
}

// loaded is a file with this stamp beside its record, without its bytes.
func (l Loader) loaded(session *Session, s *Target, stamp fsys.Stamp) *state.KnownFile {
	rec, known := session.Files.Get(s.Path)
	return &state.KnownFile{Path: s.Path, Stamp: stamp, Settled: stamp.Settled(l.Now()), Record: rec, Known: known}
}

// Decode decodes the bytes of a file. It takes the encoding of the record if the file has the
// record's text, or if the stamp proves that the file is unchanged; for a change it is enough
// that the stamp is that of fsmcp's own last change. Otherwise it detects the encoding, and
// takes the record's only if the bytes do not show one (keepsCharset). File.Compare reports
// what differs from the record.
func Decode(s *Target, c *state.KnownFile) (err error) {
	if int64(len(c.Raw)) > state.InMemory {
		return decodeLarge(s, c)
	}
	believed := c.HasText()
	if c.Known && c.Record.Text == nil {
		believed = c.Record.Proves(c.Stamp) || s.Op != perm.Read && c.Record.Stamp.Same(c.Stamp)
	}
	if believed {
		if c.Doc, err = text.DecodeAs(c.Raw, c.Record.Enc); err == nil {
			return nil
		}
	}
	if c.Doc, err = text.Decode(c.Raw); err != nil {
		return refusal.Binary(s.Asked, s.Op.Changes())
	}
	if keepsCharset(c) {
		c.Doc.Enc = c.Record.Enc
	}
	return nil
}

// keepsCharset reports whether an ASCII file is one of the record's charset after a change that
// removed its other characters: all that was shown is in its place.
func keepsCharset(c *state.KnownFile) bool {
	rec := c.Record
	if rec.Text != nil || rec.Enc.IsUTF8() || rec.Enc.HasBOM() || rec.Enc.Units() != span.Narrow || !c.Doc.ASCII() {
		return false
	}
	was, err := state.Compare(c.Content, int64(len(c.Raw)), rec, nil) // from memory
	return err == nil && !was.Changed
}

// decodeLarge makes text of the bytes of a large file, as a Read sees it. A charset other than
// UTF-8 takes memory for the text beside the bytes.
func decodeLarge(s *Target, c *state.KnownFile) error {
	size := int64(len(c.Raw))
	enc, err := text.HeadEncoding(c.Raw[:64<<10], false)
	if free, known := fsys.FreeMemory(); err == nil && !enc.IsUTF8() && known && free < 2*size {
		return refusal.New(refusal.TooLittleMemory, phrase.Bytes(size), phrase.Bytes(free), s.Name())
	}
	if c.Doc, err = text.DecodeLarge(c.Raw); err != nil {
		return refusal.Binary(s.Asked, s.Op.Changes())
	}
	return nil
}

// Parse reads a notebook. One that is broken is text still: what it is held as
// comes beside the *notebook.ParseError.
func (l Loader) Parse(session *Session, s *Target, f *fsys.File) (*state.KnownFile, *notebook.Notebook, error) {
	c, err := l.Load(session, s, f)
	if err != nil {
		return nil, nil, err
	}
	if last, ok := session.LastParsed(c.Path, c.Raw); ok {
		c.Content = last.Content
		return c, last.nb, nil
	}
	if len(c.Raw) > state.KeepText {
		go c.Sum() // it will tell whether the file is still what was shown
	}
	nb, err := notebook.Parse(c.Raw)
	if err != nil {
		if err := Decode(s, c); err != nil {
			return nil, nil, err
		}
		return c, nil, err
	}
	session.keepParsed(Parsed{c.Path, c.Content, nb})
	return c, nb, nil
}
