package edit

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The naive model: the rules as the specification words them, in the simplest
// code, quadratic or worse. Tests compare it with what the package finds.

// atom is a line break, a character or a stray byte of a text.
type atom struct {
	start, end int
	text       string // "\n" for a line break of any form
	stray      bool
}

func atoms(s string, loneCR bool) []atom {
	var list []atom
	for i := 0; i < len(s); {
		a := atom{start: i}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case strings.HasPrefix(s[i:], "\r\n"):
			a.text, n = "\n", 2
		case s[i] == '\r' && loneCR:
			a.text = "\n"
		case r == utf8.RuneError && n == 1:
			a.text, a.stray = s[i:i+1], true
		default:
			a.text = s[i : i+n]
		}
		i += n
		a.end = i
		list = append(list, a)
	}
	return list
}

// naiveFind lists every place of old in text under a rule.
func naiveFind(rule Rule, text, old string, br breaks) []Match {
	if rule == Normalised {
		return naiveEquivalent(text, old, br)
	}
	fold := func(s string) string { return s }
	if rule == Quotes {
		fold = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`).Replace
	}
	in, want := atoms(text, br.inText), atoms(old, br.inCall)
	var found []Match
	for i := 0; i+len(want) <= len(in); i++ {
		same := true
		for j, w := range want {
			if a := in[i+j]; a.stray || fold(a.text) != fold(w.text) {
				same = false
				break
			}
		}
		if same {
			found = append(found, Match{in[i].start, in[i+len(want)-1].end})
		}
	}
	return found
}

func naiveEquivalent(text, old string, br breaks) []Match {
	form := func(list []atom) string {
		var b strings.Builder
		for _, a := range list {
			b.WriteString(a.text)
		}
		return norm.NFD.String(b.String())
	}
	in, want := atoms(text, br.inText), form(atoms(old, br.inCall))
	var found []Match
	for i := range in {
		if !naiveBoundary(text, in[i].start) {
			continue
		}
		for j := i; j < len(in) && !in[j].stray; j++ {
			if naiveBoundary(text, in[j].end) && form(in[i:j+1]) == want {
				found = append(found, Match{in[i].start, in[j].end})
			}
		}
	}
	return found
}

// naiveBoundary: nothing left of i combines with anything right of it.
func naiveBoundary(s string, i int) bool {
	if i == 0 || i == len(s) {
		return true
	}
	before, nb := utf8.DecodeLastRuneInString(s[:i])
	after, na := utf8.DecodeRuneInString(s[i:])
	if before == utf8.RuneError && nb == 1 || after == utf8.RuneError && na == 1 {
		return true
	}
	p := norm.NFC.PropertiesString(s[i:])
	if p.CCC() != 0 || p.LeadCCC() != 0 {
		return false
	}
	// Does any starter that may precede it compose with it?
	return p.BoundaryBefore()
}

// naiveLocate is locate by the model; count is 0 where nothing is found.
func naiveLocate(text string, req Request) (found []Match, rule Rule, br breaks) {
	if req.Old == "" || !utf8.ValidString(req.Old) {
		return nil, Exact, breaks{}
	}
	noLF := !strings.Contains(text, "\n")
	for _, rule := range []Rule{Exact, Quotes, Desanitised, Normalised} {
		old := req.Old
		if rule == Desanitised {
			old = naiveDesanitise(old)
		}
		for _, br := range []breaks{{noLF, noLF}, {noLF, true}} {
			if found := naiveFind(rule, text, old, br); len(found) > 0 {
				if req.ReplaceAll {
					found = apart(found)
				}
				return found, rule, br
			}
		}
	}
	return nil, Exact, breaks{}
}

func naiveDesanitise(s string) string {
	for _, eol := range []string{"\n", "\r\n", "\r"} {
		for _, other := range []string{"\n", "\r\n", "\r"} {
			if eol == "\r" && other == "\n" {
				continue
			}
			s = strings.ReplaceAll(s, eol+other+"H:", eol+other+"Human:")
			s = strings.ReplaceAll(s, eol+other+"A:", eol+other+"Assistant:")
		}
	}
	var pairs []string
	for _, t := range tokens[:len(tokens)-2] {
		pairs = append(pairs, t.short, t.full)
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// apart keeps, from the left, the matches that do not overlap.
func apart(found []Match) []Match {
	var kept []Match
	for _, m := range found {
		if len(kept) == 0 || m.Start >= kept[len(kept)-1].End {
			kept = append(kept, m)
		}
	}
	return kept
}
