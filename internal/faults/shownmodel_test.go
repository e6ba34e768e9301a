//go:build linux

package faults

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// gram is the number of bytes of text that the transcript recognizes. The files of the test
// hold random text, so that no two places have as many equal bytes: text that was in an answer
// names its place in a file.
const gram = 12

// transcript holds the text that one model has seen: answers as its client passes them on, and
// what it wrote itself. It knows nothing of files, lines or the server's own records.
type transcript struct {
	grams map[uint64]bool
	short map[string]bool // rows and beginnings of rows that are shorter than a gram
}

func newTranscript() *transcript {
	return &transcript{grams: map[uint64]bool{}, short: map[string]bool{}}
}

// rowNumber matches the number before the text of a line in an answer.
var rowNumber = regexp.MustCompile(`^[-+]?[0-9]+\t`)

// add notes a text that the model has seen.
func (t *transcript) add(text string) {
	for row := range strings.SplitSeq(text, "\n") {
		row = strings.Trim(row[len(rowNumber.FindString(row)):], "…")
		plain, _ := plainOf(strings.ReplaceAll(row, "\r", ""))
		if len(plain) < gram {
			t.short[string(plain)] = true
		}
		plain, _ = plainOf(row)
		eachGram(plain, func(_ int, sum uint64) { t.grams[sum] = true })
	}
}

// eachGram calls f with a hash of each run of gram bytes.
func eachGram(b []byte, f func(at int, sum uint64)) {
	const base = 1099511628211
	first := uint64(1) // base to the power of gram
	for range gram {
		first *= base
	}
	sum := uint64(0)
	for i, c := range b {
		sum = sum*base + uint64(c) + 1
		if i >= gram {
			sum -= first * (uint64(b[i-gram]) + 1)
		}
		if i >= gram-1 {
			f(i-gram+1, sum)
		}
	}
}

// plainOf returns a line as every answer shows it: bytes that are no character as \xNN, and a
// question mark for each character that is not ASCII, since charsets differ in these. at has
// for each byte of the line, and for its end, the place in plain.
func plainOf(line string) (plain []byte, at []int) {
	const hex = "0123456789ABCDEF"
	at = make([]int, 0, len(line)+1)
	plain = make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		for range size {
			at = append(at, len(plain))
		}
		switch {
		case r == utf8.RuneError && size == 1:
			plain = append(plain, '\\', 'x', hex[line[i]>>4], hex[line[i]&15])
		case r >= utf8.RuneSelf:
			plain = append(plain, '?')
		default:
			plain = append(plain, line[i])
		}
		i += size
	}
	return plain, append(at, len(plain))
}

// seen returns for each byte of a line of a file whether it was in an answer. Lines that are
// shorter than a gram are not told from each other, and count as seen; so do line endings, and
// tags of reminders, which some answers change.
func (t *transcript) seen(line string) []bool {
	plain, at := plainOf(line)
	known := make([]bool, len(plain))
	eachGram(plain, func(i int, sum uint64) {
		if t.grams[sum] {
			for k := i; k < i+gram; k++ {
				known[k] = true
			}
		}
	})
	for n := range min(gram, len(plain)) { // an answer may begin or end within a line, near its end
		if t.short[string(plain[:n])] {
			for k := range n {
				known[k] = true
			}
		}
		if t.short[string(plain[len(plain)-n:])] {
			for k := len(plain) - n; k < len(plain); k++ {
				known[k] = true
			}
		}
	}
	for from := 0; from < len(plain); from++ { // or show a few bytes that were missing
		to := from
		for to < len(plain) && !known[to] {
			to++
		}
		if to > from && to-from < gram && t.short[string(plain[from:to])] {
			for k := from; k < to; k++ {
				known[k] = true
			}
		}
		from = max(from, to)
	}
	out := make([]bool, len(line))
	for i := range out {
		out[i] = len(plain) < gram || known[at[i]]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		out[n-1] = true
	}
	for _, tag := range reminderTags.FindAllStringIndex(line, -1) {
		for i := tag[0]; i < tag[1]; i++ {
			out[i] = true
		}
	}
	return out
}

var reminderTags = regexp.MustCompile(`</?system-reminder>`)

// seenLine is seen for a line of a file. A carriage return within it may have been the end of a line
// when it was shown: it becomes part of one when another program puts a line feed into the file.
func (t *transcript) seenLine(line string) []bool {
	known := t.seen(line)
	if !strings.Contains(line, "\r") {
		return known
	}
	at := 0
	for _, part := range strings.SplitAfter(line, "\r") {
		for i, seen := range t.seen(part) {
			known[at+i] = known[at+i] || seen
		}
		at += len(part)
	}
	return known
}

// unseen returns the first byte in text[from:to] that was in no answer, or -1.
func (t *transcript) unseen(text string, from, to int) int {
	for _, l := range linesOf(text) {
		if l.end <= from || l.start >= to || l.start == l.end {
			continue
		}
		known := t.seenLine(text[l.start:l.end])
		for i := max(from, l.start); i < min(to, l.end); i++ {
			if !known[i-l.start] {
				return i
			}
		}
	}
	return -1
}

// unseenCell returns the first byte of a cell's source that was in no answer, or -1. Some
// answers show the source as JSON, so that only runs of plain signs are compared.
func (t *transcript) unseenCell(source string) int {
	for _, run := range plainRuns.FindAllStringIndex(source, -1) {
		if at := t.unseen(source[run[0]:run[1]], 0, run[1]-run[0]); at >= 0 {
			return run[0] + at
		}
	}
	return -1
}

var plainRuns = regexp.MustCompile(`[a-z0-9 ]{12,}`)

// replaced returns a text after an edit of what the model had seen. The new text now stands
// beside what it has seen of the lines around.
func (t *transcript) replaced(text string, from, to int, now string) string {
	const side = 5 * gram
	flags := func(at int) (line string, known []bool, here int) {
		start, end := at, at
		for start > 0 && at-start < side && text[start-1] != '\n' && text[start-1] != '\r' {
			start--
		}
		for end < len(text) && end-at < side && text[end] != '\n' && text[end] != '\r' {
			end++
		}
		return text[start:end], t.seen(text[start:end]), at - start
	}
	line, known, at := flags(from)
	for known = known[:at]; at > 0 && known[at-1]; at-- {
	}
	before := line[at:len(known)]
	line, known, at = flags(to)
	end := at
	for end < len(known) && known[end] {
		end++
	}
	t.add(before + now + line[at:end])
	return text[:from] + now + text[to:]
}

// lineSpan is the place of a line in a text, without its ending.
type lineSpan struct{ start, end int }

// linesOf returns the lines of a text as Read counts them.
func linesOf(text string) (all []lineSpan) {
	end := byte('\n')
	if strings.IndexByte(text, '\n') < 0 && strings.IndexByte(text, '\r') >= 0 {
		end = '\r'
	}
	for at := 0; at < len(text); {
		next, stop := len(text), len(text)
		if i := strings.IndexByte(text[at:], end); i >= 0 {
			stop, next = at+i, at+i+1
			if end == '\n' && stop > at && text[stop-1] == '\r' {
				stop--
			}
		}
		all = append(all, lineSpan{at, stop})
		at = next
	}
	return all
}

// passedOn returns the texts of an answer that a client hands to its model, by the facts that
// internal/server/clients.go names, read anew: of a text that is too long it is the beginning and
// the end, or nothing.
func passedOn(client string, blocks []string, isError bool) []string {
	joined := strings.Join(blocks, "\n")
	ends := func(bound, head int) []string {
		if len(joined) <= bound {
			return blocks
		}
		return []string{joined[:head], joined[len(joined)-(bound-head):]}
	}
	switch client {
	case "codex-mcp-client":
		return ends(40_000, 20_000)
	case "gemini-cli-mcp-client":
		if len(blocks) > 1 {
			return blocks
		}
		return ends(40_000, 8_000)
	case "claude-code":
		if isError {
			return ends(10_000, 5_000)
		}
		return ends(200_000, 0)
	case "claude-ai":
		return ends(1<<20, 0)
	case "Visual Studio Code", "goose":
		most := map[string]int{"Visual Studio Code": 8192, "goose": 200_000}[client]
		return slices.DeleteFunc(slices.Clone(blocks), func(b string) bool { return len(b) > most })
	case "opencode":
		if len(joined) > 50<<10 {
			return []string{joined[:50<<10]}
		}
		if rows := strings.SplitAfter(joined, "\n"); len(rows) > 2000 {
			return []string{strings.Join(rows[:2000], "")}
		}
	case "cline", "@cline/cli":
		return ends(8_000, 4_000)
	}
	return blocks
}

// walkClients are the names under which the server is called.
var walkClients = []string{
	"", "codex-mcp-client", "gemini-cli-mcp-client", "claude-code", "claude-ai", "Visual Studio Code",
	"opencode", "Zed", "goose", "cline", "@cline/cli", "another",
}

// textsOf returns the text blocks of an answer.
func textsOf(res mcptest.Result) (blocks []string) {
	var r struct {
		Content []struct{ Type, Text string }
	}
	if json.Unmarshal(res.Raw, &r) == nil {
		for _, b := range r.Content {
			if b.Type == "text" {
				blocks = append(blocks, b.Text)
			}
		}
	}
	return blocks
}

// withoutEchoes leaves out of an error what it repeats of the call, and the lines of a hint,
// which do not count as shown.
func withoutEchoes(blocks []string, old string) []string {
	out := slices.Clone(blocks)
	if len(out) == 0 || old == "" {
		return out
	}
	if i := strings.Index(out[0], "\nNearest place"); i >= 0 {
		out[0] = out[0][:i]
	}
	head := old
	for n := 0; n < len(old); {
		_, size := utf8.DecodeRuneInString(old[n:])
		if n += size; utf8.RuneCountInString(old[:n]) >= 900 {
			head = old[:n]
			break
		}
	}
	if i := strings.Index(out[0], "String: "+head); i >= 0 {
		out[0] = out[0][:i] + out[0][min(len(out[0]), i+len("String: ")+len(old)):]
	}
	return out
}
