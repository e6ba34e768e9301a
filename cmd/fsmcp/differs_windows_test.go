package main

import (
	"os"
	"path/filepath"
	"strings"
)

// differs names the scripts that are not in testdata/windows_scripts.txt, which lists those
// that passed as a Windows program under Wine without sh and other programs of unix.
var differs = notListed()

func notListed() map[string]string {
	listed, _ := os.ReadFile(filepath.Join("..", "..", "testdata", "windows_scripts.txt"))
	has := make(map[string]bool)
	for _, name := range strings.Fields(string(listed)) {
		has[name] = true
	}
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	left := make(map[string]string)
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".txtar"); !has[name] {
			left[name] = "it needs sh or another program of unix, or has never passed as a Windows program"
		}
	}
	return left
}
