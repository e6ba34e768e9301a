package fsys

import (
	"runtime"
	"slices"
)

// RootNames gives for each workspace directory, in order, the names it has now:
// as it was named, after each link on the way, resolved. One that cannot be
// resolved has the name it was given alone.
func (r *Resolver) RootNames() [][]string {
	all := make([][]string, len(r.roots))
	for i, root := range r.roots {
		all[i] = []string{root}
		t, err := r.Resolve(Path{given: root, name: root, windows: runtime.GOOS == "windows"})
		if err == nil {
			all[i] = slices.Clone(t.Names)
		}
		t.Close()
	}
	return all
}
