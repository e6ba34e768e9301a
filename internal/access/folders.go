package access

import (
	"fmt"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// UnservedError: the workspace directory that a call would work in is not there, and is not
// made.
type UnservedError struct {
	Dir  string // as it was named
	Why  string // the rest of a sentence about Dir
	Only bool   // no workspace directory is there
}

func (e *UnservedError) Error() string { return e.Dir + " " + e.Why }

// Folder is a workspace directory.
type Folder struct {
	Name string // absolute, "" if the command line has an empty word there
	real string // the name that links lead to
	sane bool   // no fault is in the name
}

// NewFolder returns a workspace directory; real is its name without links.
func NewFolder(name, real string) Folder {
	return Folder{Name: name, real: real, sane: fsys.FolderNameFault(name) == ""}
}

func (f Folder) contains(name string) bool {
	return f.Name != "" && (fsys.Within(f.Name, name) || fsys.Within(f.real, name))
}

// served reports whether a file that exists shows that all directories around it do, and that
// there is one: Unserved then has nothing to say.
func served(folders []Folder, name string) (shown bool) {
	for _, f := range folders {
		if !f.contains(name) {
			continue
		}
		if !f.sane || name == f.Name || name == f.real {
			return false
		}
		shown = true
	}
	return shown
}

// Unserved returns why a name is not served: the directory that it lies in is not there, or
// none is. It looks at the disk each time, so that a directory that is made later is served.
func Unserved(folders []Folder, name string) error {
	var above, first *UnservedError
	served := len(folders) == 0
	for _, f := range folders {
		inside := f.contains(name)
		if served && !inside {
			continue
		}
		switch why := fsys.FolderFault(f.Name); {
		case why == "":
			served = true
		case inside:
			above = &UnservedError{Dir: f.Name, Why: why}
		case first == nil:
			first = &UnservedError{Dir: f.Name, Why: why}
		}
	}
	switch {
	case above != nil:
		above.Only = !served
		return above
	case served:
		return nil
	}
	first.Only = true
	return first
}

// FolderFaults returns a warning for each directory that is not there.
func FolderFaults(folders []Folder) (warnings []string) {
	for _, f := range folders {
		if why := fsys.FolderFault(f.Name); why != "" {
			warnings = append(warnings, fmt.Sprintf("the workspace folder %q %s: calls below it are refused, and it is not made", f.Name, why))
		}
	}
	return warnings
}
