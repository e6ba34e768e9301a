//go:build linux

package tools

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/watch"
)

var reportedName = regexp.MustCompile(`<system-reminder>The file (\S+) (?:was|is) `)

// namesIn are the files that an answer's reminders name.
func namesIn(t *testing.T, r *toolcall.Result) (names []string) {
	t.Helper()
	for _, text := range remindersIn(r) {
		for _, m := range reportedName.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		if _, list, ok := strings.Cut(text, "outside of this conversation: "); ok {
			list, _, _ = strings.Cut(list, ".</system-reminder>")
			names = append(names, strings.Split(list, ", ")...)
		}
	}
	slices.Sort(names)
	return names
}

// TestRemindersAgreeWithAModel changes files and the folders above them at random, by
// other programs and by the agent, and compares what answers tell with a model that
// only knows what the agent last heard of each file. Where nothing is watched above the
// files' own folders the two soon disagree.
func TestRemindersAgreeWithAModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	steps := shortrun.Count(t, 100, 30, "steps")
	b := newBench(t)
	marks := &heard{Marks: &watch.Marks{Below: func() []string { return []string{b.dir} }}, dir: t.TempDir()}
	defer marks.Close()
	if difference := walkReminders(t, b, marks, seed, steps); difference != "" {
		t.Error(difference)
	}
	for tries := range uint64(10) { // a walk may move no folder
		near := &heard{Marks: &watch.Marks{}, dir: t.TempDir()}
		defer near.Close()
		if walkReminders(t, newBench(t), near, seed+tries, 100) != "" {
			return
		}
	}
	t.Error("the control arm has told all as well")
}

// heard knows of all that was done before it is asked: it makes a change of its own and
// waits until that is noted, which comes after all others.
type heard struct {
	*watch.Marks
	dir    string
	rounds int
}

func (h *heard) Touched() (names []string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		h.rounds++
		own := filepath.Join(h.dir, fmt.Sprint(h.rounds))
		if _, err := h.Follow(own); err != nil {
			return nil
		}
		if err := os.WriteFile(own, nil, 0o600); err != nil {
			return nil
		}
		for range 1000 { // then once more: what is noted may have run over
			names = append(names, h.Marks.Touched()...)
			if slices.Contains(names, own) {
				return names
			}
			time.Sleep(time.Millisecond / 5)
		}
	}
	return names
}

// walkReminders takes so many steps, and returns what was told otherwise than the
// model has it.
func walkReminders(t *testing.T, b *bench, marks reminders.TouchWatcher, seed uint64, steps int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	b.service.reminders.Watcher = marks
	folders := []string{"d/e", "d/e/f", "g/h", "d", "g"}
	var files []string
	for i := range 14 { // none in d or g: only a look at what leads there finds it
		files = append(files, filepath.Join(folders[i%3], fmt.Sprint("n", i)))
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		must(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
		must(os.WriteFile(b.path(name), []byte(text), 0o644))
	}
	now := func(name string) string {
		text, err := os.ReadFile(b.path(name))
		if err != nil {
			return "gone"
		}
		return string(text)
	}
	known := map[string]string{}
	read := func(name string) {
		if r := b.run(&ReadArgs{FilePath: b.path(name)}); !r.IsError {
			known[name] = now(name)
		} else if _, ok := known[name]; ok {
			known[name] = "gone"
		}
		for _, n := range namesIn(t, b.last) {
			known[strings.TrimPrefix(n, b.dir+"/")] = now(strings.TrimPrefix(n, b.dir+"/"))
		}
	}
	for _, name := range files {
		write(name, "0\n")
	}
	for _, name := range files {
		read(name)
	}
	for step := range steps {
		var did []string
		for range 1 + rng.IntN(4) {
			name := files[rng.IntN(len(files))]
			dir := folders[rng.IntN(len(folders))]
			text := fmt.Sprintf("%d %d\n", step, rng.IntN(3))
			op := rng.IntN(9)
			did = append(did, fmt.Sprint(op, " ", name, " ", dir))
			switch op {
			case 0, 1:
				write(name, text)
			case 2:
				must(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
				must(os.WriteFile(b.path("tmp"), []byte(text), 0o644))
				must(os.Rename(b.path("tmp"), b.path(name)))
			case 3:
				os.Remove(b.path(name))
			case 4:
				must(os.RemoveAll(b.path(dir)))
			case 5: // another folder takes its place, with files of the same names
				must(os.RemoveAll(b.path("old")))
				if os.Rename(b.path(dir), b.path("old")) == nil && rng.IntN(2) == 0 {
					must(os.CopyFS(b.path(dir), os.DirFS(b.path("old"))))
				}
			case 6:
				must(os.MkdirAll(b.path(dir), 0o755))
			case 7:
				read(name)
			case 8:
				read(name)
				if old := now(name); old != "gone" && !b.last.IsError {
					b.ok(&EditArgs{FilePath: b.path(name), OldString: strings.TrimSpace(old), NewString: "own " + fmt.Sprint(step, rng.IntN(100))})
					known[name] = now(name)
					for _, n := range namesIn(t, b.last) {
						known[strings.TrimPrefix(n, b.dir+"/")] = now(strings.TrimPrefix(n, b.dir+"/"))
					}
				}
			}
		}
		var want []string
		for name, state := range known {
			if now(name) != state {
				want = append(want, b.path(name))
			}
		}
		slices.Sort(want)
		var got []string
		for range 3 { // once more, for what is told twice
			got = append(got, namesIn(t, b.run(&WriteArgs{FilePath: b.path("probe"), Content: fmt.Sprint(rng.Uint64())}))...)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Sprintf("step %d, %q: told of\n%q\nand should have been of\n%q", step, did, got, want)
		}
		for name := range known {
			known[name] = now(name)
		}
	}
	return ""
}
