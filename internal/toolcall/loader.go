package toolcall

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Loader reads files as a whole.
type Loader struct {
	Now func() time.Time
	// heavy admits one scan of a big file at a time, so that the others stay quick, and
	// large one change of a file above state.InMemory, which takes its size in memory.
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

// AdmitChange waits for the one place for a change of a large file, and refuses it if it
// would take more memory than the system has to give. leave returns that memory.
func (l Loader) AdmitChange(ctx context.Context, s *Target) (leave func(), err error) {
	size := s.Stamp.Size
	if size <= state.InMemory || size > MaxEditBytes || s.Op == perm.NotebookEdit {
		return func() {}, nil
	}
	done, err := acquire(ctx, l.large)
	if err != nil {
		return nil, err
	}
	if free, known := fsys.FreeMemory(); known && free < size+size/memoryBeside {
		done()
		return nil, refusal.New(refusal.TooLittleMemory, phrase.Bytes(size), phrase.Bytes(free), s.Name())
	}
	return func() {
		go func() { // the answer need not wait for that
			debug.FreeOSMemory()
			done()
		}()
	}, nil
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
func (l Loader) LoadText(session *Session, s *Target, f *fsys.File) (*state.File, error) {
	limit := int64(state.InMemory)
	if s.Op.Changes() {
		limit = MaxEditBytes
	}
	c, err := l.load(session, s, f, limit)
	if err != nil {
		return nil, err
	}
	return c, Decode(s, c)
}

// Load reads a file of at most state.InMemory.
func (l Loader) Load(session *Session, s *Target, f *fsys.File) (*state.File, error) {
	return l.load(session, s, f, state.InMemory)
}

func (l Loader) load(session *Session, s *Target, f *fsys.File, limit int64) (*state.File, error) {
	read := f.ReadAll
	if f.Opened().Size > state.InMemory {
		debug.FreeOSMemory() // that of a file which was read before
		read = f.ReadLarge
	}
	raw, stamp, err := read(limit)
	settled := stamp.Settled(l.Now())
	if err != nil {
		return nil, err
	}
	rec, known := session.Files.Get(s.Path)
	return &state.File{Content: state.NewContent(raw), Path: s.Path, Stamp: stamp, Settled: settled, Record: rec, Known: known}, nil
}

// Decode makes text of the bytes. A change believes the encoding that was shown,
// which the gate checks; a Read looks for itself at a file that may have changed.
func Decode(s *Target, c *state.File) (err error) {
	if len(c.Raw) > state.InMemory {
		return decodeLarge(s, c)
	}
	believed := c.HasText()
	if c.Known && c.Record.Text == nil {
		believed = s.Op != perm.Read || c.Record.Proves(c.Stamp)
	}
	if believed {
		if c.Doc, err = text.DecodeAs(c.Raw, c.Record.Enc); err == nil {
			return nil
		}
	}
	if c.Doc, err = text.Decode(c.Raw); err != nil {
		return refusal.Binary(s.Asked, s.Op.Changes())
	}
	return nil
}

// decodeLarge makes text of the bytes of a large file, as a Read sees it. A charset other than
// UTF-8 takes memory for the text beside the bytes.
func decodeLarge(s *Target, c *state.File) error {
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
func (l Loader) Parse(session *Session, s *Target, f *fsys.File) (*state.File, *notebook.Notebook, error) {
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
