package perm

// Asks reports whether an ask rule names a file, whatever mode, grants and other rules say;
// names are as for Decide. It returns true for what cannot be a name.
func (p *Policy) Asks(op Op, names []string) bool {
	q := p.newQuestion(op)
	defer p.pool.Put(q)
	if !q.prepare(names) {
		return true
	}
	_, ask := q.strictRules()
	return ask.found() || q.spent
}

// HidesAll reports whether a deny or ask rule, such as "dir/**", covers every name that a
// folder can hold. It returns true for what cannot be a name.
func (p *Policy) HidesAll(op Op, dir string) bool {
	q := p.newQuestion(op)
	defer p.pool.Put(q)
	if !q.prepare([]string{dir}) {
		return true
	}
	if p.strict.empty() {
		return false
	}
	// Only what matches every name matches the empty one.
	n := &q.names[0]
	h := p.strict.find(&q.walk, n.exact+"//", n.folded+"//", false, op, nil)
	return h[Deny] != none || h[Ask] != none || q.walk.spent()
}
