package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkTree looks at 5,000 files in 250 folders that stay as they are.
func BenchmarkTree(b *testing.B) {
	root := b.TempDir()
	for d := range 250 {
		dir := filepath.Join(root, fmt.Sprint(d%30), fmt.Sprint(d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 20 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f, ".go")), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	t := newTree(root, func(string) bool { return true })
	if t.files != 5_000 {
		b.Fatalf("%d files", t.files)
	}
	for b.Loop() {
		if all := t.changes(nil); len(all) > 0 {
			b.Fatal(all)
		}
	}
}
