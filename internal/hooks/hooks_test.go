package hooks

import (
	"bytes"
	"testing"
)

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		fold, want bool
	}{
		{"*.go", "/p/a.go", false, true},
		{"*.go", "/p/sub/a.go", false, true},
		{"*.go", "/p/a.god", false, false},
		{"*.go", "/p/A.GO", false, false},
		{"*.go", "/p/A.GO", true, true},
		{"*.GO", "/p/a.go", true, true},
		{"**/*.go", "/p/sub/a.go", false, true},
		{"**/*.go", "/a.go", false, true},
		{"**", "/p/sub/.hidden", false, true},
		{"*", "/p/sub/.hidden", false, true},
		{"src/**/*.{ts,tsx}", "/p/src/deep/er/a.tsx", false, true},
		{"src/**/*.{ts,tsx}", "/p/src/a.ts", false, true},
		{"src/**/*.{ts,tsx}", "/p/mysrc/a.ts", false, false},
		{"/p/*.go", "/p/a.go", false, true},
		{"/p/*.go", "/q/p/a.go", false, false},
		{"a[.]go", "/p/a.go", false, true},
	} {
		l := List{{Glob: "nothing/of/this"}, {Glob: c.glob}}
		names := []string{"/elsewhere", c.name}
		if got := l.Concern(names, c.fold); got != c.want {
			t.Errorf("%q concerns %q (fold %v): %v", c.glob, c.name, c.fold, got)
		}
		if got := len(l.For(names, c.fold)) == 1; got != c.want {
			t.Errorf("%q is for %q (fold %v): %v", c.glob, c.name, c.fold, got)
		}
	}
}

func TestNoHooksCostNothing(t *testing.T) {
	names := []string{"/p/a.go"}
	var l List
	if n := testing.AllocsPerRun(100, func() {
		if l.Concern(names, true) || l.For(names, true) != nil {
			t.Error("a hook out of nowhere")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestReadEvent(t *testing.T) {
	e := HookInput{Event: AfterEdit, Tool: "Edit", Path: "/p/a\xff<b>.go", Session: "s", Call: "1", Before: "/q/a\xff<b>.go"}
	line, err := e.line()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ReadEvent(bytes.NewReader(line)); err != nil || got != e {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "[]", `{"path":"a","pathBase64":"%"}`} {
		if _, err := ReadEvent(bytes.NewReader([]byte(bad))); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestValueOf(t *testing.T) {
	env := []string{"PATH=a", "Path=b", "PATHEXT=c"}
	for _, row := range []struct {
		fold bool
		want string
	}{{false, "a"}, {true, "b"}} {
		if got, ok := valueOf(env, "PATH", row.fold); got != row.want || !ok {
			t.Errorf("%v: %q", row.fold, got)
		}
	}
}
