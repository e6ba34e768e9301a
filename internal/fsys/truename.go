//go:build !linux || fsys_portable

package fsys

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// A lookup's name is as the caller or a link spelt it. The true name is that of the object: on a
// volume that folds names each segment as its folder lists it, and on Windows the long one, on
// the drive that the name leads to. Rules, records, locks and the history go by it. A name is
// true on Linux as it is, so nothing of this is built there.
//
// A trueNamer returns the stamp of an absolute name, which is no link, and the object's true
// name.
type trueNamer func(name string) (Stamp, string, error)

// RealName returns the true name, without links, of what an absolute name leads to.
func RealName(name string) (string, error) {
	if known, err := finalNameOf(name); known != "" || err != nil {
		return known, err
	}
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	if known, err := systemName(name); err == nil {
		name = known
	}
	return name, nil
}

// asSpelt is the trueNamer of a system whose names have one spelling.
func asSpelt(name string) (Stamp, string, error) {
	stamp, err := Lstat(name)
	return stamp, name, err
}

// bySteps returns a name with each segment as entry returns it, given the true name of its
// folder.
func bySteps(name string, windows bool, entry func(folder, segment string) string) string {
	at := rootOf(name, windows)
	for segment := range strings.SplitSeq(name[len(at):], string(separator(windows))) {
		if segment != "" {
			at = joinName(at, entry(at, segment), windows)
		}
	}
	return at
}

// asListed returns the name under which a folder lists what a segment names there: that very
// one if it is listed, else one that differs in case and normal form and names the same object.
// It returns the segment if there is none.
func asListed(folder, segment string) string {
	dir, err := os.Open(folder)
	if err != nil {
		return segment
	}
	defer dir.Close()
	wanted, err := Lstat(joinName(folder, segment, onWindows))
	if err != nil {
		return segment
	}
	found, folded := segment, glob.FoldStrict(segment)
	for {
		names, err := dir.Readdirnames(500)
		for _, name := range names {
			if name == segment {
				return segment
			}
			if glob.FoldStrict(name) != folded {
				continue
			}
			if stamp, err := Lstat(joinName(folder, name, onWindows)); err == nil && stamp.SameFile(wanted) {
				found = name
			}
		}
		if err != nil {
			return found
		}
	}
}
