package savemodel

import (
	"fmt"
	"slices"
)

// Check runs every order of steps, and returns the states that were seen.
func (m *Machine) Check() int {
	m.seen = map[State]bool{}
	m.visit(newState())
	return len(m.seen)
}

func newState() State {
	s := State{Lock: none, Opened: none, Waits: none, Found: none, Orphan: none}
	for c := range s.Calls {
		s.Calls[c] = Call{Old: none, New: none, Temp: none}
	}
	s.Files[0].Used = true
	return s
}

// visit goes on from one state. It stops at the first state that breaks each promise.
func (m *Machine) visit(s State) {
	if s.Orphan != none {
		s.Excused |= s.Files[s.Orphan].Content
	}
	if m.seen[s] {
		return
	}
	m.seen[s] = true
	if s.Lost != 0 {
		m.violated("a byte was replaced that was not compared")
		return
	}
	moved := false
	next := func(what string, t State) {
		moved = true
		m.path = append(m.path, what)
		m.visit(t)
		m.path = m.path[:len(m.path)-1]
	}
	for c := range s.Calls {
		m.call(s, c, next)
	}
	m.foreign(s, next)
	if !moved {
		m.ended(s)
	}
}

// call lets a call make its next step, crash, or be cleaned up after.
func (m *Machine) call(s State, c int, next func(string, State)) {
	switch at := s.Calls[c].At; {
	case at == Done:
	case at == Crashed:
		if !s.Calls[c].Swept {
			t := s
			t.sweep(c)
			next(fmt.Sprintf("start after the crash of %d", c+1), t)
		}
	default:
		if t := s; Steps[at].Do(m, &t, c) && t != s {
			next(fmt.Sprintf("%d: %s", c+1, Steps[at].Name), t)
		}
		if s.Crashes == 0 {
			t := s
			t.Crashes++
			t.release(c)
			t.Calls[c].At = Crashed
			next(fmt.Sprintf("%d crashes", c+1), t)
		}
	}
}

// foreign lets the other program open the file and append to it, and rename a file of its own
// over the name. It does each once.
func (m *Machine) foreign(s State, next func(string, State)) {
	if !s.Wrote && s.Opened == none && s.Waits == none && s.Found == none {
		if t := s; m.LateOpen {
			t.Found = s.Name
			next("the other program finds the file by its name", t)
		} else {
			m.open(s, s.Name, next)
		}
	}
	if s.Found != none {
		m.open(s, s.Found, next)
	}
	if s.Waits != none && !s.leased(s.Waits) {
		t := s
		t.Opened, t.Waits = s.Waits, none
		next("the other program's open returns", t)
	}
	if s.Opened != none {
		t := s
		t.Files[s.Opened].Content |= foreignText
		if s.Opened != s.Name && !s.hasTemp(s.Opened) {
			t.Lost |= foreignText // into a file that fsmcp has removed
		}
		t.Opened, t.Wrote = none, true
		next("the other program appends, and closes the file", t)
	}
	if !s.Renamed {
		t := s
		t.Orphan = s.Name
		t.Name, t.Renamed = t.file(foreignFile), true
		next("the other program renames a file of its own over the name", t)
	}
}

// open opens a file for writing. A lease on it makes the program wait, and tells its holder.
func (m *Machine) open(s State, file int8, next func(string, State)) {
	t := s
	t.Found = none
	if s.leased(file) {
		for c := range t.Calls {
			if t.Calls[c].Leased && t.Calls[c].Old == file {
				t.Calls[c].Broken = true
			}
		}
		t.Waits = file
		next("the other program opens the file for writing, and waits", t)
		return
	}
	t.Opened = file
	next("the other program opens the file for writing", t)
}

func (s *State) leased(file int8) bool {
	return slices.ContainsFunc(s.Calls[:], func(c Call) bool { return c.Leased && c.Old == file })
}

// hasTemp reports whether the file has a temporary name, was kept, or was replaced by the
// other program.
func (s *State) hasTemp(file int8) bool {
	return file == s.Orphan || s.Kept&(1<<file) != 0 || slices.ContainsFunc(s.Calls[:], func(c Call) bool { return c.Temp == file })
}

// ended judges a state in which nothing can happen any more.
func (m *Machine) ended(s State) {
	have := s.Files[s.Name].Content | s.Saved | s.Excused
	for i, f := range s.Files {
		if s.Kept&(1<<i) != 0 {
			have |= f.Content
		}
	}
	for c, call := range s.Calls {
		switch {
		case call.At != Done && call.At != Crashed:
			m.violated("a call never ends")
		case call.Acked && have&edit(c) == 0:
			m.violated("an acknowledged edit was lost")
		case call.Temp != none || call.Journal:
			m.violated("a file was left over")
		}
	}
	if s.Wrote && have&foreignText == 0 {
		m.violated("another program's text was lost")
	}
	if s.Files[s.Name].Content&halfWritten != 0 {
		m.violated("the file is torn")
	}
}

// violated notes a promise that does not hold, once.
func (m *Machine) violated(what string) {
	if !slices.ContainsFunc(m.Found, func(v Violation) bool { return v.What == what }) {
		m.Found = append(m.Found, Violation{what, slices.Clone(m.path)})
	}
}
