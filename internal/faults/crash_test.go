//go:build linux

package faults

import (
	"bytes"
	"crypto/sha256"
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
	// deletes: what is gone can be made again from the history.
	deletes bool
	// lastOnly: the power goes after the last but one change was answered.
	lastOnly bool
}

// crashCall is a call of the server, or a command, which runs by itself.
type crashCall struct {
	tool    string
	args    args
	command func() []string
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
	from     int                 // calls that have ended when the power may go
	answered int                 // changes before the log that were answered
	logs     int
	timeout  time.Duration // with a start that clears up
	verdicts map[[32]byte]verdict
	lists    map[[32]byte]historyList
	damaged  int                 // states whose history has a damaged entry, and says so
	cleared  []crashstates.State // in which a start has to clear up
}

// historyList is the output of "history list".
type historyList struct {
	out, stderr []byte
	err         error
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
	r := &recording{t: t, scene: scene, d: newDisk(t), made: make(map[string]int), verdicts: make(map[[32]byte]verdict), lists: make(map[[32]byte]historyList)}
	must(t, os.WriteFile(r.d.p.file("anchor.txt"), []byte(anchor+"\n"), 0o644))
	if scene.settings != "" {
		r.d.p.settings(t, scene.settings)
	}
	scene.put(r.d)
	for _, e := range r.d.p.listed(t) {
		r.made[e.ID] = -1
	}
	r.start, r.pictures = r.d.scan(), append(r.pictures, r.picture())
	r.play()
	r.same()
	answers := 0
	for i, op := range slices.Backward(r.log) {
		if op.Kind == crashstates.Answer {
			if answers++; answers == 2 && scene.lastOnly {
				r.from = i + 1
			}
		}
	}
	if answers != len(r.pictures)-1 {
		t.Fatalf("%d answers to %d changes are recorded", answers, len(r.pictures)-1)
	}
	return r
}

// play makes the changes of the scene: calls of one server as long as no command comes between.
func (r *recording) play() {
	var c *mcptest.Client
	var answers [][]byte
	logFile := ""
	end := func() {
		if c != nil {
			must(r.t, c.Close())
			r.add(logFile, answers)
			c, answers = nil, nil
		}
	}
	n := 0
	for _, call := range r.scene.calls(r.d) {
		if call.command != nil {
			end()
			r.runCommand(call.command())
			r.after(n)
			n++
			continue
		}
		if c == nil {
			logFile = r.newLog()
			c = r.serve(r.options(logFile, "serve", r.d.p.ws, r.d.roots[1]))
		}
		res := mustCall(r.t, c, call.tool, call.args)
		if call.tool == "Read" {
			continue
		}
		answers = append(answers, bytes.TrimSpace(res.Raw))
		r.after(n)
		n++
	}
	end()
	// Not before: a server evicts beside its calls, and has done so when it has ended.
	r.last = make(map[string]bool)
	for _, e := range r.d.p.listed(r.t) {
		r.last[e.ID] = true
	}
}

func (r *recording) newLog() string {
	r.logs++
	return filepath.Join(filepath.Dir(r.d.roots[0]), fmt.Sprintf("log%d", r.logs))
}

func (r *recording) options(logFile string, program ...string) mcptest.Options {
	self, err := os.Executable()
	must(r.t, err)
	return mcptest.Options{Path: self, Args: append([]string{logFile, strings.Join(r.d.roots, ":"), fsmcp}, program...), Dir: r.d.p.ws,
		Env: r.d.p.env(append(r.scene.env, "FAULTS_ROLE=record", "FSMCP_TOOLS=all", "GOMAXPROCS=2")...), Stderr: &stderrOf{t: r.t}}
}

// serve starts a server and shakes hands.
func (r *recording) serve(o mcptest.Options) *mcptest.Client {
	c, err := mcptest.Start(o)
	must(r.t, err)
	_, err = c.Initialize(mcptest.Latest)
	must(r.t, err)
	return c
}

// add appends the calls that a run of the program has made; of what it wrote to its standard
// output, these are the answers to changes.
func (r *recording) add(logFile string, answers [][]byte) {
	f, err := os.Open(logFile)
	must(r.t, err)
	defer f.Close()
	log, err := crashstates.Read(f)
	must(r.t, err)
	for i := range log {
		op := &log[i]
		op.Before += len(r.log)
		if op.Kind == crashstates.Answer && !slices.ContainsFunc(answers, func(a []byte) bool { return bytes.Contains(op.Data, a) }) {
			op.Kind = "nothing"
		}
	}
	r.log = append(r.log, log...)
}

// runCommand runs a command, whose end is its answer.
func (r *recording) runCommand(command []string) {
	logFile := r.newLog()
	o := r.options(logFile, command...)
	cmd := commandOf(o)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%v: %v %s", o.Args, err, out)
	}
	r.add(logFile, nil)
	r.log = append(r.log, crashstates.Op{Kind: crashstates.Answer, Call: "end"})
}

// after takes down what is there after a call.
func (r *recording) after(n int) {
	r.pictures = append(r.pictures, r.picture())
	for _, e := range r.d.p.listed(r.t) {
		if _, known := r.made[e.ID]; !known {
			r.made[e.ID] = n
		}
	}
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
	if r.restart(mcptest.Options{Path: fsmcp, Args: []string{"serve", r.d.p.ws, r.d.roots[1]}, Dir: r.d.p.ws, Env: r.d.p.env(), Stderr: &stderrOf{t: r.t}}) {
		r.cleared = append(r.cleared, st)
	}
	v := verdict{shows: r.picture(), listed: make(map[string]bool)}
	v.faults = append(r.leftovers(), r.history(v)...)
	r.verdicts[st.Sum] = v
	return v
}

// restart starts a server, lets it clear up and ends it. It reports whether there was something.
func (r *recording) restart(o mcptest.Options) bool {
	before := r.leftovers()
	c := r.serve(o)
	mustCall(r.t, c, "Read", args{"file_path": r.d.p.file("anchor.txt")})
	for end := time.Now().Add(r.timeout); time.Now().Before(end); time.Sleep(time.Millisecond) {
		// The sweep goes on beside the calls.
		if now := r.leftovers(); !slices.ContainsFunc(before, func(f string) bool { return slices.Contains(now, f) }) {
			break
		}
	}
	must(r.t, c.Close())
	return len(before) > 0
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
	all := r.list(v.shows)
	if all.err != nil {
		return []string{fmt.Sprintf("the history cannot be read: %v, %s", all.err, all.stderr)}
	}
	if len(all.stderr) > 0 {
		r.damaged++
	}
	var list struct {
		Changes []struct{ ID, Path, To string }
	}
	must(r.t, json.Unmarshal(all.out, &list))
	restorable := make(map[string]string)
	for _, e := range list.Changes {
		n, known := r.made[e.ID]
		v.listed[e.ID] = true
		if restorable[e.Path] == "" { // the newest comes first
			restorable[e.Path] = e.ID
		}
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
	if r.scene.deletes {
		faults = append(faults, r.gone(v, restorable)...)
	}
	return faults
}

// list lists the history, once for each state of its files and of those that it tells of: the
// history looks whether a change was made.
func (r *recording) list(shown map[string]string) historyList {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", shown)
	dir := filepath.Join(r.d.p.home, ".local/state/fsmcp/history")
	files, _ := os.ReadDir(dir)
	for _, e := range files {
		fmt.Fprintf(h, "%q %q\n", e.Name(), shows(filepath.Join(dir, e.Name())))
	}
	sum := [32]byte(h.Sum(nil))
	l, known := r.lists[sum]
	if !known {
		l.out, l.stderr, l.err = r.d.p.run(r.t, "history", "list", "--json")
		r.lists[sum] = l
	}
	return l
}

// moved reports whether call n gives another name to what a name showed before it.
func (r *recording) moved(n int, is string) bool {
	for path, now := range r.pictures[n+1] {
		if now == is && is != "folder" && r.pictures[n][path] != is {
			return true
		}
	}
	return false
}

// gone restores what was deleted, and checks that it comes back.
func (r *recording) gone(v verdict, restorable map[string]string) (faults []string) {
	was := make(map[string][]string) // what a name showed before it went
	for n, p := range r.pictures[:len(r.pictures)-1] {
		for path, is := range p {
			if r.pictures[n+1][path] == "" && !r.moved(n, is) {
				was[path] = append(was[path], is)
			}
		}
	}
	there := slices.Collect(maps.Values(v.shows))
	for path, is := range was {
		if v.shows[path] != "" || slices.ContainsFunc(is, func(is string) bool { return is != "folder" && slices.Contains(there, is) }) {
			continue // it is there, or was moved
		}
		if r.pictures[0][path] == "" && slices.Contains(is, "folder") {
			continue // it was made for a file
		}
		if restorable[path] == "" {
			faults = append(faults, path+" is gone, and the history does not have it")
		} else if slices.Contains(is, shows(path)) {
			// It was made again for what it holds.
		} else if _, stderr, err := r.d.p.run(r.t, "history", "restore", restorable[path], "--dir", r.d.p.ws); err != nil || !slices.Contains(is, shows(path)) {
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

// judge returns what is wrong with a state: each name shows what it did after the last change that
// was answered, or what it did after the next one.
func (r *recording) judge(st crashstates.State) []string {
	v, answered := r.look(st), r.answered+st.Answered
	faults := slices.Clone(v.faults)
	names := make(map[string]bool)
	for _, p := range append(r.pictures, v.shows) {
		for path := range p {
			names[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(names)) {
		n := r.reached(v.shows, path)
		if legal := r.pictures[answered:min(answered+2, len(r.pictures))]; slices.ContainsFunc(legal, func(p map[string]string) bool { return p[path] == v.shows[path] }) {
			continue
		}
		switch {
		case n < 0:
			faults = append(faults, fmt.Sprintf("%s shows neither old nor new: %s", path, clip(v.shows[path])))
		case n < answered:
			faults = append(faults, fmt.Sprintf("%s was changed by call %d, which was answered: it is not there", path, n+1))
		default:
			faults = append(faults, fmt.Sprintf("%s shows what call %d makes of it, which was not called yet", path, n))
		}
	}
	return append(faults, r.missing(v, answered)...)
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
	b.Most, b.From, r.timeout = most, r.from, 30*time.Second
	if without >= 0 {
		r.timeout = 5 * time.Second // some states are bad
	}
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
			t.Parallel()
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
		r.tryRecoveries()
	})
}

// tryRecoveries records the starts that clear up after some of the states, and tries the states in
// which a second loss of power during them may leave the disk.
func (r *recording) tryRecoveries() {
	starts := count(r.t, "FSMCP_CRASH_RECOVERIES", 1)
	most := min(count(r.t, "FSMCP_CRASH_STATES", 1), 10)
	begin, states, clear := time.Now(), 0, len(r.cleared)
	starts = min(starts, clear)
	for i := range starts {
		again := r.recovery(r.cleared[(2*i+1)*clear/(2*starts)])
		for _, m := range crashstates.Models {
			for _, bad := range again.try(m, -1, most, 1).bad {
				r.t.Errorf("a crash during the start that clears up: %s", bad)
			}
		}
		states += len(again.verdicts)
	}
	report(r.t, "%d states need clearing up; a crash during %d of these starts: %d different states tried in %v", clear, starts, states, time.Since(begin).Round(time.Millisecond))
}

// recovery records the start that clears up after a state.
func (r *recording) recovery(st crashstates.State) *recording {
	again := *r
	again.verdicts, again.cleared, again.log, again.from = make(map[[32]byte]verdict), nil, nil, 0
	again.answered = r.answered + st.Answered
	again.d.build(st.World)
	again.start = again.d.scan()
	logFile := again.newLog()
	again.restart(again.options(logFile, "serve", r.d.p.ws, r.d.roots[1]))
	again.add(logFile, nil)
	again.same()
	return &again
}

// TestCrashStatesWithoutASync is the control arm: with one sync left out, a state that this makes
// possible must be found bad. It reports the syncs without which none is.
func TestCrashStatesWithoutASync(t *testing.T) {
	most := min(count(t, "FSMCP_CRASH_STATES", 40), 40) // for each sync and model
	scenes(t, func(t *testing.T, r *recording) { tryWithoutEachSync(t, r, most) })
}

// tryWithoutEachSync leaves out one sync after the other; without one at least a state has to be bad.
func tryWithoutEachSync(t *testing.T, r *recording, most int) {
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
}
