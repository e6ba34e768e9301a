package access

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// Walk decides on names below a folder that was opened for reading. It is safe for
// concurrent use.
type Walk struct {
	checker *Checker
	grants  perm.Grants
	names   []string // of the folder, each with a slash at its end
	path    string   // the resolved one of them

	mu     sync.Mutex
	policy *perm.Policy
	at     time.Time
	denied map[fileID][]string // resolved names
}

const separator = string(filepath.Separator)

type fileID struct{ dev, ino uint64 }

// linksFor is the time after which the files that deny rules name are looked up again.
const linksFor = 20 * time.Millisecond

// Walk begins decisions below a folder, with the user's grants; nil grants nothing. It
// holds no descriptor.
func (c *Checker) Walk(f *File, grants perm.Grants) *Walk {
	w := &Walk{checker: c, grants: grants}
	slash := func(n string) string { return strings.TrimSuffix(n, separator) + separator }
	for _, n := range f.Names {
		w.names = append(w.names, slash(n))
	}
	w.path = slash(f.Path)
	return w
}

// Allowed reports whether a Read of rel, slash-separated and below the folder, takes no
// question, by every name that the folder gives it and by the rules as they are now. A
// folder is not allowed where the rules hide all that it can hold, either. It looks at
// nothing on the disk.
func (w *Walk) Allowed(rel string, dir bool) bool {
	rel = filepath.FromSlash(rel)
	if dir {
		rel += separator
	}
	var room [3]string
	names := room[:0]
	for _, n := range w.names {
		names = append(names, n+rel)
	}
	policy := w.checker.Policy()
	if policy.DecideGranted(perm.Read, names, nil, w.grants).Verdict != perm.Allow {
		return false
	}
	if !dir {
		return true
	}
	return !policy.Own(names[len(names)-1]) && !slices.ContainsFunc(names, func(n string) bool { return policy.HidesAll(perm.Read, n) })
}

// HidesAll reports whether the rules hide all that the folder itself can hold.
func (w *Walk) HidesAll() bool {
	policy := w.checker.Policy()
	return slices.ContainsFunc(w.names, func(n string) bool { return policy.HidesAll(perm.Read, n) })
}

// AllowedFile reports whether no deny rule names the file rel by another hard link. stamp
// is that of the open file; began is when the look at it began.
func (w *Walk) AllowedFile(rel string, stamp fsys.Stamp, began time.Time) bool {
	policy := w.checker.Policy()
	if len(policy.LiteralDenies(perm.Read)) == 0 || stamp.Nlink == 1 && stamp.Settled(began) {
		return true
	}
	for _, other := range w.deniedFiles(policy)[fileID{stamp.Dev, stamp.Ino}] {
		if other != w.Path(rel) {
			return false
		}
	}
	return true
}

// Path is the absolute, resolved name of rel, slash-separated and below the folder.
func (w *Walk) Path(rel string) string { return w.path + filepath.FromSlash(rel) }

// deniedFiles are the files that deny rules name without wildcards.
func (w *Walk) deniedFiles(policy *perm.Policy) map[fileID][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.policy == policy && time.Since(w.at) < linksFor {
		return w.denied
	}
	w.policy, w.at, w.denied = policy, time.Now(), make(map[fileID][]string)
	for _, l := range policy.LiteralDenies(perm.Read) {
		t, err := w.checker.find(l.Path)
		if t == nil {
			continue
		}
		if err == nil && t.Kind == fsys.Regular {
			id := fileID{t.Stamp.Dev, t.Stamp.Ino}
			w.denied[id] = append(w.denied[id], t.Path)
		}
		t.Close()
	}
	return w.denied
}
