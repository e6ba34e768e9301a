package histories

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Bounds of a history.
const (
	maxFiles    = 4
	maxSessions = 8
	maxMarks    = 512
)

// marks is a set of small numbers: of lines, or of steps.
type marks [maxMarks / 64]uint64

func (m *marks) add(n int)     { m[n/64] |= 1 << (n % 64) }
func (m marks) has(n int) bool { return m[n/64]&(1<<(n%64)) != 0 }

func (m marks) or(o marks) marks {
	for i := range m {
		m[i] |= o[i]
	}
	return m
}

func (m marks) within(o marks) bool {
	for i := range m {
		if m[i]&^o[i] != 0 {
			return false
		}
	}
	return true
}

// file is the file at a name, or none.
type file struct {
	there bool
	text  string
}

// entry is a name. While a change shows that is taken back later, hidden is the file that comes
// back.
type entry struct {
	file
	unsure   int // 1 + the call whose change shows; 0: none
	hidden   file
	inShown  marks // lines that other programs put into the file that shows
	inHidden marks // into the hidden one
	replaced file  // what another program has last renamed a file over
}

// Where the file is that another program has open.
type openAt uint8

const (
	closed openAt = iota
	atName
	atHidden
	atNothing // fsmcp has removed it
)

// state is all that matters of the files and of what callers know.
type state struct {
	files  [maxFiles]entry
	open   openAt
	opened int // the file
	seen   [maxSessions]marks
	whole  [maxSessions]uint8 // the files that a session was shown all of
	// deleted has the texts of the files of a name that a session has deleted, each after a NUL.
	deleted [maxSessions][maxFiles]string
	kept    marks // lines that are in no file, and have to be kept
	gone    file  // the open file, if fsmcp has removed it
	done    marks // steps
	tried   marks // steps whose change has shown, or never will
}

// phase is the part of a call that a step stands for.
type phase uint8

const (
	all       phase = iota
	publish         // the change shows, or it is never made
	takenBack       // it is taken back
	crash           // its process ends
)

// step is an Op, or a part of one.
type step struct {
	*Op
	index int
	phase phase
}

// model has the steps of one history.
type model struct {
	names  []string
	number map[string]int // of a line
	hashes map[string]string
	start  state
	trusts bool // every line counts as shown
	// misses has the steps that may open a file just before it is moved, replaced or removed, and
	// read it or write into it after that: lines that other programs append, what an Edit found
	// no match in, and what a session is shown.
	misses marks
}

// newModel counts the names and lines of a history.
func newModel(h History) (*model, error) {
	m := &model{trusts: h.AllSeen, names: h.names(), number: map[string]int{}, hashes: map[string]string{}}
	count := func(lines []string) {
		for _, l := range lines {
			if _, ok := m.number[l]; !ok {
				m.number[l] = len(m.number)
			}
		}
	}
	for name, text := range h.Start {
		count(linesOf(text))
		if n := m.name(name); n < maxFiles {
			m.start.files[n].file = file{true, text}
		}
	}
	for _, op := range h.Ops {
		count(op.shown())
		count(linesOf(op.Old))
		if op.Session >= maxSessions {
			return nil, fmt.Errorf("session %d is more than the model has", op.Session)
		}
	}
	if len(m.names) > maxFiles || len(m.number) > maxMarks || len(h.Ops) > maxMarks {
		return nil, fmt.Errorf("%d files, %d lines and %d steps are more than the model has", len(m.names), len(m.number), len(h.Ops))
	}
	for i, op := range h.Ops {
		shows := op.Session != Outside && (op.Kind == Read && op.Result == Done || len(op.Rows) > 0)
		if (op.Kind == Append && op.Session == Outside || op.Why == "no_match" || shows) && slices.ContainsFunc(h.Ops, op.losesName) {
			m.misses.add(i)
		}
	}
	return m, nil
}

// losesName reports whether the file of a step has another name, or none, by another step at the
// same time.
func (op Op) losesName(by Op) bool {
	goes := by.Kind == Replace || by.Kind == Remove || by.Kind == Move || by.Kind == Delete
	return goes && by.Name == op.Name && by.Begin < op.End && op.Begin < by.End
}

func (m *model) name(name string) int {
	for i, n := range m.names {
		if n == name {
			return i
		}
	}
	return -1
}

func (m *model) marksOf(lines []string) (set marks) {
	for _, l := range lines {
		set.add(m.number[l])
	}
	return set
}

func (m *model) hash(text string) string {
	h, ok := m.hashes[text]
	if !ok {
		sum := sha256.Sum256([]byte(text))
		h = hex.EncodeToString(sum[:])
		m.hashes[text] = h
	}
	return h
}

// next returns the states that a step can lead to, none if it is impossible here.
func (m *model) next(s state, st step) []state {
	if st.After > 0 && !s.done.has(st.After-1) {
		return nil
	}
	switch {
	case st.phase == publish:
		return m.publish(s, st)
	case st.phase != all:
		return m.endUnsure(s, st)
	case st.Result == Unknown:
		made := m.make(s, st)
		s.done.add(st.index)
		return append(made, s)
	case st.Result == Refused:
		return m.refused(s, st)
	case st.Kind >= Open || st.Session == Outside && st.Kind == Append:
		return m.foreign(s, st)
	}
	return m.make(s, st)
}

// make makes an acknowledged change, or gives a true answer.
func (m *model) make(s state, st step) []state {
	f := &s.files[max(0, m.name(st.Name))]
	switch st.Kind {
	case Read:
		if !slices.Contains(m.mayRead(s, f.file, st), file{true, st.Text}) {
			return nil
		}
	case Look:
		if !f.there || m.hash(f.text) != st.Hash {
			return nil
		}
	case Kept:
		if !s.kept.within(m.marksOf(st.Shown)) {
			return nil
		}
	default:
		if !m.change(&s, st) {
			return nil
		}
	}
	if st.Result == Done && !m.answers(f.file, st) {
		return nil
	}
	m.learn(&s, st)
	s.done.add(st.index)
	return []state{s}
}

// mayRead returns the files that a step may read: the one at its name, and if that goes while the
// step runs, those where it may be by then.
func (m *model) mayRead(s state, f file, st step) []file {
	all := []file{f}
	if m.misses.has(st.index) {
		for _, other := range s.files {
			all = append(all, other.file)
		}
		all = append(all, s.gone)
	}
	return all
}

// answers reports whether an answer tells the truth of a file.
func (m *model) answers(f file, st step) bool {
	if st.Hash != "" && m.hash(f.text) != st.Hash {
		return false
	}
	if len(st.Rows) == 0 {
		return true
	}
	lines := linesOf(f.text)
	for _, r := range st.Rows {
		if r.Number > len(lines) || lines[r.Number-1] != r.Text {
			return false
		}
	}
	return true
}

// learn notes what a session knows from an answer.
func (m *model) learn(s *state, st step) {
	if st.Session == Outside || st.Result == Unknown {
		return
	}
	s.seen[st.Session] = s.seen[st.Session].or(m.marksOf(st.shown()))
	bit := uint8(1) << max(0, m.name(st.Name))
	switch {
	case st.Result != Done:
	case st.Kind == Read || st.Kind == Write:
		s.whole[st.Session] |= bit
	case st.Kind == Delete:
		s.whole[st.Session] &^= bit
	case st.Kind == Move:
		to := uint8(1) << m.name(st.To)
		s.whole[st.Session] &^= to // what was shown is of a file that went
		if s.whole[st.Session]&bit != 0 {
			s.whole[st.Session] |= to
		}
		s.whole[st.Session] &^= bit
	}
}

// change changes the files as a call does, if it may.
func (m *model) change(s *state, st step) bool {
	n := m.name(st.Name)
	f := &s.files[n]
	now, ok := m.applied(*s, f.file, st)
	if !ok {
		return false
	}
	switch st.Kind {
	case Move:
		to := &s.files[m.name(st.To)]
		if to.there {
			return false
		}
		to.file = f.file
		if s.open == atName && s.opened == n {
			s.opened = m.name(st.To)
		}
	case Delete:
		if st.Session != Outside {
			s.deleted[st.Session][n] += "\x00" + f.text
		}
		if s.open == atName && s.opened == n {
			s.open, s.gone = atNothing, f.file
		}
	}
	f.file = now
	return true
}

// applied returns what a call makes of a file, and false if it may not.
func (m *model) applied(s state, f file, st step) (file, bool) {
	shown := func(text string) bool {
		return m.trusts || st.Session == Outside || m.marksOf(linesOf(text)).within(s.seen[st.Session])
	}
	switch st.Kind {
	case Edit, Restore:
		if !f.there || st.Kind == Edit && !shown(st.Old) {
			return f, false
		}
		text, ok := spliced(f.text, st.Old, st.Text)
		return file{true, text}, ok
	case Write:
		return file{true, st.Text}, !f.there || shown(f.text)
	case Append:
		return file{true, f.text + st.Text}, true
	case Recreate:
		return file{true, st.Text}, !f.there
	case Delete:
		whole := st.Session != Outside && s.whole[st.Session]&(1<<m.name(st.Name)) != 0
		return file{}, f.there && (!whole || shown(f.text)) && (st.Text == "" || st.Text == f.text)
	case Move:
		return file{}, f.there
	}
	return f, false
}

// spliced replaces lines that are in a text once.
func spliced(text, old, new string) (string, bool) {
	if old == "" || strings.Count("\n"+text, "\n"+old) != 1 {
		return text, false
	}
	before, after, _ := strings.Cut("\n"+text, "\n"+old)
	return strings.TrimPrefix(before+"\n"+new+after, "\n"), true
}

// refused reports whether the reason of a refusal holds.
func (m *model) refused(s state, st step) []state {
	f := s.files[max(0, m.name(st.Name))].file
	_, found := spliced(f.text, st.Old, st.Text)
	switch st.Why {
	case "not_found":
		if f.there {
			return nil
		}
		if st.Session != Outside {
			s.whole[st.Session] &^= 1 << m.name(st.Name) // what was shown is of a file that went
		}
	case "deleted":
		name := st.Name
		if st.Kind == Move {
			name = st.To
		}
		if f = s.files[m.name(name)].file; f.there {
			return nil
		}
		for text := range strings.SplitSeq(s.deleted[st.Session][m.name(name)], "\x00") {
			if f = (file{true, text}); m.answers(f, st) {
				break
			}
		}
	case "not_in_it":
		if f.there && strings.Contains("\n"+f.text, "\n"+st.Old) {
			return nil
		}
	case "no_match":
		if !m.misses.has(st.index) && (!f.there || found && st.Old != "") {
			return nil
		}
	case "exists":
		if to := m.name(st.To); to >= 0 && !s.files[to].there {
			return nil
		}
	}
	if len(st.Rows) > 0 && !slices.ContainsFunc(m.mayRead(s, f, st), func(f file) bool { return f.there && m.answers(f, st) }) {
		return nil
	}
	m.learn(&s, st)
	s.done.add(st.index)
	return []state{s}
}

// publish has a change show that may be taken back, or never be made. It was worked out for the
// file that is there, or for the one that another program has replaced right before.
func (m *model) publish(s state, st step) []state {
	n := m.name(st.Name)
	never := s
	never.tried.add(st.index)
	out := []state{never}
	if s.files[n].unsure != 0 {
		return out
	}
	for i, base := range []file{s.files[n].file, s.files[n].replaced} {
		now, ok := m.applied(s, base, st)
		if !ok || i > 0 && (!base.there || base == s.files[n].file) {
			continue
		}
		t := never
		t.hide(n, st.index, now)
		if st.Kind == Move {
			to := m.name(st.To)
			if t.files[to].there || t.files[to].unsure != 0 {
				continue
			}
			t.hide(to, st.index, base)
		}
		out = append(out, t)
	}
	return out
}

// hide puts a change before a file.
func (s *state) hide(n, index int, now file) {
	f := &s.files[n]
	f.unsure, f.hidden, f.file = index+1, f.file, now
	f.inShown, f.inHidden = marks{}, marks{}
	if s.open == atName && s.opened == n {
		s.open = atHidden
	}
}

// endUnsure takes a change back, or leaves it for good when its process has ended. Lines in the
// file that goes have to be kept.
func (m *model) endUnsure(s state, st step) []state {
	if !s.tried.has(st.index) {
		return nil
	}
	for n := range s.files {
		f := &s.files[n]
		if f.unsure != st.index+1 {
			continue
		}
		goes, stays, lost := atName, atHidden, f.file
		if st.phase == crash {
			goes, stays, lost = atHidden, atName, f.hidden
			s.kept = s.kept.or(f.inHidden)
		} else {
			s.kept = s.kept.or(f.inShown)
			f.file = f.hidden
		}
		if s.opened == n && s.open == goes {
			s.open, s.gone = atNothing, lost
		} else if s.opened == n && s.open == stays {
			s.open = atName
		}
		f.unsure, f.hidden, f.inShown, f.inHidden = 0, file{}, marks{}, marks{}
	}
	return []state{s}
}

// foreign is a step of a program that knows nothing of fsmcp.
func (m *model) foreign(s state, st step) []state {
	n := m.name(st.Name)
	f := &s.files[n]
	s.done.add(st.index)
	switch st.Kind {
	case Replace:
		f.replaced = f.file
		s.settle(n, file{true, st.Text})
		return []state{s}
	case Remove:
		if !f.there {
			return nil
		}
		s.settle(n, file{})
		return []state{s}
	case Close:
		s.open = closed
		return []state{s}
	case Touch:
		if !f.there {
			s.settle(n, file{there: true})
		}
		return []state{s}
	case Open, Append:
		out := m.opens(s, st, n)
		if m.misses.has(st.index) {
			out = append(out, s)
		}
		return out
	}
	m.writes(&s, st)
	return []state{s}
}

// settle gives a name another file. A change that showed there cannot be taken back: a Move
// keeps neither its old name nor, if this is the new one, the file.
func (s *state) settle(n int, now file) {
	unsure := s.files[n].unsure
	for i := range s.files {
		if f := &s.files[i]; i == n || unsure != 0 && f.unsure == unsure {
			f.unsure, f.hidden, f.inShown, f.inHidden = 0, file{}, marks{}, marks{}
		}
	}
	s.files[n].file = now
}

// opens opens the file that shows, or the hidden one. An Append writes and closes at once.
func (m *model) opens(s state, st step, n int) (out []state) {
	for _, at := range []openAt{atName, atHidden} {
		t := s
		f := &t.files[n]
		was := f.file
		if at == atHidden {
			was = f.hidden
		}
		if at == atHidden && f.unsure == 0 || !was.there && st.Kind != Append {
			continue
		}
		before, opened := t.open, t.opened
		t.open, t.opened = at, n
		if st.Kind == Append {
			m.writes(&t, st)
			t.open, t.opened = before, opened
		}
		out = append(out, t)
	}
	return out
}

// writes writes into the open file.
func (m *model) writes(s *state, st step) {
	f := &s.files[s.opened]
	lines := m.marksOf(linesOf(st.Text))
	to := &f.file
	switch s.open {
	case atName:
		f.inShown = f.inShown.or(lines)
	case atHidden:
		f.inHidden, to = f.inHidden.or(lines), &f.hidden
	default:
		s.kept = s.kept.or(lines)
		to = &s.gone
	}
	if st.Kind == Overwrite {
		to.text = ""
	}
	to.there, to.text = true, to.text+st.Text
}
