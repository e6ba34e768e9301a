package fsys

import "strings"

const (
	// maxHops bounds the links on the way to one file, as in Linux.
	maxHops = 40
	// maxClimbs bounds the number of ".." after a name in links' texts. Each costs a walk;
	// no ordinary link comes near it.
	maxClimbs = 100
)

// route is the name that is still to be resolved. It is pure text: each link's
// text is worked into it, and the walk begins again with the new whole name.
//
// ".." in a link's text means the parent of what comes before it once links are
// followed there, so it is taken back as text only behind segments that are
// proven to be no links; others stay in the name until the walk reaches them.
type route struct {
	windows bool
	name    string
	clean   bool // name holds no ".."
	folder  bool // a link's text ended with a separator: only a folder will do
	hops    int
	climbs  int
}

// hop replaces the link that is in the folder done, which is free of links, by its text;
// rest is the name after it.
func (rt *route) hop(done, text, rest string) error {
	if rt.hops++; rt.hops > maxHops {
		return ErrLoop
	}
	if rt.windows {
		text = strings.ReplaceAll(text, "/", `\`)
	}
	sep := string(separator(rt.windows))
	if rest == "" && (strings.HasSuffix(text, sep) || strings.HasSuffix(text, sep+".")) {
		rt.folder = true
	}
	switch {
	case rt.windows && hasDrive(text):
		done, text = rootOf(text, true), text[min(len(text), len(`C:\`)):]
	case strings.HasPrefix(text, sep):
		done = rootOf(done, rt.windows)
	}
	rt.restart(done, text+sep+rest)
	return nil
}

// climb goes on with rest from the parent of the folder done.
func (rt *route) climb(done, rest string) error {
	if rt.climbs++; rt.climbs > maxClimbs {
		return ErrLoop
	}
	rt.restart(dirOf(done, rt.windows), rest)
	return nil
}

// restart makes a whole name of a folder without links and the rest of the name.
func (rt *route) restart(done, rest string) {
	sep := separator(rt.windows)
	var b strings.Builder
	proven := true
	rt.clean = true
	for segment := range strings.SplitSeq(rest, string(sep)) {
		switch {
		case segment == "" || segment == ".":
			continue
		case segment == ".." && proven:
			done = dirOf(done, rt.windows)
			continue
		case segment == "..":
			rt.clean = false
		}
		proven = false
		if b.Len() > 0 {
			b.WriteByte(sep)
		}
		b.WriteString(segment)
	}
	rt.name = done
	if b.Len() > 0 {
		rt.name = joinName(done, b.String(), rt.windows)
	}
}
