//go:build unix

package disk

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/settings"
)

// Owned returns the function that finds out whether a settings file is the user's own. It
// looks at the file, the folders that it is in, and those of each link on the way: up to
// the home, and up to the root for other files. Of a project's file it looks at the
// owners alone, up to the workspace directory, as git does (git-config(1), safe.directory).
// more are user ids that count as the user's own.
func Owned(home string) func(f settings.SettingsFile, more []int) settings.Ownership {
	return func(f settings.SettingsFile, more []int) settings.Ownership {
		c := &check{owners: append([]int{0, os.Geteuid()}, more...), top: home}
		if f.Level.InProject() {
			c.top, c.ownerAlone = f.Anchor, true
		}
		c.walk(f.Name, maxLinks)
		return c.found
	}
}

// check checks one file.
type check struct {
	owners     []int
	top        string // the check of a file below it begins here
	ownerAlone bool
	found      settings.Ownership
}

// walk looks at each part of a name, from the top to the file. It reports false once the
// file is known to be foreign.
func (c *check) walk(name string, links int) bool {
	at, rest := c.split(name)
	info, err := os.Stat(at)
	if err != nil || !c.own(at, info) {
		return err != nil
	}
	for rest != "" {
		part, after, _ := strings.Cut(rest, "/")
		switch rest = after; part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
		default:
			at = filepath.Join(at, part)
		}
		info, err := os.Lstat(at)
		if err != nil {
			return true // reading it says so
		}
		if !c.own(at, info) {
			return false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := os.Readlink(at)
		if err != nil || links == 0 {
			return true
		}
		if !filepath.IsAbs(target) { // not joined by text: ".." is above what a link leads to
			target = filepath.Dir(at) + "/" + target
		}
		return c.walk(target+"/"+rest, links-1)
	}
	return true
}

// split returns the folder that a look begins at, without links, and the way from there.
func (c *check) split(name string) (from, rest string) {
	if c.top != "" {
		top := Real(c.top)
		for _, dir := range []string{c.top, top} {
			if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/"); ok {
				return top, rest
			}
		}
	}
	return "/", strings.TrimPrefix(name, "/")
}

// own reports whether a file or folder is the user's own, and notes why not.
func (c *check) own(at string, info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	if uid := int(st.Uid); !slices.Contains(c.owners, uid) {
		c.found.Foreign = fmt.Sprintf("%s belongs to another user, uid %d", at, uid)
		c.found.Remedy = fmt.Sprintf("Start fsmcp with --trust-owner %d if that user may decide what fsmcp does.", uid)
		return false
	}
	if c.ownerAlone || info.Mode()&fs.ModeSymlink != 0 {
		return true
	}
	by := ""
	switch mode := uint32(st.Mode); { //nolint:unconvert // not so wide everywhere
	case mode&0o022 == 0, info.IsDir() && mode&syscall.S_ISVTX != 0: // in a sticky folder users replace only their own files
		return true
	case mode&0o002 != 0:
		by = "other users"
	case !privateGroup(int(st.Gid), os.Geteuid()):
		by = fmt.Sprintf("a group with other members, gid %d", st.Gid)
	case hasAccessList(at):
		by = "other users, by an access list"
	default:
		return true
	}
	if system := madeUpModes(uint64(st.Dev)); system != "" { //nolint:unconvert // not so wide everywhere
		c.found.Caution = fmt.Sprintf("the modes of %s are made up by its file system, %s: its owner alone was looked at", at, system)
		return true
	}
	c.found.Foreign = fmt.Sprintf("%s may be written by %s, mode %04o", at, by, st.Mode&0o7777)
	c.found.Remedy = fmt.Sprintf("Look at what the file says, then run: chmod go-w %s", at)
	return false
}
