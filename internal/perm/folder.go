package perm

import (
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// Folder decides whether the names in one folder may be read. It matches the folder's own
// names with the rules once, so that each decision takes time for one segment only, at any
// depth. It decides as DecideGranted, Own and HidesAll do, and never changes.
type Folder struct {
	p     *Policy
	above *Folder
	name  string   // in above
	given []string // if above is nil: all names of the folder
	// whole: each decision starts from the whole name. So it is for the root, for folders
	// of the system, and for every folder on Windows.
	whole bool
	names []folderName
	own   ahead // fsmcp's own folders, by the last name
}

// folderName is the state of a decision after one of the folder's names.
type folderName struct {
	strict, allow look
	roots         ahead
}

// look is the state of a look-up between two segments.
type look struct {
	next, deeps []int32
	hits        hits
	left        int
}

// ahead tells how some directories relate to a folder: within means that the folder is in one
// of them, and rest holds the names, from the folder on, of those that are below it.
type ahead struct {
	within bool
	rest   []string
}

func aheadOf(name string, dirs []string) (a ahead) {
	for _, dir := range dirs {
		if _, ok := below(name, dir); ok {
			return ahead{within: true}
		}
		if rest, ok := below(dir, name); ok {
			a.rest = append(a.rest, rest[1:])
		}
	}
	return a
}

func (a ahead) enter(segment string) (b ahead) {
	if a.within {
		return a
	}
	for _, dir := range a.rest {
		if rest, ok := below(dir, segment); ok && rest == "" {
			return ahead{within: true}
		} else if ok {
			b.rest = append(b.rest, rest[1:])
		}
	}
	return b
}

// Folder begins decisions on what a folder holds, by all its names.
func (p *Policy) Folder(names []string) *Folder {
	f := &Folder{p: p, given: names, whole: p.config.Windows}
	var roots []string
	for _, r := range p.roots {
		roots = append(roots, r.same)
	}
	for _, given := range names {
		n, ok := p.name(given, Read)
		if !ok || n.exact == "/" || isSystem(&n) {
			f.whole = true
		}
		if f.whole {
			return f
		}
		f.names = append(f.names, folderName{p.strict.lookAt(n.exact, n.folded), p.allow.lookAt(n.exact, n.same), aheadOf(n.same, roots)})
		f.own = aheadOf(glob.FoldStrict(n.exact), p.state)
	}
	f.whole = len(names) == 0
	return f
}

// Below begins decisions on what the folder name in f holds.
func (f *Folder) Below(name string) *Folder {
	if f.whole || !plain(name) {
		return f.p.Folder(f.full(name, true))
	}
	g := &Folder{p: f.p, above: f, name: name, names: make([]folderName, len(f.names))}
	folded, same := f.spellings(name)
	q := f.p.newQuestion(Read)
	defer f.p.pool.Put(q)
	for i := range f.names {
		n := &f.names[i]
		g.names[i] = folderName{n.strict.enter(f.p.strict, &q.walk, name, folded), n.allow.enter(f.p.allow, &q.walk, name, same), n.roots.enter(same)}
	}
	g.own = f.own.enter(glob.FoldStrict(name))
	return g
}

// Allows reports whether a Read of a name in the folder takes no question.
func (f *Folder) Allows(name string, dir bool, grants Grants) bool {
	if f.whole || !plain(name) {
		return f.p.DecideGranted(Read, f.full(name, dir), nil, grants).Verdict == Allow
	}
	q := f.p.newQuestion(Read)
	defer f.p.pool.Put(q)
	folded, same := f.spellings(name)
	asks := len(f.p.config.Broken) > 0
	for i := range f.names {
		h, spent := f.names[i].strict.hitsOf(f.p.strict, &q.walk, name, folded, dir)
		if spent || h[Deny] != none {
			return false
		}
		asks = asks || h[Ask] != none
	}
	if !asks && (f.p.config.Mode == Bypass || f.inside(same) || f.allowed(&q.walk, name, same, dir)) {
		return true
	}
	if grants == nil {
		return false
	}
	full := f.full(name, dir)
	return grants.Granted(Read, full[len(full)-1])
}

func (f *Folder) inside(same string) bool {
	for i := range f.names {
		if r := &f.names[i].roots; !r.within && !r.enter(same).within {
			return false
		}
	}
	return true
}

func (f *Folder) allowed(w *walk, name, same string, dir bool) bool {
	for i := range f.names {
		if h, _ := f.names[i].allow.hitsOf(f.p.allow, w, name, same, dir); h[Allow] == none {
			return false
		}
	}
	return true
}

// Own reports whether a name in the folder lies in one of fsmcp's own folders, by the last
// name of the folder.
func (f *Folder) Own(name string) bool {
	if f.whole || !plain(name) {
		full := f.full(name, false)
		return f.p.Own(full[len(full)-1])
	}
	return f.own.within || len(f.own.rest) > 0 && f.own.enter(glob.FoldStrict(name)).within
}

// HidesAll reports whether a deny or ask rule covers every name that the folder can hold, by
// any of its names.
func (f *Folder) HidesAll() bool {
	if f.whole {
		for _, n := range f.given {
			if f.p.HidesAll(Read, n) {
				return true
			}
		}
		return false
	}
	q := f.p.newQuestion(Read)
	defer f.p.pool.Put(q)
	for i := range f.names {
		// Only what matches every name matches the empty one.
		if h, spent := f.names[i].strict.hitsOf(f.p.strict, &q.walk, "", "", false); spent || h[Deny] != none || h[Ask] != none {
			return true
		}
	}
	return false
}

// plain reports whether a name is one segment that can be a name.
func plain(name string) bool {
	return name != "" && name != "." && name != ".." && strings.IndexByte(name, '/') < 0 && strings.IndexByte(name, 0) < 0
}

// spellings returns a segment as deny and ask rules, and as allow rules compare it.
func (f *Folder) spellings(name string) (folded, same string) {
	folded, same = name, name
	if !f.p.strict.empty() {
		folded = glob.FoldStrict(name)
	}
	if f.p.same != nil {
		same = f.p.same(name)
	}
	return folded, same
}

// full returns all names of what the folder holds under a name.
func (f *Folder) full(name string, dir bool) []string {
	segments := []string{name}
	for ; f.above != nil; f = f.above {
		segments = append(segments, f.name)
	}
	slices.Reverse(segments)
	slash := "/"
	if f.p.config.Windows {
		slash = `\`
	}
	rest := slash + strings.Join(segments, slash)
	if dir {
		rest += slash
	}
	all := make([]string, len(f.given))
	for i, n := range f.given {
		all[i] = strings.TrimSuffix(n, slash) + rest
	}
	return all
}

// lookAt looks a folder's name up.
func (x *index) lookAt(exact, folded string) look {
	var w walk
	h := x.find(&w, exact, folded, true, Read, nil)
	return look{w.next, w.deeps, h, w.left}
}

// enter goes on to a folder below.
func (l *look) enter(x *index, w *walk, exact, folded string) look {
	h, _ := l.hitsOf(x, w, exact, folded, true)
	m := look{hits: h, left: w.left}
	m.next = append(m.next, w.next...)
	m.deeps = append(m.deeps, w.deeps...)
	return m
}

// hitsOf looks up a name in the folder. spent says that the look-up was given up.
func (l *look) hitsOf(x *index, w *walk, exact, folded string, dir bool) (h hits, spent bool) {
	w.reset(x)
	w.hits, w.left = l.hits, l.left
	w.next, w.deeps = append(w.next, l.next...), append(w.deeps, l.deeps...)
	if w.spent() || len(w.next)+len(w.deeps) == 0 {
		return w.hits, w.spent()
	}
	for _, id := range w.deeps {
		w.seen[id] = true
	}
	w.step(exact, folded, dir, false)
	return w.hits, w.spent()
}
