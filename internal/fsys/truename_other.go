//go:build (!linux || fsys_portable) && !darwin && !windows

package fsys

func systemNamer(name string) (Stamp, string, error) { return asSpelt(name) }

// systemName is systemNamer without the stamp.
func systemName(name string) (string, error) {
	_, known, err := systemNamer(name)
	return known, err
}
