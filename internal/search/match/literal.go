package match

import (
	"regexp/syntax"
	"slices"
)

// required returns a text that every match of the expression holds, the longest one that
// is easy to see, or "". only says that the expression matches this text and nothing else.
func required(re *syntax.Regexp) (literal string, only bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return "", true
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return "", false
		}
		return string(re.Rune), true
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		literal, _ = required(re.Sub[0])
		return literal, false
	case syntax.OpRepeat:
		if re.Min > 0 {
			literal, _ = required(re.Sub[0])
			return literal, false
		}
	case syntax.OpConcat:
		return requiredOfAll(re.Sub)
	}
	return "", false
}

// requiredOfAll joins neighbours that match one text only.
func requiredOfAll(subs []*syntax.Regexp) (best string, only bool) {
	run := ""
	only = true
	for _, sub := range subs {
		literal, whole := required(sub)
		if whole {
			run += literal
		} else {
			only, run = false, ""
		}
		for _, s := range []string{literal, run} {
			if len(s) > len(best) {
				best = s
			}
		}
	}
	return best, only
}

// needsBreak reports whether every match holds a line feed.
func needsBreak(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		return len(re.Rune) == 2 && re.Rune[0] == '\n' && re.Rune[1] == '\n'
	case syntax.OpCapture, syntax.OpPlus:
		return needsBreak(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && needsBreak(re.Sub[0])
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, needsBreak)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !needsBreak(s) })
	}
	return false
}
