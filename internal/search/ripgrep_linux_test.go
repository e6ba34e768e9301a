package search

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Trees are made of few names, so that patterns of ignore files hit them.
var (
	folderNames = []string{"src", "build", "a", "b.d", "node", "doc", ".cache", "x y"}
	fileNames   = []string{"a.go", "b.go", "a.log", "b.txt", "keep.log", ".env", "README", "a", "build", "z.tmp", "ä.md", "#x", "!y"}
	ignoreLines = []string{
		"*.log", "!keep.log", "build/", "build", "/a", "src/a.go", "**/b.go", "doc/**", "a/**/b.txt", "*.t[mx][pt]", "!z.tmp", ".env", "node/*", "!node/a", "# comment", "\\#x", "\\!y", "",
		"b.d/", "/src/*.go", "x y", "*.go ", "?.go", "[^a].txt", "!/src/", "**", "!*/", "!*.go", "a.log\r", "/**/a", "src/**/", "*", "!README",
	}
	grepPatterns = []string{
		"alpha", "beta", "al+pha", "(?i)ALPHA", "^alpha", "omega$", "^$", "a.c", "[b-d]eta", "alpha.*omega", "(alpha|omega) beta", "x{2,4}", "^[^a]+$", "gamm", "delta\\.", ".", "a|b", "  +", "\\(\\)", "qq",
		"^.{40,}$", "alpha$|^beta", "(alpha ?)+$", "[[:upper:]]", "[[:digit:]]{3}", "a\\x{20}b", "g.*g", "e$",
	}
	words = []string{"alpha", "beta", "gamma", "delta.", "omega", "xx", "xxx", "Alpha", "()", "a", "b", "abc", "123", "7", "  ", "zeta", "größe"}
)

// drawTree fills a folder with files. Some have lines that end in CRLF, no final newline, a
// byte order mark, UTF-16, NULs, or are empty.
func drawTree(y *tree, rnd *rand.Rand, ignoreNames ...string) {
	folders := []string{""}
	for range rnd.IntN(7) {
		folders = append(folders, path.Join(folders[rnd.IntN(len(folders))], folderNames[rnd.IntN(len(folderNames))]))
	}
	taken := map[string]bool{}
	for _, f := range folders {
		for ; f != "."; f = path.Dir(f) {
			taken[f] = true
		}
	}
	for _, f := range folders {
		for range 1 + rnd.IntN(5) {
			if name := path.Join(f, fileNames[rnd.IntN(len(fileNames))]); !taken[name] {
				y.put(name, drawContent(rnd))
			}
		}
		for _, name := range ignoreNames {
			if rnd.IntN(3) > 0 {
				continue
			}
			var lines []string
			for range 1 + rnd.IntN(4) {
				lines = append(lines, ignoreLines[rnd.IntN(len(ignoreLines))])
			}
			y.put(path.Join(f, name), strings.Join(lines, "\n"))
		}
	}
}

func drawContent(rnd *rand.Rand) string {
	var b strings.Builder
	ending := []string{"\n", "\n", "\r\n"}[rnd.IntN(3)]
	for range rnd.IntN(12) {
		for range rnd.IntN(8) {
			b.WriteString(words[rnd.IntN(len(words))])
			b.WriteString(" "[:rnd.IntN(2)])
		}
		b.WriteString(ending)
	}
	s := b.String()
	switch rnd.IntN(12) {
	case 0:
		return strings.TrimRight(s, "\r\n")
	case 1:
		return "\ufeff" + s
	case 2:
		wide := []byte{0xFF, 0xFE}
		for _, u := range utf16.Encode([]rune(s)) {
			wide = append(wide, byte(u), byte(u>>8))
		}
		return string(wide)
	case 3:
		return s + "\x00" + s
	case 4:
		return strings.Repeat(s, 400)
	}
	return s
}

// ripgrep runs rg in a tree as the searches here work.
func ripgrep(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("rg", append([]string{"--no-config", "--hidden", "--glob=!.git", "--no-require-git", "--no-ignore-global", "--no-ignore-parent", "--crlf", "--color=never"}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("rg %q: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// number returns the number of cases of a test; "make faults" asks for more.
func number(name string, few int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return few
}

// TestLikeRipgrep compares trees and patterns. What differs, and is left out here: "?" and
// classes in ignore files, which match a byte in ripgrep and git; binary
// files, which ripgrep leaves out after their first NUL; bytes that are no character, which
// "." does not match in ripgrep; classes as \w, which ripgrep takes for Unicode's.
func TestLikeRipgrep(t *testing.T) {
	if _, err := exec.LookPath("rg"); err != nil {
		t.Skip("!!! NOT TESTED: ripgrep is not installed !!!")
	}
	rnd := rand.New(rand.NewPCG(17, 300))
	files, hits := 0, 0
	for i := range number("FSMCP_SEARCH_TREES", shortrun.Count(t, 60, 15, "trees")) {
		y := newTree(t)
		drawTree(y, rnd, ".gitignore", ".ignore", ".git/info/exclude")
		scope := y.scope()
		scope.IncludeIgnored = rnd.IntN(5) == 0
		var lift []string
		if scope.IncludeIgnored {
			lift = []string{"--no-ignore"}
		}
		listed := split(ripgrep(t, y.dir, append(lift, "--files")...))
		if got := y.names(scope, "**"); !slices.Equal(got, listed) {
			t.Errorf("tree %d: files %q, rg has %q\n%s", i, got, listed, show(y))
		}
		files += len(listed)
		q := GrepQuery{Pattern: grepPatterns[rnd.IntN(len(grepPatterns))], Window: Window{MaxBytes: 1 << 24}}
		args := append(lift, "-n", "--no-heading", "--null")
		if rnd.IntN(3) == 0 {
			q.Fold, args = true, append(args, "-i")
		}
		if rnd.IntN(3) == 0 {
			q.Before, q.After = rnd.IntN(3), rnd.IntN(3)
			args = append(args, fmt.Sprintf("-B%d", q.Before), fmt.Sprintf("-A%d", q.After))
		}
		if rnd.IntN(4) == 0 {
			q.Globs = []string{[]string{"*.go", "!*.go", "*.{log,txt}", "a*", "!build"}[rnd.IntN(5)]}
			if !scope.IncludeIgnored { // in ripgrep a glob beats the ignore files
				args, scope.IncludeIgnored = append(args, "--no-ignore"), true
			}
			args = append(args, "-g", q.Globs[0])
		}
		var want []string
		for line := range strings.SplitSeq(ripgrep(t, y.dir, append(args, "-e", q.Pattern, ".")...), "\n") {
			name, rest, ok := strings.Cut(line, "\x00")
			if name = strings.TrimPrefix(name, "./"); !ok || line == "--" || isBinary(y, name) {
				continue
			}
			digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
			want = append(want, name+rest[digits:digits+1]+rest[:digits])
		}
		got, err := y.Grep(context.Background(), scope, q.content())
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, f := range got.Files {
			for _, l := range f.Lines {
				mark := ":"
				if l.Context {
					mark = "-"
				}
				lines = append(lines, y.rel(f.Path)+mark+strconv.Itoa(l.Number))
			}
		}
		slices.Sort(lines)
		slices.Sort(want)
		if hits += len(want); !slices.Equal(lines, want) {
			t.Errorf("tree %d, %+v: lines differ\n%q\nrg\n%q", i, q, without(lines, want), without(want, lines))
		}
	}
	t.Logf("%d files, %d lines", files, hits)
}

func (q GrepQuery) content() GrepQuery { q.Mode = Content; return q }

func isBinary(y *tree, name string) bool {
	raw, _ := os.ReadFile(y.path(name))
	return bytes.IndexByte(raw, 0) >= 0 && !text.IsWide(raw)
}

func without[T comparable](all, some []T) (rest []T) {
	for _, a := range all {
		if !slices.Contains(some, a) && len(rest) < 10 {
			rest = append(rest, a)
		}
	}
	return rest
}

func split(out string) []string {
	names := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if out == "" {
		names = nil
	}
	slices.Sort(names)
	return names
}

// show prints the ignore files of a tree.
func show(y *tree) string {
	out, _ := exec.Command("sh", "-c", "cd '"+y.dir+"' && grep -rn '' --include=.gitignore --include=.ignore --include=exclude . ; find . -type f").Output()
	return string(out)
}

// TestLikeGit compares with what git does not ignore. It knows no .ignore files.
func TestLikeGit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(17, 301))
	files := 0
	for i := range number("FSMCP_SEARCH_TREES", shortrun.Count(t, 60, 15, "trees")) {
		y := newTree(t)
		git := func(args ...string) string {
			cmd := exec.Command("git", append([]string{"-C", y.dir, "-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false"}, args...)...)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		git("init", "-q")
		drawTree(y, rnd, ".gitignore")
		y.put(".git/info/exclude", ignoreLines[rnd.IntN(len(ignoreLines))]+"\n"+ignoreLines[rnd.IntN(len(ignoreLines))])
		want := split(strings.ReplaceAll(git("ls-files", "-z", "--others", "--exclude-standard"), "\x00", "\n"))
		got := y.names(y.scope(), "**")
		if files += len(want); !slices.Equal(got, want) {
			t.Errorf("tree %d: %q, git has %q\n%s", i, without(got, want), without(want, got), show(y))
		}
	}
	t.Logf("%d files", files)
}
