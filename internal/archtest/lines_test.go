package archtest

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLines prints the code lines of each package: lines that are neither blank nor
// comments, without tests. Nothing bounds them; TestMethods and TestExported bound what a
// reader must hold in mind.
func TestLines(t *testing.T) {
	total := 0
	for dir := range packages(t) {
		n := codeLines(t, dir)
		total += n
		if testing.Verbose() {
			t.Logf("%6d %s", n, dir)
		}
	}
	t.Logf("%6d lines of code", total)
}

// codeLines counts the lines of a package's files, tests aside, that hold a token.
func codeLines(t *testing.T, dir string) (n int) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*.go"))
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n += linesOf(src)
	}
	return n
}

// linesOf counts the lines of one file that hold a token.
func linesOf(src []byte) (n int) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, nil, 0)
	last := 0
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue // inserted at the end of a line
		}
		first := max(file.Line(pos), last+1)
		end := file.Line(pos) + strings.Count(text, "\n")
		n += max(end-first+1, 0)
		last = max(last, end)
	}
}
