//go:build linux

package faults

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNamesReplaceNothingUnseen is the walk of TestNothingUnseenIsReplaced with MultiEdit, Move
// and Delete between its steps: no sequence of them replaces text that was in no answer. What is
// made at the name of a deleted file replaces what that held. A name that is taken is never
// moved to, and what was seen of a file counts under its new name. Its control arm is that of
// TestNothingUnseenIsReplaced.
func TestNamesReplaceNothingUnseen(t *testing.T) {
	steps := count(t, "FSMCP_SHOWN", 0)
	if steps == 0 {
		t.Skip("it takes half a minute; make faults, which sets FSMCP_SHOWN, runs it")
	}
	seed := uint64(count(t, "FSMCP_SHOWN_SEED", int(time.Now().UnixNano()%1e9)+1))
	first := count(t, "FSMCP_SHOWN_WORLD", 0)
	seen := map[string]int{}
	worlds := max(1, min(steps, 8000)/stepsInWorld)
	for world := first; world < first+worlds && !t.Failed(); world++ {
		w := newShownWalk(t, seed, 2_000_000+world, false)
		w.names = true
		w.run()
		if len(w.faults) > 0 {
			t.Errorf("seed %d, world %d, client %q, settings %s:\n%s\nthe last steps on that file:\n%s", seed, world, w.client, w.settings,
				strings.Join(w.faults, "\n"), w.story())
		}
		for k, v := range w.counts {
			seen[k] += v
		}
	}
	var counts []string
	for _, k := range slices.Sorted(maps.Keys(seen)) {
		counts = append(counts, fmt.Sprintf("%s %d", k, seen[k]))
	}
	report(t, "%d worlds, seed %d: %s", worlds, seed, strings.Join(counts, ", "))
	for _, k := range []string{"MultiEdit passed", "MultiEdit refused", "MultiEdit of unseen text refused", "Move passed", "Delete passed", "over a deleted file refused", "over a deleted file passed"} {
		if steps >= 8000 && seen[k] == 0 {
			t.Errorf("nothing of this happened: %s", k)
		}
	}
}

// nameStep is a step with one of the tools that change names or several files.
func (w *shownWalk) nameStep(f *shownFile) {
	if f.kind == "notebook" || f.hooked {
		return
	}
	switch w.rng.IntN(3) {
	case 0:
		w.multiEdit(f)
	case 1:
		w.move(f)
	default:
		w.replaceDeleted(f)
	}
}

// multiPart is one edit of a MultiEdit.
type multiPart struct {
	f      *shownFile
	g      target
	now    string
	hidden bool
}

// multiEdit edits two files by one call.
func (w *shownWalk) multiEdit(f *shownFile) {
	var parts []multiPart
	var edits []args
	for _, f := range []*shownFile{f, w.files[w.rng.IntN(len(w.files))]} {
		if f.kind == "notebook" || f.hooked || len(parts) > 0 && parts[0].f == f {
			continue
		}
		g, ok := w.aim(f, w.rng.IntN(2) == 0)
		if !ok || g.several || g.missing || g.line > 0 {
			continue
		}
		a, now := w.editArgs(f, g)
		edits = append(edits, a)
		p := multiPart{f: f, g: g, now: now}
		for _, at := range g.places(f.text) {
			p.hidden = p.hidden || w.said.unseen(f.text, at[0], at[1]) >= 0
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return
	}
	hidden := slices.ContainsFunc(parts, func(p multiPart) bool { return p.hidden })
	res, seen := w.call("MultiEdit", args{"edits": edits})
	if res.IsError {
		seen()
		for _, p := range parts {
			was := p.f.text
			if w.look(p.f, false); p.f.text != was {
				w.fault("MultiEdit was refused, and %s is changed", p.f.path)
			}
			w.known(p.f, res.First, false)
		}
		all := !slices.ContainsFunc(parts, func(p multiPart) bool { return !p.g.seen })
		switch {
		case hidden:
			w.counts["MultiEdit of unseen text refused"]++
		case all && !w.full && res.Slug != "not_unique":
			w.fault("MultiEdit refused text of lines that answers showed whole: %s", clip(res.Text))
		}
		return
	}
	for _, p := range parts {
		if p.hidden {
			w.fault("MultiEdit of %s (%s) replaced text that was in no answer: %q", p.f.path, p.f.kind, clip(p.f.text[p.g.from:p.g.to]))
		}
	}
	seen()
	for _, p := range parts {
		want := p.f.text
		for _, at := range slices.Backward(p.g.places(want)) {
			want = w.said.replaced(want, at[0], at[1], p.now)
		}
		w.look(p.f, false)
		if strings.ReplaceAll(p.f.text, "\r\n", "\n") != strings.ReplaceAll(want, "\r\n", "\n") {
			w.fault("MultiEdit of %s (%s) changed more than %q", p.f.path, p.f.kind, clip(want[p.g.from:min(len(want), p.g.from+60)]))
		}
		p.f.restorable, p.f.near, p.f.moved = false, p.g.from, false
	}
}

// move gives a file another name, and tries for one that is taken.
func (w *shownWalk) move(f *shownFile) {
	if other := w.files[w.rng.IntN(len(w.files))]; other != f {
		was, theirs := read(w.t, f.path), read(w.t, other.path)
		res, seen := w.call("Move", args{"from": f.path, "to": other.path})
		seen()
		if !res.IsError || string(read(w.t, f.path)) != string(was) || string(read(w.t, other.path)) != string(theirs) {
			w.fault("Move of %s to %s, which is taken: %s", f.path, other.path, clip(res.Text))
		}
	}
	w.serial++
	to := w.p.file(fmt.Sprintf("%s%dm%d.txt", f.kind, w.serial, w.rng.IntN(1000)))
	was := read(w.t, f.path)
	res, seen := w.call("Move", args{"from": f.path, "to": to})
	seen()
	if res.IsError {
		w.fault("Move of %s to %s was refused: %s", f.path, to, clip(res.Text))
		return
	}
	if _, err := os.Lstat(f.path); err == nil || string(read(w.t, to)) != string(was) {
		w.fault("Move of %s to %s: it is not there as it was", f.path, to)
	}
	f.path, f.restorable = to, false
}

// replaceDeleted deletes a file and makes another at its name, by a Write or by a Move.
func (w *shownWalk) replaceDeleted(f *shownFile) {
	res, seen := w.call("Delete", args{"paths": []string{f.path}})
	seen()
	if res.IsError {
		w.counts["Delete of a changed file refused"]++
		w.known(f, res.First, false)
		return
	}
	text := w.letters(200) + "\n"
	source := w.p.file("source.tmp")
	byMove := w.rng.IntN(2) == 0
	for try := range 2 {
		hidden := len(f.text) > 0 && w.said.unseen(f.text, 0, len(f.text)) >= 0
		tool, a := "Write", args{"file_path": f.path, "content": text}
		if byMove {
			must(w.t, os.WriteFile(source, []byte(text), 0o666))
			tool, a = "Move", args{"from": source, "to": f.path}
		}
		res, seen := w.call(tool, a)
		seen()
		if !res.IsError {
			w.counts["over a deleted file passed"]++
			if hidden {
				w.fault("%s at the name of %s (%s), which was deleted, replaced text that was in no answer", tool, f.path, f.kind)
			}
			break
		}
		w.counts["over a deleted file refused"]++
		if try == 1 || !invites(res) {
			break
		}
	}
	os.Remove(source)
	w.said.add(text)
	if _, err := os.Lstat(f.path); err != nil { // another program makes it
		must(w.t, os.WriteFile(f.path, []byte(text), 0o666))
		f.moved = true
	}
	f.kind, f.enc, f.restorable = "lf", nil, false
	w.look(f, true)
}
