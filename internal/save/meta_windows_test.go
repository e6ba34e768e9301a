package save

import (
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// describe returns a file's access list and its attributes.
func describe(t *testing.T, path string) (sddl string, attributes uint32) {
	t.Helper()
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := windows.UTF16PtrFromString(path)
	if err == nil {
		attributes, err = windows.GetFileAttributes(wide)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sd.String(), attributes
}

// A change keeps the access list and the attributes of the file. (Wine keeps those of these
// that this test sets; it keeps no creation time, streams or extended attributes.)
func TestMetadataKept(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old")
	wide, _ := windows.UTF16PtrFromString(path)
	fresh, _ := describe(t, path)
	sd, err := windows.SecurityDescriptorFromString("D:P(A;;FA;;;BA)(A;;0x1301ff;;;WD)")
	if err != nil {
		t.Fatal(err)
	}
	dacl, _, err := sd.DACL()
	if err == nil {
		err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, dacl, nil)
	}
	if err == nil {
		err = windows.SetFileAttributes(wide, windows.FILE_ATTRIBUTE_HIDDEN|windows.FILE_ATTRIBUTE_SYSTEM)
	}
	if err != nil {
		t.Fatal(err)
	}
	sddl, attributes := describe(t, path)
	if sddl == fresh {
		t.Fatal("the access list is that of a new file: the test proves nothing")
	}
	if _, err := whole(d.save, path, "newer"); err != nil {
		t.Fatal(err)
	}
	d.want("f", "newer")
	const kept = windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM
	gotList, got := describe(t, path)
	if gotList != sddl || got&kept != attributes&kept || got&kept == 0 {
		t.Errorf("%s %#x, before %s %#x (new files: %s)", gotList, got, sddl, attributes, fresh)
	}
	if !strings.Contains(sddl, "0x1301ff") && testing.Verbose() {
		t.Log("the system has changed the list itself: ", sddl)
	}
}
