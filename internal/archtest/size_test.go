package archtest

import (
	"go/ast"
	"go/token"
	"testing"
)

// Bounds on one type and on one package. A package is cut where a concept ends, at any
// number of lines.
const (
	maxMethods  = 30 // of a type; a method with a twin for another system counts once
	maxExported = 60 // functions, types and variables of a package; constants come with their type
)

// TestMethods keeps each type small enough to hold in mind.
func TestMethods(t *testing.T) {
	for dir, p := range packages(t) {
		for name, methods := range p.methods() {
			within(t, dir+"."+name, len(methods), maxMethods, "methods")
		}
	}
}

// TestExported keeps what each package offers small enough to look through.
func TestExported(t *testing.T) {
	for dir, p := range packages(t) {
		within(t, dir, len(p.exported()), maxExported, "exported names")
	}
}

// within compares one count with its bound.
func within(t *testing.T, name string, n, most int, of string) {
	t.Helper()
	if n > most {
		t.Errorf("%s has %d %s, more than %d", name, n, of, most)
	}
}

// methods returns the names of the methods of each type.
func (p *pkg) methods() map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for _, file := range p.files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			name := receiver(f.Recv.List[0].Type)
			if all[name] == nil {
				all[name] = make(map[string]bool)
			}
			all[name][f.Name.Name] = true
		}
	}
	return all
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	}
	return e.(*ast.Ident).Name
}

// exported returns the package's exported functions, types and variables.
func (p *pkg) exported() map[string]bool {
	all := make(map[string]bool)
	add := func(names ...*ast.Ident) {
		for _, n := range names {
			if n.IsExported() {
				all[n.Name] = true
			}
		}
	}
	for _, file := range p.files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				if f.Recv == nil {
					add(f.Name)
				}
				continue
			}
			for _, spec := range decl.(*ast.GenDecl).Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					if decl.(*ast.GenDecl).Tok == token.VAR {
						add(spec.Names...)
					}
				}
			}
		}
	}
	return all
}
