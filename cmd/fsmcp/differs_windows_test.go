package main

import (
	"cmp"
	"os"
	"path/filepath"
)

// differs names the scripts that do not run on Windows, as a table and their own text say.
var differs = notNative()

// notNative returns the scripts that do not run on Windows itself: those of the table, and
// those that need a program of Unix, with the program.
func notNative() map[string]string {
	out, err := differsOnWindows()
	if err != nil {
		panic(err)
	}
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	for _, file := range files {
		b, _ := os.ReadFile(file)
		if program := unixProgram(string(b)); program != "" {
			out[scriptName(file)] = cmp.Or(out[scriptName(file)], "it needs "+program)
		}
	}
	return out
}
