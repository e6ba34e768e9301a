package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestRefusals checks the table of refusals and each call of refusal.New: the form of a row,
// its slug, that it has at most three sentences (the opening of a file that was not read or has
// changed counts as one), that something uses it, and the number of its facts. ("go vet" checks
// their types, since New is a wrapper of Sprintf.)
func TestRefusals(t *testing.T) {
	const dir = "internal/refusal"
	all := packages(t)
	consts := constantsOf(all[dir].files)
	form := regexp.MustCompile(`^([a-z_]+)( [0-9]+)?: (?s:(.+))$`)
	sentence := regexp.MustCompile(`\S[.?](\s|$)`)
	slugs, rows := make(map[string]bool), make(map[string]string)
	for name, text := range consts {
		if strings.HasPrefix(name, "Slug") {
			slugs[text] = true
		}
	}
	for name, text := range consts {
		m := form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		rows[name] = text
		short := strings.NewReplacer(consts["unread"], "Read it. ", consts["modified"], "Read it.").Replace(m[3])
		if n := len(sentence.FindAllString(short, -1)); n > 3 {
			t.Errorf("the refusal %s has %d sentences, more than 3", name, n)
		}
		if !slugs[m[1]] {
			t.Errorf("the refusal %s has the slug %s, which no constant Slug… of package refusal has", name, m[1])
		}
	}
	if len(rows) < 100 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	used := make(map[string]bool)
	for at, p := range all {
		for _, file := range p.files {
			for name, facts := range refused(file, rows, at == dir) {
				used[name] = true
				for _, n := range facts {
					checkFacts(t, name, rows[name], n)
				}
			}
		}
	}
	for name := range rows {
		if !used[name] {
			t.Errorf("nothing uses the refusal %s: return refusal.New(refusal.%[1]s, …), or remove it from the table", name)
		}
	}
}

// checkFacts compares the verbs of a row with a number of facts.
func checkFacts(t *testing.T, name, row string, facts int) {
	t.Helper()
	if row == "" {
		t.Errorf("%s is no row of the table", name)
		return
	}
	if s := fmt.Sprintf(row, make([]any, facts)...); regexp.MustCompile(`%!(\w?\((BADINDEX|MISSING)|\(EXTRA)`).MatchString(s) {
		t.Errorf("the verbs of the refusal %s do not fit the %d facts that New gets: %s", name, facts, s)
	}
}

// refused returns the names that a file gives to refusal.New, with the numbers of facts that
// come with each. inside says that the file is one of package refusal. There a row that is
// not an argument of New or is is handed on, and gets one fact.
func refused(file *ast.File, rows map[string]string, inside bool) map[string][]int {
	all := make(map[string][]int)
	nameOf := func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.SelectorExpr:
			if x, ok := e.X.(*ast.Ident); ok && x.Name == "refusal" {
				return e.Sel.Name
			}
		case *ast.Ident:
			if inside {
				return e.Name
			}
		}
		return ""
	}
	given := make(map[ast.Node]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST
		case *ast.CallExpr:
			at := map[string]int{"New": 0, "is": 1} // the argument that is the row
			if i, ok := at[nameOf(n.Fun)]; ok {
				row := nameOf(n.Args[i])
				given[n.Args[i]] = true
				if _, literal := n.Args[i].(*ast.BasicLit); !inside || literal || rows[row] != "" {
					all[row] = append(all[row], len(n.Args)-1-i)
				}
			}
		case *ast.SelectorExpr:
			given[n.Sel] = true
		case *ast.Ident:
			if inside && !given[n] && rows[n.Name] != "" {
				all[n.Name] = append(all[n.Name], 1)
			}
		}
		return true
	})
	return all
}

// constantsOf returns the values of the string constants of some files.
func constantsOf(files []*ast.File) map[string]string {
	exprs := make(map[string]ast.Expr)
	for _, file := range files {
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, spec := range d.Specs {
					s := spec.(*ast.ValueSpec)
					for i, value := range s.Values {
						exprs[s.Names[i].Name] = value
					}
				}
			}
		}
	}
	var valueOf func(e ast.Expr) string
	valueOf = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			s, _ := strconv.Unquote(e.Value)
			return s
		case *ast.BinaryExpr:
			return valueOf(e.X) + valueOf(e.Y)
		case *ast.CallExpr:
			return valueOf(e.Args[0])
		case *ast.Ident:
			return valueOf(exprs[e.Name])
		}
		return ""
	}
	values := make(map[string]string)
	for name, e := range exprs {
		values[name] = valueOf(e)
	}
	return values
}
