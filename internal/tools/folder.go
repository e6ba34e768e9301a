package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// folderEntries is the number of entries of a folder that an answer shows without limit.
const folderEntries = 200

// folder answers with what a folder holds, as far as its entries may be read. A record of a
// file that bore the name is gone.
func (r *reading) folder(ctx context.Context) toolcall.Outcome {
	gone := toolcall.Shown{Path: r.target.Path, How: toolcall.Gone}
	r.ignore("a folder", "column", "cell_id", "region", "pages", "allow_large")
	all, err := r.tool.Opener.Access.ReadFolder(ctx, r.target.AllowedFile)
	switch {
	case errors.Is(err, access.ErrHidden):
		return toolcall.Refused(refusal.Directory(r.target.Name(), access.Listing{}, false), gone)
	case err != nil:
		return toolcall.Failed(err)
	}
	out := toolcall.Outcome{Answer: r.listed(all)}
	out.Shown = []toolcall.Shown{gone}
	return out
}

// listed is the answer with entries of a folder: how many it has, those from the wanted one
// on, and the call for the next.
func (r *reading) listed(all access.Contents) toolcall.Answer {
	out := toolcall.Answer{Head: fmt.Sprintf("%s is a folder with %s.", r.target.Name(), counts(all.Entries))}
	total := len(all.Entries)
	first, limit := r.want.from(total), folderEntries
	if r.want.bounded {
		limit = r.want.limit
	}
	out.Note(r.target.Note())
	if all.Cut {
		out.Note(fmt.Sprintf("(It has more than %s names: only so many were looked at.)", phrase.Thousands(access.MaxScan)))
	}
	if total > 0 && first > total {
		out.Note(fmt.Sprintf("(Nothing is behind offset=%d.)", total))
		return out
	}
	var body strings.Builder
	var ends []int
	for _, e := range all.Entries[first-1 : min(first-1+limit, total)] {
		body.WriteString(entryLine(e))
		ends = append(ends, body.Len())
		body.WriteByte('\n')
		if body.Len() > r.budget.Room() {
			break
		}
	}
	ends = ends[:min(len(ends), r.budget.Lines())]
	n := r.budget.PartsWithin([]byte(body.String()), ends, r.budget.Bound())
	for n > 1 && ends[n-1] > r.budget.Room() {
		n--
	}
	if n = max(n, min(1, len(ends))); n == 0 {
		return out
	}
	out.Body = body.String()[:ends[n-1]]
	switch last := first + n - 1; {
	case last < total:
		out.Note(fmt.Sprintf("(Entries %d-%d of %d are shown. Next: Read offset=%d, limit=%d.)", first, last, total, last+1, min(limit, total-last)))
	case first > 1:
		out.Note(fmt.Sprintf("(Entries %d-%d of %d are shown.)", first, last, total))
	}
	return out
}

// counts says how many entries of each kind there are.
func counts(entries []access.ListedName) string {
	var folders, files, links, others int
	for _, e := range entries {
		switch {
		case e.Link:
			links++
		case e.Kind == fsys.Directory:
			folders++
		case e.Kind == fsys.Regular:
			files++
		default:
			others++
		}
	}
	said := []string{
		fmt.Sprintf("%d %s", folders, phrase.Plural(folders, "folder", "folders")),
		fmt.Sprintf("%d %s", files, phrase.Plural(files, "file", "files")),
	}
	if links > 0 {
		said = append(said, fmt.Sprintf("%d %s", links, phrase.Plural(links, "link", "links")))
	}
	if others > 0 {
		said = append(said, fmt.Sprintf("%d %s", others, phrase.Plural(others, "device, FIFO or socket", "devices, FIFOs and sockets")))
	}
	last := len(said) - 1
	return strings.Join(said[:last], ", ") + " and " + said[last]
}

// entryLine is a name as a list shows it: a folder with a slash, a link with @, a file with its
// size and the time of its last change.
func entryLine(e access.ListedName) string {
	name := fsys.InSentence(e.Name)
	switch {
	case e.Link:
		return name + "@"
	case e.Kind == fsys.Directory:
		return fsys.InSentence(e.Name + "/")
	case e.Kind != fsys.Regular:
		return name + " (device, FIFO or socket)"
	}
	return fmt.Sprintf("%s\t%s\t%s", name, phrase.Bytes(e.Stamp.Size), time.Unix(0, e.Stamp.Mtime).Format("2006-01-02 15:04"))
}
