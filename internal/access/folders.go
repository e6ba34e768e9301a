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

// Folder is a workspace directory: its absolute name, "" if the command line has an empty
// word there, and the name that links lead to.
type Folder struct{ Name, Real string }

// Unserved returns why a name is not served: the directory that it lies in is not there, or
// none is. It looks at the disk each time, so that a directory that is made later is served.
func Unserved(folders []Folder, name string) error {
	var above, first *UnservedError
	served := len(folders) == 0
	for _, f := range folders {
		inside := f.Name != "" && (fsys.Within(f.Name, name) || fsys.Within(f.Real, name))
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
