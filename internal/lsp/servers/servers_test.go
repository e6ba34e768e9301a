package servers

import (
	"os"
	"slices"
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

// TestDocumented compares the table with that of the page.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/language-servers.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string][]string) // by name: the columns
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); len(cells) == 4 && strings.HasPrefix(line, "| `") {
			rows[strings.Trim(cells[0], "| `")] = cells
		}
	}
	words := func(cell string) []string {
		all := strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune("` |\n", r) })
		slices.Sort(all)
		return all
	}
	for _, s := range Known() {
		row := rows[s.Name]
		if row == nil {
			t.Errorf("the page lacks %s", s.Name)
			continue
		}
		var files []string
		for ext := range s.Languages {
			files = append(files, ext)
		}
		slices.Sort(files)
		if !slices.Equal(words(row[1]), files) {
			t.Errorf("%s: files %q", s.Name, row[1])
		}
		markers := slices.Sorted(slices.Values(s.RootMarkers))
		if !slices.Equal(words(row[2]), markers) {
			t.Errorf("%s: a project has %q", s.Name, row[2])
		}
		if strings.Trim(row[3], "` |\n") != s.Package {
			t.Errorf("%s: installed by %q", s.Name, row[3])
		}
	}
	if len(rows) != len(Known()) {
		t.Errorf("the page has %d servers", len(rows))
	}
}
