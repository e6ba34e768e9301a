package notation

import (
	"errors"
	"slices"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// onWindows is a Windows system with the variables of a user.
var onWindows = Convention{Windows: true, Home: `C:\Users\u`, Getenv: func(name string) string {
	return map[string]string{
		"USERPROFILE": `C:\Users\u`, "APPDATA": `C:\Users\u\AppData\Roaming`,
		"LOCALAPPDATA": `D:\a[1]{x}\Local\`, "PROGRAMDATA": `\\server\share`,
	}[name]
}}

func TestRead(t *testing.T) {
	for _, c := range []struct{ text, want, also string }{
		{`C:\proj\secrets\**`, "//C:/proj/secrets/**", ""},
		{"c:/proj/secrets/**", "//C:/proj/secrets/**", ""},
		{"//C:/proj/x", "//C:/proj/x", ""},
		{"//c/proj/x", "//C:/proj/x", ""},
		{"/C:/proj/x", "//C:/proj/x", ""},
		{`\\?\C:\proj\x`, "//C:/proj/x", ""},
		{`\\.\C:\proj\x`, "//C:/proj/x", ""},
		{`C:\\proj\\x`, "//C:/\x00", ""}, // see below
		{"C:", "//C:/", ""},
		{`?:\x\*.key`, "//?:/x/*.key", ""},
		{`[cd]:\x`, "//[cd]:/x", ""},
		{`*:\x`, "//*:/x", ""},
		{"/c/proj/x", "/c/proj/x", "//C:/proj/x"},
		{`\c\proj\x`, "/c/proj/x", "//C:/proj/x"},
		{"/c", "/c", "//C:/"},
		{"/mnt/c/proj", "/mnt/c/proj", "//C:/proj"},
		{"/cygdrive/d/x", "/cygdrive/d/x", "//D:/x"},
		{"//mnt/d/x", "//D:/x", ""},
		{`secrets\**`, "secrets/**", ""},
		{`.\secrets\**`, "./secrets/**", ""},
		{`\secrets\**`, "/secrets/**", ""},
		{`~\.ssh\**`, "~/.ssh/**", ""},
		{`%USERPROFILE%\x`, "//C:/Users/u/x", ""},
		{"%userprofile%/x", "//C:/Users/u/x", ""},
		{`$env:USERPROFILE\x`, "//C:/Users/u/x", ""},
		{`$Env:UserProfile`, "//C:/Users/u", ""},
		{`%APPDATA%\a\**`, "//C:/Users/u/AppData/Roaming/a/**", ""},
		{`%LOCALAPPDATA%\*.key`, `//D:/a\[1]\{x}/Local/*.key`, ""},
		{`a\[[]2024] x\b`, `a/\[2024] x/b`, ""},
		{"100%.txt", "100%.txt", ""},
		{"a%20b%20c", "a%20b%20c", ""},
		{`$RECYCLE.BIN\**`, "$RECYCLE.BIN/**", ""},
		{"//**/.env", "//**/.env", ""},
		{"//etc/**", "//etc/**", ""},
	} {
		if c.text == `C:\\proj\\x` {
			c.want = "//C:/proj//x" // matchers take no notice of an empty segment
		}
		got, err := onWindows.Read(c.text)
		if err != nil || got.Text != c.want || got.Also != c.also {
			t.Errorf("%s: %q, %q, %v; want %q, %q", c.text, got.Text, got.Also, err, c.want, c.also)
		}
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]Fault{
		`\\server\share\**`: Machine, "//server/share": Machine, `\\?\UNC\server\x`: Machine,
		`\\.\pipe\x`: Device, `\\?\Volume{1}\x`: Device, "C:x": DriveRelative, "C:*.key": DriveRelative,
		`%PROGRAMDATA%\x`: Variable, `%TEMP%\x`: Variable, `a\%USERPROFILE%`: Variable, "%APPDATA%x": Variable,
		`$env:APPDATA\x`: Variable, "${HOME}/x": Variable, `$HOME\x`: Variable, `C:\Users\%USERNAME%\x`: Variable,
	} {
		fault := Fault("")
		if r, err := onWindows.Read(text); !errors.As(err, &fault) || fault != want {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	if _, err := (Convention{Windows: true}).Read(`%APPDATA%\x`); err == nil {
		t.Error("a variable without a value is understood")
	}
}

func TestDoubts(t *testing.T) {
	for text, want := range map[string]Doubt{
		`x\[a\]`: Escape, `x\[a]`: "", "//etc/passwd": UnixTop, "x/a:b": Colon, `C:\a:b`: Colon,
		`C:\a`: "", "[[:alpha:]]": "", "//?:/x": "",
	} {
		if r, err := onWindows.Read(text); err != nil || r.Doubt != want {
			t.Errorf("%s: %q, %v", text, r.Doubt, err)
		}
	}
	wsl := Convention{WSL: func() bool { return true }}
	for text, also := range map[string]string{
		`C:\proj\x`: "//mnt/c/proj/x", "c:/proj": "//mnt/c/proj", "//D:/x": "//mnt/d/x", `\\?\C:\x`: "//mnt/c/x", "x": "", "//c/x": "", `\[2024\]`: "",
	} {
		want := Reading{Text: text, Also: also}
		if also != "" {
			want.Doubt = NoDrives
		}
		if r, err := wsl.Read(text); err != nil || r != want {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
		want.Also = ""
		if r, err := (Convention{}).Read(text); err != nil || r != want {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
}

func TestGlobs(t *testing.T) {
	for text, want := range map[string][]string{
		`sub\*.txt`: {"sub/*.txt"}, `.\sub\*`: {"sub/*"}, `C:\proj\**`: {"/C:/proj/**"}, `C:\\proj\\**`: {"/C:/proj/**"},
		`~\x`: {"/C:/Users/u/x"}, "/c/x": {"/?:/c/x", "/C:/x"}, `\secrets\*`: {"/?:/secrets/*"}, "//**/.env": {"/**/.env"},
		"{a,b}.txt": {"{a,b}.txt"},
	} {
		if got, err := onWindows.Globs(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if got, _ := (Convention{}).Globs(`a\*`); !slices.Equal(got, []string{`a\*`}) {
		t.Errorf("on Linux: %q", got)
	}
}

// What is written for a name stands for that name alone.
func TestWritten(t *testing.T) {
	for _, name := range []string{"C:/a/b.txt", "C:/a[1]/[b", "C:/%FOO%/$HOME/x", "C:/${a}/100%", "C:/{a,b}"} {
		r, err := onWindows.Read("//" + Written(name))
		if err != nil || r.Also != "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if !doublestar.MatchUnvalidated(Literal(name), name) {
			t.Errorf("%s does not match itself", name)
		}
	}
}
