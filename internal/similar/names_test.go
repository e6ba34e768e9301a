package similar

import (
	"slices"
	"strings"
	"testing"
)

func TestLookalike(t *testing.T) {
	tests := []struct {
		name     string
		siblings []string
		want     string
	}{
		{"Bild.png", []string{"bild.png", "Bild.jpg"}, ""},
		{"\u00fcber.txt", []string{"a", "u\u0308ber.txt"}, "u\u0308ber.txt"},
		{"u\u0308ber.txt", []string{"\u00fcber.txt"}, "\u00fcber.txt"},
		{"Shot 9.41 AM.png", []string{"Shot 9.41\u202fAM.png", "Shot 9.41 PM.png"}, "Shot 9.41\u202fAM.png"},
		{"Shot 9.41 AM.png", []string{"Shot\u00a09.41\u202fAM.png"}, "Shot\u00a09.41\u202fAM.png"},
		{"Shot 9.41 AM.png", []string{"Shot 9.41\u202fAM.png", "Shot 9.41\u00a0AM.png"}, ""}, // two: no guess
		{"Shot 9.41\u202fAM.png", []string{"Shot 9.41 AM.png"}, "Shot 9.41 AM.png"},
		{"fi", []string{"\ufb01"}, ""}, // NFKC would say yes
		{"a", []string{"a"}, ""},
		{"a", nil, ""},
	}
	for _, tt := range tests {
		got, ok := Lookalike(tt.name, tt.siblings)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q in %q = %q", tt.name, tt.siblings, got)
		}
	}
}

func TestNear(t *testing.T) {
	siblings := []string{"main.go", "main_test.go", "Main.go", "mian.go", "main.py", "README.md", "maim.go", "other", "x", "Makefile", "tok.txt", "parsers.yml", "parzerz.yml", "notes-1.md", "notes-2.md"}
	tests := []struct {
		name string
		n    int
		want []string
	}{
		{"main.go", 5, []string{"Main.go", "main.py", "maim.go", "mian.go"}},
		{"MAIN.GO", 2, []string{"Main.go", "main.go"}},
		{"readme.txt", 3, []string{"README.md"}},
		{"makefile", 3, []string{"Makefile"}},
		{"othr", 3, []string{"other"}},
		{"nothing-like-it.c", 3, nil},
		{"y", 3, nil},
		{"none.txt", 3, nil},
		{"toks.txt", 3, []string{"tok.txt"}},
		{"parser.yaml", 3, []string{"parsers.yml"}},
		{"notes-3.md", 3, []string{"notes-1.md", "notes-2.md"}},
		{"main.go", 0, nil},
	}
	for _, tt := range tests {
		if got := Near(tt.name, siblings, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("%q = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func BenchmarkNearAmongLongNames(b *testing.B) {
	siblings := make([]string, 10_000)
	for i := range siblings {
		siblings[i] = strings.Repeat("ab", 100) + string(rune('a'+i%26))
	}
	for b.Loop() {
		Near(strings.Repeat("ba", 100), siblings, 3)
	}
}

// TestDistance compares the banded table with the whole one.
func TestDistance(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "acb", "bca", "abcd", "badc", "main", "mian", "amin", "maine", "readme", "reamde", "raedme"}
	for _, a := range words {
		for _, b := range words {
			want := slowDistance([]rune(a), []rune(b))
			for limit := range 5 {
				if got := Distance(a, b, limit); got != min(want, limit+1) {
					t.Errorf("%q to %q within %d = %d, want %d", a, b, limit, got, want)
				}
			}
		}
	}
}

func slowDistance(x, y []rune) int {
	if len(x) == 0 || len(y) == 0 {
		return len(x) + len(y)
	}
	i, j := len(x)-1, len(y)-1
	d := min(slowDistance(x[:i], y), slowDistance(x, y[:j])) + 1
	step := 1
	if x[i] == y[j] {
		step = 0
	}
	d = min(d, slowDistance(x[:i], y[:j])+step)
	if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
		d = min(d, slowDistance(x[:i-1], y[:j-1])+1)
	}
	return d
}
