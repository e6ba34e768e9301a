//go:build linux

package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// watching compares Reads of 1 KB of two servers that take turns: one has read a
// file in each of 500 folders, which it watches, the other in none.
func watching(t *testing.T, r run, b bins, env []string, tb *table) {
	const folders, files = 500, 60
	dir := t.TempDir()
	for i := range files {
		write(t, name(dir, i), bytes.Repeat([]byte("a line of sixty-four bytes, as long as they are in many programs\n"), 17)[:1<<10])
	}
	one := func() *peer {
		p := spawn(t, b.fsmcp, env, "serve", dir)
		p.shake()
		return p
	}
	with, without := one(), one()
	for i := range folders {
		sub := filepath.Join(dir, fmt.Sprint("d", i))
		must(t, os.Mkdir(sub, 0o755))
		write(t, name(sub, 0), []byte("package p\n"))
		with.call("Read", map[string]any{"file_path": name(sub, 0)})
	}
	at := 0
	read := func(p *peer) float64 {
		took, _ := p.call("Read", map[string]any{"file_path": name(dir, at%files)})
		return ms(took)
	}
	var ratios, ours, theirs []float64
	for pair := range r.pairs + 1 {
		var a, b []float64
		for range r.reads {
			at++
			if at%2 == 0 {
				a, b = append(a, read(with)), append(b, read(without))
			} else {
				b, a = append(b, read(without)), append(a, read(with))
			}
		}
		if pair == 0 {
			continue // warming up
		}
		ratios = append(ratios, median(a)/median(b))
		ours, theirs = append(ours, median(a)), append(theirs, median(b))
	}
	tb.row("Read of 1 KB, 500 folders watched, of none", median(ratios), 1.1, "", fmt.Sprintf("median of %d interleaved pairs of %d Reads: %.3f ms against %.3f ms", r.pairs, r.reads, median(ours), median(theirs)))
	with.close()
	without.close()

	// What is written in those folders by others costs an answer its looks.
	late := one()
	var names []string
	for i := range 300 {
		names = append(names, name(filepath.Join(dir, fmt.Sprint("d", i)), 0))
		late.call("Read", map[string]any{"file_path": names[i]})
	}
	var quiet, reported []float64
	for round := range r.pairs {
		took, _ := late.call("Read", map[string]any{"file_path": name(dir, round)})
		quiet = append(quiet, ms(took))
		for _, n := range names {
			write(t, n, fmt.Appendf(nil, "package p%d\n", round))
		}
		took, line := late.call("Read", map[string]any{"file_path": name(dir, round+r.pairs)})
		reported = append(reported, ms(took))
		// What a busy machine has not told by then, later answers tell.
		for begin, more := time.Now(), 2*r.pairs; !bytes.Contains(line, []byte("more files that you have read")); more++ {
			if time.Since(begin) > time.Minute {
				t.Fatalf("nothing was told: %.600s", line)
			}
			_, line = late.call("Read", map[string]any{"file_path": name(dir, more%files)})
		}
	}
	late.close()
	tb.note("Read that tells of 300 changed files", median(reported), "ms", fmt.Sprintf("median of %d, without any %.3f ms", len(reported), median(quiet)))
}
