package nameglob

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{".env", "/w/a/.env", true},
		{".env", "/w/.ENV", true},
		{".env", "/w/.env.local", false},
		{".env.*", "/w/.env.local", true},
		{"*.pem", "/w/x.pem", true},
		{"*.pem", "/w/x.pem/readme", false},
		{"id_*", "/home/u/.ssh/id_ed25519", true},
		{"id_*", "/w/id_folder/a.txt", false},
		{"secrets/**", "/w/a/secrets/b/c", true},
		{"secrets/**", "/w/nosecrets/b", false},
		{"/srv/**", "/srv/x/y", true},
		{"/srv/**", "/w/srv/x", false},
		{"config/prod.json", "/w/config/prod.json", true},
		{"{a,b}.txt", "/w/b.txt", true},
	} {
		if got := Match(c.glob, []string{c.name}, true); got != c.want {
			t.Errorf("%s, %s: %v", c.glob, c.name, got)
		}
	}
	for glob, want := range map[string]bool{"/C:/w/**": true, "/?:/w/*": true, "w/*.txt": true, "a.txt": true, "/C:/*": false, "/w/*": false} {
		if got := Match(glob, []string{`c:\w\A.txt`}, true); got != want {
			t.Errorf("on Windows %s: %v", glob, got)
		}
	}
	if !Match(".env", []string{"/w/link", "/w/real/.env"}, true) {
		t.Error("a link to a secret file is no secret")
	}
	if Match(".env", []string{"/w/.ENV"}, false) {
		t.Error("the case counts, and yet it matches")
	}
}

// A class does not match a slash, whatever is in it.
func TestClassesMatchNoSlash(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"src/test[!s]*.go", "/w/src/test/x.go", false},
		{"src/test[^s]*.go", "/w/src/test/x.go", false},
		{"src/test[!s]*.go", "/w/src/test_x.go", true},
		{"src/test[!s]*.go", "/w/src/tests.go", false},
		{"a/b[!-x]d", "/w/a/bcd", true},
		{"a/b[!-x]d", "/w/a/b-d", false},
		{"a/b[!-x]d", "/w/a/bpd", true},
		{`a/b[!\]]d`, "/w/a/b]d", false},
		{`a/b\[!x]d`, "/w/a/b[!x]d", true},
		{"a/b[[!x]d", "/w/a/b!d", true},
		{"a/b[[!x]d", "/w/a/b/d", false},
	} {
		if got := Match(c.glob, []string{c.name}, false); got != c.want {
			t.Errorf("%s, %s: %v", c.glob, c.name, got)
		}
	}
}

// segmentsMatch matches segment by segment, by the standard package. A "**" at the end matches at
// least so many.
func segmentsMatch(glob, name []string, least int) bool {
	switch {
	case len(glob) == 0:
		return len(name) == 0
	case glob[0] == "**" && len(glob) == 1:
		return len(name) >= least
	case glob[0] == "**":
		return segmentsMatch(glob[1:], name, least) || len(name) > 0 && segmentsMatch(glob, name[1:], least)
	case len(name) == 0:
		return false
	}
	ok, _ := path.Match(strings.ReplaceAll(glob[0], "[!", "[^"), name[0])
	return ok && segmentsMatch(glob[1:], name[1:], least)
}

// naiveMatch tries the name and each of its ends. Whether "a/**" matches a itself is left open.
func naiveMatch(glob, name string, least int) bool {
	segments := strings.Split(name, "/")[1:]
	switch rest, anchored := strings.CutPrefix(glob, "/"); {
	case anchored:
		return segmentsMatch(strings.Split(rest, "/"), segments, least)
	case !strings.Contains(glob, "/"):
		return segmentsMatch([]string{glob}, segments[len(segments)-1:], least)
	}
	for i := range segments {
		if segmentsMatch(strings.Split(glob, "/"), segments[i:], least) {
			return true
		}
	}
	return false
}

// TestMatchIsNaive compares drawn globs and names with matching segment by segment.
func TestMatchIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 77))
	draw := func(all []string, most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteString(all[r.IntN(len(all))])
		}
		return b.String()
	}
	matched := 0
	for range 100_000 {
		var glob, name []string
		for range 1 + r.IntN(4) {
			glob = append(glob, draw([]string{"a", "b", "A", ".", "*", "?", "[ab]", "[!a]", "[^.b]", `\a`, `\*`, "é", "[a-c]", "[!b-c]"}, 3))
			if r.IntN(3) == 0 {
				glob[len(glob)-1] = "**"
			}
		}
		for range 1 + r.IntN(4) {
			name = append(name, draw([]string{"a", "b", "A", ".", "c", "*", "é", "-"}, 3))
		}
		g, n, fold := []string{"", "", "/"}[r.IntN(3)]+strings.Join(glob, "/"), "/"+strings.Join(name, "/"), r.IntN(2) == 0
		if strings.Contains(g, "***") {
			continue
		}
		naive := func(least int) bool {
			if fold {
				return naiveMatch(strings.ToLower(g), strings.ToLower(n), least)
			}
			return naiveMatch(g, n, least)
		}
		got := Match(g, []string{n}, fold)
		if got && !naive(0) || !got && naive(1) {
			t.Fatalf("%q, %q, fold %v: %v", g, n, fold, got)
		}
		if got {
			matched++
		}
	}
	if t.Logf("%d match", matched); matched < 1000 {
		t.Error("the comparison says little")
	}
}
