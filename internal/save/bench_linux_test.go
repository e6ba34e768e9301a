//go:build !fsys_portable

package save

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The cost of safety: a 1 KB file replaced with all guarantees, beside the least
// that a program must do to survive a loss of power.
func BenchmarkReplace1K(b *testing.B) {
	content := bytes.Repeat([]byte("x"), 1024)
	b.Run("full", func(b *testing.B) { benchReplace(b, Full, content) })
	b.Run("bare", func(b *testing.B) { benchBare(b, content) })
	b.Run("none", func(b *testing.B) { benchReplace(b, None, content) })
	// Interleaved, so that a noisy disk treats both alike.
	b.Run("difference", func(b *testing.B) {
		d := newTestFolder(b, func(o *Options) { o.Durability = Full })
		path := d.put("file", string(content))
		dir, _ := os.Open(d.dir)
		defer dir.Close()
		var safe, bare time.Duration
		for b.Loop() {
			start := time.Now()
			if _, err := whole(d.save, path, string(content)); err != nil {
				b.Fatal(err)
			}
			middle := time.Now()
			bareReplace(b, dir, d.dir, content)
			safe, bare = safe+middle.Sub(start), bare+time.Since(middle)
		}
		b.ReportMetric(float64(safe.Microseconds())/float64(b.N), "us-safe/op")
		b.ReportMetric(float64(bare.Microseconds())/float64(b.N), "us-bare/op")
		b.ReportMetric(float64((safe-bare).Microseconds())/float64(b.N), "us-more/op")
	})
}

func benchReplace(b *testing.B, how Durability, content []byte) {
	d := newTestFolder(b, func(o *Options) { o.Durability = how })
	path := d.put("file", string(content))
	settle()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := whole(d.save, path, string(content)); err != nil {
			b.Fatal(err)
		}
	}
}

func benchBare(b *testing.B, content []byte) {
	d := newTestFolder(b)
	dir, _ := os.Open(d.dir)
	defer dir.Close()
	for b.Loop() {
		bareReplace(b, dir, d.dir, content)
	}
}

func bareReplace(b *testing.B, dir *os.File, path string, content []byte) {
	f, err := os.Create(filepath.Join(path, "temp"))
	if err != nil {
		b.Fatal(err)
	}
	f.Write(content)
	f.Sync()
	f.Close()
	os.Rename(filepath.Join(path, "temp"), filepath.Join(path, "bare"))
	dir.Sync()
}

// What a lock takes of a change, which opens and closes its file.
func BenchmarkLock(b *testing.B) {
	d := newTestFolder(b)
	t := target(b, d.put("file", ""))
	for b.Loop() {
		l, err := d.save.Lock(b.Context(), t)
		if err != nil {
			b.Fatal(err)
		}
		l.Unlock()
	}
}
