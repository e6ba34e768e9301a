package doctor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
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
		if errors.Is(err, fs.ErrPermission) {
			c.Remedy += guarded(runtime.GOOS, dir, home)
		}
		return c
	}
	known, err := writable(dir)
	switch {
	case err != nil:
		c.Status, c.Detail = Warn, fmt.Sprintf("%s: readable, but %v", dir, err)
		c.Remedy = notWritable(runtime.GOOS, dir, home)
	case !known:
		c.Detail = dir + ": readable"
	}
	if err == nil && (dir == home || dir == filepath.Dir(dir)) {
		c.Status, c.Detail = Warn, c.Detail+"; it is the whole of your files, so settings and keys are in it"
		c.Remedy = "Name a smaller folder: --dir DIR."
	}
	return c
}

// notWritable returns what to do about a folder that cannot be written on a system.
func notWritable(system, dir, home string) string {
	if system == "windows" {
		return "Let your account write it, or go on if it is only to be read." + guarded(system, dir, home)
	}
	return "Make it writable for you (chmod u+w), or go on if it is only to be read." + guarded(system, dir, home)
}

// guarded returns a further sentence if a folder is one that the system guards beside its
// modes: the documents of a user, against programs that it does not know. Else "".
func guarded(system, dir, home string) string {
	separator := "/"
	if system == "windows" {
		separator = `\`
	}
	rest, below := strings.CutPrefix(strings.ToLower(dir), strings.ToLower(strings.TrimRight(home, separator)+separator))
	folder, _, _ := strings.Cut(rest, separator)
	if !below || home == "" {
		return ""
	}
	if why := phrase.Guarded(system, folder); why != "" {
		return " " + why
	}
	return ""
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
