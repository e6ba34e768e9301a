package disk

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/settings"
)

// A user's settings file that everyone may write, or in a folder that everyone may write, is
// not the user's own, and no file of a user is an administrator's.
func TestOwned(t *testing.T) {
	name := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	allow := func(path, list string) {
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
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	own := "(A;;FA;;;" + user.User.Sid.String() + ")(A;;FA;;;SY)"
	foreign := func(level perm.Level) string {
		return Owned("")(settings.SettingsFile{Name: name, Level: level}, nil).Foreign
	}
	for _, path := range []string{name, filepath.Dir(name)} {
		allow(name, own)
		allow(filepath.Dir(name), own)
		if why := foreign(perm.User); why != "" {
			t.Errorf("own: %s", why)
		}
		allow(path, own+"(A;;FA;;;WD)")
		if foreign(perm.User) == "" {
			t.Errorf("everyone may write %s", path)
		}
	}
	if Read(name).Safe {
		t.Error("a user's file is an administrator's")
	}
}
