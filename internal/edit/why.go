package edit

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fsmcp/fsmcp/internal/similar"
)

// maxFacts bounds the differences that a hint names.
const maxFacts = 3

// differences names what differs between lines of old text and those beside
// them, the first one's first. It names nothing where words differ.
func differences(pairs []pair) []string {
	var facts []string
	for _, p := range pairs {
		for _, f := range lineDifferences(p.asked, p.own) {
			if len(facts) < maxFacts && !slices.Contains(facts, f) {
				facts = append(facts, f)
			}
		}
	}
	return facts
}

// maxBody bounds the length of a line whose text is compared in every way.
const maxBody = 16 << 10

// lineDifferences names what differs between two lines that have the same words.
func lineDifferences(asked, own string) []string {
	if asked == own || len(asked)+len(own) > maxBody || !equalOver(similar.OverAll, asked, own) {
		return nil
	}
	askedIndent, askedBody, askedTail := dissect(asked)
	ownIndent, ownBody, ownTail := dissect(own)
	var facts []string
	if askedIndent != ownIndent {
		facts = append(facts, indentation(askedIndent, ownIndent))
	}
	facts = append(facts, bodyDifferences(askedBody, ownBody)...)
	switch {
	case askedTail == ownTail:
	case askedTail == "":
		facts = append(facts, "the file has trailing white space that old_string lacks")
	case ownTail == "":
		facts = append(facts, "old_string has trailing white space that the file lacks")
	default:
		facts = append(facts, "the trailing white space differs")
	}
	return facts
}

// equalOver reports whether two texts are equal apart from some kinds of differences.
func equalOver(f similar.Folds, a, b string) bool {
	return similar.Fold(a, f) == similar.Fold(b, f)
}

// dissect cuts a line into its indentation, its text and its trailing blanks.
func dissect(line string) (indent, body, tail string) {
	rest := strings.TrimLeft(line, " \t")
	body = trimTrailing(rest)
	return line[:len(line)-len(rest)], body, rest[len(body):]
}

func indentation(asked, own string) string {
	tabs := func(s string) bool { return strings.Contains(s, "\t") }
	spaces := func(s string) bool { return strings.Contains(s, " ") }
	switch {
	case tabs(own) && !spaces(own) && spaces(asked) && !tabs(asked):
		return "the file indents with tabs where old_string has spaces"
	case tabs(asked) && !spaces(asked) && spaces(own) && !tabs(own):
		return "the file indents with spaces where old_string has tabs"
	case tabs(asked) || tabs(own):
		return fmt.Sprintf("the indentation differs: %s in the file, %s in old_string", indentWords(own), indentWords(asked))
	}
	return fmt.Sprintf("the indentation differs: %d spaces in the file, %d in old_string", len(own), len(asked))
}

// indentWords tells tabs and spaces in words.
func indentWords(indent string) string {
	tabs := strings.Count(indent, "\t")
	spaces := len(indent) - tabs
	switch {
	case spaces == 0:
		return plural(tabs, "tab")
	case tabs == 0:
		return plural(spaces, "space")
	}
	return plural(tabs, "tab") + " and " + plural(spaces, "space")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// bodyDifferences names the kinds of differences without which two texts with the same
// words would be equal, each of them needed for it.
func bodyDifferences(asked, own string) []string {
	var facts []string
	for _, d := range []struct {
		over similar.Folds
		fact string
	}{
		{similar.OverUnseen, unseenDiffer(asked, own)},
		{similar.OverBlanks, blanksDiffer(asked, own)},
		{similar.OverQuotes, "the kind of quotes differs"},
		{similar.OverDashes, "the kind of dashes differs"},
		{similar.OverCase, "upper and lower case differ"},
	} {
		if !equalOver(similar.OverAll&^d.over, asked, own) {
			facts = append(facts, d.fact)
		}
	}
	return facts
}

func unseenDiffer(asked, own string) string {
	where, r := "the file", firstOnly(own, asked, similar.IsUnseen)
	if r == 0 {
		where, r = "old_string", firstOnly(asked, own, similar.IsUnseen)
	}
	if r == 0 {
		return "invisible characters differ"
	}
	return fmt.Sprintf("%s has the invisible character U+%04X", where, r)
}

func blanksDiffer(asked, own string) string {
	unusual := func(r rune) bool { return unicode.IsSpace(r) && r != ' ' && r != '\t' }
	if r := firstOnly(own, asked, unusual); r != 0 {
		return fmt.Sprintf("the file has the blank U+%04X", r)
	}
	if r := firstOnly(asked, own, unusual); r != 0 {
		return fmt.Sprintf("old_string has the blank U+%04X", r)
	}
	inFile, inOld := strings.Contains(own, "\t"), strings.Contains(asked, "\t")
	switch {
	case inFile && !inOld:
		return "the file has tabs inside the line where old_string has spaces"
	case inOld && !inFile:
		return "the file has spaces inside the line where old_string has tabs"
	}
	return "the blanks inside the line differ"
}

// firstOnly is the first character of s that fits and that other lacks, or 0.
func firstOnly(s, other string, fits func(rune) bool) rune {
	for _, r := range s {
		if fits(r) && !strings.ContainsRune(other, r) {
			return r
		}
	}
	return 0
}
