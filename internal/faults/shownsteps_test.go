//go:build linux

package faults

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

func (w *shownWalk) read(f *shownFile, a args) {
	res, seen := w.call("Read", a)
	seen()
	if res.IsError {
		return
	}
	if n, ok := a["offset"].(int); ok {
		w.goOn(f, n)
	}
	if id, ok := a["cell_id"].(string); ok {
		w.again = func() { w.editCell(f, id) }
	}
	if f.kind == "notebook" {
		for _, c := range w.cellsOf(f) {
			open, end := fmt.Sprintf("<cell id=%q", c.ID), fmt.Sprintf("%s</cell id=%q>", c.text(), c.ID)
			if i := strings.Index(res.Text, open); i >= 0 && strings.Contains(res.Text[i:], end) && !strings.Contains(c.text(), "\\") && len(c.text()) > gram {
				f.cells[c.ID] = true
			}
		}
		return
	}
	w.known(f, res.First, false)
}

// goOn has the next step try for text at a line that an answer has shown, perhaps in part.
func (w *shownWalk) goOn(f *shownFile, line int) {
	all := linesOf(f.text)
	if f.kind == "notebook" || line < 1 || line > len(all) || w.rng.IntN(2) > 0 {
		return
	}
	f.near = all[line-1].start
	w.again = func() { w.editText(f, true) }
}

func (w *shownWalk) readArgs(f *shownFile) args {
	a := args{"file_path": f.path}
	total := max(1, strings.Count(f.text, "\n")+strings.Count(f.text, "\r"))
	cells := w.cellsOf(f)
	switch n := w.rng.IntN(10); {
	case n < 4:
	case len(cells) > 0 && n < 9:
		a["cell_id"] = cells[w.rng.IntN(len(cells))].ID
		if n > 4 {
			a["offset"], a["limit"] = 1+w.rng.IntN(2)*w.rng.IntN(5), 1+w.rng.IntN(6)
		}
		if n == 8 {
			a["column"], a["limit"] = 1+w.rng.IntN(2)*w.rng.IntN(300), gram+w.rng.IntN(300)
		}
	case len(cells) > 0:
		a["offset"], a["limit"] = 1+w.rng.IntN(len(cells)), 1+w.rng.IntN(3)
	case n < 7:
		a["offset"], a["limit"] = 1+w.rng.IntN(total+1), 1+w.rng.IntN(30)
	case n < 8:
		a["offset"] = 1 + w.rng.IntN(total+1)
	default:
		all := linesOf(f.text)
		if len(all) == 0 {
			break
		}
		i := w.longLine(f)
		n := utf8.RuneCountInString(f.text[all[i].start:all[i].end])
		a["offset"], a["column"] = i+1, 1+w.rng.IntN(max(1, n-gram))
		if w.rng.IntN(3) > 0 {
			a["limit"] = gram + w.rng.IntN(500)
		}
	}
	return a
}

// longLine is the number of a line, of a long one if one is met soon.
func (w *shownWalk) longLine(f *shownFile) (i int) {
	all := linesOf(f.text)
	for range 6 {
		if i = w.rng.IntN(len(all)); all[i].end-all[i].start > 500 {
			return i
		}
	}
	return i
}

func (w *shownWalk) grep(f *shownFile) {
	a := args{"pattern": w.pattern(f)}
	switch n := w.rng.IntN(10); {
	case n < 5:
		a["path"] = f.path
	case n < 7:
		a["path"] = w.p.ws
	case n < 8:
		a["glob"] = "*" + filepath.Ext(f.path)
	}
	if n := w.rng.IntN(12); n > 0 {
		a["output_mode"] = "content"
	} else if n == 0 && w.rng.IntN(2) == 0 {
		a["output_mode"] = "count"
	}
	for _, k := range []string{"-A", "-B", "-C"} {
		if w.rng.IntN(5) == 0 {
			a[k] = w.rng.IntN(6)
		}
	}
	if w.rng.IntN(3) == 0 {
		a["head_limit"] = 1 + w.rng.IntN(12)
	}
	if w.rng.IntN(4) == 0 {
		a["offset"] = w.rng.IntN(15)
	}
	if w.rng.IntN(5) == 0 {
		a["-n"] = false
	}
	if w.rng.IntN(6) == 0 {
		a["-i"] = true
	}
	if w.rng.IntN(5) == 0 {
		a["multiline"] = true
		if w.rng.IntN(2) == 0 {
			a["pattern"] = `needle[0-4](?s:.){0,60}`
		}
	}
	res, seen := w.call("Grep", a)
	seen()
	if res.IsError {
		return
	}
	for _, f := range w.files {
		if path, ok := a["path"]; ok && path == f.path || strings.Contains(res.First, filepath.Base(f.path)) {
			rows := w.rowsOf(res.First, f, a["path"] == f.path)
			w.known(f, rows, true)
			if numbers := grepNumber.FindAllStringSubmatch(rows, -1); len(numbers) > 0 {
				n, _ := strconv.Atoi(numbers[w.rng.IntN(len(numbers))][1])
				w.goOn(f, n)
			}
		}
	}
}

var grepNumber = regexp.MustCompile(`(?m)^[:-]?([0-9]+)[:-]`)

// rowsOf returns the rows of a Grep's answer that are of a file, without its name.
func (w *shownWalk) rowsOf(text string, f *shownFile, alone bool) string {
	if alone {
		return text
	}
	var rows []string
	for row := range strings.SplitSeq(text, "\n") {
		for _, name := range []string{f.path, filepath.Base(f.path)} {
			if rest, ok := strings.CutPrefix(row, name); ok && rest != "" {
				rows = append(rows, rest[1:])
			}
		}
	}
	return strings.Join(rows, "\n")
}

func (w *shownWalk) pattern(f *shownFile) string {
	switch n := w.rng.IntN(10); {
	case n < 3:
		return fmt.Sprintf("needle%d", w.rng.IntN(8))
	case n < 5:
		return "needle|same"
	case n < 6:
		return "."
	case n < 7:
		return "^.{10,60}"
	}
	if all := linesOf(f.text); len(all) > 0 {
		l := all[w.longLine(f)]
		if line := f.text[l.start:l.end]; len(line) > 40 {
			at := w.rng.IntN(len(line) - 10)
			return regexp.QuoteMeta(strings.ToValidUTF8(line[at:at+4], ""))
		}
	}
	return "needle"
}

// target is text of a file that a call is to replace.
type target struct {
	from, to int
	all      bool // wherever that text stands
	several  bool // the call does not say so
	missing  bool // old_string has a character more, so that it is nowhere
	seen     bool // it lies in a line that an answer showed whole
	line     int  // which of several places is meant; 0: the call does not say so
}

// places are all places that the call replaces.
func (g target) places(text string) (all [][2]int) {
	if !g.all {
		return [][2]int{{g.from, g.to}}
	}
	word := text[g.from:g.to]
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return all
		}
		all = append(all, [2]int{at + i, at + i + len(word)})
		at += i + len(word)
	}
}

// aim chooses what to replace, near the last edit if that is asked for.
func (w *shownWalk) aim(f *shownFile, near bool) (g target, ok bool) {
	all := linesOf(f.text)
	if len(all) == 0 {
		return g, false
	}
	n := w.rng.IntN(12)
	if near {
		n = 4
	}
	switch {
	case n < 4: // text that was seen
		if len(f.lines) == 0 {
			return g, false
		}
		known := slices.Sorted(maps.Keys(f.lines))
		line := known[w.rng.IntN(len(known))]
		if len(line) < 2*gram || strings.Count(f.text, line) != 1 {
			return g, false
		}
		at := strings.Index(f.text, line)
		g = w.within(f, lineSpan{at, at + len(line)}, 0)
		i, found := slices.BinarySearchFunc(all, at, func(l lineSpan, at int) int { return l.start - at })
		g.seen = found && all[i].end == at+len(line)
	case n < 8: // beside what was seen of a line
		i := w.longLine(f)
		if last, _ := slices.BinarySearchFunc(all, f.near, func(l lineSpan, at int) int { return l.start - at }); n == 4 && last < len(all) {
			if i = last; w.rng.IntN(2) == 0 {
				i = max(0, min(len(all)-1, last-6+w.rng.IntN(12)))
			}
		}
		l := all[i]
		known := w.said.seen(f.text[l.start:l.end])
		edge := -1
		for tries := 0; tries < 20 && len(known) > 1; tries++ {
			at := 1 + w.rng.IntN(len(known)-1)
			for ; at < len(known) && known[at] == known[at-1]; at++ {
			}
			if at < len(known) {
				edge = at
				break
			}
		}
		g = w.within(f, l, edge)
	case n < 9: // over several lines
		i := w.rng.IntN(len(all))
		j := min(len(all)-1, i+w.rng.IntN(5))
		g.from, g.to = all[i].start, all[j].end
		if n := all[i].end - all[i].start; n > 0 {
			g.from += w.rng.IntN(n)
		}
		if n := all[j].end - all[j].start; i < j && n > 0 {
			g.to -= w.rng.IntN(n)
		}
	case n < 10 || n < 11 && w.rng.IntN(2) == 0: // a word everywhere
		word := []string{"same", fmt.Sprintf("needle%d", w.rng.IntN(8))}[w.rng.IntN(2)]
		if g.from = strings.Index(f.text, word); g.from < 0 {
			return g, false
		}
		g.to, g.all = g.from+len(word), true
	case n < 11: // a whole line
		l := all[w.longLine(f)]
		g.from, g.to = l.start, l.end
	default:
		g = w.within(f, all[w.rng.IntN(len(all))], -1)
	}
	for g.from > 0 && !utf8.RuneStart(f.text[g.from]) {
		g.from--
	}
	for g.to < len(f.text) && !utf8.RuneStart(f.text[g.to]) {
		g.to++
	}
	old := f.text[g.from:g.to]
	if old == "" || !utf8.ValidString(old) || len(old) > 200_000 || strings.HasSuffix(old, "\r") || strings.HasPrefix(old, "\n") || strings.ContainsRune(old, utf8.RuneError) {
		return g, false
	}
	if !g.all && (len(old) < 4 || strings.Count(f.text, old) != 1) {
		return g, false
	}
	switch {
	case g.all && len(g.places(f.text)) > 1:
		if g.several = w.rng.IntN(4) == 0; !g.several && !f.hooked && w.rng.IntN(2) == 0 {
			g = w.pickLine(f, g)
		}
	case !g.all && w.rng.IntN(12) == 0:
		g.missing, g.seen = true, false
	}
	return g, true
}

// pickLine chooses one of several places by its line, if no other is in it.
func (w *shownWalk) pickLine(f *shownFile, g target) target {
	places := g.places(f.text)
	p := places[w.rng.IntN(len(places))]
	lineOf := func(at int) int {
		n := 0
		for i, l := range linesOf(f.text) {
			if l.start <= at {
				n = i + 1
			}
		}
		return n
	}
	n := lineOf(p[0])
	for _, q := range places {
		if q != p && lineOf(q[0]) == n {
			return g
		}
	}
	return target{from: p[0], to: p[1], line: n}
}

// within chooses a part of a line; near an edge if that is not negative.
func (w *shownWalk) within(f *shownFile, l lineSpan, edge int) (g target) {
	n := l.end - l.start
	if n <= gram {
		return target{from: l.start, to: l.end}
	}
	if edge <= 0 {
		edge = w.rng.IntN(n)
	}
	g.from = l.start + max(0, edge-w.rng.IntN(40))
	g.to = min(l.end, g.from+gram+w.rng.IntN(60))
	return g
}

func (w *shownWalk) edit(f *shownFile) {
	if f.kind == "notebook" {
		w.editCell(f, "")
		return
	}
	w.editText(f, false)
}

// editText makes an Edit, near the last one if that is asked for.
func (w *shownWalk) editText(f *shownFile, near bool) {
	g, ok := w.aim(f, near)
	if !ok {
		w.counts["no target"]++
		return
	}
	a, now := w.editArgs(f, g)
	w.editWith(f, g, a, now, false)
}

func (w *shownWalk) editArgs(f *shownFile, g target) (a args, now string) {
	old := f.text[g.from:g.to]
	now = w.letters(gram + w.rng.IntN(40))
	if w.rng.IntN(6) == 0 && f.enc == nil && !slices.Contains([]string{"crlf", "mixed", "cr"}, f.kind) {
		for range w.rng.IntN(100) {
			now += "\n" + w.letters(gram+w.rng.IntN(80))
		}
	}
	a = args{"file_path": f.path, "old_string": old, "new_string": now}
	if g.missing {
		a["old_string"] = old + "\u00a7"
	} else if g.line > 0 {
		a["line"] = g.line
	} else if g.all && !g.several {
		a["replace_all"] = true
	} else if strings.Contains(old, "\r\n") && w.rng.IntN(2) == 0 {
		a["old_string"] = strings.ReplaceAll(old, "\r\n", "\n")
	} else if strings.ContainsAny(old, "\u201c\u201d") && w.rng.IntN(2) == 0 {
		a["old_string"] = strings.NewReplacer("\u201c", `"`, "\u201d", `"`).Replace(old)
	}
	return a, now
}

// editWith makes an Edit. invited says that the refusal before said that it passes now.
func (w *shownWalk) editWith(f *shownFile, g target, a args, now string, invited bool) {
	res, seen := w.call("Edit", a)
	w.judgeEdit(f, g, a, now, invited, res, seen)
}

func (w *shownWalk) judgeEdit(f *shownFile, g target, a args, now string, invited bool, res mcptest.Result, seen func()) {
	if g.line > 0 && !res.IsError {
		g = w.replacedByLine(f, g, now)
	}
	hidden := -1
	places := g.places(f.text)
	for _, p := range places {
		if hidden = w.said.unseen(f.text, p[0], p[1]); hidden >= 0 {
			break
		}
	}
	if res.IsError {
		seen()
		w.refusedEdit(f, g, a, now, invited, hidden >= 0, res)
		return
	}
	if g.several || g.missing {
		w.fault("Edit of %s (%s) replaced %q, which it does not name", f.path, f.kind, clip(f.text[g.from:g.to]))
	}
	if hidden >= 0 {
		w.fault("Edit of %s (%s) replaced text that was in no answer: %q at %d in %q", f.path, f.kind, clip(f.text[hidden:min(len(f.text), hidden+60)]), hidden-g.from, clip(f.text[g.from:g.to]))
	}
	if g.seen {
		w.counts["Edit of seen text passed"]++
	}
	if invited {
		w.counts["repeated call passed"]++
	}
	seen()
	want := f.text
	for _, p := range slices.Backward(places) {
		want = w.said.replaced(want, p[0], p[1], now)
	}
	w.look(f, f.hooked)
	f.restorable, f.near, f.moved = true, g.from, false
	w.again = func() { w.editText(f, true) }
	switch {
	case f.hooked && f.text != want:
		w.counts["changed by a hook"]++
	case strings.ReplaceAll(f.text, "\r\n", "\n") != strings.ReplaceAll(want, "\r\n", "\n"):
		w.fault("Edit of %s (%s) changed more than %q", f.path, f.kind, clip(a["old_string"].(string)))
	}
}

// replacedByLine finds the place that an Edit with line has replaced. It is the one in that
// line, unless the file has changed outside since an answer showed it: the line has another
// number then.
func (w *shownWalk) replacedByLine(f *shownFile, g target, now string) target {
	is := *f
	w.look(&is, false)
	for _, p := range (target{from: g.from, to: g.to, all: true}).places(f.text) {
		if f.text[:p[0]]+now+f.text[p[1]:] != is.text {
			continue
		}
		if p[0] != g.from && !f.moved {
			w.fault("Edit of %s (%s) replaced the place at %d, and line %d is at %d", f.path, f.kind, p[0], g.line, g.from)
		}
		g.from, g.to = p[0], p[1]
	}
	w.counts["Edit by line passed"]++
	return g
}

func (w *shownWalk) refusedEdit(f *shownFile, g target, a args, now string, invited, hidden bool, res mcptest.Result) {
	switch {
	case g.several || g.missing:
		w.counts["Edit of "+res.Slug+" refused"]++
	case hidden:
		w.counts["Edit of unseen text refused"]++
	case g.seen && !w.full && res.Slug != "not_unique":
		w.fault("Edit of %s (%s) refused text of a line that an answer showed whole: %q: %s", f.path, f.kind, clip(f.text[g.from:g.to]), clip(res.Text))
	}
	if invited {
		w.fault("Edit of %s (%s) refused a call that a refusal had invited again: %s", f.path, f.kind, clip(res.Text))
	}
	if res.Slug != "no_match" { // whose hint counts as nothing
		w.known(f, res.First, false)
	}
	if invites(res) && !g.several && !g.missing {
		w.again = func() { w.editWith(f, g, a, now, true) }
	}
}

// invites tells whether a refusal says that all that the call lacked counts as shown now.
func invites(res mcptest.Result) bool {
	return strings.Contains(res.First, "ounts as shown now: check it, then make the same call again") ||
		strings.Contains(res.First, "ount as shown now: check them, then make the same call again") ||
		strings.Contains(res.First, "so the same call may be made again at once")
}

func (w *shownWalk) write(f *shownFile) {
	if w.rng.IntN(12) == 0 { // a new file
		w.serial++
		g := &shownFile{path: w.p.file(fmt.Sprintf("new%d.txt", w.serial)), kind: "lf"}
		text := w.body("lf")
		_, seen := w.call("Write", args{"file_path": g.path, "content": text})
		seen()
		w.said.add(text)
		w.look(g, true)
		g.restorable = true
		w.files = append(w.files, g)
		return
	}
	kind := f.kind
	if f.size > 100_000 {
		kind = "lf"
	}
	text := w.body(kind)
	if kind == "notebook" {
		text = w.newNotebook()
	}
	if kind == "stray" || kind == "cr" {
		text = w.body("lf")
	}
	w.writeWith(f, args{"file_path": f.path, "content": text}, false)
}

func (w *shownWalk) writeWith(f *shownFile, a args, invited bool) {
	text := a["content"].(string)
	res, seen := w.call("Write", a)
	hidden := ""
	if f.kind == "notebook" {
		for _, c := range w.cellsOf(f) {
			if at := w.said.unseenCell(c.text()); at >= 0 {
				hidden = c.text()[at:]
			}
		}
	} else if at := w.said.unseen(f.text, 0, len(f.text)); at >= 0 {
		hidden = f.text[at:]
	}
	all := f.kind != "notebook" && f.kind != "stray" && len(f.rows) > 0 && len(f.rows) == len(linesOf(f.text))
	if res.IsError {
		seen()
		switch {
		case hidden != "":
			w.counts["Write over unseen text refused"]++
		case all && res.Slug != "not_encodable":
			w.fault("Write over %s (%s) refused, although answers showed all its lines: %s", f.path, f.kind, clip(res.Text))
		}
		if invited && res.Slug != "not_encodable" {
			w.fault("Write over %s (%s) refused a call that a refusal had invited again: %s", f.path, f.kind, clip(res.Text))
		}
		w.known(f, res.First, false)
		if invites(res) {
			w.again = func() { w.writeWith(f, a, true) }
		}
		return
	}
	if hidden != "" {
		w.fault("Write over %s (%s) replaced text that was in no answer: %q", f.path, f.kind, clip(hidden[:min(60, len(hidden))]))
	}
	if all {
		w.counts["Write over a file read in full passed"]++
	}
	if invited {
		w.counts["repeated call passed"]++
	}
	seen()
	w.said.add(text)
	if f.kind != "notebook" {
		f.kind = map[bool]string{true: f.kind, false: "lf"}[f.enc != nil || f.kind == "bom" || f.hooked]
	}
	for _, c := range notebookCells(text) {
		w.said.add(c.text())
	}
	w.look(f, true)
	f.restorable = true
}

// outside is another program's change.
func (w *shownWalk) outside(f *shownFile) {
	w.note("another program changes %s", f.path)
	w.counts["changed outside"]++
	f.restorable, f.moved = false, true
	if f.kind == "notebook" {
		f.untold = true
		w.put(f, w.changedNotebook(f))
		return
	}
	all := linesOf(f.text)
	if len(all) == 0 || w.rng.IntN(8) == 0 && f.size < 2<<20 {
		w.put(f, w.body(f.kind))
		return
	}
	text := f.text
	for range 1 + w.rng.IntN(3)*w.rng.IntN(8) {
		all = linesOf(text)
		l := all[w.rng.IntN(len(all))]
		switch w.rng.IntN(5) {
		case 0: // the end of the file
			text += w.letters(50) + text[l.end:min(len(text), l.end+1)]
		case 1: // a new line
			text = text[:l.start] + w.line(f.kind) + "\n" + text[l.start:]
		case 2: // one less
			if len(all) > 2 {
				text = text[:l.start] + text[min(len(text), l.end+1):]
			}
		default: // in the middle of a line, of the same size
			if n := l.end - l.start; n > 3*gram && !strings.ContainsFunc(text[l.start:l.end], func(r rune) bool { return r >= utf8.RuneSelf }) {
				at := l.start + w.rng.IntN(n-2*gram)
				text = text[:at] + w.letters(gram+6) + text[at+gram+6:]
			}
		}
	}
	if f.kind == "latin" || f.enc == nil || utf8.ValidString(text) {
		w.put(f, text)
	}
}

// restore takes back the last change of a file by the command for people.
func (w *shownWalk) restore(f *shownFile) {
	if !f.restorable {
		return
	}
	for _, k := range w.p.listed(w.t) {
		if k.Path == f.path {
			_, stderr, err := w.p.run(w.t, "history", "restore", k.ID)
			w.note("history restore %s of %s: %v %s", k.ID, f.path, err, stderr)
			if err == nil {
				w.counts["restored"]++
				f.untold = false
			}
			break
		}
	}
	if _, err := os.Stat(f.path); err != nil { // its creation was taken back
		w.files = slices.DeleteFunc(w.files, func(g *shownFile) bool { return g == f })
		return
	}
	w.look(f, true)
	f.restorable = false
}

// cancelled is a call that the client gives up at once, followed by an Edit of what it may have
// shown.
func (w *shownWalk) cancelled(f *shownFile) {
	var p *mcptest.Pending
	var err error
	if w.rng.IntN(2) == 0 {
		p, err = w.c.GoCall("Read", w.readArgs(f))
	} else {
		p, err = w.c.GoCall("Grep", args{"pattern": w.pattern(f), "path": f.path, "output_mode": "content"})
	}
	must(w.t, err)
	must(w.t, w.c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+p.ID+`}}`)))
	_, err = w.c.Request("ping", args{})
	must(w.t, err)
	w.counts["cancelled"]++
	f.untold = false // the Read may have been answered
	w.note("cancelled a call on %s", f.path)
	w.edit(f)
}

// both sends a Read and an Edit without waiting for the Read.
func (w *shownWalk) both(f *shownFile) {
	if f.kind == "notebook" {
		return
	}
	g, ok := w.aim(f, false)
	if !ok {
		return
	}
	g.seen = false // a Read may leave less of a changed file
	ra := w.readArgs(f)
	r, err := w.c.GoCall("Read", ra)
	must(w.t, err)
	a, now := w.editArgs(f, g)
	e, err := w.c.GoCall("Edit", a)
	must(w.t, err)
	w.counts["Read and Edit at once"]++
	res, seen := w.answer(e, "Edit", a)
	w.judgeEdit(f, g, a, now, false, res, seen)
	_, err = r.Result()
	must(w.t, err)
	w.hear("")
}

// editCell makes a NotebookEdit, of the cell with an id if one is given.
func (w *shownWalk) editCell(f *shownFile, id string) {
	cells := w.cellsOf(f)
	if len(cells) == 0 {
		return
	}
	i := w.rng.IntN(len(cells))
	if known := slices.IndexFunc(cells, func(c cell) bool { return f.cells[c.ID] }); known >= 0 && w.rng.IntN(2) == 0 {
		i = known
	}
	if at := slices.IndexFunc(cells, func(c cell) bool { return c.ID == id }); at >= 0 {
		i = at
	}
	a := args{"notebook_path": f.path, "cell_id": cells[i].ID}
	if w.rng.IntN(4) == 0 {
		a["cell_id"] = fmt.Sprintf("cell-%d", i)
	}
	switch n := w.rng.IntN(8); {
	case n < 5:
		a["new_source"] = w.letters(50) + "\n" + w.letters(50)
	case n < 6:
		a["edit_mode"] = "delete"
	default:
		a["edit_mode"], a["cell_type"], a["new_source"] = "insert", "code", w.letters(50)
	}
	w.editCellWith(f, cells[i], a, false)
}

func (w *shownWalk) editCellWith(f *shownFile, c cell, a args, invited bool) {
	res, seen := w.call("NotebookEdit", a)
	hidden := -1
	if a["edit_mode"] != "insert" {
		hidden = w.said.unseenCell(c.text())
	}
	if res.IsError {
		seen()
		switch {
		case hidden >= 0:
			w.counts["NotebookEdit of unseen text refused"]++
		case f.cells[c.ID]:
			w.fault("NotebookEdit of %s refused cell %s, which an answer showed: %s", f.path, c.ID, clip(res.Text))
		case invited:
			w.fault("NotebookEdit of %s refused a call that a refusal had invited again: %s", f.path, clip(res.Text))
		}
		if invites(res) {
			w.again = func() { w.editCellWith(f, c, a, true) }
		}
		return
	}
	if hidden >= 0 {
		w.fault("NotebookEdit of %s replaced text of cell %s that was in no answer: %q", f.path, c.ID, clip(c.text()[hidden:]))
	}
	if f.cells[c.ID] {
		w.counts["NotebookEdit of a seen cell passed"]++
	}
	if invited {
		w.counts["repeated call passed"]++
	}
	seen()
	if source, ok := a["new_source"].(string); ok {
		w.said.add(source)
	}
	delete(f.cells, c.ID)
	w.look(f, false)
	f.restorable = true
}
