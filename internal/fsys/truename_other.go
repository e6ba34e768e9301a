//go:build (!linux || fsys_portable) && !darwin && !windows

package fsys

func systemNamer(name string) (Stamp, string, error) { return asSpelt(name) }
