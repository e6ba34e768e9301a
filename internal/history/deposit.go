package history

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/save"
)

// depositFolder is the part of the history that holds removed files above WholeLimit, whole.
// The name of each begins with the id of the segment that has its entry, and goes with it.
const depositFolder = "deleted"

// deposited says where a removed file lies.
type deposited struct {
	Name  string `json:"name"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`
}

// RemovalChange describes the removal of an item to a Store. The caller adds what makes it.
func RemovalChange(k save.Kept) PendingChange {
	c := PendingChange{Names: []string{k.Path}, Operation: OpDelete, Meta: &k.Meta, Stamp: k.Stamp, Gone: true}
	if k.Kind == fsys.Regular {
		c.Old, c.Size, c.From = k.Content, k.Stamp.Size, k.Raw
	}
	return c
}

// Deposit returns where a removed file is to be moved to, instead of being removed; zero if
// its bytes are stored.
func (m *Mark) Deposit() save.Deposit {
	if m == nil {
		return save.Deposit{}
	}
	return m.deposit
}

// deposit prepares the place of a file that is too large for a pack. On the file system of the
// history the file itself is moved there; else it is copied now.
func (s *Store) deposit(ctx context.Context, w *writer, c PendingChange) (*deposited, save.Deposit, error) {
	none := save.Deposit{}
	if settings := s.o.Settings(); c.Size > settings.MaxSize {
		return nil, none, ErrTooLarge
	}
	dir, err := s.o.Dir(ctx)
	if err != nil {
		return nil, none, err
	}
	folder := filepath.Join(dir, Folder, depositFolder)
	root, err := owndir.MakeSub(filepath.Join(dir, Folder), depositFolder)
	if err != nil {
		return nil, none, err
	}
	defer root.Close()
	d := &deposited{Name: w.id + "-" + strings.ToLower(rand.Text()[:idLen]), Size: c.Size, Mtime: c.Stamp.Mtime}
	at, err := fsys.Lstat(folder)
	if err != nil {
		return nil, none, err
	}
	if at.Dev == c.Stamp.Dev && c.Stamp.Nlink == 1 {
		return d, save.Deposit{Folder: folder, Name: d.Name}, nil
	}
	return d, none, copyInto(root, d, c)
}

// copyInto copies a file into its deposit, and syncs it.
func copyInto(root *os.Root, d *deposited, c PendingChange) (err error) {
	f, err := root.OpenFile(d.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(f, io.NewSectionReader(c.Old, 0, c.Size))
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = root.Chtimes(d.Name, time.Time{}, time.Unix(0, d.Mtime))
	}
	if err == nil {
		err = owndir.SyncNames(root)
	}
	if err != nil {
		root.Remove(d.Name)
	}
	return err
}

// exists reports whether the file lies there. Without it the removal was not made.
func (d *deposited) exists(root *os.Root) bool {
	_, err := root.Lstat(filepath.Join(depositFolder, d.Name))
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// open opens the file, which is as it was when it was removed.
func (d *deposited) open(root *os.Root) (*os.File, error) {
	f, err := root.Open(filepath.Join(depositFolder, d.Name))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() != d.Size || info.ModTime().UnixNano() != d.Mtime) {
		err = damaged("the removed file was changed")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// depositSizes returns the bytes of the deposits by segment.
func depositSizes(root *os.Root) map[string]int64 {
	sizes := make(map[string]int64)
	for _, info := range deposits(root) {
		id, _, _ := strings.Cut(info.Name(), "-")
		sizes[id] += info.Size()
	}
	return sizes
}

func deposits(root *os.Root) (list []fs.FileInfo) {
	dir, err := root.Open(depositFolder)
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(-1)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			list = append(list, info)
		}
	}
	return list
}

// removeDeposits removes the deposits whose segments are gone.
func removeDeposits(root *os.Root) {
	list := deposits(root)
	if len(list) == 0 {
		return
	}
	all, err := segments(root)
	if err != nil {
		return
	}
	for _, info := range list {
		id, _, _ := strings.Cut(info.Name(), "-")
		if !slices.ContainsFunc(all, func(s *segment) bool { return s.id == id && s.journal }) {
			root.Remove(filepath.Join(depositFolder, info.Name()))
		}
	}
}

// Removed returns what Delete removed, so that it can be made again. The caller closes it.
func (a *Archive) Removed(e Entry) (save.Remains, io.Closer, error) {
	r, none := save.Remains{Meta: *e.Meta}, io.NopCloser(nil)
	switch {
	case e.Meta.Kind != fsys.Regular:
		return r, none, nil
	case e.line.Deposit != nil:
		f, err := e.line.Deposit.open(a.root)
		if err != nil {
			return r, none, e.damage(err)
		}
		r.Content = f
		return r, f, nil
	}
	b, err := a.Before(e)
	if err == nil && b == nil {
		err = ErrNoBytes
	}
	r.Content = strings.NewReader(string(b))
	return r, none, err
}

// ErrNoBytes says that the history does not have the bytes of a removed file.
var ErrNoBytes = errors.New("its bytes are not kept")

// Removed is a file that is about to be removed.
type Removed struct {
	Names []string
	Size  int64
}

// WouldKeep returns the indices of the removals that would not be kept: those of secret files,
// or all if the history is off or has no room. There is no room for any of them if, for all of
// them, a part of the history would go that is younger than the history's age: it counts their
// bytes as they are, not compressed.
func (s *Store) WouldKeep(ctx context.Context, list []Removed) (not []int) {
	settings, total := s.o.Settings(), int64(0)
	for i, r := range list {
		if s.Secret(r.Names) {
			not = append(not, i)
		} else {
			total += r.Size
		}
	}
	if !settings.Off && s.hasRoom(ctx, settings, total) {
		return not
	}
	not = not[:0]
	for i := range list {
		not = append(not, i)
	}
	return not
}

// hasRoom reports whether so many bytes more would be kept.
func (s *Store) hasRoom(ctx context.Context, settings Settings, more int64) bool {
	dir, err := s.o.Dir(ctx)
	if err != nil {
		return false
	}
	root, err := owndir.Sub(dir, Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return more <= settings.MaxSize
	}
	if err != nil {
		return false
	}
	defer root.Close()
	kept, err := segments(root)
	if err != nil {
		return false
	}
	for _, k := range kept {
		if s.o.Now().Sub(k.changed) < settings.MaxAge {
			more += k.size
		}
	}
	return more <= settings.MaxSize
}
