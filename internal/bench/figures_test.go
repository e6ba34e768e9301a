//go:build linux

package bench

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// run says how much a run measures.
type run struct {
	full                             bool
	starts, reads, edits, bigs, soak int
	pairs                            int // of rounds that take turns
	bigLines                         int // of 100 bytes each
	hugeBytes                        int64
	manyFiles                        int // of one call, which may name a thousand
	notebookPictures                 int // in one notebook
	pictures, documents, firsts      int // each picture and document so often
	busy                             int
}

func plan() run {
	if os.Getenv("FSMCP_BENCH") == "full" {
		return run{full: true, starts: 61, reads: 600, edits: 300, bigs: 9, soak: 20000, pairs: 9, bigLines: 1 << 20, hugeBytes: 1 << 30,
			manyFiles: 1000, notebookPictures: 40, pictures: 15, documents: 5, firsts: 3, busy: 15}
	}
	return run{starts: 3, reads: 66, edits: 6, bigs: 1, soak: 320, pairs: 1, bigLines: 1 << 16, hugeBytes: 8 << 20,
		manyFiles: 50, notebookPictures: 5, pictures: 1, documents: 1, firsts: 1, busy: 1}
}

// TestFigures prints every figure, beside its bound in the full run.
func TestFigures(t *testing.T) {
	r := plan()
	b := build(t)
	tb := &table{judge: r.full}
	env := []string{"HOME=" + t.TempDir(), "XDG_STATE_HOME=", "FSMCP_MAX_OUTPUT_TOKENS=100000"}
	for _, m := range []func(*testing.T, run, bins, []string, *table){
		starting, idling, reading, changedReads, readsInFlight, changedBigReads, lineEdit, deciding, ruled, deepLines, smallEdit, bigEdit, hugeEdit, manyNames, manyEdits,
		notebookRead, notebookEdit, notebookPictures, historyCost, historySize, watching, finding, languages, soaking,
	} {
		m(t, r, b, env, tb)
	}
	tb.close(t)
}

// TestFiguresOfMedia prints those of pictures and PDFs, which take other programs
// beside fsmcp to measure.
func TestFiguresOfMedia(t *testing.T) {
	r := plan()
	if !r.full {
		t.Skip("!!! NOT MEASURED: pictures and PDFs; make bench measures them !!!")
	}
	tb := &table{judge: r.full}
	media(t, r, build(t), []string{"HOME=" + t.TempDir(), "XDG_STATE_HOME="}, tb)
	tb.close(t)
}

func starting(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	one := func(path string, args ...string) float64 {
		begin := time.Now()
		p := spawn(t, path, env, args...)
		p.shake()
		took := time.Since(begin)
		p.close()
		return ms(took)
	}
	var ours, floor []float64
	for range r.starts {
		ours = append(ours, one(b.fsmcp, "serve", dir))
		floor = append(floor, one(b.floor))
	}
	tb.row("start to tools/list", median(ours), 10, "ms", fmt.Sprintf("median of %d, floor %.2f ms", r.starts, median(floor)))
}

func idling(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	idle := func(path string, args ...string) float64 {
		var v []float64
		for range 3 {
			p := spawn(t, path, env, args...)
			p.shake()
			time.Sleep(200 * time.Millisecond)
			v = append(v, p.memory("VmRSS")/1e6)
			p.close()
		}
		return median(v)
	}
	tb.row("resident memory when idle", idle(b.fsmcp, "serve", dir), 16, "MB", fmt.Sprintf("floor %.1f MB", idle(b.floor)))
}

// reading compares with a floor that echoes a text as long as the answer. The
// files take turns, more than 50 of them, so that no answer is the stub of an
// unchanged re-read.
func reading(t *testing.T, r run, b bins, env []string, tb *table) {
	for _, size := range []int{1 << 10, 200_000} {
		dir := t.TempDir()
		text := bytes.Repeat([]byte("a line of one hundred bytes, with \"quotes\", <tags> & a \\ as program text has them, to the very end\n"), size/50)[:size]
		const files = 60
		for i := range files {
			write(t, name(dir, i), text)
		}
		ours, floor := spawn(t, b.fsmcp, env, "serve", dir), spawn(t, b.floor, env)
		ours.shake()
		floor.shake()
		_, first := ours.call("Read", map[string]any{"file_path": name(dir, 0)})
		answer := make([]byte, len(first)-80)
		copy(answer, bytes.Repeat(text, 2))
		var echoed, sent, read, echo, send []float64
		for i := range r.reads {
			request := ours.request("Read", map[string]any{"file_path": name(dir, (i+1)%files)})
			took, line := ours.send(request)
			if len(line) < size {
				t.Fatalf("a Read of %d bytes answered %.300s", size, line)
			}
			echoTook, _ := floor.call("echo", map[string]any{"text": string(answer)})
			sendTook, _ := floor.call("echo", map[string]any{"size": len(answer)})
			if i < r.reads/10 {
				continue // warming up
			}
			read, echo, send = append(read, ms(took)), append(echo, ms(echoTook)), append(send, ms(sendTook))
			echoed = append(echoed, float64(took)/float64(echoTook))
			sent = append(sent, float64(took)/float64(sendTook))
		}
		ours.close()
		floor.close()
		what := fmt.Sprintf("Read %d KB, times the floor's echo", size/1000)
		tb.row(what, median(echoed), 1.5, "x", fmt.Sprintf("median of %d pairs: %.3f ms against %.3f ms", len(read), median(read), median(echo)))
		tb.note("  times a floor that only sends as much", median(sent), "x", fmt.Sprintf("%.3f ms", median(send)))
	}
}

func name(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("f%03d.txt", i)) }

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// writeLines makes a file of lines of 100 bytes, each with its number.
func writeLines(t testing.TB, path string, lines int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var buf bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&buf, "%09d %-89s\n", i+1, "a line of a log as there are many, with some text in it and some blanks after that")
		if buf.Len() > 1<<20 || i == lines-1 {
			if _, err := buf.WriteTo(f); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// scan reads a file once from its beginning to its end and counts its lines.
func scan(t testing.TB, path string) time.Duration {
	t.Helper()
	begin := time.Now()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 256<<10)
	n := 0
	for {
		k, err := f.Read(buf)
		n += bytes.Count(buf[:k], []byte{'\n'})
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 {
		t.Fatal("no lines")
	}
	return time.Since(begin)
}

func deepLines(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.log")
	writeLines(t, big, r.bigLines)
	line := r.bigLines - 48_576
	scan(t, big) // into the page cache
	var ratios, first, again, scans []float64
	for range r.bigs {
		p := spawn(t, b.fsmcp, env, "serve", dir)
		p.shake()
		scanTook := scan(t, big)
		took, answer := p.call("Read", map[string]any{"file_path": big, "offset": line, "limit": 10})
		if !bytes.Contains(answer, fmt.Appendf(nil, `%d\t%09d `, line, line)) {
			t.Fatalf("the answer is not line %d: %.300s", line, answer)
		}
		ratios = append(ratios, float64(took)/float64(scanTook))
		first, scans = append(first, ms(took)), append(scans, ms(scanTook))
		for i := range 40 {
			took, _ := p.call("Read", map[string]any{"file_path": big, "offset": line + 10*(i+1), "limit": 10})
			again = append(again, ms(took))
		}
		p.close()
	}
	where := fmt.Sprintf("lines at %d of %d MB", line, r.bigLines*100/1_000_000)
	tb.row(where+", first, times a scan", median(ratios), 1.2, "x", fmt.Sprintf("median of %d pairs: %.1f ms against %.1f ms", r.bigs, median(first), median(scans)))
	tb.row(where+", then", median(again), 0.2, "ms", fmt.Sprintf("median of %d", len(again)))
}

// bare is the least that makes a small change durable: write, fsync, rename,
// fsync of the folder.
func bare(t testing.TB, path string, b []byte) time.Duration {
	t.Helper()
	begin := time.Now()
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(b)
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
	must(t, os.Rename(path+".new", path))
	d, err := os.Open(filepath.Dir(path))
	must(t, err)
	must(t, d.Sync())
	must(t, d.Close())
	return time.Since(begin)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func smallEdit(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	file, plain := filepath.Join(dir, "a.txt"), filepath.Join(dir, "plain.txt")
	text := append(bytes.Repeat([]byte("a line of text that nobody touches\n"), 28), "value = 000000\n"...)
	write(t, file, text)
	write(t, plain, text)
	p := spawn(t, b.fsmcp, env, "serve", dir)
	p.shake()
	p.call("Read", map[string]any{"file_path": file})
	var more, ours, floor []float64
	for i := range r.edits {
		request := p.request("Edit", map[string]any{"file_path": file,
			"old_string": fmt.Sprintf("value = %06d", i), "new_string": fmt.Sprintf("value = %06d", i+1)})
		took, _ := p.send(request)
		bareTook := bare(t, plain, text)
		if i < r.edits/10 {
			continue
		}
		ours, floor = append(ours, ms(took)), append(floor, ms(bareTook))
		more = append(more, ms(took)-ms(bareTook))
	}
	p.close()
	tb.row("Edit in 1 KB, more than the bare calls", median(more), 0.6, "ms", fmt.Sprintf("median of %d pairs: %.3f ms against %.3f ms", len(more), median(ours), median(floor)))
}

// bareBig is the least for a big file: read it, find the place, one SHA-256,
// write all of it anew, fsync.
func bareBig(t testing.TB, path string, old, new []byte) time.Duration {
	t.Helper()
	begin := time.Now()
	text, err := os.ReadFile(path)
	must(t, err)
	at := bytes.Index(text, old)
	if at < 0 {
		t.Fatal("the bare edit's place is gone")
	}
	sum := sha256.Sum256(text)
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	must(t, err)
	for _, part := range [][]byte{text[:at], new, text[at+len(old):]} {
		_, err = f.Write(part)
		must(t, err)
	}
	must(t, f.Sync())
	must(t, f.Close())
	must(t, os.Rename(path+".new", path))
	if sum == [32]byte{} {
		t.Fatal("no sum")
	}
	return time.Since(begin)
}

func bigEdit(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	file, plain := filepath.Join(dir, "big.log"), filepath.Join(dir, "plain.log")
	writeLines(t, file, r.bigLines)
	writeLines(t, plain, r.bigLines)
	line := r.bigLines - 10_000
	p := spawn(t, b.fsmcp, env, "serve", dir)
	p.shake()
	p.call("Read", map[string]any{"file_path": file, "offset": line, "limit": 5})
	var ratios, ours, floor []float64
	for i := range r.bigs {
		old, new := fmt.Sprintf("%09d ", line+1), fmt.Sprintf("%07dx%d ", line+1, i%10)
		if i > 0 {
			old = fmt.Sprintf("%07dx%d ", line+1, (i-1)%10)
		}
		took, _ := p.call("Edit", map[string]any{"file_path": file, "old_string": old, "new_string": new})
		bareTook := bareBig(t, plain, []byte(old), []byte(new))
		ratios = append(ratios, float64(took)/float64(bareTook))
		ours, floor = append(ours, ms(took)), append(floor, ms(bareTook))
	}
	peak := p.memory("VmHWM")
	p.close()
	size := float64(r.bigLines * 100)
	what := fmt.Sprintf("Edit in %.0f MB", size/1e6)
	tb.row(what+", times the bare calls", median(ratios), 1.2, "x", fmt.Sprintf("median of %d pairs: %.0f ms against %.0f ms", r.bigs, median(ours), median(floor)))
	tb.row(what+", peak memory, times the file", peak/size, 1.5, "x", fmt.Sprintf("%.1f MB", peak/1e6))
}

func hugeEdit(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	file := filepath.Join(dir, "huge.log")
	lines := int(r.hugeBytes / 100)
	writeLines(t, file, lines)
	p := spawn(t, b.fsmcp, env, "serve", dir)
	p.shake()
	p.call("Read", map[string]any{"file_path": file, "offset": lines - 5, "limit": 5})
	took, _ := p.call("Edit", map[string]any{"file_path": file, "old_string": fmt.Sprintf("%09d ", lines-3), "new_string": "changed "})
	peak := p.memory("VmHWM")
	p.close()
	os.Remove(file)
	tb.row(fmt.Sprintf("Edit in %.2f GiB, peak memory", float64(r.hugeBytes)/(1<<30)), peak/(1<<30), 2, "GiB", fmt.Sprintf("%.0f ms", ms(took)))
}

// soaking makes many mixed calls and looks at what stays of memory, from a
// tenth of the way on, when pools and caches are filled.
func soaking(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	const files = 80
	text := bytes.Repeat([]byte("a line of text that stays the same\n"), 300)
	for i := range files {
		write(t, name(dir, i), append(bytes.Clone(text), "value = 0\n"...))
	}
	p := spawn(t, b.fsmcp, append(env, "FSMCP_DURABILITY=none"), "serve", dir)
	p.shake()
	values := make([]int, files)
	var warm float64
	calls := 0
	settle := func() float64 {
		time.Sleep(100 * time.Millisecond)
		return p.memory("VmRSS")
	}
	for round := 0; calls < r.soak; round++ {
		for i := range files {
			p.call("Read", map[string]any{"file_path": name(dir, i)})
			p.call("Edit", map[string]any{"file_path": name(dir, i),
				"old_string": fmt.Sprintf("value = %d\n", values[i]), "new_string": fmt.Sprintf("value = %d\n", values[i]+1)})
			values[i]++
			calls += 2
		}
		if warm == 0 && calls >= r.soak/10 {
			warm = settle()
		}
	}
	end := settle()
	p.close()
	tb.row(fmt.Sprintf("memory growth over %d calls", r.soak), 100*(end/warm-1), 10, "%", fmt.Sprintf("%.1f MB after a tenth, %.1f MB at the end", warm/1e6, end/1e6))
}
