//go:build linux

package bench

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// historyCost compares edits of two files of 20 KB that take turns: one is kept
// in the history, the other has a name that is not.
func historyCost(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	env = append(env, "HOME="+t.TempDir())
	line := func(i int) string {
		return fmt.Sprintf("\tif x%d := f(%d); x%d > 0 { // and what follows\n", i, i*7919, i)
	}
	var text bytes.Buffer
	for i := 0; text.Len() < 20_000; i++ {
		text.WriteString(line(i))
	}
	edit := func(p *peer, name string, i int) float64 {
		old, new := fmt.Sprintf("value = %06d", i), fmt.Sprintf("value = %06d", i+1)
		took, _ := p.call("Edit", map[string]any{"file_path": filepath.Join(dir, name), "old_string": old, "new_string": new})
		return ms(took)
	}
	names := []string{"kept.go", "off.pem"}
	p := spawn(t, b.fsmcp, env, "serve", dir)
	p.shake()
	for _, name := range names {
		write(t, filepath.Join(dir, name), append(bytes.Clone(text.Bytes()), "value = 000000\n"...))
		p.call("Read", map[string]any{"file_path": filepath.Join(dir, name)})
	}
	var more, with, without []float64
	for i := range r.edits {
		var took [2]float64
		for k := range names {
			k = (k + i) % 2 // neither is always the first
			took[k] = edit(p, names[k], i)
		}
		if i < r.edits/10 {
			continue
		}
		with, without = append(with, took[0]), append(without, took[1])
		more = append(more, took[0]-took[1])
	}
	p.close()
	tb.row("Edit in 20 KB, more than without history", median(more), 0.5, "ms", fmt.Sprintf("median of %d pairs: %.3f ms against %.3f ms", len(more), median(with), median(without)))

	// The first edit of a file keeps all of it.
	p = spawn(t, b.fsmcp, env, "serve", dir)
	p.shake()
	more, with, without = nil, nil, nil
	for i := range r.edits / 2 {
		var took [2]float64
		for k := range names {
			k = (k + i) % 2
			name := fmt.Sprintf("%d-%s", i, names[k])
			write(t, filepath.Join(dir, name), append(fmt.Appendf(nil, "// %d\n", i*7), append(bytes.Clone(text.Bytes()), "value = 000000\n"...)...))
			p.call("Read", map[string]any{"file_path": filepath.Join(dir, name)})
			took[k] = edit(p, name, 0)
		}
		if i < r.edits/20 {
			continue
		}
		with, without = append(with, took[0]), append(without, took[1])
		more = append(more, took[0]-took[1])
	}
	p.close()
	tb.row("the same, the first edit of each file", median(more), 0.5, "ms", fmt.Sprintf("median of %d pairs: %.3f ms against %.3f ms", len(more), median(with), median(without)))
}

// historySize measures the history of a thousand one-line edits of a file of 200 KB.
func historySize(t *testing.T, r run, b bins, env []string, tb *table) {
	dir, home := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "big.go")
	var text bytes.Buffer
	lines := 0
	for ; text.Len() < 200_000; lines++ {
		fmt.Fprintf(&text, "\tline(%06d) = f(%d) // with something behind it\n", lines, lines*lines*7919%100003)
	}
	write(t, file, text.Bytes())
	p := spawn(t, b.fsmcp, append(env, "HOME="+home, "FSMCP_DURABILITY=none"), "serve", dir)
	p.shake()
	for at := 1; at <= lines; at += 1000 {
		p.call("Read", map[string]any{"file_path": file, "offset": at, "limit": 1000})
	}
	edits := min(1000, 3*r.edits)
	if r.full {
		edits = 1000
	}
	for i := range edits {
		n := i * 7919 % lines
		p.call("Edit", map[string]any{"file_path": file, "old_string": fmt.Sprintf("line(%06d) = ", n), "new_string": fmt.Sprintf("line(%06d) = g%d + ", n, i)})
	}
	p.close()
	size := 0.0
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err == nil {
			size += float64(info.Size())
		}
		return err
	})
	must(t, err)
	tb.row(fmt.Sprintf("history of %d edits of one line in 200 KB", edits), size/1e6, 10, "MB", fmt.Sprintf("%.0f bytes an edit", size/float64(edits)))
}
