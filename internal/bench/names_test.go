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

// manyNames compares calls that move or delete many files, a thousand in the full run, with a
// bare program that does the same and syncs: the folders, and before a removal all bytes that go.
//
// The bare program makes two calls for a file that it moves and about eight for one that it
// removes, without any check. What fsmcp makes for each file:
//
//   - Move, five: a look at both names to work all of them out, and at the old one again under the
//     locks; the rename; a look whether the file that came is the one decided on.
//   - Delete, fifteen and a close while the call goes on: a look at the name; open, lease, stamp,
//     attributes, flags and bytes for the history; is the lease unbroken, lock, rename to a
//     temporary name, stamp, is it unbroken twice more, unlock, and unlink.
//
// Beside these it takes processor time to decide on each name by the rules, for the locks, for
// the entry of the history and for the lines of the answer.
func manyNames(t *testing.T, r run, b bins, env []string, tb *table) {
	dir := t.TempDir()
	old, sub, kept := filepath.Join(dir, "old"), filepath.Join(dir, "sub"), filepath.Join(dir, "kept")
	files := r.manyFiles
	var moves, paths []any
	for i := range files {
		from := filepath.Join(old, fmt.Sprint("f", i))
		moves = append(moves, map[string]any{"from": from, "to": filepath.Join(sub, fmt.Sprint("f", i))})
		paths = append(paths, from)
	}
	p := spawn(t, b.fsmcp, append(env, "HOME="+t.TempDir()), "serve", "--tools", "all", dir)
	p.shake()
	defer p.close()
	for _, c := range []manyCall{
		{p, "Move", map[string]any{"moves": moves}, func() { bareMoves(t, files, old, sub) }},
		{p, "Delete", map[string]any{"paths": paths}, func() { bareRemovals(t, files, old, kept) }},
	} {
		var ratios, ours, theirs []float64
		for i := range 1 + r.bigs { // the first pair, in which lock files are made, does not count
			var took [2]float64
			for k := range took {
				k = (k + i) % 2 // neither is always the first
				must(t, os.RemoveAll(sub))
				must(t, os.Mkdir(sub, 0o755))
				fillFolder(t, files, old)
				took[k] = c.time(k == 1)
				if left, err := os.ReadDir(old); err != nil || len(left) > 0 {
					t.Fatalf("%s: %d names are left, %v", c.tool, len(left), err)
				}
			}
			if i > 0 {
				ours, theirs = append(ours, took[0]), append(theirs, took[1])
				ratios = append(ratios, took[0]/took[1])
			}
		}
		tb.row(fmt.Sprintf("%s of %d files, beside a bare program", c.tool, files), median(ratios), 1.5, "x",
			fmt.Sprintf("median of %d pairs: %.0f ms against %.0f ms, both with sync", len(ratios), median(ours), median(theirs)))
	}
}

// Of a MultiEdit: so many edits in so many files.
const (
	editedFiles = 20
	editsEach   = 5
)

// manyEdits compares a call with a hundred edits in twenty files with a bare program that does
// the same: it reads the files, makes the edits, writes and syncs temporary files, renames them,
// and syncs the folder once.
func manyEdits(t *testing.T, r run, b bins, env []string, tb *table) {
	dir, plain := t.TempDir(), t.TempDir()
	text := bytes.Repeat([]byte("a line of text that nobody touches\n"), 28)
	for k := range editsEach {
		text = append(text, place(k, 0)...)
	}
	p := spawn(t, b.fsmcp, append(env, "HOME="+t.TempDir()), "serve", "--tools", "all", dir)
	p.shake()
	defer p.close()
	for i := range editedFiles {
		write(t, name(dir, i), text)
		write(t, name(plain, i), text)
		p.call("Read", map[string]any{"file_path": name(dir, i)})
	}
	var ratios, ours, theirs []float64
	for round := range r.bigs * 3 {
		var edits []any
		for i := range editedFiles {
			for k := range editsEach {
				edits = append(edits, map[string]any{"file_path": name(dir, i), "old_string": place(k, round), "new_string": place(k, round+1)})
			}
		}
		c := manyCall{p, "MultiEdit", map[string]any{"edits": edits}, func() { bareEdits(t, plain, round) }}
		var took [2]float64
		for k := range took {
			k = (k + round) % 2 // neither is always the first
			took[k] = c.time(k == 1)
		}
		ours, theirs = append(ours, took[0]), append(theirs, took[1])
		ratios = append(ratios, took[0]/took[1])
	}
	for i := range editedFiles {
		now, err := os.ReadFile(name(dir, i))
		must(t, err)
		want, err := os.ReadFile(name(plain, i))
		must(t, err)
		if !bytes.Equal(now, want) || bytes.Equal(now, text) {
			t.Fatalf("%s has %q", name(dir, i), now)
		}
	}
	tb.row(fmt.Sprintf("MultiEdit, %d edits in %d files, beside a bare one", editedFiles*editsEach, editedFiles), median(ratios), 1.5, "x",
		fmt.Sprintf("median of %d pairs: %.1f ms against %.1f ms, both with sync", len(ratios), median(ours), median(theirs)))
}

// place is a line that the edits of a round change.
func place(k, round int) string { return fmt.Sprintf("value %d = %06d\n", k, round) }

func bareEdits(t testing.TB, dir string, round int) {
	for i := range editedFiles {
		raw, err := os.ReadFile(name(dir, i))
		must(t, err)
		for k := range editsEach {
			raw = bytes.Replace(raw, []byte(place(k, round)), []byte(place(k, round+1)), 1)
		}
		temp := name(dir, i) + ".new"
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		must(t, err)
		_, err = f.Write(raw)
		must(t, err)
		must(t, f.Sync())
		must(t, f.Close())
		must(t, os.Rename(temp, name(dir, i)))
	}
	syncFolder(t, dir)
}

// manyCall is a call that names many files, and what does the same without a server.
type manyCall struct {
	p    *peer
	tool string
	args any
	bare func()
}

// time returns how long the call or its bare twin takes, in milliseconds.
func (c manyCall) time(bare bool) float64 {
	if !bare {
		took, _ := c.p.call(c.tool, c.args)
		return ms(took)
	}
	begin := time.Now()
	c.bare()
	return ms(time.Since(begin))
}

// fillFolder makes a folder of so many files of 1 KB, each of its own bytes, and syncs it.
func fillFolder(t testing.TB, files int, dir string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	for i := range files {
		write(t, filepath.Join(dir, fmt.Sprint("f", i)), bytes.Repeat(fmt.Appendf(nil, "%07d\n", i), 128))
	}
	syncFolder(t, dir)
}

func syncFolder(t testing.TB, dir string) {
	t.Helper()
	d, err := os.Open(dir)
	must(t, err)
	must(t, d.Sync())
	must(t, d.Close())
}

func bareMoves(t testing.TB, files int, old, sub string) {
	for i := range files {
		must(t, os.Rename(filepath.Join(old, fmt.Sprint("f", i)), filepath.Join(sub, fmt.Sprint("f", i))))
	}
	syncFolder(t, old)
	syncFolder(t, sub)
}

func bareRemovals(t testing.TB, files int, old, kept string) {
	pack, err := os.Create(kept)
	must(t, err)
	for i := range files {
		b, err := os.ReadFile(filepath.Join(old, fmt.Sprint("f", i)))
		must(t, err)
		_, err = pack.Write(b)
		must(t, err)
	}
	must(t, pack.Sync())
	must(t, pack.Close())
	for i := range files {
		must(t, os.Remove(filepath.Join(old, fmt.Sprint("f", i))))
	}
	syncFolder(t, old)
}
