// Package conformance holds the permission table of the specification, for the
// tests of every layer that has to agree with it: the decision alone, and the
// whole program. It promises to read the table as it stands and to refuse one
// that it cannot make sense of.
//
// It decides nothing, and knows the words of the table only.
package conformance

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Home is the home directory that the table speaks of, and Project the
// workspace directory, which it calls P.
const (
	Home    = "/home/u"
	Project = "/home/u/proj"
)

// Row is one case of the table.
type Row struct {
	Number int
	Title  string
	Rules  []Rule
	// AddDirs are the project's additionalDirectories.
	AddDirs []string
	Mode    string
	Tool    string
	// Names are those of the file: as asked first, then where that link leads.
	Names []string
	// Verdict is allow, ask or deny, and By what decides: a rule's text, perhaps
	// with words before it, or a phrase.
	Verdict, By string
}

// Rule is a rule, the list it stands in (deny, ask or allow), and where.
type Rule struct {
	List, Text string
	Source     Source
}

// Source is a settings file by its absolute path.
type Source string

// The settings files of the table.
const (
	ClaudeProject Source = Project + "/.claude/settings.json"
	OwnProject    Source = Project + "/.fsmcp/settings.json"
	ClaudeUser    Source = Home + "/.claude/settings.json"
	Settings      Source = "/opt/team/settings.json" // named by --settings
)

// FolderLink reports whether a folder on the way is the link, and not the file's own name.
func (r Row) FolderLink() bool {
	return len(r.Names) > 1 && path.Base(r.Names[0]) == path.Base(r.Names[1])
}

//go:embed table.md
var table string

var (
	number   = regexp.MustCompile(`^[0-9]+$`)
	rules    = regexp.MustCompile("(deny|ask|allow) `([^`]*)`(?: \\[(user|settings)\\])?")
	addDirs  = regexp.MustCompile(`additionalDirectories: ([^)]+)`)
	names    = regexp.MustCompile("`([^`]*)`")
	verdicts = regexp.MustCompile(`^\*\*(allow|ask|deny)\*\*$`)
)

// Rows reads the table.
func Rows() ([]Row, error) {
	var out []Row
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !number.MatchString(cells[0]) {
			continue // the head
		}
		if len(cells) != 8 || !verdicts.MatchString(cells[6]) {
			return nil, fmt.Errorf("not a row of the table: %q", line)
		}
		r := Row{Title: cells[1], Mode: cells[3], Tool: cells[4], Verdict: strings.Trim(cells[6], "*"), By: cells[7]}
		r.Number, _ = strconv.Atoi(cells[0]) // it is digits
		if r.Number != len(out)+1 {
			return nil, fmt.Errorf("row %d comes after row %d", r.Number, len(out))
		}
		r.Rules = rulesOf(r.Number, cells[2])
		for _, m := range addDirs.FindAllStringSubmatch(cells[2], -1) {
			r.AddDirs = append(r.AddDirs, m[1])
		}
		if len(r.Rules) == 0 && !strings.HasPrefix(cells[2], "none") {
			return nil, fmt.Errorf("row %d: no rules in %q", r.Number, cells[2])
		}
		for _, m := range names.FindAllStringSubmatch(cells[5], -1) {
			r.Names = append(r.Names, strings.Replace(m[1], "P/", Project+"/", 1))
		}
		out = append(out, r)
	}
	return out, nil
}

// rulesOf reads the cell of the rules. Rules of the project stand in Claude
// Code's file but where bare tool names are to count.
func rulesOf(row int, cell string) (out []Rule) {
	for _, m := range rules.FindAllStringSubmatch(cell, -1) {
		src := ClaudeProject
		switch {
		case m[3] == "user":
			src = ClaudeUser
		case m[3] == "settings":
			src = Settings
		case row >= 46 && row <= 49:
			src = OwnProject
		}
		out = append(out, Rule{List: m[1], Text: m[2], Source: src})
	}
	return out
}
