package phrase

import (
	"strings"
	"testing"
)

func TestGuardedFile(t *testing.T) {
	for _, c := range []struct{ system, name, want string }{
		{"windows", `C:\Users\u\Documents\a.txt`, "Controlled Folder Access"},
		{"windows", `c:/users/u/OneDrive - Firm/x/a.txt`, "Controlled Folder Access"},
		{"windows", `C:\Users\u\Documents`, ""},
		{"windows", `C:\Users\u\src\Documents\a.txt`, ""},
		{"windows", `D:\Documents\a.txt`, ""},
		{"darwin", "/Users/u/Desktop/a.txt", "Privacy & Security"},
		{"darwin", `/Users/u\Desktop/x/a.txt`, ""},
		{"linux", "/Users/u/Desktop/a.txt", ""},
	} {
		if got := GuardedFile(c.system, c.name); (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: %q", c.system, c.name, got)
		}
	}
}
