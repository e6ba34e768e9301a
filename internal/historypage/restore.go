package historypage

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/restore"
)

// Bounds of previews: those that wait for a second click, and the files of one that are shown.
const (
	mostPreviews = 32
	mostViews    = 50
)

// preview shows what a restore would do, and gives it a key for the second click if it would do
// anything. With group it is that of all changes of the call.
func (p *page) preview(h restore.Restorer, r *http.Request) (any, error) {
	e, err := find(h, r.URL.Query().Get("id"))
	if err != nil {
		return nil, err
	}
	preview, err := h.Preview(r.Context(), e, r.URL.Query().Get("group") != "")
	if err != nil {
		return nil, problem(restore.Refused(e, err))
	}
	key, steps := "", []any{}
	for _, s := range preview.Steps {
		v, shown := viewer{p, s.Entry}, view{}
		if len(steps) >= mostViews {
			shown.Note = "There are too many files to show what changes in this one."
		} else if s.Now != nil || s.Then != nil {
			shown = v.both(s.Now, s.Then)
		} else if before, _ := h.Archive.Before(s.Entry); s.Changes && before != nil && s.Entry.Operation == history.OpDelete {
			shown = v.both(nil, before)
		}
		steps = append(steps, map[string]any{"path": fsys.Printable(s.Path), "text": s.Text, "view": shown})
	}
	if preview.Changes {
		if len(p.previews) >= mostPreviews {
			clear(p.previews)
		}
		key, preview.Steps = rand.Text(), nil
		p.previews[key] = preview
	}
	return map[string]any{"key": key, "steps": steps}, nil
}

// restore makes the steps of a preview. It goes on if the page is closed meanwhile.
func (p *page) restore(h restore.Restorer, r *http.Request) (any, error) {
	key := r.URL.Query().Get("key")
	preview, ok := p.previews[key]
	if !ok {
		return nil, problem("Look first at what would change.")
	}
	delete(p.previews, key)
	e, err := find(h, preview.ID)
	if err != nil {
		return nil, err
	}
	lines, err := h.Restored(context.WithoutCancel(r.Context()), preview)
	if err != nil {
		return nil, problem(strings.Join(append(lines, restore.Refused(e, err)), "\n"))
	}
	if len(lines) == 0 {
		lines = []string{"Nothing had to be changed."}
	}
	return map[string]string{"text": strings.Join(lines, "\n")}, nil
}
