package notebook_test

import (
	"bytes"

	"github.com/fsmcp/fsmcp/internal/notebook/notebooktest"
)

var (
	fixtures  = notebooktest.Files
	mustParse = notebooktest.Parse
	wrap      = notebooktest.Wrap
)

const bom = "\ufeff"

func noMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte(bom)) }

// zeros is randomness that never surprises.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
