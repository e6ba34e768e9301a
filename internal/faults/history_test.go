//go:build linux

package faults

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// run runs a command of fsmcp on the place and gives what it printed.
func (p place) run(t testing.TB, args ...string) (out, stderr []byte, err error) {
	t.Helper()
	cmd := exec.Command(fsmcp, args...)
	cmd.Dir, cmd.Env = p.ws, p.env()
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.Bytes(), e.Bytes(), err
}

// kept is a change as history list --json has it.
type kept struct {
	ID, Tool, Path string
	Group          string
	Before, After  *string
	To             string
}

// listed is the history, newest first; anything told on standard error is a fault.
func (p place) listed(t testing.TB) []kept {
	t.Helper()
	out, stderr, err := p.run(t, "history", "list", "--json")
	if err != nil || len(stderr) > 0 {
		t.Fatalf("history list: %v, %s", err, stderr)
	}
	var list struct{ Changes []kept }
	must(t, json.Unmarshal(out, &list))
	return list.Changes
}

// shown is one side of a change, as history show prints it.
func (p place) shown(t testing.TB, id string, flags ...string) []byte {
	t.Helper()
	out, stderr, err := p.run(t, append([]string{"history", "show", id}, flags...)...)
	if err != nil {
		t.Fatalf("history show %s: %v, %s", id, err, stderr)
	}
	return out
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// TestEveryVersionComesBack makes random edits over 20 files by two servers, then
// looks at both sides of every change, and takes all of them back, one by one.
func TestEveryVersionComesBack(t *testing.T) {
	edits := count(t, "FSMCP_HISTORY_EDITS", 30)
	p := newPlace(t)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 6))
	const files = 20
	texts := make([]string, files)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("file %d has lines\nof some kind, and more of them\n", i), 1+rng.IntN(300))
		must(t, os.WriteFile(p.file(fmt.Sprint(i)), []byte(texts[i]), 0o666))
	}
	servers := []*mcptest.Client{p.start(t), p.start(t)}
	type change struct {
		file        int
		before, now string
	}
	var made []change
	for range edits {
		i := rng.IntN(files)
		c, name := servers[rng.IntN(2)], p.file(fmt.Sprint(i))
		lines := strings.SplitAfter(strings.TrimSuffix(texts[i], "\n"), "\n")
		at := rng.IntN(len(lines))
		lines[at] = strings.Repeat(fmt.Sprintf("changed %d\n", rng.Uint64()), 1+rng.IntN(3))
		now := strings.Join(lines, "")
		mustCall(t, c, "Read", args{"file_path": name})
		mustCall(t, c, "Write", args{"file_path": name, "content": now})
		made = append(made, change{i, texts[i], now})
		texts[i] = now
	}
	for _, c := range servers {
		must(t, c.Close())
	}
	list := p.listed(t)
	if len(list) != len(made) {
		t.Fatalf("%d changes are listed of %d", len(list), len(made))
	}
	wrong := 0
	for n, e := range list {
		m := made[len(made)-1-n]
		if string(p.shown(t, e.ID)) != m.before || string(p.shown(t, e.ID, "--after")) != m.now || *e.Before != hexSum([]byte(m.before)) || *e.After != hexSum([]byte(m.now)) {
			wrong++
		}
	}
	for n, e := range list {
		m := made[len(made)-1-n]
		if _, stderr, err := p.run(t, "history", "restore", e.ID); err != nil {
			t.Fatalf("restore %s: %v, %s", e.ID, err, stderr)
		}
		if string(read(t, p.file(fmt.Sprint(m.file)))) != m.before {
			wrong++
		}
	}
	report(t, "%d changes of %d files by 2 servers, each side looked at and each taken back: %d wrong", len(made), files, wrong)
	if wrong > 0 {
		t.Fail()
	}
}

// TestMiddleChangesComeBackAsInGit takes the first of two changes back, and
// compares with git merge-file.
func TestMiddleChangesComeBackAsInGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("!!! NOT TESTED: git is missing !!!")
	}
	cases := count(t, "FSMCP_HISTORY_MERGES", 20)
	p := newPlace(t)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 7))
	c := p.start(t)
	vary := func(lines []string) []string {
		out := append([]string{}, lines...)
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(out))
			n := min(rng.IntN(3), len(out)-at)
			put := make([]string, rng.IntN(3))
			for i := range put {
				put[i] = []string{"}\n", "\n", fmt.Sprintf("\tcall(%d)\n", rng.IntN(40))}[rng.IntN(3)]
			}
			out = append(append(append([]string{}, out[:at]...), put...), out[at+n:]...)
			if len(out) == 0 {
				out = []string{"all is gone\n"}
			}
		}
		return out
	}
	clean, conflicts, different := 0, 0, 0
	side := t.TempDir()
	for n := 0; n < cases; n++ {
		lines := make([]string, 5+rng.IntN(40))
		for i := range lines {
			lines[i] = []string{"}\n", "\n", fmt.Sprintf("\tline(%d)\n", i)}[min(2, rng.IntN(5))]
		}
		texts := []string{strings.Join(lines, "")}
		for range 2 {
			lines = vary(lines)
			texts = append(texts, strings.Join(lines, ""))
		}
		if texts[0] == texts[1] || texts[1] == texts[2] {
			n--
			continue
		}
		name := p.file(fmt.Sprint(n))
		must(t, os.WriteFile(name, []byte(texts[0]), 0o666))
		mustCall(t, c, "Read", args{"file_path": name})
		mustCall(t, c, "Write", args{"file_path": name, "content": texts[1]})
		mustCall(t, c, "Write", args{"file_path": name, "content": texts[2]})
		first := p.listed(t)[1]
		var paths []string
		for i, text := range []string{texts[2], texts[1], texts[0]} { // ours, base, theirs
			paths = append(paths, filepath.Join(side, fmt.Sprint(i)))
			must(t, os.WriteFile(paths[i], []byte(text), 0o666))
		}
		want, err := exec.Command("git", append([]string{"merge-file", "-p", "-q"}, paths...)...).Output()
		_, stderr, rerr := p.run(t, "history", "restore", first.ID)
		got := read(t, name)
		switch {
		case err == nil && rerr == nil && bytes.Equal(got, want):
			clean++
		case err != nil && rerr != nil && bytes.Contains(stderr, []byte("changed since")) && string(got) == texts[2]:
			conflicts++
		default:
			different++
			t.Errorf("git: %v %q\nhere: %v %s %q", err, want, rerr, stderr, got)
		}
	}
	must(t, c.Close())
	report(t, "%d middle changes taken back as git does it, %d conflicts told as git does, %d different", clean, conflicts, different)
}

// TestHistoryAfterKills kills the server at random moments of its edits: the
// history lists, its entries are whole, and every change that landed is there.
func TestHistoryAfterKills(t *testing.T) {
	kills := count(t, "FSMCP_HISTORY_KILLS", 15)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 8))
	entries, lost, broken := 0, 0, 0
	for range kills {
		p := newPlace(t)
		name := p.file("f.txt")
		old := content(0, 1000+rng.IntN(300_000))
		size := len(old)
		must(t, os.WriteFile(name, old, 0o666))
		c := p.start(t)
		look := args{"file_path": name, "limit": 1}
		if size <= 16<<10 {
			delete(look, "limit")
		}
		mustCall(t, c, "Read", look)
		done := make(chan error, 1)
		landed := [][]byte{old}
		go func() {
			for gen := 0; ; gen++ {
				from, to := fmt.Sprintf("generation=%d ", gen), fmt.Sprintf("generation=%d ", gen+1)
				res, err := c.Call("Edit", args{"file_path": name, "old_string": from, "new_string": to})
				if err == nil && res.IsError {
					err = errors.New(res.Text)
				}
				if err != nil {
					done <- err
					return
				}
				last := landed[len(landed)-1]
				landed = append(landed, bytes.Replace(last, []byte(from), []byte(to), 1))
			}
		}()
		time.Sleep(time.Duration(rng.IntN(60_000)) * time.Microsecond)
		c.Kill()
		<-done
		list := p.listed(t)
		entries += len(list)
		// One more than was answered may be there: its answer, or its change, was
		// cut off.
		if len(list) < len(landed)-1 || len(list) > len(landed) {
			lost++
			t.Errorf("%d changes are listed, %d were answered", len(list), len(landed)-1)
			continue
		}
		for n := range list {
			e := list[len(list)-1-n]
			before := p.shown(t, e.ID)
			if hexSum(before) != *e.Before || !bytes.Equal(before, landed[n]) || hexSum(p.shown(t, e.ID, "--after")) != *e.After {
				broken++
			}
			if n > 3 && rng.IntN(4) > 0 { // a look at some is enough
				break
			}
		}
		if len(list) > 0 && rng.IntN(2) == 0 { // and the last one can be taken back
			if _, stderr, err := p.run(t, "history", "restore", list[0].ID); err != nil {
				t.Errorf("restore: %v, %s", err, stderr)
			}
		}
	}
	report(t, "%d kills: %d entries listed, %d histories with a change too few or too many, %d entries not whole", kills, entries, lost, broken)
	if lost+broken > 0 {
		t.Fail()
	}
}
