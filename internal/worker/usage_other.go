//go:build !linux

package worker

// usage is not available on this system: the worker's own limits apply.
func usage(int) (resident int64, stopped, ok bool) { return 0, false, false }
