//go:build !fsys_portable

package save

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// The cost of safety: a thousand files moved, or removed, in one call, beside a bare program
// that does the same and syncs: each folder once, or for removals also a copy of all bytes.
func BenchmarkNames1000(b *testing.B) {
	for _, c := range []struct {
		name       string
		safe, bare func(b *testing.B, dir string)
	}{{"move", safeMoves, bareMoves}, {"remove", safeRemovals, bareRemovals}} {
		b.Run(c.name, func(b *testing.B) {
			var safe, bare time.Duration
			for b.Loop() {
				for _, f := range []struct {
					do   func(*testing.B, string)
					took *time.Duration
				}{{c.safe, &safe}, {c.bare, &bare}} {
					dir := b.TempDir()
					os.Mkdir(filepath.Join(dir, "to"), 0o755)
					for i := range 1000 {
						os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), make([]byte, 1024), 0o644)
					}
					settle()
					begin := time.Now()
					f.do(b, dir)
					*f.took += time.Since(begin)
				}
			}
			b.ReportMetric(float64(safe.Milliseconds())/float64(b.N), "ms-safe/op")
			b.ReportMetric(float64(bare.Milliseconds())/float64(b.N), "ms-bare/op")
			b.ReportMetric(float64(safe)/float64(bare), "ratio")
		})
	}
}

func benchNames(b *testing.B) (*Saver, *NamesTxn) {
	s := New(Options{StateDir: b.TempDir(), Durability: Full})
	n, err := s.Names(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	return s, n
}

func benchEntry(b *testing.B, path string) *fsys.Target {
	t, err := entryOf(path)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

func safeMoves(b *testing.B, dir string) {
	s, n := benchNames(b)
	defer s.Close()
	defer n.Close()
	for i := range 1000 {
		from, to := benchEntry(b, filepath.Join(dir, fmt.Sprint("f", i))), benchEntry(b, filepath.Join(dir, "to", fmt.Sprint("f", i)))
		if _, err := n.Move(context.Background(), from, to); err != nil {
			b.Fatal(err)
		}
		from.Close()
		to.Close()
	}
	n.Finish()
}

func syncDir(dir string) {
	d, _ := os.Open(dir)
	d.Sync()
	d.Close()
}

func bareMoves(b *testing.B, dir string) {
	for i := range 1000 {
		os.Rename(filepath.Join(dir, fmt.Sprint("f", i)), filepath.Join(dir, "to", fmt.Sprint("f", i)))
	}
	syncDir(dir)
	syncDir(filepath.Join(dir, "to"))
}

func safeRemovals(b *testing.B, dir string) {
	s, n := benchNames(b)
	defer s.Close()
	defer n.Close()
	kept, _ := os.Create(filepath.Join(dir, "to", "kept"))
	defer kept.Close()
	var all []*Removal
	for i := range 1000 {
		t := benchEntry(b, filepath.Join(dir, fmt.Sprint("f", i)))
		r, err := n.Look(context.Background(), t, false, func(Item) error { return nil })
		t.Close()
		if err == nil {
			err = r.Keep(context.Background(), func(k Kept) (Deposit, error) {
				buf := make([]byte, k.Stamp.Size)
				k.Content.ReadAt(buf, 0)
				kept.Write(buf)
				return Deposit{}, nil
			})
		}
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, r)
	}
	kept.Sync()
	for _, r := range all {
		if err := n.Remove(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
	n.Finish()
}

func bareRemovals(b *testing.B, dir string) {
	kept, _ := os.Create(filepath.Join(dir, "to", "kept"))
	defer kept.Close()
	for i := range 1000 {
		buf, _ := os.ReadFile(filepath.Join(dir, fmt.Sprint("f", i)))
		kept.Write(buf)
	}
	kept.Sync()
	for i := range 1000 {
		os.Remove(filepath.Join(dir, fmt.Sprint("f", i)))
	}
	syncDir(dir)
}
