//go:build !linux || fsys_portable

package fsys

// Folders resolves names as Resolver.ResolveEntry does. It holds nothing open here.
type Folders struct{ resolver *Resolver }

// Folders begins a step of a call with many names. Close it.
func (r *Resolver) Folders() *Folders { return &Folders{r} }

// Close has nothing to do.
func (f *Folders) Close() {}

// ResolveEntry is Resolver.ResolveEntry.
func (f *Folders) ResolveEntry(p Path) (*Target, error) { return f.resolver.ResolveEntry(p) }

// SameFolder reports false: each name has to be resolved again.
func (f *Folders) SameFolder(*Target) bool { return false }

// SameFile reports false.
func (f *Folders) SameFile(*Target) bool { return false }
