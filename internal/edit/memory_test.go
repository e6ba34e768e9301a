package edit

import (
	"runtime"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// No rule takes much more memory than one copy of the text, and the exact rule
// next to none, whatever the text is.
func TestMemoryIsBounded(t *testing.T) {
	shortrun.Skip(t, "it edits eleven texts of 4 MB")
	const n = 4 << 20
	const slack = 10 << 20
	ascii := program(n, "\n")
	for _, c := range []struct {
		name      string
		text, old string
		most      uint64
	}{
		{"exact", ascii, "needle", 1 << 20},
		{"exact lines", ascii, "needle\nand thread", 1 << 20},
		{"exact lines in mixed endings", program(n, "\r\n") + "\n", "}\nneedle", 1 << 20},
		{"exact many", strings.Repeat("a", n), "aa", 1 << 20},
		{"quotes in ASCII", ascii, "“needle”", 1 << 20},
		{"quotes", ascii + "“”", `return "`, n + slack},
		{"quotes only", strings.Repeat("“", n/3), `""`, n/3 + slack},
		{"equivalent", strings.Repeat("é e\u0301 ", n/7), "é é", slack},
		{"one sequence", "a" + strings.Repeat("\u0301", n/2), "á", slack},
		{"characters that grow", strings.Repeat("\U0001d160", n/4), "\u0344", slack},
		{"stray bytes", strings.Repeat("\xff", n), "é", slack},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Apply(c.text, Request{Old: c.old, New: "x"})
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > c.most {
				t.Errorf("took %d bytes, may take %d (%v)", took, c.most, err)
			}
			runtime.ReadMemStats(&before)
			Nearest(c.text, c.old+"?", "x")
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 2*slack {
				t.Errorf("Nearest took %d bytes, may take %d", took, 2*slack)
			}
		})
	}
}
