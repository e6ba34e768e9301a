package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// target is a file, or a folder with its direct content, as given to Set.
type target struct {
	name   string
	folder bool
}

// pathChain is the path to a target as it was found: every place where a change could make
// its name mean another file.
type pathChain struct {
	steps []step
	final bool   // the last step has the target's own name, or a link's target
	inner string // the folder itself, if the target is an existing folder
	there bool
}

// step is a name in a folder. The folder's own name has no links, so that each folder is
// watched under one name only.
type step struct {
	dir, child string
	link       bool
}

func (s step) path() string { return filepath.Join(s.dir, s.child) }

func (t pathChain) equal(o pathChain) bool {
	return t.inner == o.inner && t.there == o.there && slices.Equal(t.steps, o.steps)
}

// look walks to a target, name by name and through links, as far as it exists.
func look(t target) (chain pathChain) {
	const hops = 40
	root, rest := split(t.name)
	dir := root
	for links := 0; len(rest) > 0; {
		child := rest[0]
		rest = rest[1:]
		if child == ".." {
			dir = filepath.Dir(dir)
			continue
		}
		s := step{dir: dir, child: child}
		info, err := os.Lstat(s.path())
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			s.link = true
		}
		chain.steps, chain.final = append(chain.steps, s), len(rest) == 0
		switch {
		case err != nil:
			return chain
		case s.link:
			links++
			to, err := os.Readlink(s.path())
			if err != nil || links > hops {
				return chain
			}
			if filepath.IsAbs(to) {
				dir, to = root, strings.TrimPrefix(to, root)
			}
			rest = append(parts(to), rest...)
		case len(rest) > 0 && !info.IsDir():
			return chain
		case len(rest) > 0 || t.folder && info.IsDir():
			dir = s.path()
		}
	}
	chain.there = true
	if t.folder && len(chain.steps) > 0 && dir == chain.steps[len(chain.steps)-1].path() {
		chain.inner = dir
	}
	return chain
}

// split splits an absolute name into the root of its volume and the rest.
func split(name string) (root string, rest []string) {
	name = filepath.Clean(name)
	root = filepath.VolumeName(name) + string(filepath.Separator)
	return root, parts(strings.TrimPrefix(name, root))
}

func parts(name string) (out []string) {
	for _, p := range strings.Split(filepath.ToSlash(name), "/") {
		if p != "" && p != "." {
			out = append(out, p)
		}
	}
	return out
}

// dirs returns the folders to watch, each once, the most needed one last. On Linux these
// are all folders of the chain, since a folder gets no event when one above it is renamed.
// On other systems a watched folder costs a descriptor for each file in it, so only the
// last folders and those with links are watched.
func (t pathChain) dirs() (out []string) {
	add := func(dir string) {
		out = append(slices.DeleteFunc(out, func(d string) bool { return d == dir }), dir)
	}
	for i, s := range t.steps {
		if runtime.GOOS == "linux" || s.link || i >= len(t.steps)-2 {
			add(s.dir)
		}
	}
	if t.inner != "" {
		add(t.inner)
	}
	return out
}

// marks returns the names whose events concern the target; true means that the event is
// about the target itself.
func (t pathChain) marks() map[string]bool {
	out := make(map[string]bool)
	for i, s := range t.steps {
		out[s.path()] = i == len(t.steps)-1 && t.final && t.inner == "" && !s.link
	}
	if t.inner != "" {
		out[anything(t.inner)] = true
	}
	return out
}

// anything stands for every name in a folder.
func anything(dir string) string { return filepath.Join(dir, "*") }

// stale holds names that may mean other folders than before, with all below; the empty
// name is everything.
type stale []string

func (s stale) has(dir string) bool {
	for _, name := range s {
		if name == "" || dir == name || strings.HasPrefix(dir, name+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
