package fsys

import "testing"

func TestParseElsewhere(t *testing.T) {
	for _, c := range []struct {
		raw, goos string
		want      Elsewhere // Kind 0: none
	}{
		{"file:///w/a%20b.txt", "linux", Elsewhere{Kind: FileURL, Path: "/w/a b.txt"}},
		{"FILE://localhost/w/%25", "darwin", Elsewhere{Kind: FileURL, Path: "/w/%"}},
		{" file:/w/a ", "linux", Elsewhere{Kind: FileURL, Path: "/w/a"}},
		{"file:///C:/w/a%20b", "windows", Elsewhere{Kind: FileURL, Path: "C:/w/a b"}},
		{"file:///C:/w/a", "linux", Elsewhere{Kind: Drive, Guess: "/mnt/c/w/a", Tail: "w/a"}},
		{"file:///w/a%2", "linux", Elsewhere{Kind: BadURL}},
		{"file:///w/a#L1", "linux", Elsewhere{Kind: PartURL, Path: "/w/a"}},
		{"file:///w/a?x=1", "linux", Elsewhere{Kind: PartURL, Path: "/w/a"}},
		{"file:///w/a%23b", "linux", Elsewhere{Kind: FileURL, Path: "/w/a#b"}},
		{"file://", "linux", Elsewhere{Kind: FileURL}},
		{"file://server/share/a", "linux", Elsewhere{Kind: Machine, Guess: "/server/share/a", Tail: "share/a"}},
		{"https://a.b/c", "linux", Elsewhere{Kind: OtherURL}},
		{"vscode-remote://ssh/c", "windows", Elsewhere{Kind: OtherURL}},
		{"data:text/plain,x", "linux", Elsewhere{Kind: DataURL}},
		{`C:\w\a.txt`, "linux", Elsewhere{Kind: Drive, Guess: "/mnt/c/w/a.txt", Tail: "w/a.txt"}},
		{`d:/w`, "darwin", Elsewhere{Kind: Drive, Guess: "/mnt/d/w", Tail: "w"}},
		{`\\server\share\w\a`, "linux", Elsewhere{Kind: Machine, Guess: "/server/share/w/a", Tail: "share/w/a"}},
		{`\\wsl$\Ubuntu\home\a`, "linux", Elsewhere{Kind: Machine, Guess: "/home/a", Tail: "home/a"}},
		{`"/w/a"`, "linux", Elsewhere{Kind: Quoted, Path: "/w/a"}},
		{"'a b'", "windows", Elsewhere{Kind: Quoted, Path: "a b"}},
		{"`a`", "linux", Elsewhere{Kind: Quoted, Path: "a"}},
		{"“a”", "linux", Elsewhere{Kind: Quoted, Path: "a"}},
		{"/c/w/a", "windows", Elsewhere{Kind: Mount, Path: `C:\w\a`}},
		{"/mnt/d/a", "windows", Elsewhere{Kind: Mount, Path: `D:\a`}},
		{"/cygdrive/e", "windows", Elsewhere{Kind: Mount, Path: `E:\`}},
		{`%USERPROFILE%\x`, "windows", Elsewhere{Kind: Variable, Tail: `%USERPROFILE%\x`}},
		{"$Env:USERPROFILE/x", "windows", Elsewhere{Kind: Variable, Tail: "$Env:USERPROFILE/x"}},
		{`\\?\C:\a\b`, "windows", Elsewhere{Kind: Device, Path: `C:\a\b`}},
		{` C:\a b `, "windows", Elsewhere{Kind: Blanks, Path: `C:\a b`}},
		{"a.txt ", "windows", Elsewhere{Kind: Blanks, Path: "a.txt"}},
		// Names of this system.
		{" a.txt", "windows", Elsewhere{}},
		{`100%\a`, "windows", Elsewhere{}},
		{`\\?\Volume{1}\a`, "windows", Elsewhere{}},
		{"%USERPROFILE%/x", "linux", Elsewhere{}},
		{"/c/w/a", "linux", Elsewhere{}},
		{"/mnt/c/a", "linux", Elsewhere{}},
		{`C:\w`, "windows", Elsewhere{}},
		{`a\b`, "linux", Elsewhere{}},
		{"C:a", "linux", Elsewhere{}},
		{"a: b", "linux", Elsewhere{}},
		{"http:a", "linux", Elsewhere{}},
		{"a/b://c", "linux", Elsewhere{}},
		{"/w/https://a", "linux", Elsewhere{}},
		{`"a" and "b`, "linux", Elsewhere{}},
		{`""`, "linux", Elsewhere{}},
		{"'", "linux", Elsewhere{}},
		{"", "linux", Elsewhere{}},
		{"~/a", "linux", Elsewhere{}},
		{"clipboard:", "linux", Elsewhere{}},
	} {
		got, ok := ParseElsewhere(c.raw, c.goos)
		if got != c.want || ok != (c.want.Kind != 0) {
			t.Errorf("%s, %s: %+v, %v; want %+v", c.raw, c.goos, got, ok, c.want)
		}
	}
}

func FuzzParseElsewhere(f *testing.F) {
	for _, raw := range []string{"file:///a%20b", `C:\a`, `\\a\b\c`, `"a"`, "/c/a", "data:,x", "file:", "file:/", `\\`} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, goos := range []string{"linux", "windows"} {
			if e, ok := ParseElsewhere(raw, goos); ok != (e.Kind != 0) {
				t.Errorf("%q: %+v, %v", raw, e, ok)
			}
		}
	})
}
