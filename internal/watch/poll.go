package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// grain is how coarse the clock of a file system may be: what was changed so
// short before a look may be changed again without showing it.
const grain = 2 * time.Second

// Poll finds changes by looking, for callers without a Watcher. It is not for
// use by several goroutines at a time.
type Poll struct {
	files, folders []string
	last           map[string][]mark
	sure           map[string]bool
}

// mark is what tells one state of a file from another.
type mark struct {
	name  string
	info  fs.FileInfo
	ctime int64
}

// NewPoll remembers how files, and folders with what lies directly in them, are now.
func NewPoll(files, folders []string) *Poll {
	p := &Poll{files: files, folders: folders, last: make(map[string][]mark), sure: make(map[string]bool)}
	p.Changed()
	return p
}

// Changed returns the names of what changed since the last look, sorted. What
// changed a moment before that look is named once more.
func (p *Poll) Changed() []string {
	var out []string
	now := time.Now()
	for i, name := range slices.Concat(p.files, p.folders) {
		marks := glance(name, i >= len(p.files))
		if !p.sure[name] || !slices.EqualFunc(marks, p.last[name], mark.same) {
			out = append(out, name)
		}
		p.last[name], p.sure[name] = marks, settled(marks, now)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// glance takes the marks of a file, or of a folder and what lies in it.
func glance(name string, folder bool) []mark {
	own := markOf(name)
	if !folder || own.info == nil {
		return []mark{own}
	}
	marks := []mark{own}
	entries, _ := os.ReadDir(name) // what cannot be listed has no marks
	for _, e := range entries {
		marks = append(marks, markOf(filepath.Join(name, e.Name())))
	}
	return marks
}

func markOf(name string) mark {
	info, err := os.Stat(name)
	if err != nil {
		return mark{name: name}
	}
	return mark{name, info, changeTime(info)}
}

// changed is when what is marked changed last; the zero time where nothing is.
func (m mark) changed() time.Time {
	if m.info == nil {
		return time.Time{}
	}
	if at := time.Unix(0, m.ctime); at.After(m.info.ModTime()) {
		return at
	}
	return m.info.ModTime()
}

func (m mark) same(o mark) bool {
	if m.info == nil || o.info == nil {
		return m.name == o.name && m.info == nil && o.info == nil
	}
	return m.name == o.name && os.SameFile(m.info, o.info) && m.ctime == o.ctime &&
		m.info.Size() == o.info.Size() && m.info.ModTime().Equal(o.info.ModTime())
}

// settled tells whether marks taken now would show every later change.
func settled(marks []mark, now time.Time) bool {
	for _, m := range marks {
		if m.info != nil && (now.Sub(m.info.ModTime()) < grain || now.Sub(time.Unix(0, m.ctime)) < grain) {
			return false
		}
	}
	return true
}
