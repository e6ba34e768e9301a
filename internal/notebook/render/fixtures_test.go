package render

import (
	"os"
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

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
