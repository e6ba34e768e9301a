package restore

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// operation is that of a file's changes.
func (f RestoredFile) operation() history.Operation { return f.Entries[0].Operation }

// together returns how many of the files are restored in one step: removals that follow each
// other, else one.
func together(files []RestoredFile) int {
	n := 1
	for files[0].operation() == history.OpDelete && n < len(files) && files[n].operation() == history.OpDelete {
		n++
	}
	return n
}

// some restores files that are restored together. With dry it only finds out whether that is
// possible, as far as it does not depend on restores before it.
func (r Restorer) some(ctx context.Context, files []RestoredFile, id string, dry bool) error {
	if op := files[0].operation(); op == history.OpMove || op == history.OpDelete {
		_, err := r.names(ctx, files, id, dry)
		return err
	}
	f := r.followed(files[0])
	result, err := r.file(ctx, f, id, dry)
	if err != nil {
		return &FileError{files[0], err}
	}
	files[0].Changed = result != nil
	return nil
}

// dependent reports whether the reason why a file cannot be restored may be gone once the
// files before it are, since they share a name.
func dependent(f RestoredFile, before []RestoredFile, err error) bool {
	if !errors.As(err, new(*history.ConflictError)) {
		return false
	}
	for _, b := range before {
		for _, name := range b.paths() {
			for _, own := range f.paths() {
				if fsys.Within(name, own) || fsys.Within(own, name) {
					return true
				}
			}
		}
	}
	return false
}

// paths returns the names that a file's changes are about.
func (f RestoredFile) paths() []string {
	if to := f.Entries[0].To; to != "" {
		return []string{f.Path, to}
	}
	return []string{f.Path}
}

// names restores a move, or removals.
func (r Restorer) names(ctx context.Context, files []RestoredFile, id string, dry bool) (changed bool, err error) {
	for _, f := range files {
		if r.planned == nil {
			break
		}
		if err := r.planned(planned{path: f.Path, entry: f.Entries[0]}); err != nil {
			return false, &FileError{f, err}
		}
	}
	if e := files[0].Entries[0]; e.Operation == history.OpMove {
		made, err := r.Service.MoveBack(ctx, id, e.To, e.Path, dry)
		if err != nil {
			return false, &FileError{files[0], conflict(err)}
		}
		files[0].Changed = made
		if made {
			r.removeFolders(RestoredFile{Entries: []history.Entry{{Path: e.To, NewDirs: e.NewDirs}}})
		}
		return made, nil
	}
	// A folder comes before what it held.
	slices.SortStableFunc(files, func(a, b RestoredFile) int { return cmp.Compare(depth(a.Path), depth(b.Path)) })
	list := make([]tools.RemovedItem, len(files))
	for i, f := range files {
		e := f.Entries[0]
		list[i] = tools.RemovedItem{Path: f.Path, ID: id, Open: func() (save.Remains, io.Closer, error) { return r.Archive.Removed(e) }}
	}
	failed, err := r.Service.RestoreRemoved(ctx, list, dry)
	for i := range files {
		files[i].Changed = !dry && (err == nil || i < failed)
	}
	if err != nil {
		return false, &FileError{files[failed], conflict(err)}
	}
	return !dry, nil
}

// depth is the number of folders that a path goes through.
func depth(path string) int { return strings.Count(path, "/") + strings.Count(path, `\`) }

// conflict words an error that another file causes.
func conflict(err error) error {
	switch {
	case errors.Is(err, tools.ErrInTheWay), errors.Is(err, save.ErrExists):
		return &history.ConflictError{Why: "another file is there by now"}
	case errors.Is(err, save.ErrVanished):
		return &history.ConflictError{Why: "it is not there any more"}
	}
	return err
}

// Now returns the name that the file of a change has now, if it was moved since.
func (r Restorer) Now(e history.Entry) string {
	return r.followed(RestoredFile{Path: e.Path, Entries: []history.Entry{e}}).Path
}

// followed returns the file under the name that it has now, if it was moved since. A file that
// has its old name again, or still, keeps it. A copy is never the file that it was made of.
func (r Restorer) followed(f RestoredFile) RestoredFile {
	if f.operation() == history.OpCopy {
		f.Path = f.Entries[0].To
	}
	archive, err := r.Open()
	if err != nil {
		return f
	}
	defer archive.Close()
	entries, _ := archive.Entries(nil)
	for _, e := range f.Entries[:1] {
		path := history.Follow(e, entries)
		if _, err := fsys.Lstat(path); err == nil || path == f.Path {
			f.Path = path
		}
	}
	return f
}

// copied plans the restore of a copy: it is removed if it is as it was made.
func copied(e history.Entry, old *fsys.File) (p history.Plan, err error) {
	if old == nil {
		return p, nil
	}
	stamp, err := old.Stamp()
	if err == nil && !e.IsCopy(stamp.Size, stamp.Mtime) {
		err = &history.ConflictError{Why: "the change created it, and it was changed since"}
	}
	return history.Plan{Remove: true}, err
}
