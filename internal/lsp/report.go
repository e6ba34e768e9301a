package lsp

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// maxReported bounds the problems that one answer names.
const maxReported = 10

// fileProblem is a problem with its file.
type fileProblem struct {
	problem
	path string
}

// findings are the news of one server.
type findings struct {
	p    *process
	news []fileProblem
	gone []fileProblem // that an answer named
}

// Report returns the sentences on new problems, and on those that were named and are gone, in
// at most room bytes. It is "" where there is nothing to say. It waits for nothing.
func (c *Client) Report(room int) string {
	if !c.active.Load() || room < minRoom {
		return ""
	}
	folders := c.o.Folders()
	readable := c.readableNews()
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	left := maxReported
	for _, p := range c.sorted() {
		if !p.comparable() || room < minRoom {
			continue
		}
		f := p.findings(readable)
		text, named := f.words(folders, left, room)
		if text == "" || len(text) > room {
			continue
		}
		left -= len(named)
		for _, n := range named {
			p.files[n.path].markReported(n.problem)
		}
		parts = append(parts, text)
		room -= len(text) + 1
	}
	return strings.Join(parts, "\n")
}

// maxDecided bounds the files that are decided on for one answer; the others follow with the
// next one.
const maxDecided = 200

// minRoom is the least room in which new problems are named.
const minRoom = 200

// sorted returns the processes in the order of their names.
func (c *Client) sorted() []*process {
	return slices.SortedFunc(maps.Values(c.processes), func(a, b *process) int {
		return cmp.Or(cmp.Compare(a.server.Name, b.server.Name), cmp.Compare(a.root, b.root))
	})
}

// comparable reports whether the problems that are known can be compared with the base: not
// before the server has reported on the text before a change.
func (p *process) comparable() bool { return p.run != nil && p.run.based && !p.run.basing }

// readableNews asks, without the lock, which of the files with problems may be read.
func (c *Client) readableNews() map[string]bool {
	c.mu.Lock()
	paths := make(map[string]bool)
	for _, p := range c.processes {
		if !p.comparable() {
			continue
		}
		for path := range p.documents {
			if f := p.files[path]; f != nil && f.dirty && p.upToDate(path) {
				paths[path] = false
			}
		}
		for path, f := range p.files {
			if f.dirty && len(paths) < maxDecided && p.upToDate(path) {
				paths[path] = false
			}
		}
	}
	c.mu.Unlock()
	for path := range paths {
		paths[path] = c.o.Readable(path)
	}
	return paths
}

// upToDate reports whether the problems of a file are those of its last text, as far as they
// are known. The caller holds the lock.
func (p *process) upToDate(path string) bool {
	d := p.documents[path]
	return d == nil || !d.open || d.next == nil && d.base == nil && (d.published >= d.version || p.settled == p.delivered)
}

// findings compares the problems of all files with the base. The caller holds the lock.
func (p *process) findings(readable map[string]bool) findings {
	f := findings{p: p}
	for path, file := range p.files {
		may, looked := readable[path]
		if !looked || !p.upToDate(path) {
			continue
		}
		news, gone := file.compare()
		if !may {
			continue
		}
		for _, n := range news {
			f.news = append(f.news, fileProblem{n, path})
		}
		for _, b := range gone {
			if b.reported {
				f.gone = append(f.gone, fileProblem{b.problem, path})
			}
		}
	}
	order := func(a, b fileProblem) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(a.path, b.path), a.at.compare(b.at), cmp.Compare(a.message, b.message))
	}
	slices.SortFunc(f.news, order)
	slices.SortFunc(f.gone, order)
	return f
}

// words returns the text on the findings and the problems that it names.
func (f findings) words(folders []string, most, room int) (text string, named []fileProblem) {
	name := fsys.Printable(f.p.server.Name)
	var lines []string
	if n := len(f.gone); n > 0 {
		line := fmt.Sprintf("%s no longer reports in %s: %s", name, f.gone[0].name(folders), f.gone[0].message)
		if n > 1 || len(line) > room/2 {
			line = fmt.Sprintf("%s no longer reports %d %s that it reported before.", name, n, phrase.Plural(n, "problem", "problems"))
		}
		lines = append(lines, line)
		room -= len(line) + 1
	}
	if len(f.news) > 0 {
		head := fmt.Sprintf("%s reports %s:", name, counts(f.news))
		room -= len(head) + minRoom/4
		lines = append(lines, head)
		for _, n := range f.news[:min(len(f.news), most)] {
			line := n.line(folders)
			if room -= len(line) + 1; room < 0 {
				break
			}
			lines, named = append(lines, line), append(named, n)
		}
		switch more := len(f.news) - len(named); {
		case len(named) == 0:
			lines[len(lines)-1] = strings.TrimSuffix(head, ":") + "."
		case more > 0:
			lines = append(lines, fmt.Sprintf("and %d more", more))
		}
	}
	return strings.Join(lines, "\n"), named
}

// counts says how many errors and warnings are new.
func counts(news []fileProblem) string {
	errors := 0
	for _, n := range news {
		if n.severity == severityError {
			errors++
		}
	}
	var parts []string
	if errors > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", errors, phrase.Plural(errors, "new error", "new errors")))
	}
	if warnings := len(news) - errors; warnings > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", warnings, phrase.Plural(warnings, "new warning", "new warnings")))
	}
	return strings.Join(parts, " and ")
}

// name returns the file's name, relative to the first workspace folder, as in calls, if it
// lies there.
func (n fileProblem) name(folders []string) string {
	name := n.path
	if len(folders) > 0 && fsys.Within(folders[0], n.path) {
		if rel, err := filepath.Rel(folders[0], n.path); err == nil {
			name = filepath.ToSlash(rel)
		}
	}
	return fsys.InSentence(name)
}

// line names a problem: "main.go:12:5: undefined: x".
func (n fileProblem) line(folders []string) string {
	word := ""
	if n.severity == severityWarning {
		word = "warning: "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s", n.name(folders), n.at.Line+1, n.at.Character+1, word, n.message)
}

// offNotice says that a server is not started again.
func offNotice(server, root string, starts int) string {
	return fmt.Sprintf("The language server %s ended by itself or hung %d times in %s and stays off until fsmcp is restarted. Changes are made as before.",
		fsys.InSentence(server), starts, fsys.InSentence(root))
}
