package perm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// Patterns to which rules give a meaning that gitignore does not have. They
// are left out of the comparison, each by its name.
var unlikeGit = []struct {
	name string
	is   func(pattern, path string) bool
}{
	{"negation: a rule is rejected", func(p, _ string) bool { return strings.HasPrefix(p, "!") }},
	{"comment: a rule may name a file that begins with a hash", func(p, _ string) bool { return strings.HasPrefix(p, "#") }},
	{"home and file-system root: the anchors of rules", func(p, _ string) bool {
		return strings.HasPrefix(p, "~/") || strings.HasPrefix(p, "//")
	}},
	{"dot segments: a rule means the directory it names", func(p, _ string) bool {
		for s := range strings.SplitSeq(strings.ReplaceAll(p, `\.`, "."), "/") {
			if s = strings.TrimRight(s, `\ `); s == "." || s == ".." {
				return true
			}
		}
		return false
	}},
	{"empty segments: a rule leaves them out", func(p, _ string) bool {
		p = strings.ReplaceAll(strings.TrimPrefix(p, "/"), `\/`, "/")
		return glob.TrimBlanks(p) == "" || strings.HasPrefix(p, "/") || strings.Contains(p, "//")
	}},
	{"a wildcard for one byte of several: rules count characters", func(p, path string) bool {
		return !glob.IsASCII(p+path) && strings.ContainsAny(p, "?[")
	}},
	{"dir/**/: git takes the folders alone, a rule the files, too", func(p, _ string) bool {
		return wholeTree(p) != p
	}},
	{"end of line: a file of patterns ends one there, a rule does not", func(p, _ string) bool {
		return strings.ContainsAny(p, "\r\n")
	}},
}

func notGits(pattern, path string) bool {
	for _, u := range unlikeGit {
		if u.is(pattern, path) {
			return true
		}
	}
	return false
}

// TestLikeGit compares random patterns on random paths with git check-ignore.
// FSMCP_PERM_PAIRS sets how many pairs, FSMCP_PERM_SEED where to start.
func TestLikeGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("!!! NOT TESTED: git is missing !!!")
	}
	pairs, seed := number(t, "FSMCP_PERM_PAIRS", shortrun.Count(t, 20_000, 5000, "pairs")), number(t, "FSMCP_PERM_SEED", 1)
	rng := rand.New(rand.NewPCG(uint64(seed), 7))
	const paths = 40
	matched, compared := 0, 0
	for compared < pairs {
		n := min(500, (pairs-compared+paths-1)/paths)
		g := newGitCase(t, rng, n, paths)
		for i, says := range g.ask(t) {
			q := g.queries[i]
			if ours := coveredBy(g.patterns[q.pattern], q.path); ours != says {
				t.Errorf("pattern %q, path %q: git %v, rules %v", g.patterns[q.pattern], q.path, says, ours)
			}
			if says {
				matched++
			}
		}
		compared += len(g.queries)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d pairs compared, %d of them matched", compared, matched)
	if matched < compared/50 {
		t.Errorf("only %d of %d pairs matched: the comparison proves little", matched, compared)
	}
}

// TestLikeGitByHand compares patterns that were chosen for their oddity.
func TestLikeGitByHand(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("!!! NOT TESTED: git is missing !!!")
	}
	g := gitCase{dir: t.TempDir(), patterns: strings.Split(strings.TrimSuffix(oddPatterns, "\n"), "\n")}
	for i := range g.patterns {
		for path := range strings.FieldsSeq(oddPaths) {
			path = strings.ReplaceAll(path, "_", " ")
			if !notGits(g.patterns[i], path) {
				g.queries = append(g.queries, gitQuery{i, path})
			}
		}
	}
	for class := range strings.FieldsSeq("alnum alpha blank cntrl digit graph lower print punct space upper xdigit") {
		for c := byte(1); c < 0x80; c++ {
			if c != '/' && c != '.' {
				g.queries = append(g.queries, gitQuery{len(g.patterns), string(rune(c))})
			}
		}
		g.patterns = append(g.patterns, "[[:"+class+":]]")
	}
	g.write(t)
	for i, says := range g.ask(t) {
		q := g.queries[i]
		if ours := coveredBy(g.patterns[q.pattern], q.path); ours != says {
			t.Errorf("pattern %q, path %q: git %v, rules %v", g.patterns[q.pattern], q.path, says, ours)
		}
	}
}

const oddPatterns = `a
a/
/a
a/b
a/*
a/**
a/**/
**
**/
/**
*/
**/a
**/a/b
a/**/b
a/***/b
a/**/**/b
**/**/b
*/*/b
a**
**a
a**b
a**/b
a**/b/c
c/a**/b
?**/b
a\/b
**\/b
a/**\/b
a**\/b
\a
\*
\**
a\
a\\
[a
[]
[]a]
[!]a]
[^a]
[!a]/b
[a/b]c
[a-c]
[c-a]
[a-]
[-a]
[a\]]
[\a-\c]
[[:alpha:]]
[[:alpha:]-c]
[[:nope:]]
[[:alpha]
[[:]
[[:a]]
[[:space:][:digit:]]
[[:upper:]b]*
a_
a\ 
a\  
a  
 a
a\\ 
*.a
*.*
.*
.a*
é
é*
*é
*[[:punct:]]
`

const oddPaths = `a b c ab ac a/b a/c a/b/c b/a b/a/b a/x/b a/x/y/b x/a x/a/b x/y/a/b ax/b ax/y/b ax/y/b/c c/a/b c/ax/y/b ?x/b
	* ** \ a\ [a ] [] - ^ ! A Ab a_ a__ a\_ _a .a x.a x.a.b ..a ... a/.a é éa aé [: :a] 1 _ a] 1x`

// coveredBy asks the matcher what gitignore would say: the pattern stands in
// the directory, and nothing is known to be a directory but what has something below.
func coveredBy(pattern, path string) bool {
	s, err := parseSpec(pattern)
	if err != nil {
		return false
	}
	b := newIndex(nil, false)
	for p := &s.pattern; p != nil; p = p.Also {
		segs, ok := anchored("/w", p, s.floats(Allow))
		if !ok {
			return false
		}
		b.add(segs, rulePattern{list: Allow, ops: allOps, dirOnly: p.DirOnly})
	}
	name := "/w/" + path
	return b.find(new(walk), name, name, false, Read, nil)[Allow] == 0
}

// gitCase holds each pattern in the .gitignore of a directory of its own, so
// that one run of git answers for all.
type gitCase struct {
	dir      string
	patterns []string
	queries  []gitQuery
}

type gitQuery struct {
	pattern int
	path    string
}

func newGitCase(t *testing.T, rng *rand.Rand, patterns, paths int) *gitCase {
	g := &gitCase{dir: t.TempDir()}
	for i := 0; i < patterns; i++ {
		p := randomPattern(rng)
		g.patterns = append(g.patterns, p)
		for range paths {
			if path := randomPath(rng, p); !notGits(p, path) {
				g.queries = append(g.queries, gitQuery{i, path})
			}
		}
	}
	g.write(t)
	return g
}

func (g *gitCase) write(t *testing.T) {
	t.Helper()
	init := exec.Command("git", "init", "-q", g.dir)
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	for i, p := range g.patterns {
		dir := filepath.Join(g.dir, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(p+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ask returns git's answer to each query.
func (g *gitCase) ask(t *testing.T) (ignored []bool) {
	t.Helper()
	var in bytes.Buffer
	for _, q := range g.queries {
		fmt.Fprintf(&in, "%d/%s\x00", q.pattern, q.path)
	}
	cmd := exec.Command("git", "-C", g.dir, "-c", "core.ignoreCase=false", "check-ignore",
		"--no-index", "-z", "--verbose", "--non-matching", "--stdin")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	cmd.Stdin = &in
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && !(ok && exit.ExitCode() == 1) {
		t.Fatalf("git check-ignore: %v: %s", err, &complaint)
	}
	fields := strings.Split(string(out), "\x00")
	if len(fields) != 4*len(g.queries)+1 {
		t.Fatalf("git answered %d fields to %d queries", len(fields), len(g.queries))
	}
	for i := range g.queries {
		ignored = append(ignored, fields[4*i] != "")
	}
	return ignored
}

// randomPattern makes a pattern of few letters, so that it meets paths often.
func randomPattern(rng *rand.Rand) string {
	pieces := []string{
		"a", "b", "c", "ab", ".", "-", "a", "b", "c", "/", "/", "/", "*", "*", "**", "**/", "/**/", "/**", "?", "?", "A",
		"[ab]", "[!a]", "[^b]", "[a-c]", "[.]", "[]a]", "[a/b]", "[[:alpha:]]", "[![:upper:]]", "[", "]", `\`, `\a`, `\*`, `\[`, `\/`, " ", "é", "***",
	}
	for {
		var b strings.Builder
		for range 1 + rng.IntN(6) {
			if rng.IntN(12) == 0 {
				b.WriteString(randomClass(rng))
			} else {
				b.WriteString(pieces[rng.IntN(len(pieces))])
			}
		}
		if p := b.String(); !notGits(p, "") {
			return p
		}
	}
}

// randomClass makes something between brackets, well formed or not.
func randomClass(rng *rand.Rand) string {
	parts := []string{"a", "b", "c", "-", "]", "!", "^", "[", ":", `\`, "/", "[:alpha:]", "[:digit:]", "[:no:]", "A"}
	var b strings.Builder
	b.WriteByte('[')
	for range 1 + rng.IntN(5) {
		b.WriteString(parts[rng.IntN(len(parts))])
	}
	b.WriteByte(']')
	return b.String()
}

// randomPath makes a path: half of the time one that fits the pattern more or less.
func randomPath(rng *rand.Rand, pattern string) string {
	if rng.IntN(2) == 0 {
		if p := pathNear(rng, pattern); p != "" {
			return p
		}
	}
	var segs []string
	for range 1 + rng.IntN(5) {
		segs = append(segs, randomName(rng))
	}
	return strings.Join(segs, "/")
}

func randomName(rng *rand.Rand) string {
	letters := []string{"a", "b", "c", "a", "b", "c", ".", "-", "A", "é", "]", `\`, "*", "[", " "}
	for {
		var b strings.Builder
		for range 1 + rng.IntN(3) {
			b.WriteString(letters[rng.IntN(len(letters))])
		}
		if n := b.String(); strings.Trim(n, ".") != "" {
			return n
		}
	}
}

// pathNear replaces what is special in a pattern by something it could match.
func pathNear(rng *rand.Rand, pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			if strings.HasPrefix(pattern[i:], "**/") && rng.IntN(2) == 0 {
				b.WriteString("a/b/")
				i += 2
			} else if rng.IntN(2) == 0 {
				b.WriteString(randomName(rng))
			}
		case '?':
			b.WriteByte('a')
		case '[':
			if end := strings.IndexByte(pattern[i:], ']'); end > 0 {
				b.WriteByte("ab.A"[rng.IntN(4)])
				i += end
			}
		case '\\':
		default:
			b.WriteByte(c)
		}
	}
	if rng.IntN(3) == 0 {
		b.WriteString("/a")
	}
	path := strings.Trim(b.String(), "/ ")
	if rng.IntN(4) == 0 {
		path = "b/" + path
	}
	for s := range strings.SplitSeq(path, "/") {
		if strings.Trim(s, ".") == "" {
			return ""
		}
	}
	return path
}

func number(t *testing.T, env string, usual int) int {
	s := os.Getenv(env)
	if s == "" {
		return usual
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	return n
}
