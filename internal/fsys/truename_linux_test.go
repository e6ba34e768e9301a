//go:build fsys_portable

package fsys

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/volumetest"
)

func TestBySteps(t *testing.T) {
	long := map[string]string{
		`C:\PROGRA~1`: "Program Files", `C:\Program Files\AVER~4EM.TEX`: "a very long name.text", `C:\proj`: "Proj",
		"/A": "a", "/a/CAFE\u0301": "caf\u00e9",
	}
	for _, tt := range []struct {
		windows    bool
		name, want string
	}{
		{true, `C:\PROGRA~1\AVER~4EM.TEX`, `C:\Program Files\a very long name.text`},
		{true, `C:\proj\a~1.txt`, `C:\Proj\a~1.txt`},
		{true, `C:\`, `C:\`},
		{false, "/A/CAFE\u0301/x", "/a/caf\u00e9/x"},
		{false, "/", "/"},
	} {
		got := bySteps(tt.name, tt.windows, func(folder, segment string) string {
			if name := long[joinName(folder, segment, tt.windows)]; name != "" {
				return name
			}
			return segment
		})
		if got != tt.want {
			t.Errorf("%s is %s, not %s", tt.name, got, tt.want)
		}
	}
}

// On a volume that folds case and normal form a file has one true name, whatever it is asked by;
// the names that it was asked by stay beside it.
func TestTrueName(t *testing.T) {
	y := yard{t, volumetest.Folding(t)}
	y.file("Stra\u00dfe/Caf\u00e9.txt", "coffee")
	y.file("other", "other")
	y.link("link", "STRASSE/CAFE\u0301.TXT")
	y.link("folder", "strasse")
	byListing := &Resolver{trueName: func(name string) (Stamp, string, error) {
		stamp, err := Lstat(name)
		return stamp, bySteps(name, false, asListed), err
	}}
	const true1 = "Stra\u00dfe/Caf\u00e9.txt"
	for asked, want := range map[string]string{
		true1: true1, "STRASSE/cafe\u0301.TXT": true1, "link": true1, "LINK": true1, "folder/CAF\u00c9.txt": true1,
		"strasse": "Stra\u00dfe", "strasse/New.txt": "Stra\u00dfe/New.txt", "STRASSE/a/B": "Stra\u00dfe/a/B", "folder/x": "Stra\u00dfe/x", "OTHER": "other",
	} {
		target, err := y.resolve(byListing, asked)
		if err != nil || target.Path != y.at(want) || target.Names[0] != y.at(asked) || !slices.Contains(target.Names, y.at(want)) {
			t.Errorf("%s: %v, %q of %q", asked, err, target.Path, target.Names)
		}
		if target.Kind != Regular {
			continue
		}
		if text, err := y.read(target); err != nil || !strings.HasPrefix(text, "c") && want == true1 {
			t.Errorf("%s: %q, %v", asked, text, err)
		}
	}
	// Control: by its spelling the file has as many names as it is asked by.
	bySpelling := &Resolver{trueName: asSpelt}
	if target, err := y.resolve(bySpelling, "STRASSE/cafe\u0301.TXT"); err != nil || target.Path == y.at(true1) {
		t.Errorf("by its spelling: %q, %v", target.Path, err)
	}
	// A file that is gone while its name is looked for keeps the spelling.
	if got := asListed(y.dir, "GONE"); got != "GONE" {
		t.Errorf("a missing name is listed as %q", got)
	}
	// A second link is another name of the file, and stays it.
	if err := os.Link(y.at("other"), y.at("another")); err == nil {
		if target, err := y.resolve(byListing, "ANOTHER"); err != nil || target.Path != y.at("another") {
			t.Errorf("of two links: %q, %v", target.Path, err)
		}
	} else {
		t.Logf("a second link is NOT TESTED: %v", err)
	}
}
