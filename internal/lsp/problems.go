package lsp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

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
	problemKey
	at position
}

// problemKey is the part of a problem that stays the same when it moves.
type problemKey struct {
	severity severity
	code     string
	message  string
}

// baseProblem is a problem that is no news: it was there before a change, or was reported.
// Its place follows the edits of the file.
type baseProblem struct {
	problem
	// was is the place that the server named last: it may name that again until it has read
	// the edits.
	was position
	// lines is the number of lines from its place on in which it may stand, after an edit of
	// its own line; 0 for its place alone.
	lines int
	// reported says that an answer named it.
	reported bool
}

// fileProblems are the problems of one file.
type fileProblems struct {
	pushed, pulled []problem // as the server sent them
	base           []baseProblem
	// dirty says that they may differ from the base.
	dirty bool
	// closed says that the server may have dropped the problems because the file was closed.
	closed bool
}

// current returns what the server reports now, in the order of the file, each once.
func (f *fileProblems) current() []problem {
	all := slices.Concat(f.pushed, f.pulled)
	slices.SortStableFunc(all, func(a, b problem) int {
		return cmp.Or(a.at.compare(b.at), cmp.Compare(a.severity, b.severity), cmp.Compare(a.message, b.message), cmp.Compare(a.code, b.code))
	})
	return slices.Compact(all)
}

// shift moves all places by the edits of the file.
func (f *fileProblems) shift(edits []edit) {
	for _, list := range [][]problem{f.pushed, f.pulled} {
		for i := range list {
			list[i].at, _ = shifted(list[i].at, edits)
		}
	}
	for i := range f.base {
		b := &f.base[i]
		at, lines := shifted(b.at, edits)
		b.lines = max(b.lines, lines)
		b.at = at
	}
}

// compare returns the problems that are not in the base, and those of the base that are
// there no longer. The base holds the current problems then.
func (f *fileProblems) compare() (news []problem, gone []baseProblem) {
	known, news, gone := f.match()
	for _, p := range news {
		known = append(known, baseProblem{problem: p, was: p.at})
	}
	f.base, f.dirty = known, false
	return news, gone
}

// forget takes problems out of the base that are there no longer, unless an answer is to say
// that they are gone. When they come back they are news.
func (f *fileProblems) forget() {
	known, _, gone := f.match()
	for _, b := range gone {
		if b.reported {
			known = append(known, b)
		}
	}
	f.base = known
}

// match compares the current problems with the base: those that are in both, those that are
// not in the base, and those that are there no longer.
func (f *fileProblems) match() (known []baseProblem, news []problem, gone []baseProblem) {
	current := f.current()
	matched := make([]bool, len(current))
	byKey := make(map[problemKey][]int)
	for i, p := range current {
		byKey[p.problemKey] = append(byKey[p.problemKey], i)
	}
	gone = slices.Clone(f.base)
	for _, same := range []func(b baseProblem, at position) bool{
		func(b baseProblem, at position) bool { return b.at == at },
		func(b baseProblem, at position) bool { return b.was == at },
		func(b baseProblem, at position) bool { return at.Line >= b.at.Line && at.Line < b.at.Line+b.lines },
	} {
		gone = slices.DeleteFunc(gone, func(b baseProblem) bool {
			for _, i := range byKey[b.problemKey] {
				at := current[i].at
				if matched[i] || !same(b, at) {
					continue
				}
				if at != b.was || b.at == at { // the server has read the edits
					b.at, b.lines = at, 0
				}
				b.was = at
				matched[i], known = true, append(known, b)
				return true
			}
			return false
		})
	}
	for i, p := range current {
		if !matched[i] {
			news = append(news, p)
		}
	}
	if f.closed { // not gone: the server no longer looks
		for _, b := range gone[:min(len(gone), maxPerFile)] {
			b.reported = false
			known = append(known, b)
		}
		gone = nil
	}
	return known, news, gone
}

// setBase makes the current problems the base: they are no news. What an answer has named and
// is gone stays in it, to be told.
func (f *fileProblems) setBase() {
	f.forget()
	_, news, _ := f.match()
	for _, p := range news {
		f.base = append(f.base, baseProblem{problem: p, was: p.at})
	}
}

// markReported notes that an answer named a problem.
func (f *fileProblems) markReported(p problem) {
	for i := range f.base {
		if b := &f.base[i]; b.problemKey == p.problemKey && b.was == p.at && !b.reported {
			b.reported = true
			return
		}
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

// problemsOf returns the errors and warnings in a list of diagnostics, at most so many, errors
// first, with messages that mask has made fit to be shown. It never holds the others.
func problemsOf(raw json.RawMessage, most int, mask func(string) string) []problem {
	var found [2][]problem // errors and warnings
	list := json.NewDecoder(bytes.NewReader(raw))
	if _, err := list.Token(); err != nil {
		return nil
	}
	for list.More() {
		d := diagnostic{Severity: severityError} // where there is none, the protocol leaves it to the client
		if list.Decode(&d) != nil {
			return nil
		}
		if d.Severity != severityError && d.Severity != severityWarning {
			continue
		}
		if of := &found[d.Severity-1]; len(*of) < most {
			*of = append(*of, problem{problemKey{d.Severity, codeOf(d.Code), foreign(mask(d.Message))}, d.Range.Start})
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

// foreign returns a server's message, safe to show, in one line.
func foreign(s string) string {
	s = phrase.Head(s, 8*maxWords)
	return phrase.Foreign(phrase.Cut(strings.Join(strings.Fields(s), " "), maxWords))
}
