package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// linuxWords are programs and options that macOS does not have or reads otherwise, and
// places that it does not have.
var linuxWords = regexp.MustCompile(`sed -i|stat -c|touch -d|du -|exec script |setpriv|unshare|/proc/|/dev/(full|shm)|mount-tmpfs|resident-at-most|nohup`)

// On macOS those scripts are left out, too, that need something of Linux by their text, and
// those that differ on Windows because a name has another case or is not UTF-8: the volumes
// of macOS are alike in that. No script has run on macOS yet.
func init() {
	table, err := differsOnWindows()
	if err != nil {
		panic(err)
	}
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	for _, file := range files {
		name := scriptName(file)
		b, _ := os.ReadFile(file)
		if word := linuxWords.Find(b); word != nil {
			differs[name] = "it needs " + string(word) + " of Linux"
		}
		if strings.HasPrefix(table[name], "case") || strings.Contains(name, "not_utf8") {
			differs[name] = "names ignore case there, and are UTF-8"
		}
	}
}
