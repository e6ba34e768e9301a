//go:build fsys_portable

package fsys

// portable says that these tests run on what serves other systems: with
// -tags fsys_portable Linux tries it out for them.
const portable = true

type way struct {
	name     string
	resolver func(roots ...string) *Resolver
}

func ways() []way {
	return []way{{"portable", func(roots ...string) *Resolver { return NewResolver(roots) }}}
}
