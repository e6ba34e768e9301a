//go:build fsys_portable

package fsys

import "errors"

// portable says that these tests run on what serves other systems: with
// -tags fsys_portable Linux tries it out for them.
const portable = true

type way struct {
	name     string
	resolver func() *Resolver
}

func ways() []way {
	return []way{{"portable", NewResolver}}
}

// ParentFD is asked for by a test of what serves Linux.
func (t *Target) ParentFD() (int, error) {
	return -1, fault("open", t.Path, errors.ErrUnsupported)
}
