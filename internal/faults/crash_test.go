//go:build linux

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/faults/crashstates"
	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// crashScene is one change, or some one after the other, whose crash states are tried.
type crashScene struct {
	name     string
	settings string   // of the user
	env      []string // of the recorded program
	put      func(d *disk)
	calls    func(d *disk) []crashCall
	command  func(d *disk) []string // in place of calls
	// deletes: what is gone in the end can be made again from the history.
	deletes bool
}

// crashCall is a call of the server.
type crashCall struct {
	tool string
	args args
}

// recording is a scene that was played once, under the recorder, with pictures of each moment.
type recording struct {
	t        *testing.T
	scene    crashScene
	d        *disk
	start    crashstates.World
	log      crashstates.Log
	pictures []map[string]string // before the first call, and after each: what each name shows
	made     map[string]int      // the changes that the history has listed, and their calls; -1: earlier ones
	last     map[string]bool     // those that it lists in the end
	verdicts map[[32]byte]verdict
	damaged  int // states whose history has a damaged entry, and says so
}

// verdict describes the disk after the next start.
type verdict struct {
	shows  map[string]string
	listed map[string]bool // the changes that the history lists
	faults []string        // that do not depend on what was answered
}

// record plays a scene under the recorder.
func record(t *testing.T, scene crashScene) *recording {
	t.Helper()
	r := &recording{t: t, scene: scene, d: newDisk(t), made: make(map[string]int), verdicts: make(map[[32]byte]verdict)}
	must(t, os.WriteFile(r.d.p.file("anchor.txt"), []byte(anchor+"\n"), 0o644))
	if scene.settings != "" {
		r.d.p.settings(t, scene.settings)
	}
	scene.put(r.d)
	for _, e := range r.d.p.listed(t) {
		r.made[e.ID] = -1
	}
	r.start, r.pictures = r.d.scan(), append(r.pictures, r.picture())
	logFile := filepath.Join(t.TempDir(), "log")
	var answers [][]byte
	if scene.command != nil {
		r.runCommand(logFile)
	} else {
		answers = r.call(logFile)
	}
	f, err := os.Open(logFile)
	must(t, err)
	defer f.Close()
	r.log, err = crashstates.Read(f)
	must(t, err)
	for i := range r.log {
		op := &r.log[i]
		if op.Kind == crashstates.Answer && !slices.ContainsFunc(answers, func(a []byte) bool { return bytes.Contains(op.Data, a) }) {
			op.Kind = "nothing"
		}
	}
	if scene.command != nil { // the end of a command is its answer
		r.log = append(r.log, crashstates.Op{Kind: crashstates.Answer, Call: "end"})
	}
	r.same()
	return r
}

func (r *recording) options(logFile string, program ...string) mcptest.Options {
	self, err := os.Executable()
	must(r.t, err)
	return mcptest.Options{Path: self, Args: append([]string{logFile, strings.Join(r.d.roots, ":"), fsmcp}, program...), Dir: r.d.p.ws,
		Env: r.d.p.env(append(r.scene.env, "FAULTS_ROLE=record", "FSMCP_TOOLS=all", "GOMAXPROCS=2")...), Stderr: &stderrOf{t: r.t}}
}

// call makes the calls, and returns their answers.
func (r *recording) call(logFile string) (answers [][]byte) {
	c, err := mcptest.Start(r.options(logFile, "serve", r.d.p.ws, r.d.roots[1]))
	must(r.t, err)
	_, err = c.Initialize(mcptest.Latest)
	must(r.t, err)
	n := 0
	for _, call := range r.scene.calls(r.d) {
		res := mustCall(r.t, c, call.tool, call.args)
		if call.tool == "Read" {
			continue
		}
		answers = append(answers, bytes.TrimSpace(res.Raw))
		r.after(n)
		n++
	}
	must(r.t, c.Close())
	return answers
}

// after takes down what is there after a call.
func (r *recording) after(n int) {
	r.pictures = append(r.pictures, r.picture())
	r.last = make(map[string]bool)
	for _, e := range r.d.p.listed(r.t) {
		r.last[e.ID] = true
		if _, known := r.made[e.ID]; !known {
			r.made[e.ID] = n
		}
	}
}

func (r *recording) runCommand(logFile string) {
	o := r.options(logFile, r.scene.command(r.d)...)
	cmd := commandOf(o)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%v: %v %s", o.Args, err, out)
	}
	r.after(0)
}

// same checks the recorder: its log, played on what was there, makes what is there now.
func (r *recording) same() {
	end, now := r.log.End(r.start), r.d.scan()
	if end.Sum() == now.Sum() {
		return
	}
	list, names, _ := now.Reached()
	for _, id := range list {
		is, was := now[id], end[id]
		if was == nil || is.Mode != was.Mode || is.Time != was.Time && !is.Mode.IsDir() || !bytes.Equal(is.Data, was.Data) || !maps.Equal(is.Names, was.Names) {
			r.t.Errorf("%s: recorded is %+v\nand there is %+v", names[id].Name, was, is)
		}
	}
	r.t.Fatal("the recorder has missed something")
}

// picture returns what each name shows, beside those of fsmcp's own folders. A time is not shown.
func (r *recording) picture() map[string]string {
	all := make(map[string]string)
	for _, top := range []string{r.d.p.ws, r.d.p.home, r.d.roots[1]} {
		filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			if err != nil || path == top {
				return err
			}
			if e.IsDir() && slices.Contains([]string{".local", ".cache"}, e.Name()) {
				return fs.SkipDir
			}
			all[path] = shows(path)
			return nil
		})
	}
	return all
}

// shows says what is at a name.
func shows(path string) string {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return "folder"
	case info.Mode()&os.ModeSymlink != 0:
		text, _ := os.Readlink(path)
		return "link to " + text
	}
	b, _ := os.ReadFile(path)
	return fmt.Sprintf("%v %q", info.Mode(), b)
}

// look starts the server on a state of the disk, ends it and takes down what is there.
func (r *recording) look(st crashstates.State) verdict {
	if v, known := r.verdicts[st.Sum]; known {
		return v
	}
	r.d.build(st.World)
	before := r.leftovers()
	c, err := mcptest.Start(mcptest.Options{Path: fsmcp, Args: []string{"serve", r.d.p.ws, r.d.roots[1]}, Dir: r.d.p.ws, Env: r.d.p.env(), Stderr: &stderrOf{t: r.t}})
	must(r.t, err)
	_, err = c.Initialize(mcptest.Latest)
	must(r.t, err)
	mustCall(r.t, c, "Read", args{"file_path": r.d.p.file("anchor.txt")})
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		// The sweep goes on beside the calls.
		if now := r.leftovers(); !slices.ContainsFunc(before, func(f string) bool { return slices.Contains(now, f) }) {
			break
		}
	}
	must(r.t, c.Close())
	v := verdict{shows: r.picture(), listed: make(map[string]bool)}
	v.faults = append(r.leftovers(), r.history(v)...)
	r.verdicts[st.Sum] = v
	return v
}

// leftovers names the temporary files that are still there.
func (r *recording) leftovers() (faults []string) {
	state := filepath.Join(r.d.p.home, ".local/state/fsmcp")
	for path := range r.picture() {
		if name := filepath.Base(path); strings.Contains(name, ".fsmcp-") {
			faults = append(faults, "left over: "+path)
		}
	}
	for _, part := range []string{"flight", "journal", "renames", "saved"} {
		list, _ := os.ReadDir(filepath.Join(state, part))
		for _, e := range list {
			faults = append(faults, "left over: "+part+"/"+e.Name())
		}
	}
	return faults
}

// history checks that the history can be read, that each change that it lists was made, and that
// what was deleted is in it and can be made again.
func (r *recording) history(v verdict) (faults []string) {
	out, stderr, err := r.d.p.run(r.t, "history", "list", "--json")
	if err != nil {
		return []string{fmt.Sprintf("the history cannot be read: %v, %s", err, stderr)}
	}
	if len(stderr) > 0 {
		r.damaged++
	}
	var list struct {
		Changes []struct{ ID, Path, To string }
	}
	must(r.t, json.Unmarshal(out, &list))
	restorable := make(map[string]string)
	for _, e := range list.Changes {
		n, known := r.made[e.ID]
		v.listed[e.ID], restorable[e.Path] = true, e.ID
		if !known {
			faults = append(faults, "the history lists a change that was not made: "+e.ID)
		} else if r.reached(v.shows, e.Path) <= n && r.reached(v.shows, e.To) <= n { // a name may be missing, or be there twice
			faults = append(faults, fmt.Sprintf("the history lists the change of %s by call %d, which is not there", e.Path, n+1))
		}
	}
	for id, n := range r.made {
		if n < 0 && r.last[id] && !v.listed[id] {
			faults = append(faults, "the history has lost an earlier change: "+id)
		}
	}
	for path, was := range r.pictures[0] {
		if v.shows[path] != "" || !r.scene.deletes {
			continue
		}
		if restorable[path] == "" {
			faults = append(faults, path+" is gone, and the history does not have it")
		} else if is := shows(path); is == was {
			// It was made again for what it holds.
		} else if _, stderr, err := r.d.p.run(r.t, "history", "restore", restorable[path], "--dir", r.d.p.ws); err != nil || shows(path) != was {
			faults = append(faults, fmt.Sprintf("%s does not come back: %v %s", path, err, stderr))
		}
	}
	return faults
}

// reached returns the last moment at which the name showed what it shows; -1 if it never did.
func (r *recording) reached(shows map[string]string, path string) int {
	for n := len(r.pictures) - 1; n >= 0; n-- {
		if r.pictures[n][path] == shows[path] {
			return n
		}
	}
	return -1
}

// judge returns what is wrong with a state.
func (r *recording) judge(st crashstates.State) []string {
	v := r.look(st)
	faults := slices.Clone(v.faults)
	names := make(map[string]bool)
	for _, p := range append(r.pictures, v.shows) {
		for path := range p {
			names[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(names)) {
		if of, backup := strings.CutSuffix(path, ".fsmcp.bak"); backup && r.reached(v.shows, of) == 0 {
			continue // it was being made: the file is still there
		}
		switch n := r.reached(v.shows, path); {
		case n < 0:
			faults = append(faults, fmt.Sprintf("%s shows neither old nor new: %s", path, clip(v.shows[path])))
		case n < st.Answered:
			faults = append(faults, fmt.Sprintf("%s was changed by call %d, which was answered: it is not there", path, n+1))
		}
	}
	return append(faults, r.missing(v, st.Answered)...)
}

// missing names the contents that no later call takes away, and that are nowhere: what is moved is
// under one of its names.
func (r *recording) missing(v verdict, from int) (faults []string) {
	now := slices.Collect(maps.Values(v.shows))
	for path, is := range r.pictures[from] {
		kept := is != "folder" && !slices.Contains(now, is)
		for _, later := range r.pictures[from:] {
			kept = kept && slices.Contains(slices.Collect(maps.Values(later)), is)
		}
		if kept {
			faults = append(faults, "what was at "+path+" is nowhere")
		}
	}
	return faults
}

// tried is the result of a run over the states of a recording.
type tried struct {
	sets, looked int
	bad          []string
}

// try judges the states of the recording under a model, at most so many of them, until enough are
// bad; with a sync left out those alone that this makes possible. -1: none is left out.
func (r *recording) try(m crashstates.Model, without, most, enough int) (n tried) {
	b := crashstates.Default
	b.Most = most
	visit := func(st crashstates.State) bool {
		n.looked++
		if faults := r.judge(st); len(faults) > 0 {
			after := "the begin"
			if st.Calls > 0 {
				after = r.log[st.Calls-1].Call
			}
			text := fmt.Sprintf("%s: after call %d (%s), lost %q:\n  %s", m.Name, st.Calls, after, st.Lost, strings.Join(faults, "\n  "))
			n.bad = append(n.bad, strings.ReplaceAll(text, filepath.Dir(r.d.roots[0])+"/", ""))
		}
		return len(n.bad) < enough
	}
	if without < 0 {
		n.sets = r.log.States(r.start, m, b, visit)
	} else {
		n.sets = r.log.StatesWithout(without, r.start, m, b, visit)
	}
	return n
}

// quickScenes are those that make test has time for, with a few states.
var quickScenes = []string{"exchange", "in place and shorter"}

// scenes runs a test with each scene that there is time for.
func scenes(t *testing.T, play func(t *testing.T, r *recording)) {
	needStrace(t) // where ptrace works
	for _, scene := range crashScenes() {
		t.Run(strings.ReplaceAll(scene.name, " ", "_"), func(t *testing.T) {
			if !slices.Contains(quickScenes, scene.name) {
				shortrun.Leave(t, "the crash states of this scene")
			}
			play(t, record(t, scene))
		})
	}
}

// TestCrashStates plays each scene once and tries the states in which a loss of power may leave
// the disk: see package crashstates. After the next start each file is old or new, what was
// answered is there, nothing is left over, and the history is readable and true.
func TestCrashStates(t *testing.T) {
	most := count(t, "FSMCP_CRASH_STATES", 2)
	scenes(t, func(t *testing.T, r *recording) {
		begin, sets := time.Now(), 0
		for _, m := range crashstates.Models {
			n := r.try(m, -1, most, 3)
			sets += n.sets
			for _, bad := range n.bad {
				t.Error(bad)
			}
		}
		report(t, "%d calls, %d sets of effects by four models, %d different states tried in %v; in %d the history says that it lost an entry", len(r.log), sets, len(r.verdicts), time.Since(begin).Round(time.Millisecond), r.damaged)
	})
}

// TestCrashStatesWithoutASync is the control arm: with one sync left out, a state that this makes
// possible must be found bad. It reports the syncs without which none is.
func TestCrashStatesWithoutASync(t *testing.T) {
	most := min(count(t, "FSMCP_CRASH_STATES", 40), 40) // for each sync and model
	scenes(t, func(t *testing.T, r *recording) {
		caught, models := 0, crashstates.Models
		if !shortrun.Full() {
			models = models[:1]
		}
		for i, op := range r.log {
			if op.Kind != crashstates.Sync || !shortrun.Full() && (caught > 0 || !strings.Contains(op.Call, "ws/")) {
				continue // make test leaves out the first sync of a file in the workspace alone
			}
			var by []string
			for _, m := range models {
				if n := r.try(m, i, most, 1); len(n.bad) > 0 {
					by = append(by, m.Name)
				}
			}
			call := strings.ReplaceAll(op.Call, filepath.Dir(r.d.roots[0])+"/", "")
			if len(by) > 0 {
				caught++
				report(t, "without call %d, %s, caught by: %s", i+1, call, strings.Join(by, "; "))
			} else {
				report(t, "without call %d, %s, no state is bad", i+1, call)
			}
		}
		if caught == 0 {
			t.Error("no sync is missed: the test proves nothing")
		}
	})
}
