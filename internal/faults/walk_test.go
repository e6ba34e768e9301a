//go:build linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// model is a naive model of one small file: its content on disk, and what the session was
// shown of it.
type model struct {
	exists   bool
	disk     string
	shown    *shown
	reminded string            // the content that a reminder has told of last
	served   map[string]string // what a Read of this range was last answered with
	stub     map[string]bool   // the last answer to it was the stub
}

// shown holds what the session was shown. unsure is set if the rules leave open what a
// session remembers (of a vanished file, of pages of two versions).
type shown struct {
	text   string
	lines  map[int]bool
	unsure bool
}

func (m *model) full() bool {
	if m.shown == nil {
		return false
	}
	for i := range lines(m.shown.text) {
		if !m.shown.lines[i] {
			return false
		}
	}
	return true
}

func (m *model) showAll() {
	s := &shown{text: m.disk, lines: map[int]bool{}}
	for i := range lines(m.disk) {
		s.lines[i] = true
	}
	m.shown = s
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// walker takes the random steps.
type walker struct {
	t      *testing.T
	p      place
	c      *mcptest.Client
	rng    *rand.Rand
	files  []*model
	serial int
	seen   map[string]int
	log    []string
	// full: the setting edit.gate asks for files to be shown in full before an Edit,
	// and the model knows each answer. Otherwise only the matches must have been
	// shown: the model knows each byte, and the answer where all or nothing was shown.
	full bool
	// refuse: the setting edit.whenChanged has each Edit of a changed file refused.
	refuse bool
}

// TestRandomWalk makes many mixed calls, with a foreign program writing in
// between, and compares every answer and every byte with the model.
func TestRandomWalk(t *testing.T) {
	for _, s := range []struct {
		gate, when string
		share      int
	}{{"full", "apply", 2}, {"full", "refuse", 2}, {"shown", "apply", 2}} {
		t.Run(s.gate+" "+s.when, func(t *testing.T) { randomWalk(t, s.gate, s.when, s.share) })
	}
}

// randomWalk takes a share of the steps under a gate of Edit.
func randomWalk(t *testing.T, gate, when string, share int) {
	steps := count(t, "FSMCP_WALK", 1500) / share
	seed := uint64(count(t, "FSMCP_WALK_SEED", int(time.Now().UnixNano()%1e9)+1))
	w := &walker{t: t, p: newPlace(t), rng: rand.New(rand.NewPCG(seed, 7)), seen: map[string]int{}, full: gate == "full", refuse: when == "refuse"}
	w.p.settings(t, `{"edit": {"gate": "`+gate+`", "whenChanged": "`+when+`"}}`)
	for range 6 {
		w.files = append(w.files, newModel())
	}
	w.c = w.p.start(t)
	begin := time.Now()
	for i := range steps {
		w.step()
		if t.Failed() {
			t.Fatalf("step %d of seed %d; the last steps:\n%s", i, seed, strings.Join(w.log[max(0, len(w.log)-12):], "\n"))
		}
	}
	must(t, w.c.Close())
	report(t, "%d steps in %v, seed %d: %v", steps, time.Since(begin).Round(time.Millisecond), seed, w.seen)
}

func newModel() *model { return &model{served: map[string]string{}, stub: map[string]bool{}} }

func (w *walker) step() {
	i := w.rng.IntN(len(w.files))
	m, file := w.files[i], w.p.file(fmt.Sprintf("w%d.txt", i))
	switch n := w.rng.IntN(100); {
	case n < 20:
		w.read(m, file, 1, 0)
	case n < 30:
		w.read(m, file, 1+w.rng.IntN(6), 1+w.rng.IntN(8))
	case n < 45:
		w.write(m, file)
	case n < 75:
		w.edit(m, file)
	case n < 99:
		w.foreign(m, file)
	default:
		w.restart()
	}
	w.compare(m, file)
}

func (w *walker) note(format string, a ...any) { w.log = append(w.log, fmt.Sprintf(format, a...)) }

func (w *walker) compare(m *model, file string) {
	b, err := os.ReadFile(file)
	switch {
	case os.IsNotExist(err) != !m.exists:
		w.t.Errorf("%s exists: %v, in the model %v", file, err == nil, m.exists)
	case err == nil && string(b) != m.disk:
		w.t.Errorf("%s holds\n%q, in the model\n%q", file, b, m.disk)
	}
}

func (w *walker) call(tool string, a args) mcptest.Result {
	w.t.Helper()
	res, err := w.c.Call(tool, a)
	must(w.t, err)
	w.seen[tool+" "+res.Slug]++
	w.note("%s %v -> %d %s %q", tool, a, res.Code, res.Slug, clip(res.Text))
	for i, m := range w.files {
		if strings.Contains(res.Text, "The file "+w.p.file(fmt.Sprintf("w%d.txt", i))+" was changed outside") {
			m.reminded = m.disk
		}
	}
	return res
}

// expect compares the outcome with the one slug ("" is success) that the model
// allows, or several where it is unsure.
func (w *walker) expect(res mcptest.Result, code int, slugs ...string) bool {
	w.t.Helper()
	for _, s := range slugs {
		if res.Slug == s && (s == "") == !res.IsError {
			if s != "" && len(slugs) == 1 && res.Code != code {
				w.t.Errorf("code %d, not %d", res.Code, code)
			}
			return true
		}
	}
	w.t.Errorf("answered %d %q, the model says %d %q", res.Code, res.Slug, code, slugs)
	return false
}

func (w *walker) fresh() string {
	w.serial++
	return fmt.Sprintf("key%d value%d", w.serial, w.rng.IntN(1000))
}

func (w *walker) text() string {
	var b strings.Builder
	for range w.rng.IntN(12) {
		b.WriteString(w.fresh() + "\n")
	}
	if w.rng.IntN(4) == 0 {
		b.WriteString("same\nother\nsame\n")
	}
	return b.String()
}

const unchanged = "File unchanged since last read."

func (w *walker) read(m *model, file string, offset, limit int) {
	a := args{"file_path": file}
	if limit > 0 {
		a["offset"], a["limit"] = offset, limit
	}
	res := w.call("Read", a)
	if !m.exists {
		w.expect(res, 2, "not_found")
		if m.shown != nil {
			m.shown.unsure = true
		}
		return
	}
	if !w.expect(res, 0, "") {
		return
	}
	all := lines(m.disk)
	from, to := offset-1, len(all)
	if limit > 0 {
		to = min(len(all), from+limit)
	}
	key := fmt.Sprint(offset, limit)
	want := numbered(all, from, to)
	switch {
	case strings.HasPrefix(res.First, unchanged):
		if m.served[key] != m.disk || m.stub[key] {
			w.t.Errorf("a stub where the text was last %q and a stub before: %v", m.served[key], m.stub[key])
		}
		m.stub[key] = true
	case len(all) == 0 || from >= len(all):
		if !strings.HasPrefix(res.First, "<system-reminder>Warning: the file exists but") {
			w.t.Errorf("Read answered %q", res.First)
		}
	case !strings.HasPrefix(res.First, want) || to == len(all) && res.First != want:
		w.t.Errorf("Read answered\n%q, not\n%q", res.First, want)
	default:
		m.served[key], m.stub[key] = m.disk, false
	}
	w.show(m, from, to)
}

func numbered(all []string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		if i > from {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d\t%s", i+1, all[i])
	}
	return b.String()
}

func (w *walker) show(m *model, from, to int) {
	old := m.shown
	if old == nil || old.text != m.disk {
		m.shown = &shown{text: m.disk, lines: map[int]bool{}, unsure: old != nil}
	}
	for i := from; i < to; i++ {
		m.shown.lines[i] = true
	}
	if m.full() {
		m.shown.unsure = false
	}
}

// gate returns the slug of the refusal of a change to an existing file by the rules, or ""
// if the change may go on.
func (w *walker) gate(m *model) []string {
	switch {
	case m.disk == "":
		if m.shown != nil && m.shown.text != "" {
			return []string{"modified", ""}
		}
		return []string{""}
	case m.shown == nil:
		return []string{"not_read"}
	case m.shown.unsure:
		return []string{"not_read", "partly_read", "modified", ""}
	case len(m.shown.lines) == 0 && m.shown.text == m.disk:
		return []string{"not_read"} // nothing was shown, as by a Read past the end
	case len(m.shown.lines) == 0: // of an empty file, too, nothing was shown
		return []string{"not_read", "modified"}
	case m.shown.text != m.disk:
		return []string{"modified"}
	case !m.full():
		return []string{"partly_read"}
	}
	return []string{""}
}

// refused does to the model what a refusal by the gate did to the record: all
// of these files fit in an error, so that everything was shown.
func (w *walker) refused(m *model, res mcptest.Result, codes map[string]int) bool {
	code, gated := codes[res.Slug]
	if !res.IsError || !gated {
		return false
	}
	if res.Code != code {
		w.t.Errorf("%s with code %d, not %d", res.Slug, res.Code, code)
	}
	if res.Slug == "not_read" {
		m.shown = nil
		return true
	}
	m.showAll()
	return true
}

func (w *walker) write(m *model, file string) {
	text := w.text()
	if m.exists && w.rng.IntN(5) == 0 {
		text = m.disk
	}
	res := w.call("Write", args{"file_path": file, "content": text})
	if !m.exists {
		if m.shown == nil {
			w.expect(res, 0, "")
		} else if w.expect(res, 19, "not_found", "") && res.IsError {
			m.shown.unsure = true
			return
		}
	} else {
		w.expect(res, res.Code, w.gate(m)...)
		if w.refused(m, res, map[string]int{"not_read": 2, "partly_read": 2, "modified": 3}) {
			return
		}
	}
	if !res.IsError {
		m.exists, m.disk = true, text
		m.showAll()
	}
}

func (w *walker) edit(m *model, file string) {
	old, new, all := w.pick(m)
	a := args{"file_path": file, "old_string": old, "new_string": new}
	if all {
		a["replace_all"] = true
	}
	res := w.call("Edit", a)
	n := strings.Count(m.disk, old)
	switch {
	case old == new:
		w.expect(res, 1, "no_change")
	case !m.exists:
		code := 4
		if m.shown != nil && !(m.shown.unsure && res.Code == 4) {
			code = 19 // it vanished, which is told once
		}
		w.expect(res, code, "not_found")
		m.shown = nil
	case !w.full && !(m.shown != nil && !m.shown.unsure && m.full() && m.shown.text == m.disk):
		w.editShown(m, res, old, new, all)
	default:
		gate := w.gate(m)
		reminded := m.reminded == m.disk && slices.Contains(gate, "modified")
		if reminded {
			gate = append(gate, "") // the reminder has told all of the change, which does for an Edit alone
		}
		applied := !w.refuse && slices.Contains(gate, "modified")
		if applied {
			gate = append(gate, "") // and the answer has told all of the change
			kept := strings.Contains(m.shown.text, strings.TrimSuffix(old, "\n"))
			sure := len(gate) == 2 && n == 1 && strings.HasPrefix(old, "key") && m.full()
			if passed := !res.IsError; sure && kept != passed && !reminded {
				w.t.Errorf("an Edit of a changed file, which replaces text that was kept: %v, passed: %v", kept, passed)
			}
		}
		part := !m.full()
		if w.refused(m, res, map[string]int{"not_read": 6, "partly_read": 6, "modified": 7}) {
			w.expect(res, res.Code, gate...)
			if part && res.Slug == "modified" { // the error has shown the change and the matches, not every line
				m.shown = &shown{text: m.disk, lines: map[int]bool{}, unsure: true}
			}
			return
		}
		if gate[len(gate)-1] != "" {
			w.t.Errorf("passed a gate that the model says is closed (%q): %d %s", gate, res.Code, res.Slug)
			return
		}
		switch {
		case n == 0:
			w.expect(res, 8, "no_match")
		case n > 1 && !all:
			w.expect(res, 9, "not_unique")
		case w.expect(res, 0, ""):
			m.disk = strings.ReplaceAll(m.disk, old, new)
		}
		if m.disk != "" || !res.IsError {
			m.showAll() // past the gate everything had been shown
			if reminded {
				m.shown = &shown{text: m.disk, lines: map[int]bool{}, unsure: true}
			}
		}
	}
}

// editShown judges an Edit of a file that was not shown in full, where its matches
// alone must have been.
func (w *walker) editShown(m *model, res mcptest.Result, old, new string, all bool) {
	n := strings.Count(m.disk, old)
	several := n > 1 && !all
	switch {
	case m.disk == "" && m.shown == nil:
		w.expect(res, 8, "no_match")
	case m.shown == nil && several:
		if w.expect(res, 9, "not_unique") { // it has shown the lines of the matches
			m.shown = &shown{text: m.disk, lines: map[int]bool{}, unsure: true}
		}
	case m.shown == nil:
		if w.expect(res, 6, "not_read") && n > 0 { // it has shown the matches
			m.shown = &shown{text: m.disk, lines: map[int]bool{}, unsure: true}
		}
	case several:
		w.expect(res, res.Code, "not_unique", "not_read", "modified")
		m.shown.unsure = true
	case n == 0:
		w.expect(res, res.Code, "no_match", "not_read", "partly_read", "modified")
		m.shown.unsure = true
	default:
		w.expect(res, res.Code, "", "not_read", "partly_read", "modified")
		if !res.IsError {
			m.disk = strings.ReplaceAll(m.disk, old, new)
		}
		m.shown = &shown{text: m.disk, lines: map[int]bool{}, unsure: true}
	}
}

// pick chooses what to edit: mostly a line that is there once.
func (w *walker) pick(m *model) (old, new string, all bool) {
	have := lines(m.disk)
	switch n := w.rng.IntN(20); {
	case n == 0:
		return "same", "same", false
	case n < 3:
		return "no such text", w.fresh(), false
	case n < 6:
		return "same\n", w.fresh() + "\n", w.rng.IntN(2) == 0
	case len(have) == 0:
		return "anything", w.fresh(), false
	case n < 10:
		return have[w.rng.IntN(len(have))] + "\n", w.fresh() + "\n" + w.fresh() + "\n", false
	case n < 13 && len(have) > 3:
		return have[w.rng.IntN(len(have))] + "\n", "", false
	}
	return have[w.rng.IntN(len(have))] + "\n", w.fresh() + "\n", false
}

// foreign is another program's turn.
func (w *walker) foreign(m *model, file string) {
	n := w.rng.IntN(10)
	w.note("foreign %d %s", n, file)
	w.seen["foreign"]++
	switch {
	case n == 0 && m.exists:
		must(w.t, os.Remove(file))
		m.exists, m.disk = false, ""
		if m.shown != nil {
			m.shown.unsure = true
		}
		return
	case n == 1 && m.exists:
		must(w.t, os.Chtimes(file, time.Now(), time.Now().Add(time.Duration(w.rng.IntN(100))*time.Second)))
		return
	case n == 2 && m.exists:
		must(w.t, os.WriteFile(file+".foreign", []byte(m.disk), 0o666))
		must(w.t, os.Rename(file+".foreign", file))
		return
	case n == 3 && m.exists:
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		must(w.t, err)
		line := w.fresh() + "\n"
		_, err = f.WriteString(line)
		must(w.t, err)
		must(w.t, f.Close())
		m.disk += line
		return
	case n == 4 && len(lines(m.disk)) > 0:
		// The same size in the same moment: only the bytes tell.
		have := lines(m.disk)
		line := have[w.rng.IntN(len(have))]
		m.disk = strings.Replace(m.disk, line, strings.ToUpper(line[:1])+line[1:], 1)
		must(w.t, os.WriteFile(file, []byte(m.disk), 0o666))
		return
	case n == 5 || !m.exists && n < 8:
		m.exists, m.disk = true, w.text()
		must(w.t, os.WriteFile(file+".foreign", []byte(m.disk), 0o666))
		must(w.t, os.Rename(file+".foreign", file))
	}
}

// restart is another session: what the one before was shown is forgotten.
func (w *walker) restart() {
	must(w.t, w.c.Close())
	w.c = w.p.start(w.t)
	w.note("restart")
	w.seen["restart"]++
	for _, m := range w.files {
		m.shown, m.served, m.stub = nil, map[string]string{}, map[string]bool{}
	}
}
