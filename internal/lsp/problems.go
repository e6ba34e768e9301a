package lsp

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/fsmcp/fsmcp/internal/linediff"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// severity is that of a diagnostic in the protocol. Information and hints are not kept.
type severity int

const (
	severityError   severity = 1
	severityWarning severity = 2
)

// problem is a diagnostic of a file.
type problem struct {
	problemKind
	severity severity
	message  string
	at       position
	path     string
	reported bool // an answer has named it
}

// problemKind is the part of a problem that stays the same when it moves.
type problemKind struct {
	code    string
	message string // its numbers blanked
}

// report is a list of problems with the text that their lines refer to, which is "" for a
// file that is not open.
type report struct {
	text     string
	problems []problem
}

// noLine is the line of a problem that is gone.
const noLine = -1

// compare returns the problems of now that base has too, those that it has not, and those of
// base that are gone. The base is a multiset of kinds, with one exception: a problem on lines
// that were written since base is new unless the lines that they replaced had it.
func compare(base, now report) (known, added, gone []problem) {
	replaced, written := changedLines(base.text, now.text)
	type source struct {
		problemKind
		changed bool // on a line that was replaced, or is gone
	}
	left := make(map[source][]problem)
	for _, b := range base.problems {
		from := source{b.problemKind, b.at.Line == noLine || replaced.have(b.at.Line)}
		left[from] = append(left[from], b)
	}
	// take moves a problem of the same kind from base to known.
	take := func(p problem, changed bool) bool {
		from := source{p.problemKind, changed}
		if len(left[from]) == 0 {
			return false
		}
		p.reported = left[from][0].reported
		known, left[from] = append(known, p), left[from][1:]
		return true
	}
	for _, changed := range []bool{true, false} { // a line that stays takes what written ones leave
		for _, p := range now.problems {
			if written.have(p.at.Line) == changed && !take(p, changed) && (changed || !take(p, true)) {
				added = append(added, p)
			}
		}
	}
	for _, same := range left {
		gone = append(gone, same...)
	}
	return known, added, gone
}

// lineRanges are ranges of lines, each from its first line to before its last.
type lineRanges [][2]int

func (l lineRanges) have(line int) bool {
	return slices.ContainsFunc(l, func(r [2]int) bool { return r[0] <= line && line < r[1] })
}

// changedLines returns the lines of old that now replaces, and the lines that now has in
// their place; none if one of the texts is not known.
func changedLines(old, now string) (replaced, written lineRanges) {
	if old == "" || now == "" || old == now {
		return nil, nil
	}
	numbers := linediff.Number(linesOf(old), linesOf(now))
	for _, h := range linediff.Compare(numbers[0], numbers[1], maxSteps) {
		replaced = append(replaced, [2]int{h.A0, h.A1})
		written = append(written, [2]int{h.B0, h.B1})
	}
	return replaced, written
}

// maxSteps bounds the search for the smallest difference of two texts.
const maxSteps = 128

// linesOf returns the lines of a text without their ends: LF, CRLF or CR, as the protocol
// has it. After the last end there is one more line.
func linesOf(s string) []string {
	return strings.Split(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), "\n")
}

// rebase takes problems out of the base that are gone, unless an answer is to say so: when
// they come back they are new. With all, those that are new become a part of the base.
func (f *file) rebase(all bool) {
	known, added, gone := compare(f.base, f.last)
	if all {
		known = append(known, added...)
	}
	for _, p := range gone {
		if p.reported {
			p.at.Line = noLine
			known = append(known, p)
		}
	}
	f.base = report{f.last.text, known}
}

// update returns the problems that are new, and those that are gone if an answer has named
// them. The base holds the current problems then.
func (f *file) update() (added, gone []problem) {
	known, added, gone := compare(f.base, f.last)
	f.base, f.differs = report{f.last.text, append(known, added...)}, false
	return added, slices.DeleteFunc(gone, func(p problem) bool { return !p.reported })
}

// markReported notes that an answer names a new problem.
func (f *file) markReported(p problem) {
	if i := slices.Index(f.base.problems, p); i >= 0 {
		f.base.problems[i].reported = true
	}
}

// Bounds of what is kept of a server's diagnostics.
const (
	maxPerFile  = 500    // problems of an open document
	maxPerOther = 100    // problems of another file
	maxFiles    = 2_000  // with problems
	maxKept     = 10_000 // problems of other files
	maxWords    = 300    // characters of a message
	maxCodeSize = 40     // bytes of a code
)

// problemsOf returns the errors and warnings in a list of diagnostics of a file, at most so
// many, errors first, with messages that mask has made fit to be shown. It never holds the
// others.
func problemsOf(path string, raw json.RawMessage, most int, mask func(string) string) []problem {
	var found [2][]problem // errors and warnings
	list := json.NewDecoder(bytes.NewReader(raw))
	if _, err := list.Token(); err != nil {
		return nil
	}
	for list.More() {
		d := diagnostic{Severity: severityError} // without one, the protocol leaves it to the client
		if list.Decode(&d) != nil {
			return nil
		}
		if d.Severity != severityError && d.Severity != severityWarning {
			continue
		}
		if of := &found[d.Severity-1]; len(*of) < most {
			message := phrase.Foreign(phrase.Cut(strings.Join(strings.Fields(mask(d.Message)), " "), maxWords)) // in one line
			at := position{max(d.Range.Start.Line, 0), max(d.Range.Start.Character, 0)}
			*of = append(*of, problem{problemKind{codeOf(d.Code), blankNumbers(message)}, d.Severity, message, at, path, false})
		}
	}
	all := slices.Concat(found[0], found[1])
	return all[:min(len(all), most)]
}

// codeOf returns a code, a number or a string, as text.
func codeOf(raw json.RawMessage) string {
	if len(raw) > maxCodeSize || string(raw) == "null" {
		return ""
	}
	return string(raw)
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9]+\b`) })

// blankNumbers returns a message with # for each number: some name lines, or count. Digits in
// names are none.
func blankNumbers(s string) string {
	return number().ReplaceAllLiteralString(s, "#")
}
