package places

import (
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// Every protected name is in the tables, and none is
// there in a form that folding would never give.
func TestTables(t *testing.T) {
	for w := range dirs {
		if w[0] != '.' {
			t.Errorf("%q would be overlooked", w)
		}
	}
	for _, set := range []map[string]bool{dirs, files} {
		for w := range set {
			if glob.FoldStrict(w) != w || strings.Contains(w, "/") {
				t.Errorf("%q is no folded name", w)
			}
		}
	}
	for _, w := range paths {
		if n := strings.Count(w, "/") + 1; glob.FoldStrict(w) != w || w[0] != '.' || Start(w) != n || Start(w+"/x") != n || Start(w+"x") != 0 {
			t.Errorf("%q is not found", w)
		}
	}
	if len(dirs) != 22 || len(files) != 43 || len(paths) != 4 {
		t.Errorf("%d directories, %d files, %d paths", len(dirs), len(files), len(paths))
	}
}
