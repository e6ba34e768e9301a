package nameglob

import "testing"

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
