package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Installed is a client that was found on this machine.
type Installed struct {
	Name  string `json:"client"`
	Title string `json:"title"`
	// File and Line are where its entry of fsmcp is; "" and 0 if it has none.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// ListInstalled says which clients were found, and what to do next.
func ListInstalled(list []Installed) (lines []string) {
	wide := 0
	for _, in := range list {
		wide = max(wide, len(in.Name))
	}
	for _, in := range list {
		has := "has no fsmcp yet"
		if in.File != "" {
			has = fmt.Sprintf("has fsmcp in %s:%d", in.File, in.Line)
		}
		lines = append(lines, fmt.Sprintf("%-*s  %s %s", wide, in.Name, in.Title, has))
	}
	if len(list) == 0 {
		lines = append(lines, "No client was found on this machine.")
	}
	return append(lines, "fsmcp config CLIENT --write enters fsmcp. CLIENT is one of "+strings.Join(Names(), ", ")+".")
}

// FindInstalled returns the clients that have a file or its folder here, or whose program look
// finds. dirs are the folders that may hold a project's files.
func FindInstalled(s UserFolders, dirs []string, look func(program string) (string, error)) (list []Installed) {
	seen := make(map[string]bool) // several clients read one file: the first of them counts
	for _, c := range table {
		here := Installed{Name: c.Name, Title: c.Title}
		found := false
		for _, src := range c.Sources(s, dirs) {
			if seen[src.File] {
				continue
			}
			seen[src.File] = true
			text, err := ReadFile(src.File)
			if err != nil {
				folder := filepath.Dir(src.File)
				info, missing := os.Stat(folder)
				found = found || missing == nil && info.IsDir() && folder != s.Home && !slices.Contains(dirs, folder) && folder != s.ConfigHome
				continue
			}
			entries, _ := c.Registered(src, text) // a broken file is the doctor's
			found = found || len(entries) > 0 || src.File == c.File(s, "") || src.File == c.plainFile(s, "")
			if here.File == "" && len(entries) > 0 {
				here.File, here.Line = src.File, entries[0].Line
			}
		}
		if !found && c.command != nil {
			_, err := look(c.Command(Launch{})[0])
			found = err == nil
		}
		if found {
			list = append(list, here)
		}
	}
	return list
}
