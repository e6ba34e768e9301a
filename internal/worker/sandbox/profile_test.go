//go:build unix

package sandbox

import (
	"regexp"
	"strings"
	"testing"
)

// expression is an expression of a profile: a list, a word, or a string with its quotes.
type expression struct {
	atom string
	list []expression
}

var token = regexp.MustCompile(`[()]|"(?:[^"\\]|\\.)*"|[^\s()"]+`)

// parse reads a profile as sandbox-exec does: all lists are closed, all text is in them.
func parse(t *testing.T, profile string) []expression {
	t.Helper()
	if rest := strings.TrimSpace(token.ReplaceAllString(profile, "")); rest != "" {
		t.Fatalf("%q is no expression", rest)
	}
	stack := [][]expression{nil}
	for _, word := range token.FindAllString(profile, -1) {
		last := len(stack) - 1
		switch word {
		case "(":
			stack = append(stack, nil)
		case ")":
			if last == 0 {
				t.Fatal("a list is closed twice")
			}
			stack[last-1] = append(stack[last-1], expression{list: stack[last]})
			stack = stack[:last]
		default:
			stack[last] = append(stack[last], expression{atom: word})
		}
	}
	if len(stack) != 1 {
		t.Fatal("a list is not closed")
	}
	return stack[0]
}

// A profile denies all that it does not allow, and allows no connection, no new process, no
// change and no other program, whatever the names are.
func TestProfile(t *testing.T) {
	const program, cache = `/Users/u/a "b\") (allow network*) ("/fsmcp-media`, "/Users/u/Library/Caches/fsmcp"
	const quoted = `"/Users/u/a \"b\\\") (allow network*) (\"/fsmcp-media"`
	rules := parse(t, Profile(program, []string{cache}))
	if len(rules) < 3 || rules[1].list[0].atom != "deny" || rules[1].list[1].atom != "default" {
		t.Fatalf("%v", rules)
	}
	places := make(map[string][]string) // of each operation
	for _, rule := range rules[2:] {
		if rule.list[0].atom != "allow" {
			t.Errorf("%v", rule)
		}
		for _, operation := range rule.list[1:] {
			for _, filter := range rule.list[1:] {
				if operation.atom != "" && filter.atom == "" {
					places[operation.atom] = append(places[operation.atom], filter.list[1].atom)
				}
			}
			if operation.atom != "" && places[operation.atom] == nil {
				places[operation.atom] = []string{} // without a filter
			}
		}
	}
	for operation, want := range map[string]string{
		"process-exec": quoted, "file-write-data": `"/dev/null"`, "signal": "self", "process-info*": "self", "sysctl-read": "", "file-read-metadata": "",
	} {
		if got := strings.Join(places[operation], " "); got != want || places[operation] == nil {
			t.Errorf("%s of %q, want %q", operation, got, want)
		}
		delete(places, operation)
	}
	if got := strings.Join(places["file-map-executable"], " "); strings.Contains(got, "Caches") || !strings.Contains(got, quoted) {
		t.Errorf("executable: %s", got)
	}
	reads := strings.Join(places["file-read*"], " ")
	if !strings.Contains(reads, `"/Users/u/Library/Caches/fsmcp"`) || strings.Count(reads, "/Users") != 2 {
		t.Errorf("read: %s", reads)
	}
	delete(places, "file-map-executable")
	delete(places, "file-read*")
	if len(places) > 0 {
		t.Errorf("it allows %v, too", places)
	}
	for _, name := range []string{"", "fsmcp", "/a\nb"} {
		if got := Profile(name, nil); got != "" {
			t.Errorf("%q: %s", name, got)
		}
	}
}
