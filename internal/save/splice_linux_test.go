//go:build !fsys_portable

package save

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// naive applies splices to bytes in memory.
func naive(old []byte, c []span.Splice) []byte {
	var b []byte
	at := int64(0)
	for _, s := range c {
		b = append(append(b, old[at:s.Start]...), s.New...)
		at = s.End
	}
	return append(b, old[at:]...)
}

// Bytes outside the splices stay, whichever way they are written.
func TestSplicesProperty(t *testing.T) {
	parent := memory(t)
	for name, system := range systems {
		t.Run(name, func(t *testing.T) {
			d := newTestFolderIn(t, parent)
			d.open(func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })
			rapid.Check(t, func(rt *rapid.T) {
				old := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(rt, "old")
				cuts := rapid.SliceOfN(rapid.Int64Range(0, int64(len(old))), 0, 12).Draw(rt, "cuts")
				slices.Sort(cuts)
				var c []span.Splice
				for i := 0; i+1 < len(cuts); i += 2 {
					c = append(c, span.Splice{Start: cuts[i], End: cuts[i+1], New: rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(rt, "new")})
				}
				path := d.put("f", string(old))
				if _, err := change(d.save, path, func([]byte) ([]span.Splice, error) { return c, nil }); err != nil {
					rt.Fatal(err)
				}
				if want := naive(old, c); d.get("f") != string(want) {
					rt.Fatalf("%q, want %q", d.get("f"), want)
				}
				d.wantNames("f")
			})
		})
	}
}

// Long files go through buffers, past them, and through the system's own copying.
func TestSplicesOfLongFiles(t *testing.T) {
	sizes := []int{sys.BufferSize - 1, sys.BufferSize, sys.BufferSize + 1, sys.RangeWorth, 3*sys.RangeWorth + 7}
	for name, calls := range map[string]sys.Sys{
		"system": nil,
		"no copying by the system": hooked{before: func(c call) error {
			if c.name == "CopyRange" {
				return unix.EXDEV
			}
			return nil
		}},
		"network":  hooked{before: func(call) error { return nil }, network: true},
		"in place": hooked{before: systems["in-place"].before},
		"in gulps": gulps{hooked{before: func(call) error { return nil }}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			d.open(func(o *Options) { o.Sys = calls })
			for _, size := range sizes {
				old := noise(size)
				at := func() int64 { return rand.Int64N(int64(size)) }
				cuts := []int64{at(), at(), at(), at()}
				slices.Sort(cuts)
				c := []span.Splice{{Start: cuts[0], End: cuts[1], New: noise(sys.BufferSize + 3)}, {Start: cuts[2], End: cuts[3], New: []byte("short")}}
				path := d.put("f", string(old))
				_, err := transact(d.save, path, func(x *Txn) (Written, error) { return x.Replace(t.Context(), c) })
				if err != nil {
					t.Fatal(err)
				}
				if d.get("f") != string(naive(old, c)) {
					t.Errorf("size %d, cuts %v: wrong content", size, cuts)
				}
			}
		})
	}
}

func noise(n int) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, rand.Uint64())
	}
	return b[:n]
}

// gulps reads and writes less than it is asked to.
type gulps struct{ hooked }

func (g gulps) Pread(fd int, p []byte, off int64) (int, error) {
	return g.hooked.Pread(fd, p[:(len(p)+2)/3], off)
}

func (g gulps) Pwrite(fd int, p []byte, off int64) (int, error) {
	return g.hooked.Pwrite(fd, p[:(len(p)+1)/2], off)
}

func (g gulps) CopyRange(from int, fromOff int64, to int, toOff, n int64) (int64, error) {
	return g.hooked.CopyRange(from, fromOff, to, toOff, (n+4)/5)
}

// Memory does not grow with the file.
func TestReplaceInConstantMemory(t *testing.T) {
	for name, network := range map[string]bool{"system": false, "network": true} {
		t.Run(name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			d.open(func(o *Options) { o.Sys = hooked{before: func(call) error { return nil }, network: network} })
			path := d.put("f", "")
			if err := os.Truncate(path, 64<<20); err != nil {
				t.Fatal(err)
			}
			x, err := d.save.Begin(t.Context(), target(t, path))
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := x.Replace(t.Context(), []span.Splice{{Start: 32 << 20, End: 32<<20 + 1, New: []byte("x")}}); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
				t.Errorf("%d bytes were allocated", used)
			}
		})
	}
}

func TestBadSplices(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "0123456789")
	for _, c := range [][]span.Splice{
		{{Start: -1, End: 2, New: nil}}, {{Start: 3, End: 2, New: nil}}, {{Start: 0, End: 11, New: nil}}, {{Start: 0, End: 5, New: nil}, {Start: 4, End: 6, New: nil}}, {{Start: 5, End: 6, New: nil}, {Start: 0, End: 1, New: nil}},
	} {
		if _, err := change(d.save, path, func([]byte) ([]span.Splice, error) { return c, nil }); err == nil {
			t.Errorf("%v was taken", c)
		}
	}
	d.want("f", "0123456789")
}
