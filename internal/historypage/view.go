package historypage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/compare"
	"github.com/fsmcp/fsmcp/internal/report"
	"github.com/fsmcp/fsmcp/internal/restore"
	"github.com/fsmcp/fsmcp/internal/text"
)

// view is two contents of a file side by side: a diff of texts, cells, pictures, or a note alone.
type view struct {
	Note     string     `json:"note,omitempty"`
	Diff     string     `json:"diff,omitempty"` // unified, without the names of files
	Cells    []cell     `json:"cells,omitempty"`
	Pictures [][]string `json:"pictures,omitempty"` // keys, before and after
}

// cell is a cell of a notebook before and after.
type cell struct {
	Kind     string     `json:"kind"` // changed, removed, added, or same: N cells in a row
	N        int        `json:"n,omitempty"`
	Name     string     `json:"name,omitempty"`
	Type     string     `json:"type,omitempty"`
	Source   string     `json:"source,omitempty"`   // a diff
	Outputs  string     `json:"outputs,omitempty"`  // a diff
	Pictures [][]string `json:"pictures,omitempty"` // keys, before and after
}

// picture is one that the page may load.
type picture struct {
	content []byte
	mime    string
	entry   history.Entry
}

// Bounds of what is shown.
const (
	mostDiff     = 512 << 10 // bytes
	mostPictures = 200
)

// viewer makes views of one change, and keeps their pictures.
type viewer struct {
	*page
	entry history.Entry
}

// change shows what a change did, and counts the changes of its call.
func (p *page) change(h restore.Restorer, r *http.Request) (any, error) {
	e, err := find(h, r.URL.Query().Get("id"))
	if err != nil {
		return nil, err
	}
	group, visible := 0, admitter(h)
	all, _ := h.Archive.Entries(nil)
	for _, o := range all {
		if o.Group == e.Group && e.Group != "" && visible(o) {
			group++
		}
	}
	return map[string]any{"change": itemOf(e), "group": group, "view": viewer{p, e}.stored(h.Archive)}, nil
}

// stored shows what the history has of the change.
func (v viewer) stored(a *history.Archive) view {
	if note := report.NoBytes(v.entry); note != "" {
		note, _, _ = strings.Cut(note, "; ") // how to restore it in a terminal
		return view{Note: note + "."}
	}
	if v.entry.Partial() {
		patch, _ := report.Patch(a, v.entry)
		return view{Note: "The file is large: only the changed places are kept. Lines are counted from each place.", Diff: bounded(patch)}
	}
	before, err := a.Before(v.entry)
	after, err2 := a.After(v.entry)
	if v.entry.Thinned || errors.Join(err, err2) != nil {
		return view{Note: "It cannot be shown: what it changed is damaged, or is not kept any more."}
	}
	return v.both(before, after)
}

// both shows two contents of the file, nil for no file.
func (v viewer) both(before, after []byte) view {
	was, is := v.pictureOf(before), v.pictureOf(after)
	if len(was)+len(is) > 0 && (was != nil || before == nil) && (is != nil || after == nil) {
		return view{Pictures: [][]string{was, is}}
	}
	if strings.EqualFold(filepath.Ext(v.entry.Path), ".ipynb") {
		if cells, ok := v.cells(before, after); ok {
			return view{Cells: cells}
		}
	}
	old, err := text.Decode(before)
	now, err2 := text.Decode(after)
	switch {
	case errors.Join(err, err2) != nil:
		return view{Note: fmt.Sprintf("This is no text: %d bytes before, %d bytes after.", len(before), len(after))}
	case old.Text == now.Text:
		return view{Note: "No text differs."}
	}
	return view{Diff: diff(old.Text, now.Text)}
}

// cells compares two notebooks cell by cell; ok is false if one of them is none.
func (v viewer) cells(before, after []byte) (all []cell, ok bool) {
	var sides [2]*notebook.Notebook
	for i, content := range [][]byte{before, after} {
		nb, err := notebook.Parse(content)
		if err != nil && content != nil {
			return nil, false
		}
		sides[i] = nb
	}
	for _, c := range compare.Notebooks(sides[0], sides[1]) {
		if n := len(all); !c.Same() {
			all = append(all, v.cell(c))
		} else if n > 0 && all[n-1].Kind == "same" {
			all[n-1].N++
		} else {
			all = append(all, cell{Kind: "same", N: 1})
		}
	}
	return all, true
}

// cell shows a cell that is not the same.
func (v viewer) cell(c compare.Cell) cell {
	a, b, shown, kind := c.Before, c.After, c.After, "changed"
	if a == nil {
		a, kind = &compare.Side{}, "added"
	} else if b == nil {
		b, shown, kind = &compare.Side{}, a, "removed"
	}
	out := cell{Kind: kind, Name: shown.Name, Type: shown.Type, Source: diff(a.Source, b.Source), Outputs: diff(a.Outputs, b.Outputs)}
	if !slices.EqualFunc(a.Pictures, b.Pictures, bytes.Equal) {
		out.Pictures = [][]string{v.keys(a.Pictures), v.keys(b.Pictures)}
	}
	return out
}

func (v viewer) keys(contents [][]byte) (keys []string) {
	for _, c := range contents {
		keys = append(keys, v.pictureOf(c)...)
	}
	return keys
}

// diff is the unified diff of two texts.
func diff(old, now string) string {
	return bounded(strings.TrimPrefix(changes.Patch("", "", old, now), "--- \n+++ \n"))
}

// bounded cuts a very long diff; its last line says so.
func bounded(diff string) string {
	if len(diff) > mostDiff {
		diff = diff[:strings.LastIndexByte(diff[:mostDiff], '\n')+1] + "\\ The rest is too long to be shown.\n"
	}
	return text.Escape(diff)
}

// pictureOf keeps a content if it is a picture that browsers show, and returns its key, else nil.
// SVG is none: it is text.
func (v viewer) pictureOf(content []byte) []string {
	kind := media.Sniff(content[:min(len(content), media.HeadSize)], "")
	if !kind.IsImage() || kind.MIME() == "" {
		return nil
	}
	sum := sha256.Sum256(append([]byte(v.entry.ID), content...))
	key := hex.EncodeToString(sum[:])
	if len(v.pictures) >= mostPictures {
		clear(v.pictures) // the page has loaded them
	}
	v.pictures[key] = picture{content, kind.MIME(), v.entry}
	return []string{key}
}

// servePicture serves a picture that a view has named, if the rules let the user see it still.
func (p *page) servePicture(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	shown, ok := p.pictures[r.PathValue("key")]
	if !ok || p.Open(func(h restore.Restorer) error { return h.Admit(shown.entry) }) != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", shown.mime)
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	w.Write(shown.content)
}
