// Package phrase words counts, quotations and texts from outside for the sentences
// that a model or a user reads, so that the same thing is always written in the same
// way.
//
// It is pure. It writes no whole sentence: refusals have their own package, and each
// tool words its answers.
package phrase

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Bytes writes a number of bytes for people: 812 bytes, 14 KB, 1.5 MB.
func Bytes(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	case n < 1<<30-1<<20/20: // what would be 1024.0 MB is 1 GB
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/(1<<30)), ".0") + " GB"
}

// Above writes a number of bytes that is above a limit: to the byte where it would
// read like the limit itself.
func Above(n, limit int64) string {
	if said := Bytes(n); said != Bytes(limit) {
		return said
	}
	return fmt.Sprintf("%d bytes", n)
}

// Limit writes a bound on bytes as the reference does: 256KB.
func Limit(n int64) string {
	for i, unit := range []string{"GB", "MB", "KB"} {
		if shift := 30 - 10*i; n >= 1<<shift && n&(1<<shift-1) == 0 {
			return fmt.Sprintf("%d%s", n>>shift, unit)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Lines writes a number of lines.
func Lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// LinesOf writes the number of lines of a text.
func LinesOf(text string) string {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return Lines(n)
}

// Plural returns one for the number 1, else many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// QuoteAtMost puts text from a caller between quotes, shortened to most characters.
func QuoteAtMost(s string, most int) string {
	more := ""
	if runes := []rune(s); len(runes) > most {
		s, more = string(runes[:most]), "…"
	}
	return `"` + fsys.InSentence(s) + more + `"`
}

// Quote is QuoteAtMost with 200 characters.
func Quote(s string) string { return QuoteAtMost(s, 200) }

// Cut shortens a line to n characters and marks it.
func Cut(line string, n int) string {
	if len(line) <= n || utf8.RuneCountInString(line) <= n {
		return line
	}
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return line[:at] + "…"
}

// Head returns the longest start of s of at most n bytes that splits no character.
func Head(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n = max(n, 0); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n]
}

// Tail returns the longest end of s of at most n bytes that splits no character.
func Tail(s string, n int) string {
	if n >= len(s) {
		return s
	}
	at := len(s) - max(n, 0)
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}

// reminderTag is a tag by which a text could pass itself off as fsmcp's own words.
var reminderTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)<(\s*/?\s*system-reminder)`) })

// Untagged takes the force from such tags in a text.
func Untagged(s string) string { return reminderTag().ReplaceAllString(s, "&lt;$1") }

// Foreign makes words of another program or library fit for a sentence: they may
// repeat bytes of a file.
func Foreign(s string) string { return Untagged(fsys.Printable(strings.TrimSuffix(s, "."))) }

// Cause returns the innermost reason of an error: the system's own words, without the
// path and the names of functions.
func Cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return strings.TrimSuffix(err.Error(), ".")
		}
		err = inner
	}
}

// Names writes file names as sentences show them.
func Names(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fsys.InSentence(n)
	}
	return out
}

// Thousands writes a number with commas.
func Thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Ordinal is a number as it stands in a row: 1st, 2nd, 11th.
func Ordinal(n int) string {
	ending := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return strconv.Itoa(n) + ending
}

// Printable makes text safe to show to a person: a client may print it on a
// terminal. Tabs and line ends stay.
func Printable(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		parts := strings.Split(line, "\t")
		for k, p := range parts {
			parts[k] = fsys.Printable(p)
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}
