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
}

// step is a name in a folder. The folder's own name has no links, so that each folder is
// watched under one name only.
type step struct {
	dir, child string
	link       bool
}

func (s step) path() string { return filepath.Join(s.dir, s.child) }

func (t pathChain) equal(o pathChain) bool {
	return t.inner == o.inner && slices.Equal(t.steps, o.steps)
}

func lookAll(targets []target) (chains []pathChain) {
	for _, t := range targets {
		chains = append(chains, look(t))
	}
	return chains
}

// look walks to a target, name by name and through links, as far as it exists.
func look(t target) (chain pathChain) {
	const hops = 40
	name := filepath.Clean(t.name)
	root := filepath.VolumeName(name) + string(filepath.Separator)
	dir, rest := root, parts(strings.TrimPrefix(name, root))
	for links := 0; len(rest) > 0; {
		child := rest[0]
		rest = rest[1:]
		if child == ".." {
			dir = filepath.Dir(dir)
			continue
		}
		s := step{dir: dir, child: child}
		info, err := os.Lstat(s.path())
		s.link = err == nil && info.Mode()&fs.ModeSymlink != 0
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
		case !info.IsDir():
			return chain
		case len(rest) > 0:
			dir = s.path()
		case t.folder:
			chain.inner = s.path()
		}
	}
	return chain
}

func parts(name string) (out []string) {
	for _, p := range strings.Split(filepath.ToSlash(name), "/") {
		if p != "" && p != "." {
			out = append(out, p)
		}
	}
	return out
}

// dirs returns the folders to watch, a folder before those in it. On Linux these are all
// folders of the chain, since a folder gets no event when one above it is renamed. On other
// systems a watched folder costs a descriptor for each file in it, so only the last folders
// and those with links are watched.
func (t pathChain) dirs() (out []string) {
	for i, s := range t.steps {
		if runtime.GOOS == "linux" || s.link || i >= len(t.steps)-2 {
			out = append(out, s.dir)
		}
	}
	if t.inner != "" {
		out = append(out, t.inner)
	}
	return out
}

// last returns the folder that is needed most.
func (t pathChain) last() string {
	if t.inner != "" || len(t.steps) == 0 {
		return t.inner
	}
	return t.steps[len(t.steps)-1].dir
}

// names returns the names whose events concern the target; true means that the event is
// about the target itself.
func (t pathChain) names() map[string]bool {
	out := make(map[string]bool)
	for i, s := range t.steps {
		out[s.path()] = t.final && i == len(t.steps)-1
	}
	if t.inner != "" {
		out[anyName(t.inner)] = true
	}
	return out
}

// anyName stands for every name in a folder.
func anyName(dir string) string { return filepath.Join(dir, "*") }
