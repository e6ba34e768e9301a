//go:build linux

package bench

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// notebookOf is a notebook with nbformat's indent and order, and with more escapes
// than nbformat writes, which makes it harder to read.
func notebookOf(t testing.TB, cells []any) []byte {
	t.Helper()
	raw, err := json.MarshalIndent(map[string]any{"cells": cells, "metadata": map[string]any{}, "nbformat": 4, "nbformat_minor": 5}, "", " ")
	must(t, err)
	return append(raw, '\n')
}

func codeCell(i int, source, outputs []any) map[string]any {
	return map[string]any{"cell_type": "code", "id": fmt.Sprint("c-", i), "metadata": map[string]any{}, "source": source, "execution_count": i, "outputs": outputs}
}

// times is so many lines of one text.
func times(line string, n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = line
	}
	return out
}

// hundredCells is a notebook of 100 cells with outputs, as a day's work leaves it.
func hundredCells(t testing.TB) []byte {
	var cells []any
	for i := range 100 {
		source := times(fmt.Sprintf("frame = load(\"file %d\")  # é\n", i), 15)
		if i%4 == 0 {
			cells = append(cells, map[string]any{"cell_type": "markdown", "id": fmt.Sprint("m-", i), "metadata": map[string]any{}, "source": source})
			continue
		}
		cells = append(cells, codeCell(i, source, []any{
			map[string]any{"output_type": "stream", "name": "stdout", "text": times("epoch 1: \x1b[32mloss\x1b[0m 0.25\n", 20)},
			map[string]any{"output_type": "execute_result", "execution_count": i, "metadata": map[string]any{}, "data": map[string]any{
				"text/plain": []any{"   a  b\n", "0  1  2"}, "text/html": times("<tr><td>1</td><td>2</td></tr>\n", 20),
			}},
		}))
	}
	return notebookOf(t, cells)
}

// pictureCells is a notebook of so many pictures of half a megabyte each.
func pictureCells(t testing.TB, pictures int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var cells []any
	for i := range pictures {
		img := image.NewNRGBA(image.Rect(0, 0, 356, 356))
		for j := range img.Pix {
			img.Pix[j] = byte(r.Uint32()) | 0xff*byte((j%4)/3) // noise, opaque
		}
		var b bytes.Buffer
		must(t, png.Encode(&b, img))
		cells = append(cells, codeCell(i, []any{"plot()"}, []any{
			map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": map[string]any{
				"image/png": base64.StdEncoding.EncodeToString(b.Bytes()) + "\n", "text/plain": []any{"<Figure size 640x480 with 1 Axes>"},
			}},
		}))
	}
	return notebookOf(t, cells)
}

// roundTrip reads and writes a notebook as JSON.
func roundTrip(t testing.TB, raw []byte) time.Duration {
	t.Helper()
	begin := time.Now()
	var value any
	must(t, json.Unmarshal(raw, &value))
	_, err := json.MarshalIndent(value, "", " ")
	must(t, err)
	return time.Since(begin)
}

func notebookRead(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	file, raw := filepath.Join(dir, "a.ipynb"), hundredCells(t)
	write(t, file, raw)
	p := spawn(t, b.fsmcp, append(env, "FSMCP_DEDUP=false"), "serve", dir)
	p.shake()
	var ours, plain []float64
	for i := range r.reads {
		took, answer := p.call("Read", map[string]any{"file_path": file})
		if !bytes.Contains(answer, []byte(`</cell id=\"c-99\">`)) {
			t.Fatalf("the last cell is missing: %.300s", answer)
		}
		if i < r.reads/10 {
			continue // warming up
		}
		ours = append(ours, ms(took))
		if len(ours)%20 == 1 {
			plain = append(plain, ms(roundTrip(t, raw)))
		}
	}
	p.close()
	tb.row("Read a notebook of 100 cells", median(ours), 2, "ms", fmt.Sprintf("median of %d, %d KB; encoding/json there and back %.3f ms", len(ours), len(raw)/1000, median(plain)))
}

func notebookEdit(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	file, plain, raw := filepath.Join(dir, "a.ipynb"), filepath.Join(dir, "plain.ipynb"), hundredCells(t)
	write(t, file, raw)
	write(t, plain, raw)
	p := spawn(t, b.fsmcp, env, "serve", dir)
	p.shake()
	p.call("Read", map[string]any{"file_path": file})
	var more, ours, floor, trips []float64
	for i := range r.edits {
		took, _ := p.call("NotebookEdit", map[string]any{"notebook_path": file, "cell_id": "c-25",
			"new_source": strings.Repeat(fmt.Sprintf("value = %06d\n", i), 15)})
		bareTook := bare(t, plain, raw)
		if i < r.edits/10 {
			continue
		}
		ours, floor = append(ours, ms(took)), append(floor, ms(bareTook))
		more = append(more, ms(took)-ms(bareTook))
		if len(ours)%20 == 1 {
			trips = append(trips, ms(roundTrip(t, raw)))
		}
	}
	p.close()
	tb.row("NotebookEdit in it, more than the bare calls", median(more), 1, "ms", fmt.Sprintf("median of %d pairs: %.3f ms against %.3f ms; encoding/json alone %.3f ms", len(more), median(ours), median(floor), median(trips)))
}

func notebookPictures(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	file, raw := filepath.Join(dir, "a.ipynb"), pictureCells(t, r.notebookPictures)
	write(t, file, raw)
	p := spawn(t, b.fsmcp, append(env, "FSMCP_DEDUP=false"), "serve", dir)
	p.shake()
	var ours, plain []float64
	for range r.bigs {
		took, answer := p.call("Read", map[string]any{"file_path": file})
		if bytes.Count(answer, []byte(`"image/png"`)) < 4 || !bytes.Contains(answer, fmt.Appendf(nil, "c-%d", r.notebookPictures-1)) {
			t.Fatalf("pictures or cells are missing: %d bytes", len(answer))
		}
		ours, plain = append(ours, ms(took)), append(plain, ms(roundTrip(t, raw)))
	}
	peak := p.memory("VmHWM")
	p.close()
	what := fmt.Sprintf("Read a notebook of %.0f MB with pictures", float64(len(raw))/1e6)
	tb.row(what, median(ours), 300, "ms", fmt.Sprintf("median of %d; encoding/json there and back %.0f ms", len(ours), median(plain)))
	tb.row("  peak memory, times the file", peak/float64(len(raw)), 10, "x", fmt.Sprintf("%.1f MB", peak/1e6))
}
