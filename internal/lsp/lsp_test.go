package lsp

import (
	"strings"
	"testing"
)

// What an edit's answer says, edit by edit, of one file.
func TestNewProblemsOnly(t *testing.T) {
	type step struct{ text, want string }
	for name, steps := range map[string][]step{
		"a problem comes and goes": {
			{"a\n", ""},
			{"a\nbad\n", "fake reports 1 new error:\na.go:2:1: undefined: bad"},
			{"a\nbad\nb\n", ""},
			{"a\nb\n", "fake no longer reports in a.go: undefined: bad"},
			{"a\nb\nc\n", ""},
		},
		"old problems are no news": {
			{"bad1\nx\nbad2\n", ""},
			{"bad1\nx\ny\nbad2\n", ""},
			{"new\nbad1\nx\ny\nbad2\n", ""},
			{"x\ny\nbad2\n", ""}, // gone, but never reported
			{"x\ny\nbad2\nbad1\n", "fake reports 1 new error:\na.go:4:1: undefined: bad1"},
		},
		"an old problem in a changed line": {
			{"x bad\n", ""},
			{"longer x bad\n", ""},
			{"longer x bad bad\n", "fake reports 1 new error:\na.go:1:14: undefined: bad"},
		},
		"errors first": {
			{"x\n", ""},
			{"meh\nhint\nbad\n", "fake reports 1 new error and 1 new warning:\na.go:3:1: undefined: bad\na.go:1:1: warning: undefined: meh"},
			{"x\n", "fake no longer reports 2 problems that it reported before."},
		},
		"at most ten": {
			{"x\n", ""},
			{strings.Repeat("bad\n", 12), "fake reports 12 new errors:\n" +
				"a.go:1:1: undefined: bad\na.go:2:1: undefined: bad\na.go:3:1: undefined: bad\na.go:4:1: undefined: bad\na.go:5:1: undefined: bad\n" +
				"a.go:6:1: undefined: bad\na.go:7:1: undefined: bad\na.go:8:1: undefined: bad\na.go:9:1: undefined: bad\na.go:10:1: undefined: bad\nand 2 more"},
			{strings.Repeat("bad\n", 12) + "x\n", ""},
		},
		"one is mended, another comes": {
			{"x\n", ""},
			{"bad1\n", "fake reports 1 new error:\na.go:1:1: undefined: bad1"},
			{"bad2\n", "fake no longer reports in a.go: undefined: bad1\nfake reports 1 new error:\na.go:1:1: undefined: bad2"},
		},
	} {
		for kind, f := range map[string]func(*fake){
			"incremental": func(*fake) {},
			"utf-8":       func(f *fake) { f.capabilities = `{"positionEncoding":"utf-8","textDocumentSync":2}` },
			"full":        func(f *fake) { f.capabilities = `{"textDocumentSync":1}` },
			"unversioned": func(f *fake) { f.unversioned = true },
			"pull": func(f *fake) {
				f.capabilities = `{"textDocumentSync":2,"diagnosticProvider":{"interFileDependencies":true}}`
			},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				fake := newFake(t)
				f(fake)
				p := newProject(t, fake)
				p.begin()
				p.write("a.go", steps[0].text)
				for i, s := range steps[1:] {
					if got := p.edit("a.go", s.text); got != s.want {
						t.Errorf("step %d: %q, want %q", i+1, got, s.want)
					}
					if got := fake.text(p.path("a.go")); got != s.text {
						t.Errorf("step %d: the server has %q, want %q", i+1, got, s.text)
					}
				}
			})
		}
	}
}
