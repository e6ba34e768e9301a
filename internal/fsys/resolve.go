package fsys

import (
	"io/fs"
	"slices"
)

// Resolve finds out what a path leads to, and every name it has on the way.
// It reads links as text and never has the system follow them. A link to nothing gives a
// Missing target. The error is ErrLoop, ErrNotDir or the system's, as *fs.PathError; with
// an error it returns a target that has the names found so far.
func (r *Resolver) Resolve(p Path) (*Target, error) {
	t := &Target{Asked: p, Path: p.name, pin: newPin(r)}
	t.Names = append(t.namesRoom[:0], p.name)
	if p.name == "" {
		return t, fault("resolve", p.given, fs.ErrInvalid)
	}
	return t, t.follow(route{windows: onWindows, name: p.name, clean: true}, r)
}

// ResolveEntry resolves as Resolve does, but a link at the last step is the object itself: its
// Kind is Link, and what it leads to is not looked at. Links before that are followed.
func (r *Resolver) ResolveEntry(p Path) (*Target, error) {
	t := &Target{Asked: p, Path: p.name, pin: newPin(r), entry: true}
	t.Names = append(t.namesRoom[:0], p.name)
	if p.name == "" {
		return t, fault("resolve", p.given, fs.ErrInvalid)
	}
	return t, t.follow(route{windows: onWindows, name: p.name, clean: true}, r)
}

// Names returns the names that an absolute, clean name has now: itself, one after each link
// on the way, and the resolved one. If it cannot be resolved it is the only one.
func (r *Resolver) Names(name string) []string {
	t, err := r.Resolve(Path{given: name, name: name, windows: onWindows})
	names := []string{name}
	if err == nil {
		names = slices.Clone(t.Names)
	}
	t.Close() // a target that could not be resolved, too
	return names
}

type spotEnd int

// The ends of a look at a name.
const (
	atObject  spotEnd = iota
	atNothing         // rest does not exist in the folder done
	atLink            // a link lies in the folder done
	atParent          // rest was preceded by ".." behind the folder done
)

// lookup is the state of one look at a name.
type lookup struct {
	end  spotEnd
	spot spot   // atObject: what is there; atNothing: the deepest folder; atLink: the link
	done string // how far the name exists and is free of links
	rest string // what follows; begins with the missing name, or comes after the link or ".."
	text string // atLink: where the link leads
}

// missing ends a look at a name that does not exist in the folder here.
func (here lookup) missing(segment, rest string) lookup {
	if rest != "" {
		segment += string(separator(onWindows)) + rest
	}
	return lookup{end: atNothing, spot: here.spot, done: here.done, rest: segment}
}

// follow looks at the route's name, and at the new name that each link makes of it,
// until it comes to an object or to nothing. It notes every name on the way.
func (t *Target) follow(rt route, r *Resolver) error {
	for {
		s, err := r.lookUp(rt.name, rt.clean)
		if err != nil {
			return err
		}
		switch s.end {
		case atObject:
			return t.pinObject(s, rt.folder)
		case atNothing:
			return t.pinMissing(s)
		case atLink:
			if t.entry && s.rest == "" {
				return t.pinLink(s)
			}
			s.close()
			err = rt.hop(s.done, s.text, s.rest)
		case atParent:
			err = rt.climb(s.done, s.rest)
		}
		if err != nil {
			return fault("resolve", t.Asked.name, err)
		}
		if rt.clean {
			t.note(rt.name)
			t.Path = rt.name
		}
	}
}

// pinObject takes over the object that a look came to.
func (t *Target) pinObject(s lookup, wantFolder bool) error {
	t.Path = s.done
	t.note(s.done)
	stamp, kind, err := t.pinFound(s)
	if err != nil {
		return fault("stat", s.done, err)
	}
	t.Stamp, t.Kind = stamp, kind
	if wantFolder && t.Kind != Directory {
		return fault("resolve", s.done, ErrNotDir)
	}
	return nil
}

// pinLink takes over a link that a look came to at the last step.
func (t *Target) pinLink(s lookup) error {
	stamp, folder, err := t.pinEntry(s)
	t.Path = joinName(folder, baseOf(t.Asked.name, onWindows), onWindows)
	t.note(t.Path)
	if err != nil {
		return fault("stat", t.Path, err)
	}
	t.Stamp, t.Kind = stamp, Link
	return nil
}
