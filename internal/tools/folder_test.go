package tools

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/perm"
)

// expected holds the list of a folder by os.ReadDir and the rules of the test.
type expected struct {
	names                 []string // folders first, each part by name
	folders, files, links int
}

// expect leaves out what the rules of TestFolderInPages deny, and links to it.
func expect(t *testing.T, dir string) (e expected) {
	t.Helper()
	list, err := os.ReadDir(dir) // by name
	if err != nil {
		t.Fatal(err)
	}
	var folders, others []string
	for _, entry := range list {
		leads, _ := os.Readlink(filepath.Join(dir, entry.Name()))
		switch name := entry.Name(); {
		case strings.HasPrefix(name, "secret"), strings.HasPrefix(leads, "secret"):
		case leads != "":
			others = append(others, name+"@")
			e.links++
		case entry.IsDir():
			folders = append(folders, name+"/")
			e.folders++
		default:
			others = append(others, name)
			e.files++
		}
	}
	e.names = append(folders, others...)
	return e
}

var nextPage = regexp.MustCompile(`Next: Read offset=(\d+), limit=(\d+)\.`)

// The pages of a folder together show each entry once that may be read, and each page counts all
// of them; what is denied, and a link to it, changes nothing.
func TestFolderInPages(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 12))
		b := newBench(t, perm.RuleText{List: perm.Deny, Text: "Read(secret*)"})
		dir := b.path("dir")
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		must(os.Mkdir(dir, 0o755))
		for i := range rng.IntN(400) {
			name := fmt.Sprintf("%s%d", []string{"f", ".hidden", "Ä", "secret", "b c"}[rng.IntN(5)], i)
			switch kind := rng.IntN(6); {
			case kind == 0:
				must(os.Mkdir(filepath.Join(dir, name), 0o755))
			case kind == 1 && runtime.GOOS != "windows":
				to := []string{"nowhere", "secret0", ".", fmt.Sprint("f", rng.IntN(9))}[rng.IntN(4)]
				must(os.Symlink(to, filepath.Join(dir, name)))
			default:
				must(os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x", rng.IntN(9))), 0o644))
			}
		}
		want := expect(t, dir)
		head := fmt.Sprintf("%d %s", want.files, map[bool]string{true: "file", false: "files"}[want.files == 1])
		var names []string
		offset, limit := 1, 1+rng.IntN(90)
		for page := 0; ; page++ {
			answer := b.ok(&ReadArgs{FilePath: dir, Offset: &offset, Limit: &limit})
			first, rest, _ := strings.Cut(answer, "\n")
			if !strings.Contains(first, head) || !strings.Contains(first, fmt.Sprintf(" %d folder", want.folders)) ||
				strings.Contains(first, "link") != (want.links > 0) || want.links > 0 && !strings.Contains(first, fmt.Sprintf(" %d link", want.links)) {
				t.Fatalf("seed %d: %q, but there are %d folders, %d files and %d links", seed, first, want.folders, want.files, want.links)
			}
			for line := range strings.Lines(rest) {
				if !strings.HasPrefix(line, "(") {
					name, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
					names = append(names, name)
				}
			}
			next := nextPage.FindStringSubmatch(answer)
			if next == nil {
				break
			}
			offset, _ = strconv.Atoi(next[1])
			limit, _ = strconv.Atoi(next[2])
			if page > 400 {
				t.Fatalf("seed %d: the pages do not end", seed)
			}
		}
		if !slices.Equal(names, want.names) {
			t.Fatalf("seed %d: the pages show\n%q\nwant\n%q", seed, names, want.names)
		}
	}
}
