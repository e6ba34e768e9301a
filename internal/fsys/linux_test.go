package fsys

import (
	"golang.org/x/sys/unix"
)

// A way is one of the systems that the resolver must do without something on.
type way struct {
	name     string
	resolver func(roots ...string) *Resolver
}

func ways() []way {
	poorer := func(spoil func(*calls)) func(...string) *Resolver {
		return func(roots ...string) *Resolver {
			r := NewResolver(roots)
			spoil(&r.sys)
			return r
		}
	}
	without := func(errno unix.Errno) func(*calls) {
		return func(c *calls) {
			c.openat2 = func(string, uint64) (int, error) { return -1, errno }
		}
	}
	return []way{
		{"openat2", poorer(func(*calls) {})},
		{"ENOSYS", poorer(without(unix.ENOSYS))},
		{"EPERM", poorer(without(unix.EPERM))},
		{"no proc", poorer(func(c *calls) { c.procFD = "/nonexistent/" })},
	}
}
