package search

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// drawGlob draws a pattern for names of drawNames.
func drawGlob(rnd *rand.Rand) string {
	segment := func() string {
		var s string
		for range 1 + rnd.IntN(3) {
			s += []string{"a", "b", "A", "é", "*", "*", "?", "**", "[ab]", "[!a]", "[^.]", "[a-c]", "{a,b}", "{a,*.go}", "{a,b/c}", "{a/**,b}", ".", ".go", `\a`, `\*`, " "}[rnd.IntN(21)]
		}
		for strings.Contains(s, "***") {
			s = strings.ReplaceAll(s, "***", "**") // doublestar does not match it with nothing
		}
		return s
	}
	var segments []string
	for range 1 + rnd.IntN(4) {
		switch rnd.IntN(4) {
		case 0:
			segments = append(segments, "**")
		case 1:
			segments = append(segments, []string{"a", "b", ".a", "a.go", "a*"}[rnd.IntN(5)])
		default:
			segments = append(segments, segment())
		}
	}
	return []string{"", "", "", "/", "./"}[rnd.IntN(5)] + strings.Join(segments, "/") + []string{"", "", "", "/"}[rnd.IntN(4)]
}

// drawNames fills a folder with files, folders, links and a repository. Nothing is made outside
// of it, also if a link leads there.
func drawNames(y *tree, rnd *rand.Rand) {
	top, err := os.OpenRoot(y.dir)
	if err != nil {
		y.Fatal(err)
	}
	defer top.Close()
	names := []string{"a", "b", "A", ".a", "a.go", "b.go", "aé", "c", "*", "a b", "[a]", ".git", "own", "{a,b}"}
	for range 5 + rnd.IntN(30) {
		var segments []string
		for range 1 + rnd.IntN(4) {
			segments = append(segments, names[rnd.IntN(len(names))])
		}
		name := strings.Join(segments, "/")
		if top.MkdirAll(path.Dir(name), 0o755) != nil {
			continue
		}
		if rnd.IntN(4) > 0 {
			_ = top.WriteFile(name, []byte("x"), 0o644)
			continue
		}
		_ = top.Symlink([]string{".", "..", "a", "/", "b.go"}[rnd.IntN(5)], name)
	}
}

// globMatches writes out the braces of a pattern and matches segment by segment, by the standard
// package. A "**" at the end matches at least so many segments: whether "a/**" matches a itself
// is left open, as doublestar matches "b/**" with b, and "b*/**" with bc only.
func globMatches(pattern, name string, least int) bool {
	depth, open, from := 0, -1, 0
	var choices []string
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '[':
			i += strings.IndexByte(pattern[i:], ']')
		case c == '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case c == ',' && depth == 1, c == '}' && depth == 1:
			choices, from = append(choices, pattern[from:i]), i+1
			if c == '}' {
				return slices.ContainsFunc(choices, func(choice string) bool { return globMatches(pattern[:open]+choice+pattern[i+1:], name, least) })
			}
		case c == '}':
			depth--
		}
	}
	return segmentsMatch(strings.Split(pattern, "/"), strings.Split(name, "/"), least)
}

func segmentsMatch(pattern, name []string, least int) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == "**" && len(pattern) == 1:
		return len(name) >= least
	case pattern[0] == "**":
		return segmentsMatch(pattern[1:], name, least) || len(name) > 0 && segmentsMatch(pattern, name[1:], least)
	case len(name) == 0:
		return false
	}
	ok, _ := path.Match(strings.ReplaceAll(pattern[0], "[!", "[^"), name[0])
	return ok && segmentsMatch(pattern[1:], name[1:], least)
}

// naiveGlob are the files, or the folders, that a pattern matches, of all that lies in a folder.
func naiveGlob(y *tree, pattern string, least int) (names []string) {
	pattern, folders := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/")
	if p, anchored := strings.CutPrefix(pattern, "/"); anchored {
		pattern = p
	} else if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	err := filepath.WalkDir(y.dir, func(name string, d fs.DirEntry, err error) error {
		rel := y.rel(name)
		if err != nil || rel == "." {
			return err
		}
		switch leftOut := d.Name() == ".git" || rel == "own" && d.IsDir(); {
		case leftOut && d.IsDir():
			return fs.SkipDir
		case leftOut:
			return nil
		}
		if (d.IsDir() && folders || d.Type().IsRegular() && !folders) && globMatches(pattern, rel, least) {
			names = append(names, rel)
		}
		return nil
	})
	if err != nil {
		y.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// TestGlobIsNaive compares the answers to drawn patterns with all names of a tree, one by one.
func TestGlobIsNaive(t *testing.T) {
	rnd := rand.New(rand.NewPCG(17, 43))
	patterns, found := 0, 0
	for range shortrun.Count(t, 60, 15, "trees") {
		y := newTree(t)
		drawNames(y, rnd)
		scope := y.scope()
		for range 50 {
			pattern := drawGlob(rnd)
			if _, err := newGlobber(GlobQuery{Pattern: pattern}); err != nil {
				continue
			}
			patterns++
			got, want := y.names(scope, pattern), naiveGlob(y, pattern, 1)
			more, missing := without(got, naiveGlob(y, pattern, 0)), without(want, got)
			if found += len(want); len(more)+len(missing) > 0 {
				t.Errorf("%q: %q are too many, %q are missing", pattern, more, missing)
			}
		}
	}
	if t.Logf("%d patterns, %d names", patterns, found); found < patterns {
		t.Error("the comparison says little")
	}
}
