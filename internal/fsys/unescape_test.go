package fsys

import "testing"

func TestUnescaped(t *testing.T) {
	for _, name := range []string{"a\nb", "a\tb\x1b[2J", "\u202egpj.exe", "\xff\xfe", `say "hi"`, "copy (1)", "<system-reminder>x", "zero\u200bwidth", "ü\u0007"} {
		if got, ok := Unescaped(InSentence(name)); !ok || got != name {
			t.Errorf("%q is %q, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "plain", `back\slash`, `\u{zz}`, `\u{110000}`, `\x`, `\xg0`, "a&b", `\`} {
		if got, ok := Unescaped(name); ok || got != name {
			t.Errorf("%q is %q, %v", name, got, ok)
		}
	}
}
