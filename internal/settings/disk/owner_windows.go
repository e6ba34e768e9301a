package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/settings"
)

const doNotBlock = 0

// onlyAdministratorsWrite reports whether a file belongs to administrators and only they may
// write or replace it.
func onlyAdministratorsWrite(name string, _ fs.FileInfo) bool {
	return owndir.CheckManaged(name) == nil
}

// Owned returns the function that finds out whether a settings file is the user's own, by
// the owners and access lists of the file and its folder. It does not look at a project's
// files, nor at the folders above.
func Owned(string) func(f settings.SettingsFile, more []int) settings.Ownership {
	return func(f settings.SettingsFile, _ []int) (found settings.Ownership) {
		if f.Level.InProject() {
			return found
		}
		if _, err := os.Lstat(f.Name); err != nil {
			return found // reading it says so
		}
		for _, name := range []string{f.Name, filepath.Dir(f.Name)} {
			switch err, own := owndir.CheckStat(name, 0, 0, false), (*owndir.Error)(nil); {
			case errors.As(err, &own):
				return settings.Ownership{Foreign: own.Error(), Remedy: "Look at what the file says, then take the rights of other users away: in its properties, or with icacls."}
			case err != nil:
				found.Caution = "the owner of " + name + " cannot be looked at"
			}
		}
		return found
	}
}
