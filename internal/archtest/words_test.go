package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// bannedNames are words that no identifier and no file name may contain, each with a
// standard term for the same thing.
var bannedNames = map[string]string{
	"admitted":  "allowed",
	"ballot":    "similarity",
	"blinded":   "without events",
	"clerk":     "worker loop",
	"darkroom":  "decoder",
	"desk":      "buffer pool",
	"developed": "decoded",
	"dice":      "random source",
	"door":      "access",
	"edition":   "snapshot",
	"exhibit":   "old copy",
	"eyes":      "watcher",
	"furnish":   "fill",
	"gallery":   "render queue",
	"giveway":   "yield CPU",
	"historian": "history command",
	"house":     "service",
	"hug":       "padding",
	"keeper":    "history recorder",
	"keeping":   "record in the history",
	"ledger":    "pending events",
	"leftwards": "right to left",
	"lull":      "idle",
	"overtaken": "changed meanwhile",
	"patience":  "timeout",
	"relief":    "hand-over",
	"retouched": "changed by a hook",
	"rulebook":  "current settings",
	"seat":      "reader hand-off",
	"sideways":  "rotated",
	"stranger":  "unknown argument",
	"teller":    "logger",
	"telling":   "report",
	"told":      "reported",
	"trail":     "path chain",
	"underlay":  "background",
	"undo":      "restore",
	"undoing":   "restore",
	"undone":    "restored",
	"unsaid":    "unknown",
	"vouch":     "ensure",
}

// bannedPhrases are words of comments that name a person where a program is meant, or
// that put the object before the subject.
var bannedPhrases = regexp.MustCompile(`(?i)\b(who|whom|whoever|somebody|nobody|someone|no one|of which|such as are|(is|are) (what|how|who)|rulebook|darkroom|lull)\b`)

// TestWords keeps words out that only this project uses, and sentences that are hard to
// read. The rules are in CONTRIBUTING.md.
func TestWords(t *testing.T) {
	for dir := range packages(t) {
		for _, found := range wordsOf(t, dir) {
			t.Error(found)
		}
	}
}

// TestScriptWords does the same for the scripts: their names and their comments.
func TestScriptWords(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	if len(files) == 0 {
		t.Fatal("no scripts")
	}
	for _, name := range files {
		for _, w := range wordsIn(strings.TrimSuffix(filepath.Base(name), ".txtar")) {
			if instead := bannedNames[w]; instead != "" {
				t.Errorf("%q in the name of %s: say %s", w, name, instead)
			}
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(text), "\n-- ")
		for line := range strings.Lines(script) {
			if comment, ok := strings.CutPrefix(line, "# "); ok && bannedPhrases.MatchString(comment) {
				t.Errorf("%q in %s: %s", bannedPhrases.FindString(comment), name, comment)
			}
		}
	}
}

// wordsOf lists the banned words of one package, tests included.
func wordsOf(t *testing.T, dir string) (found []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*.go"))
	for _, name := range files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "archtest/words_test.go") {
			continue // its list has them all
		}
		base := filepath.Base(name)
		report := func(p token.Pos, format string, a ...any) {
			found = append(found, fmt.Sprintf("%s/%s:%d: ", dir, base, set.Position(p).Line)+fmt.Sprintf(format, a...))
		}
		check := func(p token.Pos, name string) {
			for _, w := range wordsIn(name) {
				if instead := bannedNames[w]; instead != "" {
					report(p, "%q in the name %s: say %s", w, name, instead)
				}
			}
		}
		check(file.Package, strings.TrimSuffix(base, ".go"))
		for _, id := range declared(file) {
			check(id.Pos(), id.Name)
		}
		for _, group := range file.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, w := range bannedPhrases.FindAllString(text, -1) {
				report(group.Pos(), "%q in a comment (begin with the subject, and name the program that acts): %s", w, text)
			}
		}
	}
	return found
}

// declared returns the names that a file declares. A name that is only used is reported
// where it is declared.
func declared(file *ast.File) (ids []*ast.Ident) {
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if id, ok := e.(*ast.Ident); ok {
				ids = append(ids, id)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ValueSpec:
			ids = append(ids, n.Names...)
		case *ast.Field:
			ids = append(ids, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		}
		return true
	})
	return ids
}

// wordsIn splits a name at underscores, digits and capital letters.
func wordsIn(name string) (words []string) {
	start := 0
	for i, r := range name {
		if i > start && (r == '_' || unicode.IsDigit(r) || unicode.IsUpper(r) && !unicode.IsUpper(rune(name[i-1]))) {
			words = append(words, strings.ToLower(strings.Trim(name[start:i], "_")))
			start = i
		}
	}
	return append(words, strings.ToLower(strings.Trim(name[start:], "_")))
}
