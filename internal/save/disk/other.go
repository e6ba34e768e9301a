//go:build !linux || fsys_portable

package disk

import (
	"crypto/sha256"
	"io"
	"os"

	"github.com/fsmcp/fsmcp/internal/save/tempname"
)

// New returns o: the calls of Sys are used on Linux alone.
func New(o Sys) Sys { return o }

// DigestIn reads a file of a folder.
func DigestIn(root *os.Root, name string) (sum tempname.Digest, err error) {
	f, err := root.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}
