package crashstates

import (
	"math/bits"
	"slices"
)

// set is a set of effects.
type set [16]uint64

const maxEffects = 16 * 64

func (s *set) add(i int)     { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s set) or(o set) set {
	for i := range s {
		s[i] |= o[i]
	}
	return s
}

func (s set) without(o set) set {
	for i := range s {
		s[i] &^= o[i]
	}
	return s
}

func (s set) within(o set) bool { return s.without(o) == set{} }

func (s set) list() (all []int) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			all = append(all, i*64+bits.TrailingZeros64(word))
		}
	}
	return all
}

// State is one state of the disk.
type State struct {
	World
	Sum      [32]byte
	Calls    int      // that had ended when the power went
	Answered int      // how many of them were answers
	Lost     []string // calls whose effects are not on the disk
}

// Bounds of an enumeration. Within them are, after each call: any subset of the Last effects that
// no sync covers, lost; one or two of the effects that no sync covers, lost with what needs them
// (of two, one is among the last Near); and one or two of them with what they need, and nothing
// else of them.
type Bounds struct {
	Last, Near int
	// From is the number of calls that have ended when the power may go.
	From int
	// Most bounds the states that are made, spread evenly; 0: all are.
	Most int
}

// Default are the bounds that the tests use.
var Default = Bounds{Last: 6, Near: 12}

// enumeration is the work of States.
type enumeration struct {
	log     Log
	start   World
	model   Model
	effects []effect
	needs   []set // of each effect, itself included
	brings  []set // likewise, if a sync covers it
	needed  []set // by each effect, itself included
	known   map[setKey]bool
	found   []moment
}

// moment is a state as a set, before it is made.
type moment struct {
	setKey
	calls int
}

type setKey struct {
	set
	answered int
}

type seenKey struct {
	sum      [32]byte
	answered int
}

// States calls visit with each state in which a loss of power during the log, or right after it,
// may leave the disk, as far as the model and the bounds go, until visit returns false. It leaves
// out those that are equal to one before. It returns the number of sets of effects.
func (l Log) States(start World, m Model, b Bounds, visit func(State) bool) (sets int) {
	e := l.enumerate(start, m, b)
	e.visit(b, visit)
	return len(e.found)
}

// StatesWithout does so with the states that the log allows only if one of its syncs is left out.
func (l Log) StatesWithout(sync int, start World, m Model, b Bounds, visit func(State) bool) (sets int) {
	less := append(Log{}, l...)
	less[sync] = Op{Kind: "nothing"}
	known, e := l.enumerate(start, m, b).known, less.enumerate(start, m, b)
	e.found = slices.DeleteFunc(e.found, func(m moment) bool { return known[m.setKey] })
	e.visit(b, visit)
	return len(e.found)
}

// enumerate finds all states, and makes none.
func (l Log) enumerate(start World, m Model, b Bounds) *enumeration {
	e := &enumeration{log: l, start: l.made(start), model: m, known: make(map[setKey]bool)}
	e.effects, _ = l.effects(start)
	if len(e.effects) > maxEffects {
		panic("the log is too long")
	}
	e.relate()
	synced, answered := set{}, 0
	for calls := 0; calls <= len(l); calls++ {
		if calls > 0 {
			switch op := l[calls-1]; op.Kind {
			case Sync:
				synced = synced.or(e.covered(op))
			case Answer:
				answered++
			}
		}
		if calls >= b.From {
			e.after(calls, synced, answered, b)
		}
	}
	return e
}

// visit makes the states that were found.
func (e *enumeration) visit(b Bounds, visit func(State) bool) {
	step := 1
	if b.Most > 0 {
		step = max(1, len(e.found)/b.Most)
	}
	seen := make(map[seenKey]bool)
	for i := step / 2; i < len(e.found); i += step {
		st := e.make(e.found[i])
		if key := (seenKey{st.Sum, st.Answered}); !seen[key] {
			seen[key] = true
			if !visit(st) {
				return
			}
		}
	}
}

// relate computes what each effect needs, and what a sync that covers it brings along.
func (e *enumeration) relate() {
	brought := e.model
	brought.inOrder = e.model.inOrder && !e.model.alone
	e.needs, e.brings = closure(e.model, e.effects), closure(brought, e.effects)
	e.needed = make([]set, len(e.effects))
	for i := range e.effects {
		for _, j := range e.needs[i].list() {
			e.needed[j].add(i)
		}
	}
}

// closure returns what each effect needs, itself included.
func closure(m Model, effects []effect) []set {
	all := make([]set, len(effects))
	for i, a := range effects {
		all[i].add(i)
		for j, b := range effects[:i] {
			if m.needs(a, b) {
				all[i] = all[i].or(all[j])
			}
		}
	}
	return all
}

// covered returns what a sync has brought to the disk.
func (e *enumeration) covered(sync Op) (all set) {
	for i, a := range e.effects {
		if e.model.covers(sync, a) {
			all = all.or(e.brings[i])
		}
	}
	return all
}

// after finds the states in which the disk may be after so many calls.
func (e *enumeration) after(calls int, synced set, answered int, b Bounds) {
	all, open := set{}, []int(nil)
	for i, a := range e.effects {
		if a.op < calls {
			all.add(i)
			if !synced.has(i) {
				open = append(open, i)
			}
		}
	}
	found := func(s set) {
		if key := (setKey{s.or(synced), answered}); !e.known[key] {
			e.known[key] = true
			e.found = append(e.found, moment{key, calls})
		}
	}
	last := open[max(0, len(open)-b.Last):]
	for subset := range 1 << len(last) {
		s := all
		for bit, i := range last {
			if subset&(1<<bit) != 0 {
				s[i/64] &^= 1 << (i % 64)
			}
		}
		if e.closed(s, synced, last) {
			found(s)
		}
	}
	found(set{})
	for n, i := range open {
		found(all.without(e.needed[i]))
		found(e.needs[i])
		for _, j := range open[:n] {
			if n >= len(open)-b.Near {
				found(all.without(e.needed[i]).without(e.needed[j]))
			}
			if e.effects[i].op == calls-1 {
				found(e.needs[i].or(e.needs[j]))
			}
		}
	}
}

// closed reports whether the set has what the last effects in it need.
func (e *enumeration) closed(s, synced set, last []int) bool {
	for _, i := range last {
		if s.has(i) && !e.needs[i].within(s.or(synced)) {
			return false
		}
	}
	return true
}

// make makes a state.
func (e *enumeration) make(m moment) State {
	w := e.start.clone()
	for _, i := range m.list() {
		e.effects[i].do(w)
	}
	w.settle(e.model.stale)
	st := State{World: w, Sum: w.Sum(), Calls: m.calls, Answered: m.answered}
	for i, a := range e.effects {
		if a.op < m.calls && !m.has(i) {
			st.Lost = append(st.Lost, e.log[a.op].Call+[]string{"", " (sector)", " (size)", ""}[a.what])
		}
	}
	return st
}

// made returns the world with all inodes that the log makes. They have no names: an inode is whole
// when a name leads to it.
func (l Log) made(start World) World {
	w := start.clone()
	for _, op := range l {
		if op.Kind == Create {
			w[op.Ino] = op.inode()
		}
	}
	return w
}

// End returns what is there when nothing is lost.
func (l Log) End(start World) World {
	_, w := l.effects(start)
	w.settle(0)
	return w
}
