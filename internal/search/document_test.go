package search

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
)

// givenDocuments answers with what a file's content names. "never" waits until the search ends.
type givenDocuments struct{}

func (givenDocuments) Text(ctx context.Context, f *fsys.File, pdf bool) (*media.Document, error) {
	raw, _, err := f.ReadAll(1 << 10)
	if err != nil {
		return nil, err
	}
	d := &media.Document{Kind: media.Pages, Count: 80, Body: "needle\nhay\n", Sections: []media.Section{{Size: 7, Lines: 1}, {Size: 4, Lines: 1}}}
	switch string(raw) {
	case "%PDF-never":
		<-ctx.Done()
		return nil, ctx.Err()
	case "%PDF-locked":
		return nil, media.ErrLocked
	case "%PDF-part":
		d.Cut, d.Next = media.CutByTime, 3
	}
	return d, nil
}

// A search names each document that it did not search, or only in part, and takes nothing for
// searched that it was not given.
func TestDocumentGaps(t *testing.T) {
	y := newTree(t)
	y.documents = givenDocuments{}
	y.put("locked.pdf", "%PDF-locked")
	y.put("part.pdf", "%PDF-part")
	y.put("whole.pdf", "%PDF-whole")
	locked := DocumentGap{Path: y.path("locked.pdf"), PDF: true, Err: media.ErrLocked}
	part := DocumentGap{Path: y.path("part.pdf"), PDF: true, Cut: media.CutByTime, Pages: 2, Count: 80}
	for _, c := range []struct {
		pattern string
		mode    GrepMode
		gaps    []DocumentGap
		files   int
	}{
		{"needle", Content, []DocumentGap{locked, part}, 2},
		{"none", Content, []DocumentGap{locked, part}, 0},
		{"needle", FilesOnly, []DocumentGap{locked}, 2}, // the rest of part.pdf changes nothing
		{"none", FilesOnly, []DocumentGap{locked, part}, 0},
	} {
		got, err := y.Grep(t.Context(), y.scope(), GrepQuery{Pattern: c.pattern, Mode: c.mode, Globs: []string{"*.pdf"}})
		if err != nil || !got.Complete || !reflect.DeepEqual(got.Gaps, c.gaps) || got.TotalFiles != c.files || len(got.Partly) > 0 {
			t.Errorf("%s: %+v %v", c.pattern, got, err)
		}
	}
	y.put("never.pdf", "%PDF-never")
	alone := y.scope("never.pdf")
	alone.Within = 50 * time.Millisecond
	got, err := y.Grep(t.Context(), alone, GrepQuery{Pattern: "needle", Mode: Content})
	if err != nil || len(got.Gaps) != 1 || !errors.Is(got.Gaps[0].Err, context.DeadlineExceeded) || got.Gaps[0].Path != y.path("never.pdf") || !got.Gaps[0].PDF || len(got.Partly) > 0 {
		t.Errorf("%+v %v", got, err)
	}
}
