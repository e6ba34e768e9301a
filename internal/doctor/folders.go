package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/owndir"
)

// History checks the folder that keeps what files were. stateDir is fsmcp's own folder, ""
// if the home directory is unknown.
func History(stateDir string, enabled bool) Check {
	c := Check{Name: NameHistory}
	if !enabled {
		c.Status, c.Detail = Skip, "turned off by history.enabled or history.maxSize: no change can be restored"
		return c
	}
	if stateDir == "" {
		c.Status, c.Detail = Fail, "the home directory is unknown: no change is kept, and none can be restored"
		c.Remedy = "Set HOME or XDG_STATE_HOME."
		return c
	}
	dir := filepath.Join(stateDir, history.Folder)
	err := owndir.Find(stateDir, 1)
	if err == nil {
		err = owndir.Find(dir, -1)
	}
	c = folder(c, dir, err)
	if c.Status == Fail {
		c.Detail += "; no change is kept, and none can be restored"
	}
	return c
}

// PDFCache checks the folder of compiled PDFium, which owndir.Compiled names.
func PDFCache(dir string, err error) Check {
	c := Check{Name: NamePDFCache}
	if dir == "" && err == nil {
		c.Status, c.Detail = Skip, "the system names no folder for caches: PDFium is compiled for each process that reads PDFs"
		return c
	}
	if err == nil {
		_, err = os.Stat(dir)
	}
	c = folder(c, dir, err)
	if c.Status == Fail { // PDFs are read all the same
		c.Status, c.Detail = Warn, c.Detail+"; PDFium is compiled for each process that reads PDFs"
	}
	return c
}

// folder checks one of fsmcp's own folders. err is the result of a look at it.
func folder(c Check, dir string, err error) Check {
	untrusted := (*owndir.Error)(nil)
	switch {
	case errors.As(err, &untrusted):
		c.Status, c.Detail = Fail, untrusted.Error()
		// It does not name chown: that would make a planted file count.
		c.Remedy = fmt.Sprintf("Remove %s, or run chmod go-w on it if everything in it is yours.", untrusted.Path)
		return c
	case errors.Is(err, fs.ErrNotExist):
		return missing(c, dir)
	case err != nil:
		c.Status, c.Detail = Fail, fmt.Sprintf("%s cannot be read: %v", dir, cause(err))
		c.Remedy = "Make it a folder that you own and may read and write."
		return c
	}
	if _, err := writable(dir); err != nil {
		c.Status, c.Detail = Fail, fmt.Sprintf("%s %v", dir, err)
		c.Remedy = fmt.Sprintf("Run chmod u+rwx on %s, or look whether its disk is mounted read-only.", dir)
		return c
	}
	c.Status, c.Detail = OK, fmt.Sprintf("%s: %s, yours and writable", dir, bytes(sizeOf(dir)))
	return c
}

// missing says whether a folder that is not there can be made.
func missing(c Check, dir string) Check {
	above := filepath.Dir(dir)
	for {
		info, err := os.Stat(above)
		if err == nil && !info.IsDir() {
			c.Status, c.Detail = Fail, fmt.Sprintf("%s cannot be made: %s is not a folder", dir, above)
			c.Remedy = fmt.Sprintf("Remove or rename %s.", above)
			return c
		}
		if err == nil || above == filepath.Dir(above) {
			break
		}
		above = filepath.Dir(above)
	}
	if _, err := writable(above); err != nil {
		c.Status, c.Detail = Fail, fmt.Sprintf("%s cannot be made: %s %v", dir, above, err)
		c.Remedy = fmt.Sprintf("Make %s writable for you.", above)
		return c
	}
	c.Status, c.Detail = OK, dir+": not there yet, made when it is needed"
	return c
}

// sizeOf adds up the sizes of a folder's files. What cannot be looked at counts nothing.
func sizeOf(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // the rest still counts
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}
