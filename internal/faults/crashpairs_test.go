//go:build linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/faults/crashstates"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// fileState says whether the file of an operation is there, and whether it has a second name.
type fileState string

const (
	absent fileState = "absent"
	single fileState = "single"
	linked fileState = "linked" // it has a second name, so that it is written in place
)

// slot is the file that an operation works on, as the operations before have left it.
type slot struct {
	d     *disk
	name  string
	path  string
	state fileState
	mark  string // the line that the next edit replaces
	edits int
	was   *slot // before the last operation; a restore brings it back
}

// operation is a kind of change. Sequences are made of them.
type operation struct {
	kind string
	on   []fileState
	// calls returns the calls, and changes the slot as they do.
	calls func(s *slot) []crashCall
}

// changed keeps what the slot was for a restore, and returns the next line.
func (s *slot) changed() (next string) {
	was := *s
	s.was, s.edits = &was, s.edits+1
	return fmt.Sprintf("%s edit %d%s", s.name, s.edits, strings.Repeat(", which is longer", s.edits%2))
}

// edited returns an edit and the Read that it needs.
func (s *slot) edited() []crashCall {
	old := s.mark
	s.mark = s.changed()
	return []crashCall{{tool: "Read", args: args{"file_path": s.path}},
		{tool: "Edit", args: args{"file_path": s.path, "old_string": old, "new_string": s.mark}}}
}

// side is a second file, which a MultiEdit changes as well.
func (s *slot) side() string { return s.d.p.file(s.name + ".side") }

func (s *slot) editedTwice() []crashCall {
	old := s.mark
	s.mark = s.changed()
	return []crashCall{{tool: "Read", args: args{"file_path": s.path}}, {tool: "Read", args: args{"file_path": s.side()}},
		{tool: "MultiEdit", args: args{"edits": []args{
			{"file_path": s.path, "old_string": old, "new_string": s.mark},
			{"file_path": s.side(), "old_string": "at the side", "new_string": "at the side " + s.mark}}}}}
}

func (s *slot) moved(to string) []crashCall {
	from := s.path
	s.changed()
	s.path = to
	return []crashCall{{tool: "Move", args: args{"from": from, "to": to}}}
}

// restored restores the last change of the file.
func (s *slot) restored() []crashCall {
	now, path := *s, s.path
	*s = *s.was
	s.was, s.edits = &now, now.edits
	return []crashCall{{command: func() []string {
		list := s.d.p.listed(s.d.t)
		n := slices.IndexFunc(list, func(e kept) bool { return e.Path == path || e.To == path })
		return []string{"history", "restore", list[n].ID}
	}}}
}

// operations are the kinds of change. An edit is an exchange, or a rename where names cannot be
// exchanged: see crashSequence.
func operations() []operation {
	there := []fileState{single, linked}
	return []operation{
		{"create", []fileState{absent}, func(s *slot) []crashCall {
			s.mark, s.state = s.changed(), single
			return []crashCall{{tool: "Write", args: args{"file_path": s.path, "content": "made\n" + s.mark + "\n"}}}
		}},
		{"edit", []fileState{single}, (*slot).edited},
		{"in place", []fileState{linked}, (*slot).edited},
		{"MultiEdit", []fileState{single}, (*slot).editedTwice},
		{"move", there, func(s *slot) []crashCall {
			return s.moved(s.d.p.file(fmt.Sprintf("d/%s.%d", s.name, s.edits)))
		}},
		{"move across", []fileState{single}, func(s *slot) []crashCall {
			if strings.HasPrefix(s.path, s.d.roots[1]) {
				return s.moved(s.d.p.file(fmt.Sprintf("%s.%d", s.name, s.edits)))
			}
			return s.moved(s.d.far(fmt.Sprintf("%s.%d", s.name, s.edits)))
		}},
		{"delete", there, func(s *slot) []crashCall {
			s.changed()
			s.state = absent
			return []crashCall{{tool: "Read", args: args{"file_path": s.path}}, {tool: "Delete", args: args{"paths": []string{s.path}}}}
		}},
		{"restore", []fileState{absent, single, linked}, (*slot).restored},
		{"evict", []fileState{single}, (*slot).edited},
		{"client", []fileState{absent}, func(s *slot) []crashCall {
			flag := []string{"--write", "--remove"}[s.edits%2]
			s.changed()
			return []crashCall{{command: func() []string { return []string{"config", "cursor", flag} }}}
		}},
	}
}

// newSlot returns a slot as a sequence begins with it.
func newSlot(d *disk, name string, state fileState) *slot {
	return &slot{d: d, name: name, path: d.p.file(name), state: state, mark: name + " old"}
}

// put makes the files of a slot.
func (s *slot) put() {
	text := "first of " + s.name + "\n" + s.mark + "\n"
	switch s.state {
	case single:
		s.d.put(s.path, text)
	case linked:
		s.d.put(s.path, text+twoPages("the rest of "+s.name))
		must(s.d.t, os.Link(s.path, s.path+".link"))
	}
	s.d.put(s.side(), "at the side\nof "+s.name+"\n")
}

// firstState returns what there has to be of a file for operations on it, one after the other; ""
// if they do not go together. A restore needs an earlier change of the file.
func firstState(ops []operation) fileState {
	d := &disk{roots: []string{"/near", "/far"}, p: place{ws: "/near/ws"}}
	for _, first := range []fileState{absent, single, linked} {
		s := newSlot(d, "f", first)
		if ops[0].kind == "restore" && first != absent {
			s.edited()
		}
		fits := func(op operation) bool {
			ok := slices.Contains(op.on, s.state) && (op.kind != "restore" || s.was != nil)
			if ok {
				op.calls(s)
			}
			return ok
		}
		if !slices.ContainsFunc(ops, func(op operation) bool { return !fits(op) }) {
			return first
		}
	}
	return ""
}

// sequence is operations that are made one after the other, with the files that they work on.
type sequence struct {
	ops   []operation
	files []string
	poor  bool // names cannot be exchanged
	slots map[string]*slot
}

// on returns the operations on a file.
func (q *sequence) on(file string) (ops []operation) {
	for i, op := range q.ops {
		if q.files[i] == file {
			ops = append(ops, op)
		}
	}
	return ops
}

// has reports whether a kind of operation is one of the sequence.
func (q *sequence) has(kind string) bool {
	return slices.ContainsFunc(q.ops, func(op operation) bool { return op.kind == kind })
}

// possible reports whether each operation can work on what those before it leave. Delete refuses
// what a history that is full would not keep.
func (q *sequence) possible() bool {
	return !(q.has("evict") && q.has("delete")) && !slices.ContainsFunc(q.files, func(file string) bool { return firstState(q.on(file)) == "" })
}

func (q *sequence) put(d *disk) {
	q.slots = make(map[string]*slot)
	settings := `{"keepHardLinks": true}`
	if q.has("evict") {
		putFullHistory(d)
		settings = `{"keepHardLinks": true, "history": {"maxSize": "96KB"}}`
	}
	d.p.settings(d.t, settings)
	for i, file := range q.files {
		if q.slots[file] != nil {
			continue
		}
		ops := q.on(file)
		s := newSlot(d, file, firstState(ops))
		q.slots[file] = s
		s.put()
		if q.ops[i].kind == "client" {
			d.put(filepath.Join(d.p.home, ".cursor/mcp.json"), "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}\n")
		}
		if ops[0].kind == "restore" {
			c := d.p.start(d.t)
			for _, call := range s.edited() {
				mustCall(d.t, c, call.tool, call.args)
			}
			must(d.t, c.Close())
		}
	}
}

func (q *sequence) calls(*disk) (calls []crashCall) {
	for i, op := range q.ops {
		calls = append(calls, op.calls(q.slots[q.files[i]])...)
	}
	return calls
}

// scene returns the scene of a sequence: the power goes during its last operation.
func (q *sequence) scene() crashScene {
	var kinds []string
	for _, op := range q.ops {
		kinds = append(kinds, op.kind)
	}
	s := crashScene{name: fmt.Sprintf("%s of %s", strings.Join(kinds, ", "), strings.Join(q.files, " ")), put: q.put, calls: q.calls, deletes: true, lastOnly: true}
	if q.poor {
		s.name += ", by renames"
		s.env = []string{"FAULTS_NO_EXCHANGE=1"}
	}
	return s
}

// filesOf returns the file of each operation: the same one, or one for each in the same folder. A
// client's file is always the same.
func filesOf(same bool, ops ...operation) (files []string) {
	for i, op := range ops {
		switch {
		case op.kind == "client":
			files = append(files, "client")
		case same:
			files = append(files, "f")
		default:
			files = append(files, string(rune('f'+i)))
		}
	}
	return files
}

// crashPairs returns each ordered pair of operations, on two files of one folder, and where they
// go together, on the same; with edits also where names cannot be exchanged.
func crashPairs() (all []crashScene) {
	for _, a := range operations() {
		for _, b := range operations() {
			for _, q := range []sequence{
				{ops: []operation{a, b}, files: filesOf(false, a, b)},
				{ops: []operation{a, b}, files: filesOf(true, a, b)},
				{ops: []operation{a, b}, files: filesOf(false, a, b), poor: true},
				{ops: []operation{a, b}, files: filesOf(true, a, b), poor: true},
			} {
				edits := a.kind == "edit" || b.kind == "edit"
				if q.possible() && (!q.poor || edits) {
					all = append(all, q.scene())
				}
			}
		}
	}
	return uniqueScenes(all)
}

// uniqueScenes removes scenes that are there before: of a client's file there is only one.
func uniqueScenes(all []crashScene) []crashScene {
	known := make(map[string]bool)
	return slices.DeleteFunc(all, func(s crashScene) bool {
		was := known[s.name]
		known[s.name] = true
		return was
	})
}

// crashTriples returns some sequences of three operations on one or two files.
func crashTriples(n int) (all []crashScene) {
	rng := rand.New(rand.NewPCG(27, 3))
	kinds := operations()
	for len(all) < n {
		q := sequence{poor: rng.IntN(4) == 0}
		for range 3 {
			op := kinds[rng.IntN(len(kinds))]
			q.ops = append(q.ops, op)
			q.files = append(q.files, map[bool]string{true: "client", false: []string{"f", "f", "g"}[rng.IntN(3)]}[op.kind == "client"])
		}
		if q.possible() {
			all = uniqueScenes(append(all, q.scene()))
		}
	}
	return all
}

// quickPairs are those that make test has time for, with a few states.
var quickPairs = []string{"create, restore of f f", "restore, move across of f f"}

// sampled returns some of the scenes, the same ones in each run.
func sampled(all []crashScene, n int) (some []crashScene) {
	for _, i := range rand.New(rand.NewPCG(27, 2)).Perm(len(all))[:min(n, len(all))] {
		some = append(some, all[i])
	}
	return some
}

// TestCrashStatesOfSequences does what TestCrashStates does with each pair of operations, and with
// some of three: the power goes once the last but one was answered, and what that one and those
// before it have left unsynced may be lost. (Before, it is the scene of the single operation.)
func TestCrashStatesOfSequences(t *testing.T) {
	needStrace(t)
	most, all := count(t, "FSMCP_CRASH_PAIR_STATES", 1), crashPairs()
	pairs, triples := all, crashTriples(count(t, "FSMCP_CRASH_TRIPLES", 24))
	if !shortrun.Full() {
		triples = nil
		pairs = slices.DeleteFunc(slices.Clone(all), func(s crashScene) bool { return !slices.Contains(quickPairs, s.name) })
		t.Logf("!!! NOT TESTED: the crash states of %d of %d pairs of operations, and of sequences of three; make faults tries them !!!", len(all)-len(pairs), len(all))
	}
	begin, done := time.Now(), make(chan [2]int, len(pairs)+len(triples))
	t.Run("all", func(t *testing.T) {
		for _, scene := range slices.Concat(pairs, triples) {
			t.Run(strings.ReplaceAll(scene.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				r := record(t, scene)
				sets := 0
				for _, m := range crashstates.Models {
					n := r.try(m, -1, most, 3)
					sets += n.sets
					for _, bad := range n.bad {
						t.Error(bad)
					}
				}
				done <- [2]int{sets, len(r.verdicts)}
			})
		}
	})
	close(done)
	sets, states := 0, 0
	for n := range done {
		sets, states = sets+n[0], states+n[1]
	}
	report(t, "%d of %d pairs and %d sequences of three: %d sets of effects by four models, %d different states tried in %v", len(pairs), len(all), len(triples), sets, states, time.Since(begin).Round(time.Second))
}

// TestCrashStatesOfSequencesWithoutASync is the control arm, with some of the pairs.
func TestCrashStatesOfSequencesWithoutASync(t *testing.T) {
	needStrace(t)
	shortrun.Leave(t, "pairs of operations with a sync left out")
	most := min(count(t, "FSMCP_CRASH_PAIR_STATES", 10), 10) // for each sync and model
	for _, scene := range sampled(crashPairs(), count(t, "FSMCP_CRASH_PAIRS_WITHOUT", 6)) {
		t.Run(strings.ReplaceAll(scene.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			tryWithoutEachSync(t, record(t, scene), most)
		})
	}
}
