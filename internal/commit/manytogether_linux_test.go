//go:build !fsys_portable

package commit_test

import (
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// intruder is the system with another program, which does something to one file while the folder of
// its new bytes is synced for the first time.
type intruder struct {
	sys.Kernel
	mu      sync.Mutex
	isShown func() bool // the file has its new bytes
	intrude func()      // nil: it was done
	syncs   int         // of folders
}

func (i *intruder) Sync(fd int) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	now, err := i.Fstat(fd)
	if err == nil && sys.IsFolder(now) {
		i.syncs++
		if i.intrude != nil && i.isShown() {
			i.intrude()
			i.intrude = nil
		}
	}
	return i.Kernel.Sync(fd)
}

// editedTogether makes a MultiEdit of some files while another program does something to one of
// them, and returns the answer, what is on the disk and in the history, and the folders' syncs.
func editedTogether(t *testing.T, seed uint64, alone bool) (left string, syncs int) {
	if alone {
		defer commit.SetStagedTogether(1)()
	}
	rng := mathrand.New(mathrand.NewPCG(seed, 13))
	other := &intruder{isShown: func() bool { return false }}
	w := newWorld(t, false, func(o *save.Options) { o.Sys, o.Durability = other, save.Full })
	args := &tools.MultiEditArgs{}
	n := 1 + rng.IntN(6)
	for i := range n {
		path := w.path(fmt.Sprintf("d%d/f%d", rng.IntN(2), i))
		w.check(os.MkdirAll(filepath.Dir(path), 0o755))
		if rng.IntN(8) > 0 {
			w.check(os.WriteFile(path, []byte(strings.Repeat("old text\n", 1+rng.IntN(4))), 0o644))
			w.run(&tools.ReadArgs{FilePath: path})
			args.Edits = append(args.Edits, tools.EditArgs{FilePath: path, OldString: "old", NewString: "new", ReplaceAll: true})
		} else {
			args.Edits = append(args.Edits, tools.EditArgs{FilePath: path, NewString: "new text\n"})
		}
	}
	victim := args.Edits[rng.IntN(n)].FilePath
	old, err := unix.Open(victim, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(old)
		other.isShown = func() bool { b, _ := os.ReadFile(victim); return strings.HasPrefix(string(b), "new") }
		open := func() { // the old file, which it found by its name, to write: the call fails at this file
			unix.Open(fmt.Sprint("/proc/self/fd/", old), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		}
		other.intrude = map[int]func(){
			0: open,
			1: open,
			2: func() { os.Remove(victim) },
			3: func() { os.WriteFile(victim+".theirs", []byte("theirs"), 0o644); os.Rename(victim+".theirs", victim) },
		}[rng.IntN(5)]
	}
	other.syncs = 0
	answer := w.run(args)
	return answer + "\n" + w.tree() + w.entries(), other.syncs
}

// Files of a MultiEdit whose folders are synced once are left as if each was saved alone, also if
// another program has one of them fail: those before it are new, it and those after it old.
func TestManyTogetherAsEachAlone(t *testing.T) {
	failed, saved := 0, 0
	for seed := range uint64(shortrun.Count(t, 24, 12, "calls in two ways")) {
		together, few := editedTogether(t, seed, false)
		alone, many := editedTogether(t, seed, true)
		if together != alone {
			t.Fatalf("seed %d: together\n%s\neach alone\n%s", seed, together, alone)
		}
		if strings.HasPrefix(alone, "true") {
			failed++
		}
		saved += many - few
	}
	if failed < 2 || saved < 10 {
		t.Errorf("%d calls failed, and %d syncs were saved: the test proves little", failed, saved)
	}
	t.Logf("%d calls failed, and %d syncs of folders were saved", failed, saved)
}

// The comparison finds a MultiEdit that goes on after a file that failed.
func TestManyTogetherWrongly(t *testing.T) {
	for seed := range uint64(24) {
		reset := commit.SetReckless()
		together, _ := editedTogether(t, seed, false)
		reset()
		if alone, _ := editedTogether(t, seed, true); together != alone {
			return
		}
	}
	t.Error("no seed shows it")
}
