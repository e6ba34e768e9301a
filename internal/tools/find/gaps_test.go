package find

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/search"
)

// readyAfter gives a document once it was asked so often before.
type readyAfter int

func (n *readyAfter) Text(context.Context, *fsys.File, bool) (*media.Document, error) {
	if *n--; *n >= 0 {
		return nil, &media.BreakdownError{Why: media.Unready, Err: context.DeadlineExceeded}
	}
	return &media.Document{Kind: media.Pages, Count: 1, Body: "needle\n", Sections: []media.Section{{Size: 7, Lines: 1}}}, nil
}

// A Grep of one PDF waits a second time for what reads PDFs; one that waited in vain says so.
func TestGrepWaitsUntilPDFsCanBeRead(t *testing.T) {
	for tries, want := range []string{"p1:needle", "p1:needle", "getting ready"} {
		dir, f, call := finderOf(t)
		ready := readyAfter(tries)
		f.Documents = true
		f.Searcher = search.New(search.Options{Checker: f.Opener.Access, Documents: &ready})
		name := filepath.Join(dir, "a.pdf")
		if err := os.WriteFile(name, []byte("%PDF-1.7"), 0o666); err != nil {
			t.Fatal(err)
		}
		out := f.Grep(t.Context(), call, &GrepArgs{Pattern: "needle", Path: name, OutputMode: outputContent})
		if got := out.Text(); out.Err != nil || !strings.Contains(got, want) {
			t.Errorf("%d: %v %s", tries, out.Err, got)
		}
	}
}
