//go:build !unix

package pdf

// lockFolder does nothing where there is no such lock: all compile at once.
func lockFolder(string) (unlock func()) { return func() {} }
