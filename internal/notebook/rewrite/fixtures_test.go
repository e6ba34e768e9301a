package rewrite

import (
	"bytes"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/notebooktest"
)

var (
	fixtures  = notebooktest.Files
	mustParse = notebooktest.Parse
	wrap      = notebooktest.Wrap
)

func fixture(t testing.TB, name string) *notebook.Notebook {
	t.Helper()
	return mustParse(t, string(fixtures(t)[name]))
}

// zeros is randomness that never surprises.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// counting is randomness that counts.
type counting struct{ n uint32 }

func (c *counting) Read(p []byte) (int, error) {
	c.n++
	for i := range p {
		p[i] = byte(c.n >> (8 * (i % 4)))
	}
	return len(p), nil
}

func noMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\ufeff")) }
