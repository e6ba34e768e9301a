package perm

import "testing"

// A rule asks whatever stands before it in the order of decision.
func TestAsks(t *testing.T) {
	own := Source{Name: "/f", Level: User, Anchor: "/home/u"}
	for _, mode := range []Mode{AcceptEdits, Bypass, DontAsk, Plan} {
		p, _ := Compile(Config{
			Workspace: []Dir{{Name: "/w"}}, Home: "/home/u", CaseSensitive: true, Mode: mode,
			Broken: []BrokenFile{{Name: "/b"}},
			Rules:  []RuleText{{Text: "Read(secret.txt)", List: Ask, Source: own}, {Text: "Edit(guarded.txt)", List: Ask, Source: own}},
		})
		for name, want := range map[string]bool{"/w/a/secret.txt": true, "/w/SECRET.txt": true, "/w/guarded.txt": false, "/w/x": false, "relative": true, "/etc/x": false} {
			if got := p.Asks(Read, []string{name}); got != want {
				t.Errorf("%v: %s: %v", mode, name, got)
			}
		}
		if !p.Asks(Read, []string{"/w/link", "/w/secret.txt"}) {
			t.Error("a link to it is none")
		}
		if p.Asks(Read, []string{"/w/guarded.txt"}) || !p.Asks(Edit, []string{"/w/guarded.txt"}) {
			t.Error("reading is not changing")
		}
	}
}

// TestHidesAll tells rules for all names of a folder from those for some.
func TestHidesAll(t *testing.T) {
	own := Source{Name: "/f", Level: User, Anchor: "/home/u"}
	for text, want := range map[string]bool{
		"Read(secret/**)": true, "Read(**/secret/*)": true, "Read(**/secret/**)": true, "Read(//w/a/secret/**)": true, "Read(secret)": true, "Read(*)": true, "Read(**/SECRET/*)": true,
		"Read(**/secret/*.txt)": false, "Read(**/secret/?*)": false, "Read(**/secret/[!a]*)": false, "Read(secret/*/x)": false, "Read(other/**)": false, "Edit(secret/**)": false, "Read(secret/**/x)": false,
		"Read(**/secret/*a*)": false, "Read(**/secret/**a)": false,
	} {
		for _, list := range []List{Deny, Ask} {
			p, _ := Compile(Config{Workspace: []Dir{{Name: "/w"}}, CaseSensitive: true, Rules: []RuleText{{Text: text, List: list, Source: own}}})
			if got := p.HidesAll(Read, "/w/a/secret"); got != want {
				t.Errorf("%s %v: %v", text, list, got)
			}
			if got := p.HidesAll(Read, "/w/a/secret/"); got != want {
				t.Errorf("%s %v with a slash: %v", text, list, got)
			}
		}
	}
}
