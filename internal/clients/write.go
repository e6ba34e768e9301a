package clients

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/fsmcp/fsmcp/internal/fsys"
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
	w, err := replace(ctx, txn, merge, func() (string, error) { return backUp(ctx, saver, target, file) })
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
func replace(ctx context.Context, txn *save.Txn, merge func(old []byte) (Merged, error), backUp func() (string, error)) (w Written, err error) {
	var old []byte
	backup := ""
	if f := txn.Old(); f != nil {
		if old, _, err = f.ReadAll(MaxBytes); err != nil {
			return w, err
		}
		txn.Before(func() (err error) {
			if backup == "" {
				backup, err = backUp()
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

// maxBackups bounds the names that are tried for a backup.
const maxBackups = 1000

// errUnsynced: the old bytes go only if their copy stays.
var errUnsynced = errors.New("its folder cannot be synced")

// backUp copies what file leads to, beside file, and returns the copy's name, which the copy gets
// once it is whole and on the disk. It never replaces a file.
func backUp(ctx context.Context, saver *save.Saver, target *fsys.Target, file string) (name string, err error) {
	names, err := saver.Names(ctx)
	if err == nil {
		defer names.Close()
		for n := 1; n <= maxBackups; n++ {
			name = file + ".fsmcp.bak"
			if n > 1 {
				name = fmt.Sprintf("%s.fsmcp.%d.bak", file, n)
			}
			if err = copyTo(ctx, names, target, name); !errors.Is(err, save.ErrExists) {
				break
			}
		}
	}
	if err == nil {
		if names.Finish(); names.DurabilityUnknown() && saver.Durability() == save.Full {
			err = errUnsynced
		}
	}
	if err != nil {
		return "", fmt.Errorf("the backup cannot be made: %w", err)
	}
	return name, nil
}

// copyTo copies a file to a name, which must be free.
func copyTo(ctx context.Context, names *save.NamesTxn, target *fsys.Target, name string) error {
	path, err := fsys.Lexer{OS: runtime.GOOS}.Parse(name)
	if err != nil {
		return err
	}
	to, err := fsys.NewResolver().ResolveEntry(path)
	if to != nil {
		defer to.Close()
	}
	if err != nil {
		return err
	}
	_, err = names.Copy(ctx, target, to)
	return err
}
