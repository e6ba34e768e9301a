package fsys

import "errors"

// ErrNotHere: the content of the file is kept online, and reading it would fetch it.
var ErrNotHere = errors.New("its content is not on this machine")
