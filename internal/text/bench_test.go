package text

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// sourceLike is n bytes of lines of the lengths that source files have.
func sourceLike(n int, seed int64) []byte {
	r := rand.New(rand.NewSource(seed))
	b := make([]byte, 0, n+200)
	for len(b) < n {
		for range r.Intn(80) {
			b = append(b, byte(' '+r.Intn(95)))
		}
		b = append(b, '\n')
	}
	return b[:n]
}

func BenchmarkDecode(b *testing.B) {
	cjk := bytes.Repeat([]byte("這是一個測試，用來看速度。 A line\n"), 200<<10/45)
	legacy, _ := charset.Encoding{Set: charset.Windows1252}.Encode(string(bytes.Repeat([]byte("Größe des Puffers für alle Fälle\n"), 200<<10/36)))
	for name, raw := range map[string][]byte{
		"1KB": sourceLike(1<<10, 1), "200KB": sourceLike(200<<10, 1), "200KB-cjk": cjk, "200KB-windows-1252": legacy,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPage(b *testing.B) {
	cjk := bytes.Repeat([]byte("這是一個測試，用來看速度。 A line\n"), 200<<10/45)
	for name, raw := range map[string][]byte{
		"1KB": sourceLike(1<<10, 1), "200KB": sourceLike(200<<10, 1), "200KB-cjk": cjk,
		"200KB-crlf": bytes.ReplaceAll(sourceLike(195<<10, 1), []byte("\n"), []byte("\r\n")),
	} {
		b.Run(name, func(b *testing.B) {
			d, err := Decode(raw)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if p := d.Page(1, 0, 1<<20); p.Last == 0 {
					b.Fatal("no lines")
				}
			}
		})
	}
	b.Run("200KB-copy-alone", func(b *testing.B) {
		raw := sourceLike(200<<10, 1)
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n += len(append([]byte(nil), raw...))
		}
		_ = n
	})
}

// logFile is a file of size bytes with lines of about 100.
func logFile(tb testing.TB, size int) (*os.File, int) {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "log")
	var b bytes.Buffer
	lines := 0
	for ; b.Len() < size; lines++ {
		fmt.Fprintf(&b, "2024-05-06T07:08:09.%06d INFO request served path=/api/v1/items/%d status=200 took=%dms\n", lines%1000000, lines*7919, lines%977)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f, lines
}

// BenchmarkScan compares reaching a page deep in a file of 100 MB with reading
// the file once, and with the second page.
func BenchmarkScan(b *testing.B) {
	const size = 100 << 20
	f, lines := logFile(b, size)
	st, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	deep := min(1_000_000, lines-2000)
	b.Run("plain-read", func(b *testing.B) {
		buf := make([]byte, scanChunk)
		b.SetBytes(st.Size())
		for b.Loop() {
			for off := int64(0); off < st.Size(); off += int64(len(buf)) {
				if _, err := f.ReadAt(buf, off); err != nil && err != io.EOF {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("first-page", func(b *testing.B) {
		b.SetBytes(st.Size())
		b.ReportAllocs()
		for b.Loop() {
			s, err := NewScan(ctx, f, st.Size())
			if err != nil {
				b.Fatal(err)
			}
			if p, err := s.Page(ctx, f, deep, 200, 0, 0); err != nil || p.First != deep {
				b.Fatal(p.First, err)
			}
		}
	})
	s, err := NewScan(ctx, f, st.Size())
	if err != nil {
		b.Fatal(err)
	}
	for _, limit := range []int{200, 2000} {
		if _, err := s.Page(ctx, f, deep, limit, 0, time.Minute); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("second-page-%d-lines", limit), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p, err := s.Page(ctx, f, deep, limit, 0, 0); err != nil || p.First != deep {
					b.Fatal(p.First, err)
				}
			}
		})
	}
}
