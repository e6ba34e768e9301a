//go:build unix

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// reminded returns the reminders of an answer; "" if there are none.
func reminded(r mcptest.Result) string {
	_, text, _ := strings.Cut(r.Text, "<system-reminder>The file ")
	return text
}

// TestRemindersNeverTellOwnChanges, however many calls change files at once.
func TestRemindersNeverTellOwnChanges(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	f.serve()
	const files, rounds = 6, 25
	for i := range files {
		f.put(fmt.Sprint(i), "round 0\n")
		f.call("Read", map[string]any{"file_path": f.abs(fmt.Sprint(i))})
	}
	var all sync.WaitGroup
	for i := range files {
		all.Go(func() {
			for round := range rounds {
				res, err := f.client.Call("Edit", map[string]any{"file_path": f.abs(fmt.Sprint(i)), "old_string": fmt.Sprint("round ", round), "new_string": fmt.Sprint("round ", round+1)})
				if err != nil || res.IsError || reminded(res) != "" {
					t.Errorf("%v %s", err, res.Text)
					return
				}
			}
		})
	}
	all.Wait()
}

// TestRemindersWhileTheFileIsEdited has another program append to a file that is
// edited all the time: the reminders in other answers hold its lines alone.
func TestRemindersWhileTheFileIsEdited(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	f.serve()
	name := f.put("f", "own 0\n")
	f.call("Read", map[string]any{"file_path": name})
	const rounds = 60
	own, reported := 0, 0
	for round := range rounds {
		edit, err := f.client.GoCall("Edit", map[string]any{"file_path": name, "old_string": fmt.Sprintf("own %d\n", own), "new_string": fmt.Sprintf("own %d\n", own+1)})
		f.check(err)
		if round%3 == 0 {
			file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			f.check(err)
			fmt.Fprintf(file, "foreign %d\n", round)
			f.check(file.Close())
		}
		other := f.call("Write", map[string]any{"file_path": f.abs(fmt.Sprint("x", round)), "content": "x"})
		text := reminded(other)
		if strings.Contains(text, "own ") {
			t.Fatalf("its own change was told: %s", text)
		}
		if strings.Contains(text, "+foreign ") {
			reported++
		}
		res, err := edit.Result()
		f.check(err)
		if !res.IsError {
			own++
		}
	}
	t.Logf("%d of %d edits went through, %d reminders", own, rounds, reported)
	if own == 0 {
		t.Error("no edit went through")
	}
}

// oneReminded matches the reminder of one file.
var oneReminded = regexp.MustCompile(`The file (\S+) was changed outside`)

// TestRemindersWithoutWatches has the system refuse to watch more than a few
// folders: what changed is told exactly once all the same.
func TestRemindersWithoutWatches(t *testing.T) {
	for name, shell := range map[string]string{
		"few watches":  "echo 8 > /proc/sys/user/max_inotify_watches",
		"no instances": "echo 0 > /proc/sys/user/max_inotify_instances",
		"enough":       "true",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFort(t)
			f.after(shell)
			f.serve()
			files := f.manyRead()
			for round := range 3 {
				for i, name := range files {
					f.check(os.WriteFile(name, fmt.Appendf(nil, "%d %d\n", round, i), 0o644))
				}
				if count := f.noted(round, len(files)); count != len(files) {
					t.Errorf("round %d: %d files were told of, not %d", round, count, len(files))
				}
			}
		})
	}
}

// manyRead has files of many folders read.
func (f *fort) manyRead() (files []string) {
	f.t.Helper()
	const folders = 20
	each := shortrun.Most(f.t, 15, 5, "files in each folder")
	for i := range folders {
		f.check(os.Mkdir(f.abs(fmt.Sprint("d", i)), 0o755))
		for j := range each {
			name := f.put(fmt.Sprintf("d%d/f%d", i, j), "one\n")
			f.call("Read", map[string]any{"file_path": name})
			files = append(files, name)
		}
	}
	return files
}

// noted writes until the answers have told of so many files, none of them twice, and
// then once more, when nothing is told again. It returns of how many they told.
func (f *fort) noted(round, want int) (count int) {
	f.t.Helper()
	named := map[string]bool{}
	for begun := time.Now(); count < want && time.Since(begun) < 20*time.Second; time.Sleep(50 * time.Millisecond) {
		before := len(named)
		res := f.call("Write", map[string]any{"file_path": f.abs("x"), "content": fmt.Sprint(round, count)})
		for _, m := range oneReminded.FindAllStringSubmatch(res.Text, -1) {
			if named[m[1]] {
				f.t.Errorf("round %d: %s is named twice", round, m[1])
			}
			named[m[1]] = true
		}
		count += len(named) - before + moreFiles(res)
	}
	if res := f.call("Write", map[string]any{"file_path": f.abs("x"), "content": "last"}); reminded(res) != "" {
		f.t.Errorf("told again: %s", reminded(res))
	}
	return count
}
