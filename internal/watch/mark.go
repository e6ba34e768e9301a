package watch

import (
	"io/fs"
	"os"
	"time"
)

// mark tells one state of a file from another.
type mark struct {
	name  string
	info  fs.FileInfo
	ctime int64
}

func markOf(name string) mark {
	info, err := os.Stat(name)
	if err != nil {
		return mark{name: name}
	}
	return mark{name, info, changeTime(info)}
}

// changed returns the time of the last change; the zero time if nothing is marked.
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
