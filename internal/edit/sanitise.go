package edit

import "strings"

// A token is an abbreviation that some clients put in place of a marker.
type token struct{ short, full string }

// tokens lists them all; none is the beginning of another. Two line breaks at the front
// of a token stand for any two line breaks.
var tokens = [...]token{
	{"<fnr>", "<function_results>"},
	{"<n>", "<name>"}, {"</n>", "</name>"},
	{"<o>", "<output>"}, {"</o>", "</output>"},
	{"<e>", "<error>"}, {"</e>", "</error>"},
	{"<s>", "<system>"}, {"</s>", "</system>"},
	{"<r>", "<result>"}, {"</r>", "</result>"},
	{"< META_START >", "<META_START>"},
	{"< META_END >", "<META_END>"},
	{"< EOT >", "<EOT>"},
	{"< META >", "<META>"},
	{"< SOS >", "<SOS>"},
	{"\n\nH:", "\n\nHuman:"},
	{"\n\nA:", "\n\nAssistant:"},
}

// tokenSet is a set of places in tokens.
type tokenSet uint32

const allTokens tokenSet = 1<<len(tokens) - 1

// desanitise replaces the tokens of the set in s by what they stand for, and
// tells which ones it met.
func desanitise(s string, set tokenSet) (string, tokenSet) {
	var b strings.Builder
	var used tokenSet
	at := 0
	for i := 0; i < len(s); {
		if c := s[i]; c != '<' && c != '\n' && c != '\r' {
			i++
			continue
		}
		n, length, full := tokenAt(s, i, set)
		if length == 0 {
			i += max(1, len(breakAt(s, i, true)))
			continue
		}
		used |= 1 << n
		b.WriteString(s[at:i])
		b.WriteString(full)
		i += length
		at = i
	}
	if used == 0 {
		return s, 0
	}
	b.WriteString(s[at:])
	return b.String(), used
}

// tokenAt is the token at s[i]: its place in tokens, its length in s (0 if
// there is none) and what it stands for, with the line breaks that s has.
func tokenAt(s string, i int, set tokenSet) (n, length int, full string) {
	for n, t := range tokens {
		if set&(1<<n) == 0 {
			continue
		}
		speaker, dialogue := strings.CutPrefix(t.short, "\n\n")
		if !dialogue {
			if strings.HasPrefix(s[i:], t.short) {
				return n, len(t.short), t.full
			}
			continue
		}
		first := len(breakAt(s, i, true))
		second := len(breakAt(s, i+first, true))
		if first > 0 && second > 0 && strings.HasPrefix(s[i+first+second:], speaker) {
			blank := s[i : i+first+second]
			return n, len(blank) + len(speaker), blank + t.full[2:]
		}
	}
	return 0, 0, ""
}
