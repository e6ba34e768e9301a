package changes

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestThePatchProgramAgrees applies generated differences by the program patch.
func TestThePatchProgramAgrees(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("!!! NOT TESTED: patch is missing !!!")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	file, diff := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "diff")
	join := func(lines []string) string {
		if s := strings.Join(lines, "\n"); s == "" || rng.IntN(3) == 0 {
			return s
		}
		return strings.Join(lines, "\n") + "\n"
	}
	for range 100 {
		var lines []string
		for range rng.IntN(40) {
			lines = append(lines, string(rune('a'+rng.IntN(8))))
		}
		edited := slices.Clone(lines)
		for i := range rng.IntN(5) {
			at := rng.IntN(len(edited) + 1)
			edited = slices.Replace(edited, at, min(at+rng.IntN(3), len(edited)), fmt.Sprint("new ", i))
		}
		old, now := join(lines), join(edited)
		p := Patch("file", "file", old, now)
		if old == now && p == "" {
			continue
		}
		for name, s := range map[string]string{file: old, diff: p} {
			if err := os.WriteFile(name, []byte(s), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command("patch", "-s", file, diff).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s\nof %q to %q\n%s", err, out, old, now, p)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != now {
			t.Fatalf("%q, not %q: %v\n%s", b, now, err, p)
		}
	}
}
