package lsp

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// maxReported bounds the problems that one answer names.
const maxReported = 10

// Report returns the sentences on new problems, and on those that were named and are gone, in
// at most room bytes. It is "" if there is nothing to say. It waits for nothing.
func (c *Client) Report(room int) string {
	readable := c.readable()
	if len(readable) == 0 {
		return ""
	}
	folders := c.o.Folders()
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	left := maxReported
	for _, p := range c.comparable() {
		if room < minRoom {
			break
		}
		f := p.findings(readable)
		text, named := f.text(folders, left, room)
		if text == "" || len(text) > room {
			continue
		}
		left -= len(named)
		for _, n := range named {
			p.files[n.path].markReported(n)
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

// comparable returns the processes whose problems can be compared with the base: the server
// has reported on the text before a change.
func (c *Client) comparable() []*process {
	all := slices.DeleteFunc(slices.Collect(maps.Values(c.processes)), func(p *process) bool { return p.run == nil || !p.run.based || p.run.basing })
	slices.SortFunc(all, func(a, b *process) int {
		return cmp.Or(cmp.Compare(a.server.Name, b.server.Name), cmp.Compare(a.root, b.root))
	})
	return all
}

// readable asks, without the lock, which of the files with problems may be read.
func (c *Client) readable() map[string]bool {
	c.mu.Lock()
	var paths []string
	for _, p := range c.comparable() {
		for path, f := range p.files { // those of the session's documents in any case
			if f.differs && p.upToDate(f) && (len(paths) < maxDecided || f.isDocument()) {
				paths = append(paths, path)
			}
		}
	}
	c.mu.Unlock()
	if paths == nil {
		return nil
	}
	readable := make(map[string]bool, len(paths))
	for _, path := range paths {
		readable[path] = c.o.Readable(path)
	}
	return readable
}

// upToDate reports whether the problems of a file are those of its last text, as far as they
// are known. The caller holds the lock.
func (p *process) upToDate(f *file) bool {
	return !f.open || !f.pending() && (f.published >= f.version || !p.behind)
}

// findings are the problems of one server that an answer is to name.
type findings struct {
	server string
	added  []problem
	gone   []problem // that an answer has named
}

// findings compares the problems of all files with the base. The caller holds the lock.
func (p *process) findings(readable map[string]bool) findings {
	f := findings{server: fsys.Printable(p.server.Name)}
	for path, may := range readable {
		if file := p.files[path]; file != nil && p.upToDate(file) {
			added, gone := file.update()
			if may {
				f.added, f.gone = append(f.added, added...), append(f.gone, gone...)
			}
		}
	}
	order := func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(a.path, b.path),
			cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Character, b.at.Character), cmp.Compare(a.message, b.message))
	}
	slices.SortFunc(f.added, order)
	f.added = slices.Compact(f.added)
	slices.SortFunc(f.gone, order)
	return f
}

// text returns the sentences on the findings and the problems that they name.
func (f findings) text(folders []string, most, room int) (text string, named []problem) {
	var lines []string
	if n := len(f.gone); n > 0 {
		line := fmt.Sprintf("%s no longer reports in %s: %s", f.server, f.gone[0].name(folders), f.gone[0].message)
		if n > 1 || len(line) > room/2 {
			line = fmt.Sprintf("%s no longer reports %d %s that it reported before.", f.server, n, phrase.Plural(n, "problem", "problems"))
		}
		lines = append(lines, line)
		room -= len(line) + 1
	}
	if len(f.added) > 0 {
		head := fmt.Sprintf("%s reports %s:", f.server, counts(f.added))
		room -= len(head) + minRoom/4
		lines = append(lines, head)
		for _, n := range f.added[:min(len(f.added), most)] {
			line := n.line(folders)
			if room -= len(line) + 1; room < 0 {
				break
			}
			lines, named = append(lines, line), append(named, n)
		}
		switch more := len(f.added) - len(named); {
		case len(named) == 0:
			lines[len(lines)-1] = strings.TrimSuffix(head, ":") + "."
		case more > 0:
			lines = append(lines, fmt.Sprintf("and %d more", more))
		}
	}
	return strings.Join(lines, "\n"), named
}

// counts says how many errors and warnings are new. Errors come first.
func counts(added []problem) string {
	errors := sort.Search(len(added), func(i int) bool { return added[i].severity != severityError })
	var parts []string
	if errors > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", errors, phrase.Plural(errors, "new error", "new errors")))
	}
	if warnings := len(added) - errors; warnings > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", warnings, phrase.Plural(warnings, "new warning", "new warnings")))
	}
	return strings.Join(parts, " and ")
}

// name returns the file's name, relative to the first workspace folder, as in calls, if it
// lies there.
func (n problem) name(folders []string) string {
	if len(folders) > 0 {
		if rel, ok := fsys.Below(folders[0], n.path); ok && rel != "" {
			return fsys.InSentence(filepath.ToSlash(rel))
		}
	}
	return fsys.InSentence(n.path)
}

// line names a problem: "main.go:12:5: undefined: x".
func (n problem) line(folders []string) string {
	if n.severity == severityWarning {
		n.message = "warning: " + n.message
	}
	return fmt.Sprintf("%s:%d:%d: %s", n.name(folders), n.at.Line+1, n.at.Character+1, n.message)
}

// offNotice says that a server is not started again.
func offNotice(server, root string, starts int) string {
	return fmt.Sprintf("The language server %s ended by itself or hung %d times in %s and stays off until fsmcp is restarted. Changes are made as before.",
		fsys.InSentence(server), starts, fsys.InSentence(root))
}
