package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhereToFind checks that the files and functions of ARCHITECTURE.md exist.
func TestWhereToFind(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	item := regexp.MustCompile("^(?:- |[0-9]+\\. )(.*?): (`[^`]+\\.go` .*)$")
	rows, seen := 0, make(map[string]bool)
	for line := range strings.Lines(string(page)) {
		if !strings.Contains(line, ".go`") || strings.HasPrefix(line, "Each line") {
			continue
		}
		m := item.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Errorf("no line of the form \"- BEHAVIOUR: `FILE` `NAME`\": %s", line)
			continue
		}
		behaviour := m[1]
		if rows++; seen[behaviour] {
			t.Errorf("%s: two lines", behaviour)
		}
		seen[behaviour] = true
		for place := range strings.SplitSeq(m[2], ";") {
			words := quoted.FindAllStringSubmatch(place, -1)
			if len(words) < 2 {
				t.Errorf("%s: no file with names in %q", behaviour, place)
				continue
			}
			names := make(map[string]bool)
			declaredIn(t, filepath.Join(root, filepath.FromSlash(words[0][1])), names)
			for _, name := range words[1:] {
				if !names[name[1]] {
					t.Errorf("%s: there is no %s in %s", behaviour, name[1], words[0][1])
				}
			}
		}
	}
	if rows < 100 {
		t.Errorf("the list has %d behaviours, not 100", rows)
	}
}

// TestLayersAreInOrder checks that a package imports only packages of earlier lines of the
// layers in ARCHITECTURE.md, or of its own line.
func TestLayersAreInOrder(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := make(map[string]int)
	quoted := regexp.MustCompile("`([^`]+)`")
	_, layers, _ := strings.Cut(string(page), "## Layers")
	layers, _, _ = strings.Cut(layers, "\n## ")
	for i, line := range strings.Split(layers, "\n") {
		packages, _, ok := strings.Cut(line, ": ")
		if !ok || !strings.HasPrefix(packages, "- ") {
			continue
		}
		for _, name := range quoted.FindAllStringSubmatch(packages, -1) {
			row[name[1]] = i
		}
	}
	if len(row) < 60 {
		t.Fatalf("only %d packages have a layer", len(row))
	}
	for dir, p := range packages(t) {
		own, listed := row[dir]
		if !listed {
			continue
		}
		for _, file := range p.files {
			for _, spec := range file.Imports {
				path, _ := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
				if at, known := row[path]; known && at > own {
					t.Errorf("%s imports %s, which is in a later line of ARCHITECTURE.md", dir, path)
				}
			}
		}
	}
}

// TestPackagesAreDescribed checks that ARCHITECTURE.md names every package.
func TestPackagesAreDescribed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for dir := range packages(t) {
		short := strings.TrimPrefix(strings.TrimPrefix(dir, "internal/"), "cmd/")
		if !strings.Contains(string(page), "`"+dir+"`") && !strings.Contains(string(page), "`"+short+"`") {
			t.Errorf("ARCHITECTURE.md does not name %s", dir)
		}
	}
}

// declaredIn adds the names of a file's functions, methods, types, constants and
// variables.
func declaredIn(t *testing.T, file string, names map[string]bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Error(err)
		return
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			names[d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names[name.Name] = true
					}
				}
			}
		}
	}
}
