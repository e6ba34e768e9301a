package owndir

import (
	"slices"
	"strings"
)

// The rights to a file or folder by which its bytes can become others (source: the access
// mask of Windows), without those that only change its attributes.
const (
	readData   = 0x1
	writeData  = 0x2 // in a folder: make a file
	appendData = 0x4 // in a folder: make a folder
	execute    = 0x20
	deleteIn   = 0x40
	deleteIt   = 0x1_0000
	writeDAC   = 0x4_0000
	writeOwner = 0x8_0000
	allRights  = 0x1000_0000
	writeAny   = 0x4000_0000
	readAny    = 0x8000_0000

	replaceRights = deleteIn | deleteIt | writeDAC | writeOwner | allRights
	writeRights   = replaceRights | writeData | appendData | writeAny
	readRights    = readData | execute | readAny
)

// ace is an entry of an access list that allows its account the rights of mask. Entries that
// deny are not looked at.
type ace struct {
	account string // a SID
	mask    uint32
}

// The accounts that could change everything anyway: Administrators, SYSTEM and the installer
// of Windows (source: well-known SIDs).
var powerful = []string{"S-1-5-32-544", "S-1-5-18", "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"}

// Accounts that stand for the owner: OWNER RIGHTS, and CREATOR OWNER of an entry that is
// only inherited.
var forOwner = []string{"S-1-3-4", "S-1-3-0"}

// foreign returns why another account than those of mine could use the rights, as the rest
// of a sentence; "" if none could. An empty list allows nothing; one that is missing
// is given as an entry for everyone.
func foreign(owner string, list []ace, mine []string, rights uint32) string {
	if !slices.Contains(mine, owner) {
		return "belongs to another user, " + owner
	}
	for _, e := range list {
		if e.mask&rights != 0 && !slices.Contains(mine, e.account) && !slices.Contains(forOwner, e.account) && !isOneApp(e.account) {
			if e.mask&writeRights == 0 {
				return "is open to other users, " + e.account
			}
			return "may be written by other users, " + e.account
		}
	}
	return ""
}

// isOneApp reports whether an account is one package of the user's own, as the Store
// installs it, and not all packages.
func isOneApp(account string) bool {
	for _, prefix := range []string{"S-1-15-2-", "S-1-15-3-"} {
		if rest, ok := strings.CutPrefix(account, prefix); ok && strings.Count(rest, "-") >= 6 {
			return true
		}
	}
	return false
}
