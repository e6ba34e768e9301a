package state

import (
	"crypto/sha256"
	"hash"
	"sync"
	"sync/atomic"

	"github.com/fsmcp/fsmcp/internal/span"
)

// Content holds the bytes of a file and their SHA-256, which is worked out once, when it
// is first asked for. It is safe for concurrent use; the bytes must not change.
type Content struct {
	Raw  []byte // of new bytes that are too many to be kept: nil
	once sync.Once
	sum  Sum
	// from and splices make new bytes.
	from    *Content
	splices []span.Splice
	// next are new bytes that are hashed together with these.
	next atomic.Pointer[Content]
}

// NewContent returns the content of a file in memory.
func NewContent(raw []byte) *Content {
	if raw == nil {
		raw = []byte{} // which are known
	}
	return &Content{Raw: raw}
}

// ReadAt implements io.ReaderAt.
func (c *Content) ReadAt(b []byte, at int64) (int, error) { return Memory(c.Raw).ReadAt(b, at) }

// hashAside is the size in bytes from which hashing is worth a goroutine.
const hashAside = 32 << 10

// Spliced returns the new content that splices make; its bytes are kept up to a size. A
// large one is hashed on the side, together with the old one: both begin alike, and that
// is hashed once.
func (c *Content) Spliced(splices []span.Splice, keep int64) *Content {
	now := &Content{from: c, splices: splices}
	size := int64(len(c.Raw)) + span.Growth(splices)
	if size <= keep {
		now.Raw = span.Apply(c.Raw, splices)
	}
	if size <= hashAside && now.Raw != nil {
		now.from = nil
		return now
	}
	c.next.Store(now)
	go now.Sum()
	return now
}

// Sum returns the SHA-256 of the bytes.
func (c *Content) Sum() Sum {
	if now := c.next.Load(); now != nil {
		now.Sum()
	}
	c.once.Do(func() {
		if c.from == nil {
			c.sum = sha256.Sum256(c.Raw)
			return
		}
		c.sum = c.from.sumWith(c.splices)
		c.from.next.CompareAndSwap(c, nil)
		c.from, c.splices = nil, nil // else each content would keep all before it
	})
	return c.sum
}

// sumWith hashes the bytes, and returns the hash of those that splices make of them.
func (c *Content) sumWith(splices []span.Splice) (now Sum) {
	head, old := splices[0].Start, int64(len(c.Raw))
	h := sha256.New()
	h.Write(c.Raw[:head])
	twin, err := h.(hash.Cloner).Clone()
	if err != nil {
		panic(err) // a SHA-256 can be cloned
	}
	var tail sync.WaitGroup
	tail.Go(func() {
		c.once.Do(func() {
			h.Write(c.Raw[head:])
			h.Sum(c.sum[:0])
		})
	})
	_ = span.Copy(twin, Memory(c.Raw), old, splices, span.Span{Start: head, End: old + span.Growth(splices)}) // from memory
	twin.Sum(now[:0])
	tail.Wait()
	return now
}
