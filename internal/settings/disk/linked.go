package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds the links on the way to one file.
const maxLinks = 40

// Bounds of the search for links in one folder, and in all.
const (
	linkedDepth = 2
	linkedIn    = 256
	linkedInAll = 4096
)

// Linked returns the given files and folders, the names that links on the way to them lead
// to, and what links in the folders lead to: at most two levels deep, and in the first 256
// entries of a folder. It leaves out where a link leads to a folder above one of the names.
// It is for clean names, and places with few links.
func Linked(names []string) []string {
	l := linker{given: names, link: make(map[string]string), known: make(map[string]bool), left: linkedInAll}
	for _, name := range names {
		l.add(name, linkedDepth)
	}
	return l.names
}

// linker remembers what it looked at: the names share most of their folders.
type linker struct {
	given []string
	link  map[string]string // where a folder leads by a link on the way; "" for itself, or missing
	known map[string]bool
	names []string
	left  int // entries that may be looked at
}

// add adds a name, each name that it leads to, and the links below it.
func (l *linker) add(name string, depth int) {
	for range maxLinks {
		if l.known[name] || l.above(name) {
			return
		}
		l.known[name] = true
		l.names = append(l.names, name)
		next, there := l.follow(name)
		if !there {
			return
		}
		if next == "" {
			l.addBelow(name, depth)
			return
		}
		name = next
	}
}

// above reports whether a name is none of the given ones, and one of them is below it: a
// link to the home directory, for example, says nothing about its files.
func (l *linker) above(name string) bool {
	below := strings.TrimSuffix(name, string(filepath.Separator)) + string(filepath.Separator)
	return !slices.Contains(l.given, name) && slices.ContainsFunc(l.given, func(given string) bool { return strings.HasPrefix(given, below) })
}

// follow returns the name that the first link on the way gives, "" if there is no link, and
// whether there is something of the name.
func (l *linker) follow(name string) (next string, there bool) {
	if dir, base := filepath.Split(name); base != "" {
		dir = filepath.Clean(dir)
		target, seen := l.link[dir]
		if !seen {
			var ok bool
			if target, ok = l.follow(dir); !ok {
				target = missing
			}
			l.link[dir] = target
		}
		switch target {
		case "":
		case missing:
			return "", false
		default:
			return filepath.Join(target, base), true
		}
	}
	next = leads(name)
	return strings.TrimPrefix(next, missing), next != missing
}

// missing marks a name that does not exist.
const missing = "-"

// leads returns the target of a link, "" for anything else, missing for no file.
func leads(name string) string {
	info, err := os.Lstat(name)
	if err != nil {
		return missing
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return ""
	}
	target, err := os.Readlink(name)
	if err != nil {
		return missing
	}
	if !filepath.IsAbs(target) {
		target = filepath.Dir(name) + string(filepath.Separator) + target
	}
	// ".." names the folder above the one that a link in front of it leads to.
	if i := strings.LastIndex(target, ".."); i > 0 {
		if above, err := filepath.EvalSymlinks(target[:i+2]); err == nil {
			target = above + target[i+2:]
		}
	}
	return filepath.Clean(target)
}

// addBelow adds what the links in a folder lead to.
func (l *linker) addBelow(dir string, depth int) {
	if depth == 0 || l.left <= 0 {
		return
	}
	f, err := os.Open(dir + string(filepath.Separator)) // fails at once for anything but a folder
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(linkedIn)
	f.Close()
	l.left -= len(entries)
	for _, e := range entries {
		name := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator) + e.Name()
		if e.Type()&fs.ModeSymlink != 0 {
			l.add(name, depth-1)
		} else if e.IsDir() {
			l.addBelow(name, depth-1)
		}
	}
}
