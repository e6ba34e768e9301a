// Package rescue keeps files of unknown bytes: bytes that another program wrote while a file
// was replaced, or that a process left when it died. It never deletes what it could not
// hand over. Which bytes are unknown is decided by its callers.
package rescue

import (
	"io"

	"github.com/fsmcp/fsmcp/internal/save/disk"
)

// Store keeps bytes that are known nowhere else.
type Store struct {
	Sys disk.Sys
	// Hand is given the bytes of the file at path. Where it keeps them it returns under
	// which name, and no file has to; nil keeps none.
	Hand func(path string, content io.ReaderAt, size int64) (id string, err error)
}

// Kept says where bytes are now.
type Kept struct {
	Saved   []string // files, by absolute name
	Rescued []string // what Hand has kept them as
}
