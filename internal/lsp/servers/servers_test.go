package servers

import (
	"strings"
	"testing"
)

// Every known server can be started, and no two are for the same file.
func TestKnown(t *testing.T) {
	taken := make(map[string]string)
	for _, s := range Known() {
		if s.Name == "" || len(s.Command) == 0 || s.Language == "" || s.Package == "" || len(s.RootMarkers) == 0 || len(s.Languages) == 0 {
			t.Errorf("%+v lacks something", s)
		}
		if found, ok := ByName(s.Name); !ok || found.Command[0] != s.Command[0] {
			t.Errorf("%s is not found: %+v", s.Name, found)
		}
		for ext := range s.Languages {
			if !strings.HasPrefix(ext, ".") || taken[ext] != "" {
				t.Errorf("%s of %s is taken by %q", ext, s.Name, taken[ext])
			}
			taken[ext] = s.Name
		}
	}
	if _, ok := ByName("emacs"); ok {
		t.Error("emacs is known")
	}
}
