package perm

import "slices"

const nullDevice = "/dev/null"

// Grants reports what the user has allowed for the rest of a session: one tool group
// (reading, or changing) on exactly one resolved path.
type Grants interface {
	Granted(op Op, path string) bool
}

// Decide returns the verdict for an operation on a file, given all its names: the asked
// one first, then one for each link on the way, the resolved one last. A name that ends in
// a slash is known to be a directory.
//
// exists reports whether a repository's HEAD exists in a workspace directory; nil means
// that it may.
func (p *Policy) Decide(op Op, names []string, exists func(string) bool) Decision {
	return p.DecideGranted(op, names, exists, nil)
}

// DecideGranted is Decide for a session in which the user has allowed some
// files already. A decision on the asked name alone is final when a rule denies
// it; anything else may turn out otherwise once the resolved name is known.
func (p *Policy) DecideGranted(op Op, names []string, exists func(string) bool, grants Grants) Decision {
	q := p.newQuestion(op)
	defer p.pool.Put(q)
	q.exists, q.grants = exists, grants
	q.decide(names)
	if q.d.Verdict != Allow {
		q.d.Broken = p.config.Broken
	}
	return q.d
}

// newQuestion takes a question from the pool, with its allocated slices.
func (p *Policy) newQuestion(op Op) *question {
	q, _ := p.pool.Get().(*question)
	if q == nil {
		q = &question{}
	}
	*q = question{p: p, op: op, names: q.names[:0], walk: q.walk}
	return q
}

// question is the state of one decision.
type question struct {
	p      *Policy
	op     Op
	exists func(string) bool
	grants Grants
	names  []name
	walk   walk
	spent  bool // the look-up was given up before all deny and ask rules were tried
	d      Decision
}

// decide tries the steps of the decision in order; the first one with an answer decides.
func (q *question) decide(names []string) {
	if !q.prepare(names) {
		q.decided(Deny, ReasonBadName, true)
		return
	}
	deny, ask := q.strictRules()
	switch {
	case deny.found():
		q.byRule(Deny, ReasonDenyRule, deny)
	case q.spent:
		q.decided(Deny, ReasonSpent, true)
	case q.refusedAlways():
	case q.refusedInPlan():
	case q.granted():
	case q.settingsBroken():
	case ask.found():
		q.byRule(q.askVerdict(), ReasonAskRule, ask)
	case q.protectedPath():
	case q.p.config.Mode == Bypass:
		q.decided(Allow, ReasonBypass, true)
	case q.allowRules():
	default:
		q.byMode()
	}
}

// prepare parses each name once.
func (q *question) prepare(names []string) bool {
	if q.op >= opCount || len(names) == 0 {
		return false
	}
	for _, given := range names {
		n, ok := q.p.name(given, q.op)
		if !ok {
			return false
		}
		q.names = append(q.names, n)
	}
	return true
}

func (q *question) decided(v Verdict, r Reason, asked bool) {
	q.d.Verdict, q.d.Reason, q.d.Quotable = v, r, asked
}

// askVerdict returns the verdict for a question in this mode.
func (q *question) askVerdict() Verdict {
	if q.p.config.Mode == DontAsk {
		q.d.UntilRestart = q.p.config.ModeUntilRestart
		return Deny
	}
	return Ask
}

// match is the first rule that matched, and whether it matched the asked name.
type match struct {
	rule  int32
	asked bool
}

func (m match) found() bool { return m.rule != none }

// later adds a match on a later name: a rule on the asked name is reported first.
func (m match) later(rule int32, first bool) match {
	if first {
		return match{rule, rule != none}
	}
	if !m.asked {
		m.rule = min(m.rule, rule)
	}
	return m
}

func (q *question) byRule(v Verdict, why Reason, m match) {
	q.decided(v, why, m.asked)
	r := &q.p.config.Rules[m.rule]
	q.d.Rule, q.d.Source = r.Text, r.Source
	q.d.UntilRestart = q.d.UntilRestart || r.Source.UntilRestart
}

// strictRules returns the deny rule and the ask rule that match any of the names.
func (q *question) strictRules() (deny, ask match) {
	deny, ask = match{rule: none}, match{rule: none}
	if q.p.strict.empty() {
		return deny, ask
	}
	for i := range q.names {
		n := &q.names[i]
		h := q.p.strict.find(&q.walk, n.exact, n.folded, n.dir, q.op, nil)
		q.spent = q.spent || q.walk.spent()
		deny = deny.later(h[Deny], i == 0)
		if n.null {
			h[Ask] = none // read without a question
		}
		ask = ask.later(h[Ask], i == 0)
	}
	return deny, ask
}

// refusedAlways refuses what no mode, rule or grant allows.
func (q *question) refusedAlways() bool {
	for i := range q.names {
		n := &q.names[i]
		if !n.null && isSystem(n) {
			q.decided(Deny, ReasonBuiltin, i == 0)
			return true
		}
		if q.op.Changes() && q.p.ownState(n) {
			q.decided(Deny, ReasonState, i == 0)
			return true
		}
	}
	return false
}

// isSystem reports whether the name is below /proc, /sys or /dev.
func isSystem(n *name) bool {
	for _, dir := range [...]string{"/proc", "/sys", "/dev"} {
		if _, ok := below(n.same, dir); ok {
			return true
		}
	}
	return false
}

func (p *Policy) ownState(n *name) bool {
	for _, dir := range p.state {
		if _, ok := below(n.folded, dir); ok {
			return true
		}
	}
	return false
}

func (q *question) refusedInPlan() bool {
	if q.p.config.Mode != Plan || !q.op.Changes() || q.planFile() {
		return false
	}
	q.decided(Deny, ReasonPlan, true)
	q.d.UntilRestart = q.p.config.ModeUntilRestart
	return true
}

// planFile reports whether every name is the plan file's: a link of its name
// would lead elsewhere.
func (q *question) planFile() bool {
	return !slices.ContainsFunc(q.names, func(n name) bool { return !q.p.namesPlan(n.exact) })
}

func (p *Policy) namesPlan(name string) bool {
	return slices.Contains(p.plan, name)
}

func (q *question) granted() bool {
	if q.grants == nil || !q.grants.Granted(q.op, q.names[len(q.names)-1].given) {
		return false
	}
	q.decided(Allow, ReasonGrant, true)
	return true
}

// settingsBroken fails closed: the rules of a broken file are unknown.
func (q *question) settingsBroken() bool {
	if len(q.p.config.Broken) == 0 || q.allNull() {
		return false
	}
	at, outside := q.outside()
	switch {
	case q.op.Changes():
		q.decided(Deny, ReasonBroken, true)
	case outside:
		q.decided(Deny, ReasonBroken, at == 0)
	default:
		q.decided(q.askVerdict(), ReasonBroken, true)
	}
	return true
}

func (q *question) allNull() bool {
	return !slices.ContainsFunc(q.names, func(n name) bool { return !n.null })
}

// outside finds the first name that lies in no workspace directory.
func (q *question) outside() (at int, found bool) {
	for i := range q.names {
		if n := &q.names[i]; !n.null && !q.p.inside(n) {
			return i, true
		}
	}
	return 0, false
}

func (q *question) protectedPath() bool {
	if !q.op.Changes() || q.p.config.Mode == Bypass {
		return false
	}
	for i := range q.names {
		if n := &q.names[i]; q.asksAsProtected(n) {
			q.decided(q.askVerdict(), ReasonProtected, i == 0)
			q.addPasteLines()
			return true
		}
	}
	return false
}

// asksAsProtected reports whether the name is protected and the user has made no exception:
// neither an allow rule nor, in plan mode, the flag for the plan file.
func (q *question) asksAsProtected(n *name) bool {
	marked := q.p.protected(n, q.exists)
	if marked == nil || q.exceptionAllows(n, marked) {
		return false
	}
	return q.p.config.Mode != Plan || !q.p.namesPlan(n.exact)
}

// allowRules needs a rule for each name; it reports the rule of the asked name.
func (q *question) allowRules() bool {
	if q.p.allow.empty() {
		return false
	}
	first := none
	for i := range q.names {
		n := &q.names[i]
		if n.null {
			continue
		}
		rule := q.allowRule(n)
		if rule == none {
			return false
		}
		if first == none {
			first = rule
		}
	}
	if first == none {
		return false
	}
	q.byRule(Allow, ReasonAllowRule, match{first, true})
	return true
}

func (q *question) allowRule(n *name) int32 {
	return q.p.allow.find(&q.walk, n.exact, n.same, n.dir, q.op, nil)[Allow]
}

// byMode decides if no rule did.
func (q *question) byMode() {
	if why, ok := q.allowedByMode(); ok {
		q.decided(Allow, why, true)
		return
	}
	at, outside := q.outside()
	q.decided(q.askVerdict(), ReasonMode, at == 0)
	q.d.UntilRestart = q.d.UntilRestart || q.p.config.ModeUntilRestart && !outside
	q.addPasteLines()
}

func (q *question) allowedByMode() (Reason, bool) {
	_, outside := q.outside()
	switch {
	case !q.op.Changes() && q.allNull():
		return ReasonNull, true
	case !q.op.Changes():
		return ReasonWorkspace, !outside
	case q.p.config.Mode == Plan:
		return ReasonPlanFile, true // plan mode refused everything else before
	}
	return ReasonAcceptEdits, q.p.config.Mode == AcceptEdits && !outside
}
