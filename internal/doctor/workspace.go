package doctor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Workspace checks that each directory can be read and written. home is the user's, whose
// whole content is seldom meant.
func Workspace(dirs []string, home string) (checks []Check) {
	for _, dir := range dirs {
		checks = append(checks, workspace(dir, home))
	}
	return checks
}

func workspace(dir, home string) Check {
	c := Check{Name: NameWorkspace, Status: OK, Detail: dir + ": readable and writable"}
	if err := readable(dir); err != nil {
		c.Status, c.Detail = Fail, fmt.Sprintf("%s: %v", dir, err)
		c.Remedy = "Name a folder that is there and that you may read: --dir DIR, or as an argument of serve."
		return c
	}
	known, err := writable(dir)
	switch {
	case err != nil:
		c.Status, c.Detail = Warn, fmt.Sprintf("%s: readable, but %v", dir, err)
		c.Remedy = "Make it writable for you (chmod u+w), or go on if it is only to be read."
	case !known:
		c.Detail = dir + ": readable"
	}
	if err == nil && (dir == home || dir == filepath.Dir(dir)) {
		c.Status, c.Detail = Warn, c.Detail+"; it is the whole of your files, so settings and keys are in it"
		c.Remedy = "Name a smaller folder: --dir DIR."
	}
	return c
}

// readable returns why a directory cannot be listed, as the rest of a sentence.
func readable(dir string) error {
	if why := fsys.FolderFault(dir); why != "" {
		return errors.New(why)
	}
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("cannot be read: %w", cause(err))
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot be read: %w", cause(err))
	}
	return nil
}

// cause returns an error without the file name, which the caller adds.
func cause(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
