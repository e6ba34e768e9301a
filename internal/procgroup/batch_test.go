package procgroup

import (
	"errors"
	"os/exec"
	"testing"
)

func TestCheckArguments(t *testing.T) {
	for _, row := range []struct {
		program, argument, part string
	}{
		{`C:\tools\guard.cmd`, `--strict`, ""},
		{`C:\Program Files (x86)\R&D\guard.bat`, `a b,c;d=e/f'*?~@#$`, ""},
		{`C:\tools\guard.exe`, `a&b%PATH%"`, ""},
		{`C:\tools\guard.ps1`, `a|b`, ""},
		{`C:\tools\guard`, `(a)`, ""},
		{`C:\%x%\guard.cmd`, ``, "%"},
		{`C:\tools\GUARD.CMD`, `a&b`, "&"},
		{`C:\tools\guard.cmd. `, `a&b`, "&"},
		{`C:\tools\guard.bat`, `a|b`, "|"},
		{`C:\tools\guard.bat`, `<a`, "<"},
		{`C:\tools\guard.bat`, `a>`, ">"},
		{`C:\tools\guard.bat`, `^`, "^"},
		{`C:\tools\guard.bat`, `%PATH%`, "%"},
		{`C:\tools\guard.bat`, `!a!`, "!"},
		{`C:\tools\guard.bat`, `a"b`, `"`},
		{`C:\tools\guard.bat`, `(`, "("},
		{`C:\tools\guard.bat`, `)`, ")"},
		{`C:\tools\guard.bat`, "a\nb", "\n"},
		{`C:\tools\guard.bat`, "a\rb", "\r"},
		{`C:\tools\guard.bat`, "a\x00b", "\x00"},
	} {
		err := checkArguments(&exec.Cmd{Path: row.program, Args: []string{row.program, "fine", row.argument}})
		var found *ArgumentError
		if errors.As(err, &found); (found == nil) != (row.part == "") || found != nil && found.Part != row.part {
			t.Errorf("%q %q: %v, want %q", row.program, row.argument, err, row.part)
		}
	}
}
