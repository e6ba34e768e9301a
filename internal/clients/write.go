package clients

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/settings/disk"
)

// Written says what became of a client's file.
type Written struct {
	Merged
	Created bool
	Backup  string // the file with the old bytes; "" if nothing was changed, or nothing was there
	Link    string // where the file's name leads, "" if no link is on the way
}

// Changed reports whether the file was written.
func (w Written) Changed() bool { return w.Created || w.Backup != "" }

// change replaces a file by what merge makes of it, and keeps the bytes that it replaces in
// FILE.fsmcp.bak, or in a numbered name beside it if that one is there. A link is followed,
// and what it leads to is replaced as a whole; a link out of project is refused, unless that
// is "". With an error the file is as it was, unless the error itself says otherwise.
func change(ctx context.Context, saver *save.Saver, file, project string, merge func(old []byte) (Merged, error)) (Written, error) {
	target, err := resolveIn(file, project)
	if err != nil {
		return Written{}, err
	}
	lock, err := saver.Lock(ctx, target)
	target.Close()
	if err != nil {
		return Written{}, err
	}
	defer lock.Unlock()
	if target, err = resolveIn(file, project); err != nil {
		return Written{}, err
	}
	defer target.Close()
	txn, err := saver.Begin(ctx, target)
	if err != nil {
		return Written{}, err
	}
	defer txn.Close()
	w, err := replace(ctx, txn, file, merge)
	if target.Path != file {
		w.Link = target.Path
	}
	return w, err
}

// resolveIn resolves a file that has to be below project, if there is one.
func resolveIn(file, project string) (*fsys.Target, error) {
	path, err := fsys.Lexer{OS: runtime.GOOS}.Parse(file)
	if err != nil {
		return nil, err
	}
	target, err := fsys.NewResolver().Resolve(path)
	if err == nil && project != "" && !fsys.Within(disk.Real(project), target.Path) {
		err = fmt.Errorf("it leads to %s, which is not in the project", target.Path)
	}
	if err != nil && target != nil {
		target.Close()
	}
	return target, err
}

// replace merges and writes, with the backup made once the new bytes are on the disk.
func replace(ctx context.Context, txn *save.Txn, file string, merge func(old []byte) (Merged, error)) (w Written, err error) {
	var old []byte
	backup := ""
	if f := txn.Old(); f != nil {
		if old, _, err = f.ReadAll(MaxBytes); err != nil {
			return w, err
		}
		info, err := os.Stat(file)
		if err != nil {
			return w, err
		}
		txn.Before(func() (err error) {
			if backup == "" {
				backup, err = backUp(file, old, info.Mode().Perm())
			}
			return err
		})
	}
	if w.Merged, err = merge(old); err != nil || len(w.Splices) == 0 {
		return w, err
	}
	created := txn.Old() == nil
	if _, err := txn.Replace(ctx, w.Splices); err != nil {
		return Written{}, err
	}
	w.Created, w.Backup = created, backup
	return w, nil
}

// syncNames makes the names in a folder last: the old bytes go only when the backup stays.
func syncNames(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return owndir.SyncNames(root)
}

// maxBackups bounds the names that are tried for a backup.
const maxBackups = 1000

// backUp writes a new file beside file and returns its name. It never replaces a file.
func backUp(file string, content []byte, mode fs.FileMode) (name string, err error) {
	var f *os.File
	for n := 1; n <= maxBackups; n++ {
		name = file + ".fsmcp.bak"
		if n > 1 {
			name = fmt.Sprintf("%s.fsmcp.%d.bak", file, n)
		}
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode&0o600)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		_, err = f.Write(content)
		if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close(), syncNames(filepath.Dir(name))); err != nil {
			os.Remove(name)
		}
	}
	if err != nil {
		return "", fmt.Errorf("the backup cannot be made: %w", err)
	}
	return name, nil
}
