//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// item is something that a call changes.
type item struct {
	path string // by which the history names its change
	// state is "old", "new" or, across file systems alone, "both"; else what is wrong.
	state func() string
}

// errand is a call that is cut off at each of its system calls.
type errand struct {
	tool string
	args args
	// put makes everything as it was before the call.
	put   func()
	read  []string // files to be read before
	items []item
	// inOrder: an item is new only if those before it are.
	inOrder bool
}

// cuts is the state of a run of kills of one errand.
type cuts struct {
	t    *testing.T
	p    place
	far  string // a folder of another file system; "": none
	e    errand
	c    *mcptest.Client
	seen map[string]int // states after a kill

	kills, answered, between, restored int
}

// newCuts makes a place with an anchor file, and a folder on another file system.
func newCuts(t *testing.T, far bool) *cuts {
	k := &cuts{t: t, p: newPlace(t), seen: make(map[string]int)}
	must(t, os.WriteFile(k.p.file("anchor.txt"), []byte(anchor+"\n"), 0o666))
	if far {
		k.far = filepath.Join(filepath.Dir(k.p.ws), "far")
		must(t, os.Mkdir(k.far, 0o755))
		if err := unix.Mount("fsmcp-faults", k.far, "tmpfs", 0, "size=64m"); err != nil {
			t.Skipf("!!! NOT TESTED: there is no second file system: %v !!!", err)
		}
		t.Cleanup(func() { must(t, unix.Unmount(k.far, unix.MNT_DETACH)) })
	}
	return k
}

// run kills the errand at some of the system calls that change something, or at each.
func (k *cuts) run(e errand) {
	k.e = e
	k.start()
	defer func() { k.c.Kill() }()
	all := k.round(0)
	step := max(1, all/count(k.t, "FSMCP_CUTS", 1))
	for n := 1 + step/2; n <= all+all/20; n += step {
		k.round(n)
	}
	if step == 1 && (k.seen["old"] == 0 || k.seen["new"] == 0 || len(e.items) > 1 && k.between == 0) {
		k.t.Errorf("%v, %d between: the kills did not hit the call: the control arm failed", k.seen, k.between)
	}
	report(k.t, "%d calls that change something: %d kills, %d answered before; items %v; %d kills between two items; %d times taken back",
		all, k.kills, k.answered, k.seen, k.between, k.restored)
}

func (k *cuts) start() {
	dirs := []string{"serve", k.p.ws}
	if k.far != "" {
		dirs = append(dirs, k.far)
	}
	c, err := mcptest.Start(mcptest.Options{Path: fsmcp, Args: dirs, Dir: k.p.ws, Env: k.p.env("FSMCP_TOOLS=all"), Stderr: &stderrOf{t: k.t}})
	must(k.t, err)
	k.c = c
	_, err = c.Initialize(mcptest.Latest)
	must(k.t, err)
}

// round makes the errand once with a kill at its n-th system call, and looks at what is there
// after the next start. It returns how many calls there were.
func (k *cuts) round(n int) int {
	t := k.t
	k.e.put()
	must(t, os.RemoveAll(filepath.Join(k.p.home, ".local/state/fsmcp/history")))
	for _, file := range k.e.read {
		mustCall(t, k.c, "Read", args{"file_path": file})
	}
	cutter := cut(t, k.c.PID(), n)
	res, err := k.c.Call(k.e.tool, k.e.args)
	k.c.Kill()
	calls, last := cutter.end()
	where := fmt.Sprintf("killed at call %d (number %d)", n, last)
	switch {
	case last >= 0:
		k.kills++
	case err != nil || res.IsError:
		t.Fatalf("%s: not killed, and %v %s", k.e.tool, err, clip(res.Text))
	}
	if err == nil {
		k.answered++
	}
	k.start() // the next start
	mustCall(t, k.c, "Read", args{"file_path": k.p.file("anchor.txt")})
	k.strays(where)
	k.judge(where, err == nil)
	return calls
}

// strays waits until no temporary file is left.
func (k *cuts) strays(where string) {
	var folders []string
	for _, top := range []string{k.p.ws, k.far} {
		if top == "" {
			continue
		}
		filepath.WalkDir(top, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				folders = append(folders, path)
			}
			return nil
		})
	}
	for _, dir := range folders {
		if _, err := os.Lstat(dir); err != nil {
			continue // a folder that the sweep has removed
		}
		if left := noStrays(k.t, dir, func(name string) bool { return !strings.Contains(name, "fsmcp") }); len(left) > 0 {
			k.t.Errorf("%s: after the next start there are %q in %s", where, left, dir)
		}
	}
}

// judge compares what is there with the answer and with the history.
func (k *cuts) judge(where string, answered bool) {
	t := k.t
	var states, made []string
	for _, it := range k.e.items {
		state := it.state()
		k.seen[state]++
		states = append(states, state)
		if state == "new" || state == "both" {
			made = append(made, it.path)
		}
	}
	if strange := slices.ContainsFunc(states, func(s string) bool { return s != "old" && s != "new" && (s != "both" || k.far == "") }); strange {
		t.Errorf("%s: %q", where, states)
	}
	if old := slices.Index(states, "old"); old >= 0 && k.e.inOrder && slices.Contains(states[old:], "new") {
		t.Errorf("%s: a later one is new and an earlier one old: %q", where, states)
	}
	if len(made) > 0 && len(made) < len(states) {
		k.between++
	}
	if answered && slices.ContainsFunc(states, func(s string) bool { return s != "new" }) {
		t.Errorf("%s: reported as done: %q", where, states)
	}
	listed, which := k.history()
	slices.Sort(made)
	slices.Sort(listed)
	if !slices.Equal(made, listed) {
		t.Errorf("%s: changed are %q\nthe history lists %q", where, made, listed)
	}
	if len(listed) > 0 && !slices.Contains(states, "both") {
		k.takeBack(where, which)
	}
}

// history returns the paths of the changes that the history lists, and how a restore names them
// all.
func (k *cuts) history() (paths, which []string) {
	out, stderr, err := k.p.run(k.t, "history", "list", "--json")
	if err != nil || len(stderr) > 0 {
		k.t.Fatalf("history list: %v, %s", err, stderr)
	}
	var list struct {
		Changes []struct{ ID, Path, Group string }
	}
	must(k.t, json.Unmarshal(out, &list))
	for _, c := range list.Changes {
		paths, which = append(paths, c.Path), []string{c.ID}
		if c.Group != "" {
			which = []string{"--group", c.Group}
		}
	}
	return paths, which
}

// takeBack restores all of the call from the history: everything is old then.
func (k *cuts) takeBack(where string, which []string) {
	dirs := append([]string{"history", "restore", "--dir", k.p.ws}, which...)
	if k.far != "" {
		dirs = append(dirs, "--dir", k.far)
	}
	if _, stderr, err := k.p.run(k.t, dirs...); err != nil {
		k.t.Errorf("%s: restore: %v, %s", where, err, stderr)
		return
	}
	k.restored++
	for _, it := range k.e.items {
		if s := it.state(); s != "old" {
			k.t.Errorf("%s: taken back, and %s is %s", where, it.path, s)
		}
	}
}

// version is the state of a file that has one of two texts.
func version(path string, old, now []byte) func() string {
	return func() string {
		b, err := os.ReadFile(path)
		switch {
		case err != nil:
			return err.Error()
		case string(b) == string(old):
			return "old"
		case string(b) == string(now):
			return "new"
		}
		return fmt.Sprintf("torn: %d bytes", len(b))
	}
}

// spelled says what is at a name, and when a file was changed.
func spelled(path string) string {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return fmt.Sprintf("%s %d", shows(path), info.ModTime().UnixNano())
	}
	return shows(path)
}

// place of an item that is moved from one name to another. below are the names below both.
func movedItem(from, to string, below map[string]string) item {
	return item{from, func() string {
		olds, news := 0, 0
		for name, want := range below {
			old, now := spelled(filepath.Join(from, name)), spelled(filepath.Join(to, name))
			if old == want {
				olds++
			}
			if now == want {
				news++
			}
			if old != want && now != want {
				return fmt.Sprintf("%s: %s / %s, not %s", name, old, now, want)
			}
			if old != "" && old != want || now != "" && now != want {
				return fmt.Sprintf("%s: %s / %s", name, old, now)
			}
		}
		switch {
		case news == 0:
			return "old"
		case olds == 0:
			return "new"
		}
		return "both"
	}}
}

// goneItem is an item that is deleted.
func goneItem(path, want string) item {
	return item{path, func() string {
		switch now := spelled(path); now {
		case "":
			return "new"
		case want:
			return "old"
		default:
			return now
		}
	}}
}

// TestKillMultiEditAtEverySystemCall kills a MultiEdit of five files at each of its system calls.
// Each file is wholly old or wholly new, those before a new one are new, what was answered
// stays, the history lists just the files that are new and takes them back, and the next start
// leaves nothing.
func TestKillMultiEditAtEverySystemCall(t *testing.T) {
	k := newCuts(t, false)
	var files []string
	var edits []args
	var items []item
	old, now := content(1, fiveSize), content(2, fiveSize)
	for i := range 5 {
		file := k.p.file(fmt.Sprintf("f%d.txt", i))
		files = append(files, file)
		edits = append(edits, args{"file_path": file, "old_string": firstLine(1, fiveSize), "new_string": firstLine(2, fiveSize)})
		items = append(items, item{file, version(file, old, now)})
	}
	k.run(errand{tool: "MultiEdit", args: args{"edits": edits}, read: files, items: items, inOrder: true, put: func() {
		for _, file := range files {
			must(t, os.WriteFile(file, old, 0o640))
		}
	}})
}

const fiveSize = 1 << 10

// TestKillEditAtEverySystemCall does so with an Edit of one file.
func TestKillEditAtEverySystemCall(t *testing.T) {
	k := newCuts(t, false)
	file, old, now := k.p.file("f.txt"), content(1, fiveSize), content(2, fiveSize)
	k.run(errand{tool: "Edit", args: args{"file_path": file, "old_string": firstLine(1, fiveSize), "new_string": firstLine(2, fiveSize)},
		read: []string{file}, items: []item{{file, version(file, old, now)}}, put: func() { must(t, os.WriteFile(file, old, 0o640)) }})
}

// tree makes a file, a folder and a link, and returns what is at each name below dir.
func (k *cuts) tree(dir string) map[string]string {
	t := k.t
	must(t, os.MkdirAll(filepath.Join(dir, "d/inner"), 0o755))
	for name, text := range map[string]string{"a.txt": "the first\n", "d/b.txt": "the second\n", "d/inner/c.txt": "the third\n"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640))
	}
	if os.Symlink("a.txt", filepath.Join(dir, "l")) != nil {
		must(t, os.Remove(filepath.Join(dir, "l")))
		must(t, os.Symlink("a.txt", filepath.Join(dir, "l")))
	}
	all := make(map[string]string)
	for _, name := range []string{"a.txt", "d", "d/b.txt", "d/inner", "d/inner/c.txt", "l"} {
		all[name] = spelled(filepath.Join(dir, name))
	}
	return all
}

// move is a Move of a file, a folder and a link into to.
func (k *cuts) move(to string) {
	from := k.p.file("from")
	// The items are made anew each time, with new times: so they look at what was put last.
	was := make(map[string]string)
	e := errand{tool: "Move", inOrder: true, put: func() {
		for _, name := range []string{"a.txt", "d", "l"} {
			must(k.t, os.RemoveAll(filepath.Join(to, name)))
		}
		clear(was)
		for name, is := range k.tree(from) {
			was[name] = is
		}
	}}
	var moves []args
	for _, name := range []string{"a.txt", "d", "l"} {
		moves = append(moves, args{"from": filepath.Join(from, name), "to": filepath.Join(to, name)})
		e.items = append(e.items, item{filepath.Join(from, name), func() string {
			below := make(map[string]string)
			for n, is := range was {
				if rest, ok := strings.CutPrefix(n, name); ok && (rest == "" || rest[0] == '/') {
					below[strings.TrimPrefix(rest, "/")] = is
				}
			}
			return movedItem(filepath.Join(from, name), filepath.Join(to, name), below).state()
		}})
	}
	e.args = args{"moves": moves}
	k.run(e)
}

// TestKillMoveAtEverySystemCall kills a Move of a file, a folder and a link at each of its system
// calls. Each is at its old or at its new name, whole, and the history lists just those that
// were moved, and moves them back.
func TestKillMoveAtEverySystemCall(t *testing.T) {
	k := newCuts(t, false)
	k.move(k.p.file("to"))
}

// TestKillMoveAcrossAtEverySystemCall does so between two file systems. Both names are there if
// it was killed between the copy and the removal.
func TestKillMoveAcrossAtEverySystemCall(t *testing.T) {
	k := newCuts(t, true)
	k.move(filepath.Join(k.far, "to"))
}

// TestKillDeleteAtEverySystemCall kills a Delete of a file, a folder with files and a link at
// each of its system calls. Each is there or is gone with an entry of the history, by which it
// comes back.
func TestKillDeleteAtEverySystemCall(t *testing.T) {
	k := newCuts(t, false)
	from := k.p.file("from")
	was := make(map[string]string)
	e := errand{tool: "Delete", put: func() {
		clear(was)
		for name, is := range k.tree(from) {
			was[name] = is
		}
	}}
	for _, name := range []string{"a.txt", "d", "d/b.txt", "d/inner", "d/inner/c.txt", "l"} {
		path := filepath.Join(from, name)
		e.items = append(e.items, item{path, func() string { return goneItem(path, was[name]).state() }})
	}
	e.args = args{"paths": []string{filepath.Join(from, "a.txt"), filepath.Join(from, "d"), filepath.Join(from, "l")}, "recursive": true}
	k.run(e)
}
