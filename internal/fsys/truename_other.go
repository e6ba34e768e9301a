//go:build (!linux || fsys_portable) && !darwin && !windows

package fsys

func systemNamer(name string) (Stamp, string, error) { return asSpelt(name) }

// systemName is systemNamer without the stamp.
func systemName(name string) (string, error) {
	_, known, err := systemNamer(name)
	return known, err
}

// finalNameOf: this system does not say where a name leads to.
func finalNameOf(string) (string, error) { return "", nil }
