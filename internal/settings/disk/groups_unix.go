//go:build unix

package disk

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// The files of users and groups (passwd(5), group(5)). A directory service
// is not asked.
var (
	passwdFile = "/etc/passwd"
	groupFile  = "/etc/group"
)

// privateGroup reports whether a group is the primary one of a user, and no other user but
// root is in it, as where each user has a group of their own (umask 002).
//
// A user without an entry, as in a container, has such a group if it has the user's number
// and no entry, either, or if it is root's.
func privateGroup(gid, uid int) bool {
	name, primary, known := "", os.Getegid(), false
	users := table(passwdFile, 4)
	for _, u := range users {
		if u[2] == strconv.Itoa(uid) && !known {
			name, known = u[0], true
			primary, _ = strconv.Atoi(u[3])
		}
	}
	if gid != primary {
		return false
	}
	listed := false
	for _, g := range table(groupFile, 4) {
		if g[2] != strconv.Itoa(gid) {
			continue
		}
		listed = true
		others := strings.FieldsFunc(g[3], func(r rune) bool { return r == ',' || r == ' ' })
		if slices.ContainsFunc(others, func(member string) bool { return member != name && member != "root" }) {
			return false
		}
	}
	for _, u := range users {
		if u[3] == strconv.Itoa(gid) && u[2] != strconv.Itoa(uid) && u[2] != "0" {
			return false
		}
	}
	return known || gid == 0 || gid == uid && !listed
}

// table returns the lines of a file that have so many fields at least.
func table(file string, fields int) (rows [][]string) {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if row := strings.Split(strings.TrimSpace(line), ":"); len(row) >= fields {
			rows = append(rows, row)
		}
	}
	return rows
}
