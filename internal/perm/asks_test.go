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
