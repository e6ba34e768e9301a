package perm

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm/places"
)

// protected returns which segments of the name have a write under it asked for, and nil if
// none has.
func (p *Policy) protected(n *name, exists func(string) bool) (marked []bool) {
	mark := func(segment int) {
		if marked == nil {
			marked = make([]bool, strings.Count(n.exact, "/"))
		}
		marked[segment] = true
	}
	exact, folded, repository := n.exact, n.folded, []int(nil)
	for i := 0; folded != ""; i++ {
		for segments := places.Start(folded[1:]); segments > 0; segments-- {
			mark(i + segments - 1)
		}
		folder := n.exact[:len(n.exact)-len(exact)]
		var e, f string
		e, exact = nextSegment(exact[1:])
		f, folded = nextSegment(folded[1:])
		if places.Segment(f, e, exact, folded == "") {
			mark(i)
		}
		if !inRepository(f) {
			continue
		}
		if inside, top := depth(p.roots, n, i); inside && (top && f == "head" || p.nearRepository(folder, f, exists)) {
			repository = append(repository, i)
		}
	}
	// A rule that spells the protected directory reaches the settings in it.
	if marked == nil {
		p.markGuarded(n, mark)
	}
	for _, i := range repository {
		mark(i)
	}
	return marked
}

// markGuarded marks the last segment of the configured file (see Config.Guarded) that the
// name is, or would make a directory of.
func (p *Policy) markGuarded(n *name, mark func(segment int)) {
	for _, file := range p.guarded() {
		if _, ok := below(n.folded, file); ok {
			mark(strings.Count(file, "/") - 1)
			return
		}
	}
}

// RepositoryParts reports whether one of the names is, or lies below, a part that
// makes a folder a repository: a decision on it depends on the other parts.
func (p *Policy) RepositoryParts(names []string) bool {
	for _, given := range names {
		n, ok := p.name(given, Write)
		for rest := n.folded; ok && rest != ""; {
			var segment string
			switch segment, rest = nextSegment(rest[1:]); segment {
			case "head", "objects", "refs", "commondir":
				return true
			}
		}
	}
	return false
}

// inRepository reports whether git needs or obeys a file or folder of this folded
// name in a bare repository. commondir names another folder that has the objects
// and refs, and config.worktree is read beside config.
func inRepository(folded string) bool {
	switch folded {
	case "head", "objects", "refs", "commondir", "config", "config.worktree", "hooks":
		return true
	}
	return false
}

// depth reports whether segment i of the name comes after the names of all workspace
// directories that it lies in, and whether it comes right after one. The segments of a
// workspace directory's own name are not protected: the user chose it.
func depth(roots []root, n *name, i int) (inside, top bool) {
	for k := range roots {
		r := &roots[k]
		if _, ok := below(n.folded, r.folded); !ok {
			continue
		}
		switch own := strings.Count(r.folded, "/"); {
		case i < own:
			return false, false
		case i == own:
			top = true
		}
	}
	return true, top
}

// nearRepository reports whether a folder is nearly a bare repository, in which git runs what
// the config and hooks say: whether it has two of its three parts, with made, the folded name
// of the one that is written.
//
// git takes a folder for a repository that has HEAD, objects and refs (gitrepository-layout).
// A write that makes the second of them is asked for, so no order of writes makes all three
// unasked.
func (p *Policy) nearRepository(folder, made string, exists func(string) bool) bool {
	has := func(part string) bool { return exists == nil || exists(native(folder+"/"+part, p.config.Windows)) }
	if made == "commondir" || made == "head" && has("commondir") {
		return true // the objects and refs are where commondir leads
	}
	parts := [...]string{"HEAD", "objects", "refs"}
	count := 0
	for i, part := range parts {
		if made == strings.ToLower(part) || has(part) {
			count++
		}
		if left := len(parts) - 1 - i; count == 2 || count+left < 2 {
			break
		}
	}
	return count == 2
}

// native gives a path the form in which callers know it.
func native(path string, windows bool) string {
	if !windows || len(path) < 3 || path[2] != ':' {
		return path
	}
	if path = path[1:]; len(path) == len("C:") {
		path += "/"
	}
	return strings.ReplaceAll(path, "/", `\`)
}

// exceptionAllows reports whether one of the user's own allow rules spells out every marked
// segment of the name, and so reaches it.
func (q *question) exceptionAllows(n *name, marked []bool) bool {
	return q.p.exceptions.find(&q.walk, n.exact, n.same, n.dir, q.op, marked)[Allow] != none
}

// Own reports whether an absolute name lies in one of fsmcp's own folders, Config.Own. It
// returns true for what cannot be a name.
func (p *Policy) Own(name string) bool {
	if len(p.state) == 0 {
		return false
	}
	n, ok := p.name(name, Write) // folded, whatever rules there are
	return !ok || p.ownState(&n)
}

// Keeps reports whether one of a file's names is, or lies above, a workspace directory, a
// folder of fsmcp's own or a settings file: no tool moves or removes these.
func (p *Policy) Keeps(names []string) bool {
	for _, name := range names {
		n, ok := p.name(name, Write)
		if !ok {
			return true
		}
		for _, kept := range p.kept() {
			if _, holds := below(kept, n.folded); holds {
				return true
			}
		}
	}
	return false
}
