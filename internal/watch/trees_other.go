//go:build !windows

package watch

// newForest returns the system's notifier, which watches folder by folder.
func newForest() (notifier, error) { return newSystem() }
