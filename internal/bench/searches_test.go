//go:build linux

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// TestFiguresOfSearches prints what searches cost other calls, and what an agent without a
// shell needs for an errand.
func TestFiguresOfSearches(t *testing.T) {
	r := plan()
	tb := &table{judge: r.full}
	b := build(t)
	beside(t, r, b, tb)
	errand(t, b, tb)
	tb.close(t)
}

// client starts a server with all tools for a client of that name.
func client(t *testing.T, b bins, dir, name string) *mcptest.Client {
	t.Helper()
	home := t.TempDir()
	c, err := mcptest.Start(mcptest.Options{
		Path: b.fsmcp, Args: []string{"serve", "--tools", "all", dir}, Dir: dir, Stderr: os.Stderr,
		Env: append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="),
	})
	must(t, err)
	_, err = c.InitializeAs(mcptest.Latest, name)
	must(t, err)
	return c
}

// beside compares reads beside a hundred searches with reads of a server that does nothing
// else, in turns.
func beside(t *testing.T, r run, b bins, tb *table) {
	dir := t.TempDir()
	files, rounds := 80, 1
	if r.full {
		files, rounds = 4000, 5
	}
	text := strings.Repeat("a line of some program that calls something(42) and returns\n", 200)
	for i := range files {
		sub := filepath.Join(dir, fmt.Sprintf("d%02d", i%40))
		must(t, os.MkdirAll(sub, 0o755))
		write(t, name(sub, i), []byte(text))
	}
	c := client(t, b, dir, "bench")
	reads := func(stop func() bool) (took []float64) {
		for i := 0; !stop() || i < 100; i++ {
			begin := time.Now()
			i := i % 60 // more than 50, so that no answer is a stub
			res, err := c.Call("Read", map[string]any{"file_path": name(filepath.Join(dir, fmt.Sprintf("d%02d", i%40)), i), "offset": 1, "limit": 40})
			took = append(took, ms(time.Since(begin)))
			if err != nil || res.IsError {
				t.Fatal(err, res.Text)
			}
			time.Sleep(time.Millisecond)
		}
		return took
	}
	p99 := func(took []float64) float64 { slices.Sort(took); return took[len(took)*99/100] }
	given := 0 // searches that were given up, as the others took the time
	var ratios, quiet, busy, whole []float64
	for range rounds {
		begin := time.Now()
		alone := p99(reads(func() bool { return time.Since(begin) > 500*time.Millisecond }))
		begin = time.Now()
		var searches []*mcptest.Pending
		for i := range 100 {
			call, err := c.GoCall("Grep", map[string]any{"pattern": fmt.Sprintf(`some(thing|where)\(%d\)`, i)})
			must(t, err)
			searches = append(searches, call)
		}
		over, late := make(chan struct{}), 0
		go func() {
			defer close(over)
			for _, s := range searches {
				res, err := s.Result()
				if err != nil || res.IsError && res.Slug != "busy" {
					t.Error(err, res.Text)
				}
				if res.IsError {
					late++
				}
			}
		}()
		meanwhile := p99(reads(func() bool {
			select {
			case <-over:
				return true
			default:
				return false
			}
		}))
		<-over
		given += late
		whole = append(whole, time.Since(begin).Seconds())
		ratios, quiet, busy = append(ratios, meanwhile/alone), append(quiet, alone), append(busy, meanwhile)
	}
	// And the other way round: a search beside a stream of reads.
	search := func() float64 {
		begin := time.Now()
		if _, err := c.Call("Grep", map[string]any{"pattern": `some(thing|where)\(\d{3}\)`}); err != nil {
			t.Error(err)
		}
		return ms(time.Since(begin))
	}
	several := func() (took []float64) {
		for range 5 * rounds {
			took = append(took, search())
		}
		return took
	}
	apart := several()
	var among []float64
	over := make(chan struct{})
	go func() { defer close(over); among = several() }()
	reads(func() bool {
		select {
		case <-over:
			return true
		default:
			return false
		}
	})
	must(t, c.Close())
	tb.row("a search beside Reads, times alone", median(among)/median(apart), 4, "x", fmt.Sprintf("median of %d: %.0f ms against %.0f ms", 5*rounds, median(among), median(apart)))
	how := fmt.Sprintf("median of %d: p99 %.2f ms against %.2f ms; 100 searches of %d files in %.1f s, %d given up", rounds, median(busy), median(quiet), files, median(whole), given/rounds)
	tb.row("Reads beside 100 searches, times alone", median(ratios), 2, "x", how)
}

// errand plays an agent in Claude Desktop, which has no shell: it finds all uses of a symbol,
// renames them and makes sure that none is left. No file is read.
func errand(t *testing.T, b bins, tb *table) {
	dir := t.TempDir()
	for i := range 300 {
		text := fmt.Sprintf("package p%d\n\n// F%d does something.\nfunc F%d() int {\n\treturn %d\n}\n", i, i, i, i)
		if i%60 == 7 {
			text += fmt.Sprintf("\nfunc G%d() int { return oldName(%d) }\n", i, i)
		}
		sub := filepath.Join(dir, fmt.Sprintf("p%d", i%30))
		must(t, os.MkdirAll(sub, 0o755))
		must(t, os.WriteFile(filepath.Join(sub, fmt.Sprintf("file%d.go", i)), []byte(text), 0o644))
	}
	c := client(t, b, dir, "claude-ai")
	calls, bytes := 0, 0
	call := func(tool string, args map[string]any) string {
		res, err := c.Call(tool, args)
		must(t, err)
		if res.IsError {
			t.Fatalf("%s %v: %s", tool, args, res.Text)
		}
		calls++
		bytes += len(res.Text)
		return res.Text
	}
	found := call("Grep", map[string]any{"pattern": `\boldName\b`, "output_mode": "content"})
	edited := 0
	for line := range strings.SplitSeq(found, "\n") {
		path, rest, _ := strings.Cut(line, ":")
		_, text, ok := strings.Cut(rest, ":")
		if !ok {
			t.Fatalf("no line of a file: %q", line)
		}
		call("Edit", map[string]any{"file_path": path, "old_string": text, "new_string": strings.ReplaceAll(text, "oldName", "newName")})
		edited++
	}
	left := call("Grep", map[string]any{"pattern": `\boldName\b`})
	must(t, c.Close())
	if left != "No files found" || edited != 5 {
		t.Errorf("%d edits, and left: %s", edited, left)
	}
	tb.row("errand: rename a symbol in 5 of 300 files", float64(calls), 7, "", fmt.Sprintf("calls; %d bytes of answers, no Read", bytes))
}
