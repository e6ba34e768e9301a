package owndir

import (
	"io/fs"
	"path/filepath"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Check returns an *Error unless the user, Administrators or SYSTEM owns a file and no other
// account may write it. It looks at the name: the folder above must have been checked.
func Check(path string, _ fs.FileInfo) error { return check(path, accounts(), writeRights) }

// CheckStat is Check for a name alone. If private, no other account may even look into the
// folder.
func CheckStat(path string, _, _ uint32, private bool) error {
	if private {
		return check(path, accounts(), writeRights|readRights)
	}
	return check(path, accounts(), writeRights)
}

// CheckManaged returns an *Error unless only administrators may write a file, and replace it
// in its folder. In C:\ProgramData every user may make files of their own.
func CheckManaged(path string) error {
	if err := check(path, powerful, writeRights); err != nil {
		return err
	}
	return check(filepath.Dir(path), powerful, replaceRights)
}

// accounts are the SIDs of the user and of those that could change everything anyway.
var accounts = sync.OnceValue(func() []string {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return powerful
	}
	return append([]string{user.User.Sid.String()}, powerful...)
})

// user returns the user's SID.
func user() string { return accounts()[0] }

// Private returns the security descriptor of a folder that this user, Administrators and
// SYSTEM alone may use, with all that is made in it. The folder above, as the temporary one
// may be, can be open to others: nothing is inherited from there.
var Private = sync.OnceValues(func() (*windows.SECURITY_DESCRIPTOR, error) {
	list := "D:P"
	for _, account := range []string{user(), "SY", "BA"} {
		list += "(A;OICI;FA;;;" + account + ")"
	}
	return windows.SecurityDescriptorFromString(list)
})

// check returns an *Error if another account than those of mine could use rights to a file.
func check(path string, mine []string, rights uint32) error {
	found, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return &fs.PathError{Op: "look at the owner of", Path: path, Err: err}
	}
	owner, _, err := found.Owner()
	if err != nil || owner == nil {
		return &Error{path, "has no known owner"}
	}
	list, err := allowed(found)
	if err != nil {
		return &Error{path, "has an access list that cannot be read"}
	}
	if why := foreign(owner.String(), list, mine, rights); why != "" {
		return &Error{path, why}
	}
	return nil
}

// allowed returns the entries of an access list that allow something. A file without a list
// allows everyone everything.
func allowed(from *windows.SECURITY_DESCRIPTOR) (list []ace, err error) {
	acl, _, err := from.DACL()
	if err == windows.ERROR_OBJECT_NOT_FOUND || err == nil && acl == nil {
		return []ace{{"S-1-1-0", allRights}}, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range uint32(acl.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(acl, i, &entry); err != nil {
			return nil, err
		}
		if entry.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 {
			continue
		}
		const denied, deniedObject, deniedCallback, deniedCallbackObject = 1, 6, 10, 12 // winnt.h
		switch entry.Header.AceType {
		case windows.ACCESS_ALLOWED_ACE_TYPE:
			sid := (*windows.SID)(unsafe.Pointer(&entry.SidStart))
			list = append(list, ace{sid.String(), uint32(entry.Mask)})
		case denied, deniedObject, deniedCallback, deniedCallbackObject:
		default: // its SID lies elsewhere
			list = append(list, ace{"an entry of another kind", uint32(entry.Mask)})
		}
	}
	return list, nil
}
