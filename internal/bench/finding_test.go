//go:build linux

package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// forest makes files of some 10 KB, 200 to a folder. One in a hundred holds a name that
// the searches look for.
func forest(t *testing.T, files int) string {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(17, 1))
	word := func() []byte {
		w := make([]byte, 2+rnd.IntN(9))
		for i := range w {
			w[i] = byte('a' + rnd.IntN(26))
		}
		return w
	}
	var blocks [][]byte
	for range 2000 {
		var b []byte
		for range 24 {
			for range 3 + rnd.IntN(9) {
				b = append(append(b, word()...), ' ')
			}
			b[len(b)-1] = '\n'
		}
		blocks = append(blocks, b)
	}
	for i := range files {
		folder := filepath.Join(dir, fmt.Sprintf("d%02d", i/4000), fmt.Sprintf("e%02d", i/200%20))
		if i%200 == 0 {
			must(t, os.MkdirAll(folder, 0o755))
		}
		var b []byte
		for range 8 {
			b = append(b, blocks[rnd.IntN(len(blocks))]...)
		}
		if i%100 == 0 {
			b = fmt.Appendf(b, "func needleInHay_%d(x int) error {\n", i)
		}
		write(t, filepath.Join(folder, fmt.Sprintf("file%03d.%s", i%200, []string{"go", "txt", "py", "c"}[i%4])), b)
	}
	return dir
}

// finding compares Glob and Grep with ripgrep on the same tree, in turn.
func finding(t *testing.T, r run, b bins, env []string, tb *table) {
	if _, err := exec.LookPath("rg"); err != nil {
		tb.note("!!! NOT MEASURED: ripgrep is not installed !!!", 0, "", "")
		return
	}
	files, rounds := 400, 1
	if r.full {
		files, rounds = 100_000, 7
	}
	dir := forest(t, files)
	version, _ := exec.Command("rg", "--version").Output()
	tb.aside("beside %s, %d files", strings.SplitN(string(version), "\n", 2)[0], files)
	p := spawn(t, b.fsmcp, env, "serve", "--tools", "all", dir)
	p.shake()
	for _, c := range []struct {
		what  string
		bound float64
		tool  string
		args  map[string]any
		rg    []string
	}{
		{"a literal", 3, "Grep", map[string]any{"pattern": "needleInHay"}, []string{"-l", "-e", "needleInHay"}},
		{"a literal in any case", 3, "Grep", map[string]any{"pattern": "needleinhay", "-i": true}, []string{"-l", "-i", "-e", "needleinhay"}},
		{"a regular expression with a literal part", 4, "Grep", map[string]any{"pattern": "needle[A-Z]\\w+_[0-9]+"}, []string{"-l", "-e", "needle[A-Z]\\w+_[0-9]+"}},
		{"one without", 8, "Grep", map[string]any{"pattern": "[A-Z][a-z]+_[0-9]+"}, []string{"-l", "-e", "[A-Z][a-z]+_[0-9]+"}},
		{"one that nearly matches everywhere", 8, "Grep", map[string]any{"pattern": "[a-z]{9} [a-z]+ [a-z]{10} X[0-9]"}, []string{"-l", "-e", "[a-z]{9} [a-z]+ [a-z]{10} X[0-9]"}},
		{"Glob", 2, "Glob", map[string]any{"pattern": "**/*.go"}, []string{"--files", "--sort=modified", "-g", "*.go"}},
	} {
		var ratios, ours, theirs []float64
		for round := range rounds + 1 {
			took, line := p.call(c.tool, c.args)
			begin := time.Now()
			out, err := command(dir, "rg", append([]string{"--no-config", "--hidden", "-g", "!.git"}, c.rg...)...)
			rg := time.Since(begin)
			if nothing := strings.Contains(c.what, "nearly"); !nothing && (err != nil || !bytes.Contains(line, []byte("file000."))) {
				t.Fatalf("%s: %v\n%.300s\n%.300s", c.what, err, line, out)
			}
			if round == 0 {
				continue // warming up
			}
			ratios, ours, theirs = append(ratios, float64(took)/float64(rg)), append(ours, ms(took)), append(theirs, ms(rg))
		}
		what := "Grep for " + c.what
		if c.tool == "Glob" {
			what = "Glob"
		}
		tb.row(what+", times ripgrep", median(ratios), c.bound, "x", fmt.Sprintf("median of %d: %.0f ms against %.0f ms", len(ratios), median(ours), median(theirs)))
	}
	tb.row("peak memory of a server that searched", p.memory("VmHWM")/1e6, 64, "MB", "")
	p.close()
}

func command(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd.Output()
}
