package history

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
)

// gitMerge merges by git.
func gitMerge(t *testing.T, dir string, base, ours, theirs []byte) (merged []byte, clean bool) {
	t.Helper()
	names := []string{"ours", "base", "theirs"}
	for i, b := range [][]byte{ours, base, theirs} {
		names[i] = filepath.Join(dir, names[i])
		if err := os.WriteFile(names[i], b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("git", append([]string{"merge-file", "-p", "-q"}, names...)...).Output()
	exit := (*exec.ExitError)(nil)
	if errors.As(err, &exit) {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, true
}

// mutate makes some changes to lines, as edits do.
func mutate(rng *rand.Rand, lines []string, edits int, word func() string) []string {
	out := append([]string(nil), lines...)
	for range edits {
		at := rng.IntN(len(out) + 1)
		n := min(rng.IntN(4), len(out)-at)
		var put []string
		for range rng.IntN(4) {
			put = append(put, word())
		}
		out = append(out[:at:at], append(put, out[at+n:]...)...)
	}
	return out
}

func text(lines []string) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l)
	}
	return b.Bytes()
}

// TestMergeAgreesWithGit compares with git on generated texts: of lines that are
// all different, of program-like ones with many braces and blanks, and of a few
// letters, where almost every line could belong anywhere.
func TestMergeAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("!!! NOT TESTED: git is missing !!!")
	}
	cases := shortrun.Count(t, 540, 60, "merges")
	if n, err := strconv.Atoi(os.Getenv("FSMCP_MERGES")); err == nil {
		cases = n
	}
	dir := t.TempDir()
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("FSMCP_SEED"), 10, 64); err == nil {
		seed = s
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	clean, conflicts, different := 0, 0, 0
	for n := range cases {
		words := []func() string{
			func() string { return fmt.Sprintf("line %d of its own\n", rng.IntN(1e9)) },
			func() string {
				return []string{"\n", "}\n", "\treturn nil\n", "\t}\n", "{\n", fmt.Sprintf("\tx = %d\n", rng.IntN(30)), fmt.Sprintf("func f%d() {\n", rng.IntN(1000))}[rng.IntN(7)]
			},
			func() string { return string(rune('a'+rng.IntN(5))) + "\n" },
		}
		word := words[n%3]
		lines := make([]string, 1+rng.IntN(60))
		for i := range lines {
			lines[i] = word()
		}
		if rng.IntN(8) == 0 {
			lines[len(lines)-1] = "no end"
		}
		base := text(lines)
		ours := text(mutate(rng, lines, rng.IntN(5), word))
		theirs := text(mutate(rng, lines, 1+rng.IntN(2), word))
		want, ok := gitMerge(t, dir, base, ours, theirs)
		splices, bad := Merge(base, ours, theirs)
		got := span.Apply(ours, splices)
		switch {
		case ok != (bad == nil) || ok && !bytes.Equal(got, want):
			if different++; different <= 3 {
				t.Errorf("case %d of seed %d\nbase\n%s\nours\n%s\ntheirs\n%s\ngit (clean %v)\n%s\nhere (%v)\n%s", n, seed, base, ours, theirs, ok, want, bad, got)
			}
		case ok:
			clean++
		default:
			conflicts++
		}
	}
	t.Logf("%d merges as git makes them (%d clean, %d conflicts), %d not", clean+conflicts, clean, conflicts, different)
}
