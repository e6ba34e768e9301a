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
	if !enabled {
		return Check{NameHistory, Skip, "turned off by history.enabled or history.maxSize: no change can be restored", ""}
	}
	if stateDir == "" {
		return Check{NameHistory, Fail, "the home directory is unknown: no change is kept, and none can be restored", "Set HOME or XDG_STATE_HOME."}
	}
	dir := filepath.Join(stateDir, history.Folder)
	err := owndir.Find(stateDir, 1)
	if err == nil {
		err = owndir.Find(dir, -1)
	}
	c := folder(NameHistory, dir, err)
	if c.Status == Fail {
		c.Detail += "; no change is kept, and none can be restored"
	}
	return c
}

// PDFCache checks the folder of compiled PDFium, which owndir.Compiled names.
func PDFCache(dir string, err error) Check {
	if dir == "" && err == nil {
		return Check{NamePDFCache, Skip, "the system names no folder for caches: PDFium is compiled for each process that reads PDFs", ""}
	}
	if err == nil {
		_, err = os.Stat(dir)
	}
	c := folder(NamePDFCache, dir, err)
	if c.Status == Fail { // PDFs are read all the same
		c.Status, c.Detail = Warn, c.Detail+"; PDFium is compiled for each process that reads PDFs"
	}
	return c
}

// folder checks one of fsmcp's own folders. err is the result of a look at it.
func folder(name, dir string, err error) Check {
	untrusted := (*owndir.Error)(nil)
	switch {
	case errors.As(err, &untrusted):
		// It does not name chown: that would make a planted file count.
		return Check{name, Fail, untrusted.Error(), fmt.Sprintf("Remove %s, or run chmod go-w on it if everything in it is yours.", untrusted.Path)}
	case errors.Is(err, fs.ErrNotExist):
		return missing(name, dir)
	case err != nil:
		return Check{name, Fail, fmt.Sprintf("%s cannot be read: %v", dir, cause(err)), "Make it a folder that you own and may read and write."}
	}
	if _, err := writable(dir); err != nil {
		return Check{name, Fail, fmt.Sprintf("%s %v", dir, err), fmt.Sprintf("Run chmod u+rwx on %s, or look whether its disk is mounted read-only.", dir)}
	}
	return Check{name, OK, fmt.Sprintf("%s: %s, yours and writable", dir, bytes(sizeOf(dir))), ""}
}

// missing says whether a folder that is not there can be made.
func missing(name, dir string) Check {
	above := filepath.Dir(dir)
	info, err := os.Stat(above)
	for err != nil && above != filepath.Dir(above) {
		above = filepath.Dir(above)
		info, err = os.Stat(above)
	}
	if err == nil && !info.IsDir() {
		return Check{name, Fail, fmt.Sprintf("%s cannot be made: %s is not a folder", dir, above), fmt.Sprintf("Remove or rename %s.", above)}
	}
	if _, err := writable(above); err != nil {
		return Check{name, Fail, fmt.Sprintf("%s cannot be made: %s %v", dir, above, err), fmt.Sprintf("Make %s writable for you.", above)}
	}
	return Check{name, OK, dir + ": not there yet, made when it is needed", ""}
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
