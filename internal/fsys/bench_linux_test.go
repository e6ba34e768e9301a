package fsys

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// BenchmarkRead is the usual read: resolve, look, open, read 1 KB, close.
func BenchmarkRead(b *testing.B) {
	name := filepath.Join(b.TempDir(), "a.txt")
	if err := os.WriteFile(name, []byte(strings.Repeat("x", 1024)), 0o644); err != nil {
		b.Fatal(err)
	}
	p, err := Lexer{OS: runtime.GOOS}.Parse(name)
	if err != nil {
		b.Fatal(err)
	}
	for _, way := range ways() {
		b.Run(way.name, func(b *testing.B) {
			r := way.resolver()
			b.ReportAllocs()
			for b.Loop() {
				target, err := r.Resolve(p)
				if err != nil {
					b.Fatal(err)
				}
				f, err := target.Open()
				if err != nil {
					b.Fatal(err)
				}
				content, _, err := f.ReadAll(1 << 20)
				if err != nil || len(content) != 1024 {
					b.Fatal(len(content), err)
				}
				f.Close()
				target.Close()
			}
		})
	}
	b.Run("os.ReadFile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := os.ReadFile(name); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkResolve is a second look at a name, as every change takes one.
func BenchmarkResolve(b *testing.B) {
	name := filepath.Join(b.TempDir(), "a.txt")
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		b.Fatal(err)
	}
	resolveAgain(b, name)
}

func BenchmarkParse(b *testing.B) {
	l := Lexer{OS: "linux", Home: "/home/u", Base: "/home/u/proj"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Parse("/home/u/proj/internal/server/decode.go"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkResolveLinked measures a workspace behind a link.
func BenchmarkResolveLinked(b *testing.B) {
	dir := b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "real/src"), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real/src/a.txt"), nil, 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		b.Fatal(err)
	}
	resolveAgain(b, filepath.Join(dir, "link/src/a.txt"))
}

// resolveAgain measures how a name is resolved.
func resolveAgain(b *testing.B, name string) {
	b.Helper()
	p, err := Lexer{OS: runtime.GOOS}.Parse(name)
	if err != nil {
		b.Fatal(err)
	}
	r := NewResolver()
	b.ReportAllocs()
	for b.Loop() {
		target, err := r.Resolve(p)
		if err != nil {
			b.Fatal(err)
		}
		target.Close()
	}
}
