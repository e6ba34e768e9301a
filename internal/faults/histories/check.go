package histories

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Verdict is the result of Check.
type Verdict struct {
	Legal bool
	// TakenBack: a change showed and was taken back, or its process died before it was sure of it.
	TakenBack bool
	// Undecided: the search for an order took too long.
	Undecided bool
	// Order has the indexes of the steps in one legal order, or the longest beginning of one.
	Order []int
}

// Check looks for a legal order. Most histories have one in which no change shows before it is
// taken back, so it tries those first.
func Check(h History, timeout time.Duration) (Verdict, error) {
	m, err := newModel(h)
	if err != nil {
		return Verdict{}, err
	}
	v := m.search(h, false, timeout)
	if !v.Legal && !v.Undecided && slices.ContainsFunc(h.Ops, mayShow) {
		v = m.search(h, true, timeout)
		v.TakenBack = v.Legal
	}
	return v, nil
}

// mayShow reports whether others may have seen a change that was not made in the end.
func mayShow(op Op) bool {
	switch op.Kind {
	case Edit, Write, Append, Move, Delete, Restore:
		return (op.Session != Outside || op.Kind == Restore) && (op.Result == Unknown || op.Result == Refused && !harmless[op.Why])
	}
	return false
}

// harmless are the reasons to refuse a call before it touches the file.
var harmless = map[string]bool{"not_read": true, "partly_read": true, "no_match": true, "not_unique": true, "exists": true, "deleted": true, "not_in_it": true}

func (m *model) search(h History, unsure bool, timeout time.Duration) Verdict {
	seed := maphash.MakeSeed()
	search := porcupine.NondeterministicModel{
		Init: func() []any { return []any{m.start} },
		Step: func(s, input, _ any) (out []any) {
			for _, t := range m.next(s.(state), input.(step)) {
				out = append(out, t)
			}
			return out
		},
		Hash: func(s any) uint64 { return maphash.Comparable(seed, s.(state)) },
	}
	steps := stepsOf(h, unsure)
	result, info := porcupine.CheckOperationsVerbose(search.ToModel(), steps, timeout)
	v := Verdict{Legal: result == porcupine.Ok, Undecided: result == porcupine.Unknown}
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, order := range partition {
			if len(order) > len(v.Order) {
				v.Order = nil
				for _, op := range order {
					v.Order = append(v.Order, op.Input.(step).index)
				}
			}
		}
	}
	return v
}

// stepsOf returns the steps of a history. If changes may show and be taken back, such a call is
// in two parts.
func stepsOf(h History, unsure bool) (steps []porcupine.Operation) {
	add := func(i int, p phase) {
		op := &h.Ops[i]
		steps = append(steps, porcupine.Operation{ClientId: len(steps), Input: step{op, i, p}, Call: op.Begin, Return: op.End})
	}
	for i, op := range h.Ops {
		switch {
		case !unsure || !mayShow(op):
			add(i, all)
		case op.Result == Unknown:
			add(i, publish)
			add(i, crash)
		default:
			add(i, all)
			add(i, publish)
			add(i, takenBack)
		}
	}
	return steps
}
