package perm

// Asks reports whether an ask rule names a file, whatever else decides on it; names are as
// for Decide. It returns true for what cannot be a name.
func (p *Policy) Asks(op Op, names []string) bool {
	q := p.ask(op)
	defer p.pool.Put(q)
	if !q.prepare(names) {
		return true
	}
	_, ask := q.strictRules()
	return ask.found() || q.spent
}
