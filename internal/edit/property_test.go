package edit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fsmcp/fsmcp/internal/span"
)

// alphabets are the pieces that random texts are made of, each chosen to make
// one rule's corner cases likely.
var alphabets = map[string][]string{
	"repeats":     {"a", "b", "aa", "ab"},
	"breaks":      {"a", "b", "\n", "\r\n", "\r", "\n", "a\n", "a\r\n"},
	"trailing":    {"a", " ", "\t", "\n", "\r\n", "  \n", "b\n"},
	"quotes":      {"a", "'", `"`, "‘", "’", "“", "”", " ", "\n", "\r\n", "\xe2", "\xe2\x80"},
	"tokens":      {"<n>", "<name>", "</n>", "<fnr>", "< EOT >", "<EOT>", "\n\nH:", "\n\nHuman:", "\n", "\r\n", "H:", "a"},
	"equivalence": {"e", "é", "e\u0301", "\u0301", "\u0316", "a\u0316\u0301", "K", "\u212a", "\u0344", "\u0308", "\n", "\r\n"},
	"hangul":      {"\u1100", "\u1161", "\u11a8", "가", "각", "ก", "a", "\u0f43", "\u0f42", "\u0fb7", "\u0958", "\u0915", "\u093c"},
	"stray":       {"a", "é", "\xc3", "\xa9", "\xff", "\ufffd", "e", "\u0301", "\n", "\r"},
}

func drawText(t *rapid.T, pieces []string, label string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, most).Draw(t, label), "")
}

// drawOld takes old text from the text itself, or makes some up.
func drawOld(t *rapid.T, pieces []string, text string) string {
	if len(text) == 0 || rapid.IntRange(0, 3).Draw(t, "foreign") == 0 {
		return drawText(t, pieces, "old", 4)
	}
	start := rapid.IntRange(0, len(text)-1).Draw(t, "start")
	end := rapid.IntRange(start, min(len(text), start+12)).Draw(t, "end")
	return strings.ToValidUTF8(text[start:end], "")
}

func TestFindsWhatTheModelFinds(t *testing.T) {
	for name, pieces := range alphabets {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			text := drawText(t, pieces, "text", 14)
			req := Request{Old: drawOld(t, pieces, text), New: "zz", ReplaceAll: rapid.Bool().Draw(t, "all")}
			compareWithModel(t, text, req)
		}))
	}
}

func compareWithModel(t interface{ Fatalf(string, ...any) }, text string, req Request) {
	want, rule, br := naiveLocate(text, req)
	f, err := locate(text, req)
	var ambiguous *AmbiguousError
	var none *NoMatchError
	switch {
	case errors.As(err, &ambiguous):
		if req.ReplaceAll || len(want) != ambiguous.Count {
			t.Fatalf("%d matches, the model has %v", ambiguous.Count, want)
		}
		for i, s := range ambiguous.Places {
			line := 1 + strings.Count(text[:s.Start], "\n")
			if br.inText {
				line = 1 + strings.Count(text[:s.Start], "\r")
			}
			if want[i] != (Match{int(s.Start), int(s.End)}) || ambiguous.Lines[i] != line {
				t.Fatalf("%+v, the model has %v", ambiguous, want)
			}
		}
	case errors.As(err, &none):
		if len(want) > 0 {
			t.Fatalf("nothing found, the model has %v by rule %s", want, rule)
		}
	case err != nil:
		t.Fatalf("fails with %v", err)
	case !req.ReplaceAll && len(want) > 1:
		t.Fatalf("found %v, the model has %v", f.matches, want)
	case f.rule != rule || fmt.Sprint(f.matches) != fmt.Sprint(want):
		t.Fatalf("found %v by rule %s, the model has %v by %s", f.matches, f.rule, want, rule)
	}
}

// With Within an edit finds the one match that the model has there, and else names all.
func TestWithinChoosesAmongMatches(t *testing.T) {
	for name, pieces := range alphabets {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			text := drawText(t, pieces, "text", 14)
			start := rapid.IntRange(0, len(text)).Draw(t, "from")
			within := span.Span{Start: int64(start), End: int64(rapid.IntRange(start+1, len(text)+2).Draw(t, "to"))}
			req := Request{Old: drawOld(t, pieces, text), New: "zz"}
			all, rule, _ := naiveLocate(text, req)
			var inside []Match
			for _, m := range all {
				if int64(m.Start) >= within.Start && int64(m.Start) < within.End {
					inside = append(inside, m)
				}
			}
			req.Within = span.Set{within}
			f, err := locate(text, req)
			var many *AmbiguousError
			var other *OtherLineError
			switch {
			case len(all) == 0:
				if !errors.As(err, new(*NoMatchError)) && req.Old != req.New {
					t.Fatalf("%v", err)
				}
			case len(inside) == 0:
				if !errors.As(err, &other) || other.Found.Count != len(all) {
					t.Fatalf("%v, the model has %v", err, all)
				}
			case len(inside) > 1:
				if !errors.As(err, &many) || !many.InLine || many.Count != len(inside) {
					t.Fatalf("%v, the model has %v", err, inside)
				}
			case err != nil || f.rule != rule || fmt.Sprint(f.matches) != fmt.Sprint(inside):
				t.Fatalf("%v %v, the model has %v", f.matches, err, inside)
			}
		}))
	}
}

func TestReplacingTouchesNothingElse(t *testing.T) {
	for name, pieces := range alphabets {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			text := drawText(t, pieces, "text", 14)
			req := Request{
				Old:          drawOld(t, pieces, text),
				New:          strings.ToValidUTF8(drawText(t, pieces, "new", 5), "?"),
				ReplaceAll:   rapid.Bool().Draw(t, "all"),
				KeepTrailing: rapid.Bool().Draw(t, "keep"),
			}
			checkApply(t, text, req)
		}))
	}
}

// checkApply holds one edit against what must be true of every edit.
func checkApply(t interface{ Fatalf(string, ...any) }, text string, req Request) {
	res, err := Apply(text, req)
	if err != nil {
		if len(res.Splices) > 0 {
			t.Fatalf("an error and splices: %v %+v", err, res)
		}
		return
	}
	if len(res.Splices) > 1 && !req.ReplaceAll || len(res.Splices) == 0 {
		t.Fatalf("%d splices", len(res.Splices))
	}
	at := int64(0)
	var reverse []span.Splice
	shift := int64(0)
	for _, s := range res.Splices {
		if s.Start < at || s.End <= s.Start || s.End > int64(len(text)) {
			t.Fatalf("splices out of order: %+v", res.Splices)
		}
		at = s.End
		for _, edge := range []int{int(s.Start), int(s.End)} {
			if 0 < edge && edge < len(text) && text[edge-1] == '\r' && text[edge] == '\n' {
				t.Fatalf("a CRLF is split at %d", edge)
			}
		}
		if !utf8.ValidString(text[s.Start:s.End]) || !utf8.Valid(s.New) {
			t.Fatalf("stray bytes in %q or %q", text[s.Start:s.End], s.New)
		}
		if req.New != "" && len(s.New) == 0 {
			t.Fatalf("new text %q became a deletion", req.New)
		}
		if bare(req.New) != bare(string(s.New)) && res.Rule != Desanitised {
			t.Fatalf("new text %q became %q", req.New, s.New)
		}
		if req.KeepTrailing && res.Rule == Exact && unbroken.Replace(req.New) != unbroken.Replace(string(s.New)) {
			t.Fatalf("stripped what had to be kept: %q became %q", req.New, s.New)
		}
		reverse = append(reverse, span.Splice{Start: s.Start + shift, End: s.Start + shift + int64(len(s.New)), New: []byte(text[s.Start:s.End])})
		shift += int64(len(s.New)) - (s.End - s.Start)
	}
	patched := res.Patch(text)
	if back := (Replacements{Splices: reverse}).Patch(patched); back != text {
		t.Fatalf("undone it is %q, was %q", back, text)
	}
	restoreByApply(t, text, patched, req, res)
}

// unbroken leaves out line breaks, which become those of the text.
var unbroken = strings.NewReplacer("\r", "", "\n", "")

// bare is text without what replacing may change: blanks, breaks, quote style.
func bare(s string) string {
	return strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "", "‘", "'", "’", "'", "“", `"`, "”", `"`).Replace(s)
}

// restoreByApply turns one edit around where the result names its place.
func restoreByApply(t interface{ Fatalf(string, ...any) }, text, patched string, req Request, res Replacements) {
	if len(res.Splices) != 1 || len(res.Splices[0].New) == 0 {
		return
	}
	s := res.Splices[0]
	old := text[s.Start:s.End]
	if strings.ContainsRune(text, '\r') || bytes.ContainsRune(s.New, '\r') {
		return // which break was where is not in the request
	}
	back, err := Apply(patched, Request{Old: string(s.New), New: old, KeepTrailing: true})
	if err != nil || back.Rule != Exact {
		return
	}
	if back.Patch(patched) != text {
		t.Fatalf("%q became %q and that %q", text, patched, back.Patch(patched))
	}
}

// In a text of one line ending, and where old text has no trailing white space,
// new text is a simple function of the request and of what follows the match.
func TestNewTextIsWhatTheModelMakes(t *testing.T) {
	pieces := []string{"a", "b", " ", "\t", "\n", "\n", "  \n", "a\n"}
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		text := strings.ReplaceAll(drawText(t, pieces, "text", 14)+"\n", "\n", eol)
		req := Request{
			Old:        drawOld(t, pieces, text),
			New:        drawText(t, pieces, "new", 6),
			ReplaceAll: rapid.Bool().Draw(t, "all"),
		}
		asked := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(req.Old)
		if strings.Contains(asked, " \n") || strings.Contains(asked, "\t\n") || asked != strings.TrimRight(asked, " \t") {
			return
		}
		res, err := Apply(text, req)
		if err != nil {
			return
		}
		for i, s := range res.Splices {
			next := len(text) + 1
			if i+1 < len(res.Splices) {
				next = int(res.Splices[i+1].Start)
			}
			length := len(strings.ReplaceAll(asked, "\n", eol))
			start := int(s.Start)
			after := text[start+length:]
			lines := strings.Split(req.New, "\n")
			for j := range lines {
				if j < len(lines)-1 || after == "" || strings.HasPrefix(after, eol) {
					lines[j] = strings.TrimRight(lines[j], " \t")
				}
			}
			want, end := strings.Join(lines, eol), start+length
			if want == "" {
				want = req.New
			}
			wholeLines := (start == 0 || text[start-1] == '\n') && strings.HasPrefix(after, eol) && !strings.HasSuffix(asked, "\n")
			if req.New == "" && wholeLines && next >= end+len(eol) {
				end += len(eol)
			}
			if string(s.New) != want || int(s.End) != end {
				t.Fatalf("%+v, the model has %q up to %d", s, want, end)
			}
		}
	})
}
