package fsys

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"syscall"
)

// FolderNameFault is the part of FolderFault that is known without a look at the disk.
func FolderNameFault(name string) string {
	switch {
	case name == "":
		return "has an empty name"
	case strings.Contains(name, "${") && regexp.MustCompile(`\$\{[^{}]*\}`).MatchString(name):
		return "is a variable that the client has not replaced"
	}
	return ""
}

// FolderFault returns why an absolute name cannot be a workspace directory, as the rest of a
// sentence about it; "" if it can, or if the system does not say.
func FolderFault(name string) string {
	if why := FolderNameFault(name); why != "" {
		return why
	}
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		return ""
	case err == nil:
		return "is not a folder"
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return ""
	case regexp.MustCompile(`%\w+%`).MatchString(name): // an ordinary name as well, so not refused above
		return "is a variable that the client has not replaced"
	}
	return "does not exist"
}
