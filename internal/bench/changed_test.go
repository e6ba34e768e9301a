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

// changedReads compares Reads of files that another program has just changed, and
// of files that stay as they are, with a floor that reads the file and numbers its
// lines.
func changedReads(t *testing.T, r run, b bins, env []string, tb *table) {
	sizes := []int{1 << 10, 100_000, 200_000}
	if !r.full {
		sizes = sizes[1:2]
	}
	for _, size := range sizes {
		readsBesideFloor(t, r, b, env, tb, size, true, 1.2)
		readsBesideFloor(t, r, b, env, tb, size, false, 1.2)
	}
}

// readsBesideFloor prints one row: files take turns, so that no answer is the stub of
// an unchanged re-read. Below 100 KB it gives no verdict, since the two processes'
// system calls outweigh what they do with the bytes.
func readsBesideFloor(t *testing.T, r run, b bins, env []string, tb *table, size int, changes bool, bound float64) {
	const files = 60
	dir := t.TempDir()
	text := programText(size)
	ours, floor := spawn(t, b.fsmcp, env, "serve", dir), spawn(t, b.floor, env)
	ours.shake()
	floor.shake()
	var ratios, read, least []float64
	for i := range r.reads {
		path := name(dir, i%files)
		if changes || i < files {
			write(t, path, changedText(text, i))
		}
		took, line := ours.call("Read", map[string]any{"file_path": path})
		if len(line) < size {
			t.Fatalf("a Read of %d bytes answered %.300s", size, line)
		}
		leastTook, _ := floor.call("echo", map[string]any{"lines": path, "offset": 1, "limit": 2000})
		if i < files { // the first Read of each file
			continue
		}
		read, least = append(read, ms(took)), append(least, ms(leastTook))
		ratios = append(ratios, float64(took)/float64(leastTook))
	}
	ours.close()
	floor.close()
	what := fmt.Sprintf("Read %d KB, changed, times the floor's read", size/1000)
	if !changes {
		what = fmt.Sprintf("Read %d KB, unchanged, times the floor's read", size/1000)
	}
	how := fmt.Sprintf("median of %d pairs: %.3f ms against %.3f ms", len(read), median(read), median(least))
	if size < 100_000 {
		tb.note(what, median(ratios), "x", how)
		return
	}
	tb.row(what, median(ratios), bound, "x", how)
}

// programText is size bytes of lines with characters that JSON escapes.
func programText(size int) []byte {
	line := "a line of one hundred bytes, with \"quotes\", <tags> & a \\ as program text has them, to the very end\n"
	return bytes.Repeat([]byte(line), size/len(line)+1)[:size]
}

// changedText is text with another number in its first line.
func changedText(text []byte, i int) []byte {
	out := bytes.Clone(text)
	copy(out, fmt.Sprintf("%09d", i))
	return out
}

// readsInFlight compares how long 16 Reads sent at once take with the floor's.
func readsInFlight(t *testing.T, r run, b bins, env []string, tb *table) {
	const flight = 16
	dir := t.TempDir()
	text := programText(100_000)
	ours, floor := spawn(t, b.fsmcp, env, "serve", dir), spawn(t, b.floor, env)
	ours.shake()
	floor.shake()
	round := func(p *peer, requests []byte) time.Duration {
		begin := time.Now()
		go p.in.Write(requests)
		for range flight {
			if line := p.line(); bytes.Contains(line, []byte(`"isError":true`)) {
				t.Fatalf("answered %.300s", line)
			}
		}
		return time.Since(begin)
	}
	var ratios, read, echo []float64
	for i := range r.reads / flight {
		var reads, echoes []byte
		for j := range flight {
			path := name(dir, j)
			write(t, path, changedText(text, i))
			reads = append(reads, ours.request("Read", map[string]any{"file_path": path})...)
			echoes = append(echoes, floor.request("echo", map[string]any{"lines": path, "offset": 1, "limit": 2000})...)
		}
		took, echoTook := round(ours, reads), round(floor, echoes)
		if i == 0 {
			continue
		}
		ratios = append(ratios, float64(took)/float64(echoTook))
		read, echo = append(read, ms(took)), append(echo, ms(echoTook))
	}
	ours.close()
	floor.close()
	tb.row("16 Reads of 100 KB at once, times the floor", median(ratios), 1/0.9, "x",
		fmt.Sprintf("median of %d rounds: %.2f ms against %.2f ms", len(ratios), median(read), median(echo)))
}

// changedBigReads reads 100 lines of a 10 MB file after each change of it.
func changedBigReads(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	path := filepath.Join(dir, "big.log")
	writeLines(t, path, 100_000)
	ours, floor := spawn(t, b.fsmcp, env, "serve", dir), spawn(t, b.floor, env)
	ours.shake()
	floor.shake()
	var ratios, read, echo []float64
	for i := range r.edits {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		must(t, err)
		_, err = fmt.Fprintf(f, "%09d", i)
		must(t, err)
		must(t, f.Close())
		took, _ := ours.call("Read", map[string]any{"file_path": path, "offset": 50_000, "limit": 100})
		echoTook, _ := floor.call("echo", map[string]any{"lines": path, "offset": 50_000, "limit": 100})
		if i == 0 {
			continue
		}
		ratios = append(ratios, float64(took)/float64(echoTook))
		read, echo = append(read, ms(took)), append(echo, ms(echoTook))
	}
	ours.close()
	floor.close()
	tb.row("Read 100 lines of 10 MB that changed, times the floor", median(ratios), 2, "x", fmt.Sprintf("median of %d pairs: %.3f ms against %.3f ms", len(ratios), median(read), median(echo)))
}

// lineEdit edits one line in 10 MB, beside the least that a program does for that.
func lineEdit(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	path, plain := filepath.Join(dir, "big.log"), filepath.Join(dir, "plain.log")
	writeLines(t, path, 100_000)
	writeLines(t, plain, 100_000)
	p := spawn(t, b.fsmcp, env, "serve", dir)
	p.shake()
	p.call("Read", map[string]any{"file_path": path, "offset": 50_000, "limit": 5})
	var ratios, ours, floor []float64
	for i := range max(r.bigs*3, 3) {
		old, new := []byte("000050001 "), fmt.Appendf(nil, "%07dx%d ", 50_001, i%10)
		if i > 0 {
			old = fmt.Appendf(nil, "%07dx%d ", 50_001, (i-1)%10)
		}
		took, _ := p.call("Edit", map[string]any{"file_path": path, "old_string": string(old), "new_string": string(new)})
		begin := time.Now()
		text, err := os.ReadFile(plain)
		must(t, err)
		bare(t, plain, bytes.Replace(text, old, new, 1))
		bareTook := time.Since(begin)
		ratios = append(ratios, float64(took)/float64(bareTook))
		ours, floor = append(ours, ms(took)), append(floor, ms(bareTook))
	}
	p.close()
	tb.row("Edit of a line in 10 MB, times the bare calls", median(ratios), 1.3, "x",
		fmt.Sprintf("median of %d pairs: %.1f ms against %.1f ms, the first %.1f ms", len(ratios), median(ours), median(floor), ours[0]))
}
