//go:build !linux && !darwin

package sys

import (
	"os"
	"path/filepath"
	"syscall"
)

// Nothing of macOS is offered elsewhere.

func renameFlags(*os.Root, string, string, uint) error { return syscall.EINVAL }
func fileFlags(int) (uint32, error)                    { return 0, syscall.EOPNOTSUPP }
func setFileFlags(int, uint32) error                   { return syscall.EOPNOTSUPP }
func listAttrs(int, []byte) (int, error)               { return 0, syscall.EOPNOTSUPP }
func getAttr(int, string, []byte) (int, error)         { return 0, syscall.EOPNOTSUPP }
func setAttr(int, string, []byte) error                { return syscall.EOPNOTSUPP }
func cloneFile(int, *os.Root, string) error            { return syscall.EOPNOTSUPP }
func copyACL(int, int) error                           { return syscall.EOPNOTSUPP }
func setLinkTime(*os.Root, string, int64) error        { return syscall.EOPNOTSUPP }
func watchWrites(int) (WriteWatch, error)              { return nil, syscall.EOPNOTSUPP }

// renameBetween and linkBetween go by the folders' names: Windows has calls of its own, which
// go by handle.
func renameBetween(a *os.Root, from string, b *os.Root, to string, flags uint) error {
	if flags != 0 {
		return syscall.EINVAL
	}
	return os.Rename(filepath.Join(a.Name(), from), filepath.Join(b.Name(), to))
}

func linkBetween(a *os.Root, from string, b *os.Root, to string) error {
	return os.Link(filepath.Join(a.Name(), from), filepath.Join(b.Name(), to))
}
