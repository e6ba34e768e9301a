package archtest

import (
	"go/ast"
	"maps"
	"slices"
	"testing"
)

// slashed has the files that may import "path", each with what it holds in the form with
// slashes. Any other name is the system's own: on Windows "path" finds no folder in it.
var slashed = map[string]string{
	"internal/access/elsewhere.go":        "the end of a name that another system spells",
	"internal/conformance/table.go":       "the table's names",
	"internal/fsys/memory_linux.go":       "control groups of Linux",
	"internal/fsys/path.go":               "an argument, before it becomes a name",
	"internal/nameglob/nameglob.go":       "the matcher's form of a name",
	"internal/perm/name.go":               "the rules' form of a name",
	"internal/search/explain.go":          "names below the start of a search",
	"internal/media/office/archive.go":    "names in archives",
	"internal/search/filter/documents.go": "names below the start of a search",
	"internal/search/filter/filter.go":    "names below the start of a search",
	"internal/search/grep.go":             "names below the start of a search",
	"internal/search/ignore.go":           "names below the start of a search",
	"internal/search/walk.go":             "names below the start of a search",
	"internal/server/roots.go":            "file: URLs",
	"internal/tools/find/glob.go":         "glob patterns",
}

// TestPathIsForSlashes finds functions for names with slashes in files that handle names of the
// system.
func TestPathIsForSlashes(t *testing.T) {
	unused := maps.Clone(slashed)
	for dir, p := range packages(t) {
		for i, file := range p.files {
			if !slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"path"` }) {
				continue
			}
			at := dir + "/" + p.names[i]
			if _, ok := slashed[at]; !ok {
				t.Errorf(`%s imports "path", which is wrong for names of Windows: use fsys.Join, DirOf and BaseOf, or path/filepath`, at)
			}
			delete(unused, at)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(unused)) {
		t.Errorf(`%s does not import "path"`, at)
	}
}
