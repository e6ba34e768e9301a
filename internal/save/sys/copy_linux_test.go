//go:build !fsys_portable

package sys

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/fsmcp/fsmcp/internal/span"
)

// TestCopySpliced compares it with Apply, for sizes on both sides of that from which writers are
// used again: several at once, and each after one that failed with bytes in its writer.
func TestCopySpliced(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i, size := range []int{0, 1, BufferSize - 1, BufferSize, BufferSize + 1, 3*BufferSize + 17} {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range 5 {
				copySpliced(t, r, dir, size)
			}
		})
	}
	all.Wait()
}

func copySpliced(t *testing.T, r *rand.Rand, dir string, size int) {
	old := make([]byte, size)
	for i := range old {
		old[i] = byte(r.Uint32())
	}
	var splices []span.Splice
	for at := 0; at < size; at += 1 + r.IntN(size/3+1) {
		s := span.Splice{Start: int64(at), End: int64(at + r.IntN(size-at+1)/4), New: old[r.IntN(size):]}
		splices, at = append(splices, s), int(s.End)
	}
	from, to := openNew(t, dir), openNew(t, dir)
	if _, err := from.Write(old); err != nil {
		t.Error(err)
	}
	short := &Writer{Sys: New(nil), FD: int(to.Fd())}
	if err := short.CopySpliced(int(from.Fd()), int64(size)+BufferSize, nil); err != ErrEnded {
		t.Errorf("a file that is too short: %v", err)
	}
	if err := to.Truncate(0); err != nil {
		t.Error(err)
	}
	w := &Writer{Sys: New(nil), FD: int(to.Fd())}
	if err := w.CopySpliced(int(from.Fd()), int64(size), splices); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(to.Name())
	if want := span.Apply(old, splices); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %d splices: got %d bytes, not %d, or other ones: %v", size, len(splices), len(got), len(want), err)
	}
}

func openNew(t *testing.T, dir string) *os.File {
	f, err := os.CreateTemp(dir, filepath.Base(t.Name()))
	if err != nil {
		t.Error(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
