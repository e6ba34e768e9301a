package historypage

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/report"
	"github.com/fsmcp/fsmcp/internal/restore"
)

// Bounds of one answer; a page asks for more.
const (
	mostListed  = 300
	longestLook = 4 * time.Second
	mostHit     = 180 // bytes of a line
)

// item is a change in the list.
type item struct {
	ID   string `json:"id"`
	Time int64  `json:"time"` // Unix milliseconds
	Tool string `json:"tool"`
	What string `json:"what"`
	Path string `json:"path"`
	Name string `json:"name"`          // the last part of Path
	Hit  string `json:"hit,omitempty"` // a line of the change with the words that were searched
}

func itemOf(e history.Entry) item {
	path := fsys.Printable(e.Path)
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	return item{ID: e.ID, Time: e.Time.UnixMilli(), Tool: fsys.Printable(e.Tool), What: report.What(e), Path: path, Name: name}
}

// listing is a part of the list.
type listing struct {
	Folder  string `json:"folder"` // "" if the list is of every folder
	Changes []item `json:"changes"`
	Next    string `json:"next,omitempty"` // the change after which the next part begins
	Denied  int    `json:"denied"`         // changes that the rules hide, as far as looked at
	Damaged int    `json:"damaged"`
}

// changes lists changes, the newest first: those of the folder, or with all those of every one;
// with q those with the words in a name or in a changed line; those behind the change named after.
func (p *page) changes(h restore.Restorer, r *http.Request) (any, error) {
	query := r.URL.Query()
	l, below := listing{Changes: []item{}, Folder: p.Folder}, p.Below
	if query.Get("all") != "" {
		l.Folder, below = "", nil
	}
	entries, damages := h.Archive.Entries(below)
	l.Damaged = len(damages)
	entries = entries[slices.IndexFunc(entries, func(e history.Entry) bool { return e.ID == query.Get("after") })+1:]
	words, visible, end := strings.ToLower(strings.TrimSpace(query.Get("q"))), admitter(h), time.Now().Add(longestLook)
	for i, e := range entries {
		if i > 0 && (len(l.Changes) == mostListed || time.Now().After(end) || r.Context().Err() != nil) {
			l.Next = entries[i-1].ID
			break
		}
		if !visible(e) {
			l.Denied++
			continue
		}
		found := itemOf(e)
		if !strings.Contains(strings.ToLower(found.Path+"\n"+found.What), words) {
			if found.Hit = hit(h.Archive, e, words); found.Hit == "" {
				continue
			}
		}
		l.Changes = append(l.Changes, found)
	}
	return l, nil
}

// admitter returns a function that reports whether the rules let a user see a change. It asks
// once for each name.
func admitter(h restore.Restorer) func(history.Entry) bool {
	known := make(map[[2]string]bool)
	return func(e history.Entry) bool {
		names := [2]string{e.Path, e.To}
		if _, ok := known[names]; !ok {
			known[names] = h.Admit(e) == nil
		}
		return known[names]
	}
}

// find returns a change that the rules let the user see. A hidden one is as one that is not there.
func find(h restore.Restorer, id string) (history.Entry, error) {
	e, err := h.Archive.Find(id)
	if err != nil || h.Admit(e) != nil {
		return e, problem("There is no such change, or no longer, or the rules deny its file.")
	}
	return e, nil
}

// hit returns the first changed line that has words in it, which are in lower case.
func hit(a *history.Archive, e history.Entry, words string) string {
	patch, _ := report.Patch(a, e) // "" if it is no text
	for line := range strings.Lines(patch) {
		at := strings.Index(strings.ToLower(line), words)
		if at < 1 || line[0] != '+' && line[0] != '-' {
			continue
		}
		line = line[1:]
		if at > mostHit/3 && at <= len(line) {
			line = "…" + line[at-mostHit/3:]
		}
		return strings.TrimSpace(strings.ToValidUTF8(line[:min(len(line), mostHit)], ""))
	}
	return ""
}
