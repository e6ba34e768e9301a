// Package restore restores changes from the history: one, or all of a session. It goes
// through the tools' rules and their way of replacing a file, so each restore is a change
// like any other.
//
// It promises that a change is taken out of a file and later ones stay, or that the file stays as
// it is. A session is first restored in a pass that changes nothing; if the pass after it fails,
// the files before stay restored, and the error names them.
package restore

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// Restorer restores changes of an archive.
type Restorer struct {
	Archive *history.Archive
	Service *tools.Service
	// Open opens the archive again, with the changes up to now.
	Open func() (*history.Archive, error)

	// planned is called with each step before it is made, maybe more than once, the last time
	// under the file's lock, and in passes that change nothing. An error stops the restore.
	planned func(planned) error
}

// Admit reports whether the rules let a user see a change: each name that it has.
func (r Restorer) Admit(e history.Entry) error {
	err := r.Service.Admit(e.Path)
	if err == nil && e.To != "" {
		err = r.Service.Admit(e.To)
	}
	return err
}

// Change restores one change. The result is nil if there is nothing to do. The error is a
// *history.ConflictError, a history.Damage, or one that tools.Explain words.
func (r Restorer) Change(ctx context.Context, e history.Entry) (*toolcall.Result, error) {
	f := RestoredFile{Path: e.Path, Entries: []history.Entry{e}}
	if e.Operation == history.OpMove || e.Operation == history.OpDelete {
		changed, err := r.names(ctx, []RestoredFile{f}, e.ID, false)
		if err != nil || !changed {
			return nil, err
		}
		return &toolcall.Result{Blocks: []toolcall.Block{{Text: Lines([]RestoredFile{{Path: f.Path, Entries: f.Entries, Changed: true}})[0]}}}, nil
	}
	return r.file(ctx, r.followed(f), e.ID, false)
}

// RestoredFile is a file with those of its changes that are restored, the newest first.
type RestoredFile struct {
	Path    string
	Entries []history.Entry
	Changed bool // the restore changed it
}

// ErrNoSession says that the history has no change of a session.
var ErrNoSession = errors.New("the history has no change of that session")

// FileError is why a file stops the restore of a session.
type FileError struct {
	File RestoredFile
	Err  error
}

func (e *FileError) Error() string { return e.File.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// Session restores all changes of a session, which its name or the ID of one of its changes
// names. It tries every file before it changes the first one; the error is a *FileError or
// ErrNoSession. Files that were changed before an error say so.
func (r Restorer) Session(ctx context.Context, id string) ([]RestoredFile, error) {
	session := id
	if e, err := r.Archive.Find(id); err == nil && e.Session != "" {
		session = e.Session
	}
	return r.all(ctx, id, func(e history.Entry) bool { return e.Session == session && session != "" })
}

// Group restores all changes of one call, as Session does.
func (r Restorer) Group(ctx context.Context, id string) ([]RestoredFile, error) {
	return r.all(ctx, id, inGroup(id))
}

// inGroup selects the changes of one call.
func inGroup(id string) func(history.Entry) bool {
	return func(e history.Entry) bool { return e.Group == id && id != "" }
}

// Last restores the newest change of the files that below selects, and everything else that its
// call changed. Changes that were restored already, and restores, do not count. The error is a
// *FileError, or ErrNoSession if there is no such change.
func (r Restorer) Last(ctx context.Context, below func(path string) bool) (history.Entry, []RestoredFile, error) {
	entries, _ := r.Archive.Entries(below)
	restored := make(map[string]bool) // names of changes, calls and sessions
	for _, e := range entries {
		switch {
		case restored[e.ID], restored[e.Session], e.Group != "" && restored[e.Group], e.Tool == history.ToolOutside:
			continue
		case e.Tool == history.ToolRestore:
			restored[e.Call] = true
			continue
		}
		id := cmp.Or(e.Group, e.ID)
		files, err := r.all(ctx, id, func(other history.Entry) bool {
			return other.ID == e.ID || other.Session == e.Session && other.Call == e.Call && e.Call != ""
		})
		if err != nil || slices.ContainsFunc(files, func(f RestoredFile) bool { return f.Changed }) {
			return e, files, err
		}
	}
	return history.Entry{}, nil, ErrNoSession
}

// all restores the changes that want selects, the newest first.
func (r Restorer) all(ctx context.Context, id string, want func(history.Entry) bool) ([]RestoredFile, error) {
	files := r.filesOf(want)
	if len(files) == 0 {
		return nil, ErrNoSession
	}
	if err := r.try(ctx, files, id); err != nil {
		return files, err
	}
	for i := 0; i < len(files); {
		n := together(files[i:])
		if err := r.some(ctx, files[i:i+n], id, false); err != nil {
			return files, err
		}
		i += n
	}
	for _, f := range files {
		if f.Changed { // a folder may have held a file that was restored later
			r.removeFolders(f)
		}
	}
	return files, nil
}

// try finds out whether files can be restored, the newest first. It changes nothing.
func (r Restorer) try(ctx context.Context, files []RestoredFile, id string) error {
	for i := range files {
		err := r.some(ctx, files[i:i+1], id, true)
		if err != nil && !dependent(files[i], files[:i], err) {
			return err
		}
	}
	return nil
}

// filesOf returns the files that the changes which want selects have changed, the last one
// first. A move or a removal stands alone, and what was changed before it comes after it.
func (r Restorer) filesOf(want func(history.Entry) bool) (files []RestoredFile) {
	entries, _ := r.Archive.Entries(nil)
	begin, index := 0, make(map[string]int)
	for _, e := range entries {
		if !want(e) || e.Tool == history.ToolOutside {
			continue
		}
		if e.Operation != history.OpEdit {
			files = append(files, RestoredFile{Path: e.Path, Entries: []history.Entry{e}})
			begin = len(files)
			continue
		}
		i, ok := index[e.Path]
		if !ok || i < begin {
			i, files = len(files), append(files, RestoredFile{Path: e.Path})
			index[e.Path] = i
		}
		files[i].Entries = append(files[i].Entries, e)
	}
	return files
}

// file restores the changes of one file, or with dry only works out whether that is possible.
func (r Restorer) file(ctx context.Context, f RestoredFile, id string, dry bool) (*toolcall.Result, error) {
	removes := false
	result, err := r.Service.Restore(ctx, tools.Restoring{Path: f.Path, ID: id, Plan: func(_ context.Context, old *fsys.File) (history.Plan, error) {
		p, err := r.plan(f.Entries, old)
		if err == nil && r.planned != nil {
			err = r.planned(planned{f.Path, f.Entries[0], old, p})
		}
		if dry {
			p = history.Plan{}
		}
		removes = p.Remove
		return p, err
	}})
	if err == nil && result != nil && removes {
		r.removeFolders(f)
	}
	return result, err
}

// removeFolders removes the folders that a change made for its file, as far as they are
// empty.
func (r Restorer) removeFolders(f RestoredFile) {
	for _, e := range f.Entries {
		name := e.Path
		if e.Operation == history.OpCopy {
			name = e.To
		}
		r.Service.RemoveEmptyFolders(filepath.Dir(name), e.NewDirs)
	}
}

// plan works out the restore of a file's changes, the newest first.
func (r Restorer) plan(entries []history.Entry, old *fsys.File) (p history.Plan, err error) {
	partial := slices.ContainsFunc(entries, history.Entry.Partial)
	switch {
	case entries[0].Operation == history.OpCopy:
		return copied(entries[0], old)
	case partial && len(entries) > 1:
		return p, &history.ConflictError{Why: "it is above 64 MB and has several changes, which are restored one at a time (fsmcp history restore ID)"}
	case partial:
		return r.planPlaces(entries[0], old)
	}
	was, err := content(old)
	if err != nil {
		return p, err
	}
	if len(entries) == 1 { // the splices of the merge, which are small
		return r.step(entries[0], entries[0], was)
	}
	now := was
	for rest := entries; len(rest) > 0; {
		n := chain(rest)
		newest, oldest := rest[0], rest[n-1]
		rest = rest[n:]
		if same(oldest.Before, newest.After) {
			continue
		}
		if p, err = r.step(newest, oldest, now); err != nil {
			return p, &changeError{newest, err}
		}
		if p.Remove {
			now = nil
		} else if len(p.Splices) > 0 {
			now = span.Apply(now, p.Splices)
		}
	}
	return history.PlanRestore(now, was, was)
}

// changeError names the change that cannot be restored.
type changeError struct {
	change history.Entry
	err    error
}

func (e *changeError) Error() string { return e.err.Error() }
func (e *changeError) Unwrap() error { return e.err }

// chain returns how many of the entries, the newest first, follow each other without a
// change by others between them: they are one change.
func chain(entries []history.Entry) int {
	n := 1
	for n < len(entries) && same(entries[n-1].Before, entries[n].After) {
		n++
	}
	return n
}

// same reports whether two hashes are of the same content; nil is that of no file.
func same(a, b *history.Sum) bool { return a == b || a != nil && b != nil && *a == *b }

// step plans to take the changes from oldest to newest out of a content.
func (r Restorer) step(newest, oldest history.Entry, now []byte) (p history.Plan, err error) {
	before, err := r.Archive.Before(oldest)
	if err != nil {
		return p, err
	}
	after, err := r.Archive.After(newest)
	if err != nil {
		return p, err
	}
	return history.PlanRestore(before, after, now)
}

// maxRestored bounds the bytes that a merge holds in memory.
const maxRestored = 1 << 30

// content returns the file's bytes; nil if there is no file.
func content(old *fsys.File) ([]byte, error) {
	if old == nil {
		return nil, nil
	}
	b, _, err := old.ReadAll(maxRestored)
	if b == nil {
		b = []byte{}
	}
	return b, err
}

// planPlaces plans the restore of a change whose history holds only the changed places.
func (r Restorer) planPlaces(e history.Entry, old *fsys.File) (p history.Plan, err error) {
	if old == nil {
		return p, &history.ConflictError{Why: "it is not there any more"}
	}
	// The changes up to now, read under the lock.
	archive, err := r.Open()
	if err != nil {
		return p, err
	}
	defer archive.Close()
	entries, _ := archive.Entries(func(path string) bool { return path == e.Path })
	at := slices.IndexFunc(entries, func(o history.Entry) bool { return o.ID == e.ID || o.Time.Before(e.Time) })
	if at < 0 { // evicted meanwhile
		at = len(entries)
	}
	later := slices.Clone(entries[:at])
	slices.Reverse(later)
	splices, err := r.Archive.RestorePlaces(e, later, old)
	return history.Plan{Splices: splices}, err
}
