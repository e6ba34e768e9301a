package savemodel

// Accepts reports whether the first call can make the steps whose system calls are these, in
// this order, and end, whatever the other program does meanwhile.
func (m *Machine) Accepts(trace []string) bool {
	type point struct {
		s  State
		at int
	}
	seen := map[point]bool{}
	var try func(point) bool
	try = func(p point) bool {
		if seen[p] {
			return false
		}
		seen[p] = true
		ok := false
		m.foreign(p.s, func(_ string, t State) { ok = ok || try(point{t, p.at}) })
		call := p.s.Calls[0]
		if ok || call.At == Done {
			return ok || p.at == len(trace)
		}
		step := Steps[call.At]
		if step.Calls != "" {
			if p.at == len(trace) || trace[p.at] != step.Calls {
				return false
			}
			p.at++
		}
		return step.Do(m, &p.s, 0) && try(p)
	}
	return try(point{s: newState()})
}
