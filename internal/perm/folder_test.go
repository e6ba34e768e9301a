package perm

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestFolderDecidesAsWholeNames compares decisions that go down one folder at a time with those
// on whole names, for random rules, folders with up to three names and random grants.
func TestFolderDecidesAsWholeNames(t *testing.T) {
	allowed, all := 0, 0
	eachCase(t, 5000, func(t *testing.T, rng *rand.Rand, c Config, _ Op, tops []string) {
		c.Own = []string{project + "/own/deep", "/srv/a"}
		if rng.IntN(3) == 0 {
			c.Rules = append(c.Rules, RuleText{Text: "Read(//**/a/**)", List: List(rng.IntN(3)), Source: flagSource})
		}
		p, _ := Compile(c)
		for i := range tops {
			if rng.IntN(2) == 0 { // as a folder that was opened has it
				tops[i] = strings.TrimSuffix(tops[i], "/") + "/"
			}
		}
		f, names := p.Folder(tops), slices.Clone(tops)
		for range 1 + rng.IntN(6) {
			segment := []string{"a", "b", ".env", ".git", "A", "x.env", "ab", "srv", "own", "deep", "OWN", "ａ", "proj", "proc", "u", "null", "\x00", ".."}[rng.IntN(18)]
			dir := rng.IntN(2) == 0
			for i := range names {
				names[i] = strings.TrimSuffix(names[i], "/") + "/" + segment
				if dir {
					names[i] += "/"
				}
			}
			last := names[len(names)-1]
			var grants Grants
			if rng.IntN(4) == 0 {
				grants = granted{[]string{last, "/a"}[rng.IntN(2)]}
			}
			want := p.DecideGranted(Read, names, nil, grants).Verdict == Allow
			if got := f.Allows(segment, dir, grants); got != want {
				t.Errorf("%q: allowed %v, want %v", names, got, want)
			}
			if got, want := f.Own(segment), p.Own(last); got != want {
				t.Errorf("%q: own %v, want %v", last, got, want)
			}
			if all++; want {
				allowed++
			}
			f = f.Below(segment)
			hides := slices.ContainsFunc(names, func(n string) bool { return p.HidesAll(Read, n) })
			if got := f.HidesAll(); got != hides {
				t.Errorf("%q: hides all %v, want %v", names, got, hides)
			}
		}
	})
	if t.Logf("%d of %d names are allowed", allowed, all); allowed < all/10 || allowed > all*9/10 {
		t.Error("the names say little")
	}
}

// TestFolderWorkIsThatOfOneSegment counts the work of decisions: in a deep folder it is that in
// a shallow one. Of the whole name it grows with the depth, which is the control.
func TestFolderWorkIsThatOfOneSegment(t *testing.T) {
	c := testConfig()
	for _, text := range []string{"Read(**/secret/**)", "Read(*.pem)", "Read(a/**/key)", "Read(d*/x)"} {
		c.Rules = append(c.Rules, RuleText{Text: text, Source: flagSource})
	}
	p, _ := Compile(c)
	work := func(depth int) (one, whole int) {
		f, name := p.Folder([]string{project}), project
		for range depth {
			f, name = f.Below("dir"), name+"/dir"
		}
		var w walk
		l := &f.names[0].strict
		l.hitsOf(p.strict, &w, "file", "file", false)
		one = l.left - w.left
		p.strict.find(&w, name+"/file", name+"/file", false, Read, nil)
		return one, maxWork - w.left
	}
	near, wholeNear := work(10)
	deep, wholeDeep := work(1000)
	if t.Logf("%d and %d units in a folder, %d and %d for the whole name", near, deep, wholeNear, wholeDeep); near != deep || near == 0 || wholeDeep < 20*wholeNear {
		t.Error("the work depends on the depth")
	}
}

// On Windows names have backslashes and drive letters.
func TestFolderOnWindows(t *testing.T) {
	c := Config{Workspace: []Dir{{Name: `C:\ws`}}, Windows: true, Rules: []RuleText{{Text: "Read(secret.txt)", Source: flagSource}}}
	p, _ := Compile(c)
	f := p.Folder([]string{`C:\ws\`}).Below("a")
	if !f.Allows("b.txt", false, nil) || f.Allows("secret.txt", false, nil) || !f.Allows("b", true, nil) || f.HidesAll() || f.Own("b") {
		t.Error("names below a workspace on Windows are decided on in another way")
	}
}

type granted struct{ path string }

func (g granted) Granted(_ Op, path string) bool { return path == g.path }
