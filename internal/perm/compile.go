package perm

import (
	"slices"
	"strings"
	"sync"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// Policy is a compiled configuration. It never changes.
type Policy struct {
	config     Config
	pool       sync.Pool // questions that may be used again
	strict     *index    // deny and ask
	allow      *index
	exceptions *index          // the allow rules that may reach a protected path
	same       glob.Folding    // how allow rules and the workspace compare; nil: exactly
	workspace  []Dir           // those with a usable name
	roots      []root          // the workspace under all its names
	state      []string        // fsmcp's own folders under all their names, strictly folded
	guarded    func() []string // Guarded under all names, strictly folded
	kept       func() []string // what Keeps holds in place under all names, strictly folded
	plan       []string        // the plan file under all its names
	literals   [opCount][]Literal
	slashed    []slashedRule
	searches   map[opSet]int32 // the first bare rule against each tool that searches
	inForce    []RuleText
}

// root is a workspace directory as names are compared with it.
type root struct {
	same   string // folded as p.same does, without a slash at the end; "" is the file-system root
	folded string // folded strictly
}

// slashedRule is a "/path" rule, for MistakenAnchors.
type slashedRule struct {
	rule    RuleText
	anchors []string
	path    string // its literal beginning
}

// Compile builds the policy for a configuration. It returns a warning for each rule that
// does not mean what it seems to mean.
func Compile(c Config) (*Policy, []Warning) {
	b := newBuilder(c)
	for i := range c.Rules {
		b.addRule(int32(i))
	}
	p := b.finish()
	return p, b.warnings
}

// Anchors returns the directories whose real names a caller should pass as
// Config.Aliases: what rules start from, and the fixed beginnings of deny and
// ask rules. Without aliases a rule holds under the name it was written with.
func Anchors(c Config) []string {
	c.Aliases, c.Moved = nil, nil
	b := newBuilder(c)
	b.anchorsOnly = true
	for i := range c.Rules {
		b.addRule(int32(i))
	}
	for _, d := range slices.Concat([]string{c.Home, parent(c.PlanFile)}, c.Own, c.Guarded) {
		b.anchor(d)
	}
	slices.Sort(b.anchors)
	dirs := slices.Compact(b.anchors)
	for i, dir := range dirs {
		dirs[i] = native(dir, c.Windows)
	}
	return dirs
}

type builder struct {
	p        *Policy
	aliases  []Dir
	moved    []Dir
	warnings warnings
	anchors  []string
	// anchorsOnly leaves the indexes empty.
	anchorsOnly bool
}

func newBuilder(c Config) *builder {
	if c.Places == nil {
		c.Places = func() []string { return nil }
	}
	c.Places = sync.OnceValue(c.Places)
	c.Rules, c.Broken, c.Guarded = slices.Clone(c.Rules), slices.Clone(c.Broken), slices.Clone(c.Guarded)
	b := &builder{p: &Policy{config: c, searches: map[opSet]int32{}}}
	if !c.CaseSensitive {
		b.p.same = glob.FoldCase
	}
	b.p.strict = newIndex(glob.FoldStrict, true)
	b.p.allow = newIndex(b.p.same, false)
	b.p.exceptions = newIndex(b.p.same, false)
	b.aliases = b.others(slices.Concat(c.Workspace, c.Aliases))
	b.moved = b.others(c.Moved)
	return b
}

// others are the directories that have another real name.
func (b *builder) others(dirs []Dir) (out []Dir) {
	for _, d := range dirs {
		d.Name, d.Real = b.clean(d.Name), b.clean(d.Real)
		if d.Name != "" && d.Real != "" && d.Name != d.Real {
			out = append(out, d)
		}
	}
	return out
}

// clean gives a directory the form that names have here: slashes, none at the
// end. The file-system root is "/"; what is not absolute is "".
func (b *builder) clean(dir string) string {
	dir = slashes(dir, b.p.config.Windows)
	if !strings.HasPrefix(dir, "/") {
		return ""
	}
	if dir = strings.TrimRight(dir, "/"); dir == "" {
		return "/"
	}
	return dir
}

func (b *builder) anchor(dir string) {
	if dir = b.clean(dir); dir != "" && dir != "/" {
		b.anchors = append(b.anchors, dir)
	}
}

// finish adds everything that does not come from rules.
func (b *builder) finish() *Policy {
	p := b.p
	for _, d := range b.p.config.Workspace {
		name := b.clean(d.Name)
		if name == "" {
			continue
		}
		p.workspace = append(p.workspace, d)
		for _, s := range b.spellings(name, Allow) {
			p.roots = append(p.roots, newRoot(s, p.same))
		}
	}
	p.state = b.folded(b.p.config.Own...)
	names := builder{p: p, aliases: b.aliases, moved: b.moved}
	p.guarded = sync.OnceValue(func() []string { return names.folded(p.Guarded()...) })
	p.kept = sync.OnceValue(func() []string {
		all := slices.Concat(p.config.Own, p.config.Guarded)
		for _, d := range p.workspace {
			all = append(all, d.Name, d.Real)
		}
		return names.folded(all...)
	})
	p.plan = b.spellings(b.clean(b.p.config.PlanFile), Allow)
	return p
}

// folded returns files or directories under each of their known names, strictly folded.
func (b *builder) folded(names ...string) (out []string) {
	for _, name := range names {
		for _, s := range b.spellings(b.clean(name), Deny) {
			out = append(out, glob.FoldStrict(s))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func newRoot(name string, same glob.Folding) root {
	name = strings.TrimSuffix(name, "/")
	r := root{same: name, folded: glob.FoldStrict(name)}
	if same != nil {
		r.same = same(name)
	}
	return r
}

// spellings returns a directory under each name that counts in a list.
func (b *builder) spellings(dir string, list List) []string {
	if dir == "" {
		return nil
	}
	all := []string{dir}
	add := func(others []Dir) {
		for _, a := range others {
			if rest, ok := below(dir, a.Name); ok {
				all = append(all, joined(a.Real, rest))
			}
		}
	}
	add(b.aliases)
	if list != Allow {
		add(b.moved)
	}
	slices.Sort(all[1:])
	return slices.Compact(all)
}

// below reports whether name lies at or below dir, by whole segments, and
// returns what follows dir: "" or a path that begins with a slash.
func below(name, dir string) (rest string, ok bool) {
	if dir == "/" {
		dir = ""
	}
	rest, ok = strings.CutPrefix(name, dir)
	return rest, ok && (rest == "" || rest[0] == '/')
}

func joined(dir, rest string) string { return strings.TrimSuffix(dir, "/") + rest }

func parent(name string) string {
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		return name[:i]
	}
	return ""
}

// addRule adds one rule.
func (b *builder) addRule(i int32) {
	r := b.p.config.Rules[i]
	if r.List > Allow {
		r.List = Deny
	}
	if r.List == Allow && r.Source.Level.InProject() && !b.p.config.TrustProject {
		b.warnings.add(Warning{Kind: Untrusted, Rule: r})
		return
	}
	parsed := parseRule(r, b.p.config.notation())
	windows := b.p.config.Windows
	w := Warning{Kind: parsed.kind, Rule: r, Nearest: parsed.nearest, windows: windows}
	if parsed.ok {
		w.ReadAs = parsed.meant
	}
	b.warnings.add(w)
	if !parsed.ok {
		return
	}
	kind, likely := misspelt(parsed.text, b.clean(b.p.config.Home))
	if kind == noWarning {
		kind, likely = parsed.doubt, nil
	}
	b.warnings.add(Warning{Kind: kind, Rule: r, Likely: likely, windows: windows})
	if !b.anchorsOnly {
		b.p.inForce = append(b.p.inForce, r)
	}
	if parsed.bare {
		for _, tool := range []opSet{globTool, grepTool} {
			if _, known := b.p.searches[tool]; !known && parsed.ops&tool != 0 {
				b.p.searches[tool] = i
			}
		}
		if parsed.ops &^= globTool | grepTool; parsed.ops == 0 {
			return
		}
		b.addPattern(nil, rulePattern{rule: i, list: r.List, ops: parsed.ops})
		return
	}
	b.addSpec(i, r, &parsed)
	if parsed.also != nil {
		parsed.spec = *parsed.also
		b.addSpec(i, r, &parsed)
	}
}

// addSpec adds one meaning of a rule's pattern.
func (b *builder) addSpec(i int32, r RuleText, parsed *parsedRule) {
	dirs := b.anchorsOf(r, parsed.spec.base)
	if len(dirs) == 0 {
		b.warnings.add(Warning{Kind: NoAnchor, Rule: r, windows: b.p.config.Windows})
		return
	}
	b.addSlashed(r, parsed, dirs)
	for _, dir := range dirs {
		for s := &parsed.spec.pattern; s != nil; s = s.Also {
			segs, _ := anchored(dir, s, parsed.spec.floats(r.List)) // parseRule refuses what climbs
			b.addAnchored(segs, parsed, i, r)
		}
	}
}

// anchorsOf returns the directories that a rule starts from, under all their names.
func (b *builder) anchorsOf(r RuleText, from base) (dirs []string) {
	if from == fromRoot {
		return []string{"/"}
	}
	for _, dir := range b.startsOf(r, from) {
		b.anchor(dir)
		dirs = append(dirs, b.spellings(b.clean(dir), r.List)...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// startsOf returns the directories that a rule starts from, as configured; none if the rule
// names nothing.
func (b *builder) startsOf(r RuleText, from base) []string {
	var workspace []string
	for _, d := range b.p.config.Workspace {
		workspace = append(workspace, d.Name)
	}
	first := workspace[:min(len(workspace), 1)]
	ofSource, level := from == fromSource, r.Source.Level
	switch {
	case from == fromHome:
		return []string{b.p.config.Home}
	case r.List != Allow && (!ofSource || level == Managed):
		return workspace
	case ofSource && level == Managed: // it has no directory of its own
		return nil
	case ofSource && (level == Flag || level == Env):
		return first
	case ofSource || level.InProject():
		return []string{r.Source.Anchor}
	}
	return first
}

// anchored puts a pattern below a directory. It fails if ".." follows a wildcard: the
// directory above is ambiguous.
func anchored(dir string, p *glob.Pattern, floats bool) ([]glob.Segment, bool) {
	segs := directory(dir)
	if floats {
		segs = append(segs, glob.Segment{Kind: glob.Deep})
	}
	for _, next := range p.Segments {
		if next.Kind != glob.Exact || next.Text != ".." {
			segs = glob.Append(segs, next)
			continue
		}
		if len(segs) == 0 {
			continue
		}
		if segs[len(segs)-1].Kind != glob.Exact {
			return nil, false
		}
		segs = segs[:len(segs)-1]
	}
	return segs, true
}

// directory returns a directory's name as segments.
func directory(dir string) (segs []glob.Segment) {
	for name := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if name != "" {
			segs = append(segs, glob.Segment{Kind: glob.Exact, Text: name, Anchor: true})
		}
	}
	return segs
}

// addAnchored adds an anchored pattern. For deny and ask it also adds the pattern under other
// names of its fixed beginning; an allow rule does not follow links that may be newer than
// the rule.
func (b *builder) addAnchored(segs []glob.Segment, parsed *parsedRule, i int32, r RuleText) {
	p := rulePattern{rule: i, list: r.List, ops: parsed.ops, dirOnly: parsed.spec.pattern.DirOnly}
	b.addPattern(segs, p)
	if r.List == Allow {
		if r.Source.own() && !b.anchorsOnly {
			b.p.exceptions.add(segs, p)
		}
		return
	}
	fixed, rest := fixedBeginning(segs)
	b.anchor(fixed)
	for _, dir := range b.spellings(b.clean(fixed), r.List)[1:] {
		b.addPattern(append(directory(dir), rest...), p)
	}
	if r.List == Deny {
		b.addLiteral(segs, parsed, r)
	}
}

// fixedBeginning splits segments into their literal directory and the rest, which has at
// least one segment if there is any.
func fixedBeginning(segs []glob.Segment) (dir string, rest []glob.Segment) {
	n := max(0, min(literals(segs), len(segs)-1))
	return pathOf(segs[:n]), segs[n:]
}

// literals returns how many segments at the beginning are literal.
func literals(segs []glob.Segment) int {
	n := slices.IndexFunc(segs, func(s glob.Segment) bool { return s.Kind != glob.Exact })
	if n < 0 {
		return len(segs)
	}
	return n
}

// pathOf joins literal segments to an absolute path.
func pathOf(segs []glob.Segment) string {
	var b strings.Builder
	for _, s := range segs {
		b.WriteByte('/')
		b.WriteString(s.Text)
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

func (b *builder) addPattern(segs []glob.Segment, p rulePattern) {
	switch {
	case b.anchorsOnly:
	case p.list == Allow:
		b.p.allow.add(segs, p)
	default:
		b.p.strict.add(segs, p)
	}
}

// Literal is a file that a deny rule names without wildcards.
type Literal struct {
	// Path is its absolute name.
	Path string
	// Decision is the denial of an operation on the file under any other name,
	// such as another hard link.
	Decision Decision
}

// addLiteral stores the file that a deny rule names, if it has no wildcards.
func (b *builder) addLiteral(segs []glob.Segment, parsed *parsedRule, r RuleText) {
	if own := parsed.spec.pattern.Segments; literals(own) < len(own) {
		return
	}
	segs = slices.DeleteFunc(slices.Clone(segs), func(s glob.Segment) bool { return s.Kind == glob.Deep })
	l := Literal{
		Path:     native(pathOf(segs), b.p.config.Windows),
		Decision: Decision{Verdict: Deny, Reason: ReasonDenyRule, Rule: r.Text, Source: r.Source, Broken: b.p.config.Broken},
	}
	for op := Op(0); op < opCount; op++ {
		if parsed.ops.has(op) {
			b.p.literals[op] = append(b.p.literals[op], l)
		}
	}
}

// addSlashed stores a "/path" rule for MistakenAnchors.
func (b *builder) addSlashed(r RuleText, parsed *parsedRule, dirs []string) {
	if parsed.spec.base != fromSource {
		return
	}
	segs := parsed.spec.pattern.Segments
	if n := literals(segs); n > 0 {
		b.p.slashed = append(b.p.slashed, slashedRule{rule: r, anchors: dirs, path: pathOf(segs[:n])})
	}
}

// MistakenAnchors warns of "/path" rules that name nothing below the directory
// they start from, but something that exists below the file-system root: there
// "//path" was probably meant.
func (p *Policy) MistakenAnchors(exists func(path string) bool) []Warning {
	var ws warnings
	is := func(name string) bool { return exists(native(name, p.config.Windows)) }
next:
	for _, s := range p.slashed {
		for _, dir := range s.anchors {
			if is(joined(dir, s.path)) {
				continue next
			}
		}
		if is(s.path) {
			ws.add(Warning{Kind: MistakenAnchor, Rule: s.rule, windows: p.config.Windows})
		}
	}
	return ws
}

// InForce returns the rules that decide on files or tools: without those that are ignored.
func (p *Policy) InForce() []RuleText { return p.inForce }

// Guarded returns Config.Guarded and Config.Places, which a caller compares with a file that
// has more than one hard link.
func (p *Policy) Guarded() []string { return slices.Concat(p.config.Guarded, p.config.Places()) }

// LiteralDenies returns the files, as callers spell names, that deny rules without wildcards name for an
// operation: a file with more than one link is denied when it is one of them.
// Of a bare name it is the file in each anchor folder.
func (p *Policy) LiteralDenies(op Op) []Literal {
	if op >= opCount {
		return nil
	}
	return p.literals[op]
}
