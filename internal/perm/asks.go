package perm

// Asks reports whether an ask rule names a file, whatever else decides on it; names are as
// for Decide. It returns true for what cannot be a name.
func (p *Policy) Asks(op Op, names []string) bool {
	asks, ok := p.asks(op, names)
	return asks || !ok
}

// AskedFor reports whether an ask rule names the file, whatever mode and grants say. It
// returns false for what cannot be a name.
func (p *Policy) AskedFor(op Op, names []string) bool {
	asks, _ := p.asks(op, names)
	return asks
}

// asks reports not ok for what cannot be a name.
func (p *Policy) asks(op Op, names []string) (asks, ok bool) {
	q := p.ask(op)
	defer p.pool.Put(q)
	if !q.prepare(names) {
		return false, false
	}
	_, ask := q.strictRules()
	return ask.found() || q.spent, true
}
