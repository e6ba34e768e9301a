package clients

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save"
)

// Written says what became of a client's file.
type Written struct {
	Created bool
	Backup  string // the file with the old bytes; "" if nothing was changed, or nothing was there
}

// Changed reports whether the file was written.
func (w Written) Changed() bool { return w.Created || w.Backup != "" }

// Write merges the server into a file, and keeps the bytes that it replaces in FILE.bak. A
// link is followed, and what it leads to is replaced as a whole. With an error the file is
// as it was, unless the error itself says otherwise.
func (c Client) Write(ctx context.Context, saver *save.Saver, file string, s Server) (Written, error) {
	target, err := resolve(file)
	if err != nil {
		return Written{}, err
	}
	lock, err := saver.Lock(ctx, target)
	target.Close()
	if err != nil {
		return Written{}, err
	}
	defer lock.Unlock()
	if target, err = resolve(file); err != nil {
		return Written{}, err
	}
	defer target.Close()
	txn, err := saver.Begin(ctx, target)
	if err != nil {
		return Written{}, err
	}
	defer txn.Close()
	return c.replace(ctx, txn, file, s)
}

func resolve(file string) (*fsys.Target, error) {
	path, err := fsys.Lexer{OS: runtime.GOOS}.Parse(file)
	if err != nil {
		return nil, err
	}
	target, err := fsys.NewResolver(nil).Resolve(path)
	if err != nil && target != nil {
		target.Close()
	}
	return target, err
}

// replace merges and writes, with the backup made once the new bytes are on the disk.
func (c Client) replace(ctx context.Context, txn *save.Txn, file string, s Server) (w Written, err error) {
	var old []byte
	if f := txn.Old(); f != nil {
		if old, _, err = f.ReadAll(maxBytes); err != nil {
			return w, err
		}
		info, err := os.Stat(file)
		if err != nil {
			return w, err
		}
		w.Backup = file + ".bak"
		txn.Before(func() error { return backUp(w.Backup, old, info.Mode().Perm()) })
	}
	splices, err := c.Merge(old, s)
	if err != nil || len(splices) == 0 {
		return Written{}, err
	}
	w.Created = txn.Old() == nil
	if _, err := txn.Replace(ctx, splices); err != nil {
		return Written{}, err
	}
	return w, nil
}

// backUp writes a new file in the place of an earlier backup. What is not a regular file is
// left alone.
func backUp(name string, content []byte, mode fs.FileMode) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("the backup cannot be made: %w", err)
		}
	}()
	switch info, err := os.Lstat(name); {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", name)
	case err == nil:
		if err := os.Remove(name); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode&0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		os.Remove(name)
	}
	return err
}
