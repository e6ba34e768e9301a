package owndir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"
)

// allow makes a protected access list the only one of a file, in SDDL.
func allow(t *testing.T, path, list string) {
	t.Helper()
	made, err := windows.SecurityDescriptorFromString("D:P" + list)
	if err != nil {
		t.Fatal(err)
	}
	acl, _, err := made.DACL()
	if err == nil {
		err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, acl, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A folder that everyone may write is refused, and so is a file in it.
func TestAccessLists(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "own")
	file := filepath.Join(dir, "sub", "file")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	me := accounts()[0]
	full := "(A;;FA;;;" + me + ")(A;;FA;;;SY)(A;;FA;;;BA)"
	names := []string{dir, filepath.Dir(file), file}
	for _, name := range names {
		allow(t, name, full)
	}
	wantNone := func(what string) {
		t.Helper()
		if err := Find(dir, -1); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantNone("own")
	for _, name := range names {
		allow(t, name, full+"(A;;FR;;;WD)")
		wantNone("others may read " + name)
		allow(t, name, full+"(A;;FA;;;WD)")
		own := (*Error)(nil)
		if err := Find(dir, -1); !errors.As(err, &own) || own.Path != name {
			t.Errorf("others may write %s: %v", name, err)
		}
		if err := CheckStat(name, 0, 0, false); !errors.As(err, &own) {
			t.Errorf("others may write %s: %v", name, err)
		}
		allow(t, name, full)
	}
	allow(t, dir, full+"(A;;FR;;;WD)")
	if err := CheckStat(dir, 0, 0, true); !errors.As(err, new(*Error)) {
		t.Errorf("others may read a private folder: %v", err)
	}
	if err := CheckManaged(file); !errors.As(err, new(*Error)) {
		t.Errorf("a user's file is no administrator's: %v", err)
	}
	allow(t, dir, full)
	root, err := MakeSub(dir, "made")
	if err != nil {
		t.Fatal(err)
	}
	root.Close()
	wantNone("made")
}
