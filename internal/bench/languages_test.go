//go:build linux

package bench

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
)

// languages compares Edits of a file that no language server is for in two sessions that
// take turns: one with language servers on, one without.
func languages(t *testing.T, r run, b bins, env []string, tb *table) {
	dir, home := t.TempDir(), t.TempDir()
	settings := filepath.Join(home, "settings.json")
	write(t, settings, []byte(`{"lsp": "auto"}`))
	with := spawn(t, b.fsmcp, env, "serve", "--settings", settings, dir)
	without := spawn(t, b.fsmcp, env, "serve", dir)
	count := make(map[*peer]int)
	for i, p := range []*peer{with, without} {
		p.shake()
		write(t, name(dir, i), append([]byte("count 0;\n"), bytes.Repeat([]byte("0123456789abcde\n"), 64)...))
		p.call("Read", map[string]any{"file_path": name(dir, i)})
	}
	edit := func(i int, p *peer) float64 {
		took, _ := p.call("Edit", map[string]any{"file_path": name(dir, i), "old_string": fmt.Sprintf("count %d;", count[p]), "new_string": fmt.Sprintf("count %d;", count[p]+1)})
		count[p]++
		return ms(took)
	}
	edits := r.edits / 2
	var ratios, on, off []float64
	for pair := range r.pairs + 1 {
		var w, o []float64
		for i := range edits {
			if i%2 == 0 {
				w, o = append(w, edit(0, with)), append(o, edit(1, without))
			} else {
				o, w = append(o, edit(1, without)), append(w, edit(0, with))
			}
		}
		if pair == 0 {
			continue // warming up
		}
		ratios = append(ratios, median(w)/median(o))
		on, off = append(on, median(w)), append(off, median(o))
	}
	with.close()
	without.close()
	tb.row("Edit with language servers on, none for the file, times off", median(ratios), 1.02, "x",
		fmt.Sprintf("median of %d pairs of %d Edits: %.3f ms against %.3f ms", r.pairs, edits, median(on), median(off)))
}
