package access

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// Walk decides on names below a folder that was opened for reading. It is safe for
// concurrent use.
type Walk struct {
	checker *Checker
	grants  perm.Grants
	names   []string // of the folder, each with a separator at its end
	path    string   // the resolved one of them
	top     *WalkFolder

	mu     sync.Mutex
	policy *perm.Policy
	at     time.Time
	denied map[fileID][]string // resolved names
}

type fileID struct{ dev, ino uint64 }

// linksFor is the time after which the files that deny rules name are looked up again.
const linksFor = 20 * time.Millisecond

// Walk begins decisions below a folder, with the user's grants; nil grants nothing. It
// holds no descriptor.
func (c *Checker) Walk(f *AllowedFile, grants perm.Grants) *Walk {
	w := &Walk{checker: c, grants: grants}
	ended := func(n string) string { return strings.TrimSuffix(n, fsys.Separator) + fsys.Separator }
	for _, n := range f.Names {
		w.names = append(w.names, ended(n))
	}
	w.path = f.Path
	w.top = &WalkFolder{walk: w}
	return w
}

// Allowed reports whether a Read of rel, slash-separated and below the folder, takes no
// question, as WalkFolder.Allowed does for one name after the other.
func (w *Walk) Allowed(rel string, dir bool) bool {
	f := w.top
	for {
		name, rest, more := strings.Cut(rel, "/")
		if !more {
			return f.Allowed(name, dir)
		}
		f, rel = f.Below(name), rest
	}
}

// Top is the folder of the walk.
func (w *Walk) Top() *WalkFolder { return w.top }

// WalkFolder decides on the names in one folder of a walk, by every name that the walk's folder
// gives them and by the rules as they are now. What the rules say of the folder's own name is
// kept until they change, so that a decision takes the same time at any depth. It is safe for
// concurrent use.
type WalkFolder struct {
	walk  *Walk
	above *WalkFolder // nil: the folder of the walk
	name  string      // in above
	known atomic.Pointer[decisions]
}

// decisions are those of one policy.
type decisions struct {
	policy  *perm.Policy
	folder  *perm.Folder
	allowed bool
}

// Below is a folder in f. It looks at nothing on the disk.
func (f *WalkFolder) Below(name string) *WalkFolder {
	return &WalkFolder{walk: f.walk, above: f, name: name}
}

// Allowed reports whether a Read of a name in the folder takes no question. A folder is not
// allowed either if the rules hide all its content. It does not look at the disk.
func (f *WalkFolder) Allowed(name string, dir bool) bool {
	if dir {
		return f.Below(name).Searched()
	}
	return f.by(f.walk.checker.Policy()).folder.Allows(name, false, f.walk.grants)
}

// Searched reports whether the folder itself is allowed. The folder of the walk is, unless the
// rules hide all its content.
func (f *WalkFolder) Searched() bool { return f.by(f.walk.checker.Policy()).allowed }

// by returns what a policy decides on the folder.
func (f *WalkFolder) by(policy *perm.Policy) *decisions {
	if d := f.known.Load(); d != nil && d.policy == policy {
		return d
	}
	d := &decisions{policy: policy}
	if f.above == nil {
		d.folder = policy.Folder(f.walk.names)
		d.allowed = !d.folder.HidesAll()
	} else {
		above := f.above.by(policy).folder
		d.folder = above.Below(f.name)
		d.allowed = above.Allows(f.name, true, f.walk.grants) && !above.Own(f.name) && !d.folder.HidesAll()
	}
	f.known.Store(d)
	return d
}

// AllowedFile reports whether no deny rule names a file by another hard link. stamp is that of
// the open file; began is when the look at it began; rel returns its name below the folder.
func (w *Walk) AllowedFile(stamp fsys.Stamp, began time.Time, rel func() string) bool {
	policy := w.checker.Policy()
	if len(policy.LiteralDenies(perm.Read)) == 0 || stamp.Nlink == 1 && stamp.Settled(began) {
		return true
	}
	for _, other := range w.deniedFiles(policy)[fileID{stamp.Dev, stamp.Ino}] {
		if other != w.Path(rel()) {
			return false
		}
	}
	return true
}

// Path is the absolute, resolved name of rel, slash-separated and below the folder; "" is the
// folder itself.
func (w *Walk) Path(rel string) string {
	if rel == "" {
		return w.path
	}
	return fsys.Join(w.path, rel)
}

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
