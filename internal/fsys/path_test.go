package fsys

import (
	"errors"
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

// lexers are the same three wherever the tests run.
var (
	onLinux = Lexer{OS: "linux", Home: "/home/u", Base: "/home/u/proj"}
	onMac   = Lexer{OS: "darwin", Home: "/Users/u", Base: "/Users/u/proj"}
	onWin   = Lexer{OS: "windows", Home: `C:\Users\u`, Base: `D:\proj`}
)

func TestParse(t *testing.T) {
	long := strings.Repeat("a", 255)
	tests := []struct {
		lexer    Lexer
		raw      string
		want     string
		relative bool
		folder   bool
	}{
		{onLinux, "/a/b.txt", "/a/b.txt", false, false},
		{onLinux, "/", "/", false, true},
		{onLinux, "//a///b", "/a/b", false, false},
		{onLinux, "/a/./b/../c", "/a/c", false, false},
		{onLinux, "/../../etc/passwd", "/etc/passwd", false, false},
		{onLinux, "/a/b/", "/a/b", false, true},
		{onLinux, "/a/b/.", "/a/b", false, true},
		{onLinux, "/a/b/..", "/a", false, true},
		{onLinux, "~", "/home/u", false, false},
		{onLinux, "~/", "/home/u", false, true},
		{onLinux, "~/x/../y", "/home/u/y", false, false},
		{onLinux, "~root/x", "/home/u/proj/~root/x", true, false},
		{onLinux, "a.go", "/home/u/proj/a.go", true, false},
		{onLinux, "./a.go", "/home/u/proj/a.go", true, false},
		{onLinux, "../other/a.go", "/home/u/other/a.go", true, false},
		{onLinux, ".", "/home/u/proj", true, true},
		{onLinux, " /a", "/home/u/proj/ /a", true, false},
		{onLinux, "/a/b ", "/a/b ", false, false},
		{onLinux, `/a/b\c`, `/a/b\c`, false, false},
		{onLinux, "/a/c:d", "/a/c:d", false, false},
		{onLinux, "/a/CON", "/a/CON", false, false},
		{onLinux, "/a/\xff", "/a/\xff", false, false},
		{onLinux, "/a/new\nline", "/a/new\nline", false, false},
		{onLinux, "/" + long, "/" + long, false, false},
		{onMac, "/Users/u/Bild 1.png", "/Users/u/Bild 1.png", false, false},
		{onMac, "x:y", "/Users/u/proj/x:y", true, false},
		{onMac, "/a/namedfork/rsrc", "/a/namedfork/rsrc", false, false},
		{onWin, `C:\a\b.txt`, `C:\a\b.txt`, false, false},
		{onWin, `c:/a/b.txt`, `C:\a\b.txt`, false, false},
		{onWin, `C:\`, `C:\`, false, true},
		{onWin, `C:\a\..\..\b`, `C:\b`, false, false},
		{onWin, `C:\a\\b\`, `C:\a\b`, false, true},
		{onWin, `~\x`, `C:\Users\u\x`, false, false},
		{onWin, `~/x`, `C:\Users\u\x`, false, false},
		{onWin, `src\a.go`, `D:\proj\src\a.go`, true, false},
		{onWin, `..\a.go`, `D:\a.go`, true, false},
		{onWin, ` a`, `D:\proj\ a`, true, false},
		{onWin, `C:\console\com10\nul_x\lpt`, `C:\console\com10\nul_x\lpt`, false, false},
		{onWin, `C:\a~b\x~1y\~1\longer_name~1\a~1.html`, `C:\a~b\x~1y\~1\longer_name~1\a~1.html`, false, false},
		{onWin, `C:\` + strings.Repeat("ä", 255), `C:\` + strings.Repeat("ä", 255), false, false},
	}
	for _, tt := range tests {
		p, err := tt.lexer.Parse(tt.raw)
		if err != nil {
			t.Errorf("%s %q: %v", tt.lexer.OS, tt.raw, err)
			continue
		}
		if p.String() != tt.want || p.Relative() != tt.relative || p.TrailingSlash() != tt.folder || p.given != tt.raw {
			t.Errorf("%s %q = %q relative %v folder %v given %q", tt.lexer.OS, tt.raw, p, p.Relative(), p.TrailingSlash(), p.given)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		lexer Lexer
		raw   string
		want  Fault
	}{
		{onLinux, "", FaultEmpty},
		{onLinux, "/a\x00b", FaultNUL},
		{onLinux, "/" + strings.Repeat("a", 256), FaultLong},
		{onLinux, strings.Repeat("/abcdefg", 512), FaultLong},
		{Lexer{OS: "linux"}, "a", FaultNoBase},
		{Lexer{OS: "linux"}, "~/a", FaultNoHome},
		{onMac, "/.vol/16777220/2", FaultNamespace},
		{onMac, "/.VOL/1/2", FaultNamespace},
		{onMac, "/a/..namedfork/rsrc", FaultStream},
		{onMac, "/a/..namedfork", FaultStream},
		{onMac, strings.Repeat("/abcdefg", 128), FaultLong},
		{onWin, `\\server\share\x`, FaultNamespace},
		{onWin, `//server/share/x`, FaultNamespace},
		{onWin, `/\server\share`, FaultNamespace},
		{onWin, `\\?\C:\x`, FaultNamespace},
		{onWin, `\\?\UNC\server\share`, FaultNamespace},
		{onWin, `//./PhysicalDrive0`, FaultNamespace},
		{onWin, `\\.\pipe\x`, FaultNamespace},
		{onWin, `\??\C:\x`, FaultNamespace},
		{onWin, `\Windows\x`, FaultNamespace},
		{onWin, `C:x`, FaultNamespace},
		{onWin, `C:`, FaultNamespace},
		{onWin, `C:\a:b`, FaultStream},
		{onWin, `C:\a::$DATA`, FaultStream},
		{onWin, `a:b`, FaultNamespace}, // drive A
		{onWin, `ab:c`, FaultStream},
		{onWin, `C:\dir:stream\x`, FaultStream},
		{onWin, `NUL`, FaultReserved},
		{onWin, `C:\x\nul.txt`, FaultReserved},
		{onWin, `C:\con\x`, FaultReserved},
		{onWin, `C:\con\..\x`, FaultReserved},
		{onWin, `C:\Aux .h`, FaultReserved},
		{onWin, `C:\com1`, FaultReserved},
		{onWin, `C:\LPT².x`, FaultReserved},
		{onWin, `C:\CONIN$`, FaultReserved},
		{onWin, `C:\a.`, FaultTrailing},
		{onWin, `C:\a `, FaultTrailing},
		{onWin, `C:\.git. \config`, FaultTrailing},
		{onWin, `C:\...\x`, FaultTrailing},
		{onWin, `C:\PROGRA~1\x`, FaultShort},
		{onWin, `C:\x\GIT~1`, FaultShort},
		{onWin, `C:\x\longna~1.txt`, FaultShort},
		{onWin, `C:\x\a~12`, FaultShort},
		{onWin, `C:\a?b`, FaultCharacter},
		{onWin, `C:\a*`, FaultCharacter},
		{onWin, "C:\\a\tb", FaultCharacter},
		{onWin, "C:\\a\xff", FaultEncoding},
		{onWin, `C:\` + strings.Repeat("a", 256), FaultLong},
		{onWin, `C:` + strings.Repeat(`\abcdefg`, 4100), FaultLong},
	}
	for _, tt := range tests {
		p, err := tt.lexer.Parse(tt.raw)
		var refused *PathError
		if !errors.As(err, &refused) {
			t.Errorf("%s %q = %q, %v", tt.lexer.OS, tt.raw, p, err)
			continue
		}
		if refused.Kind != tt.want || refused.Reason == "" || refused.Raw != tt.raw {
			t.Errorf("%s %q: %v (fault %d, want %d)", tt.lexer.OS, tt.raw, err, refused.Kind, tt.want)
		}
	}
}

func TestPathParts(t *testing.T) {
	tests := []struct {
		lexer          Lexer
		raw            string
		base, dir, ext string
	}{
		{onLinux, "/a/b.TXT", "b.TXT", "/a", "txt"},
		{onLinux, "/b", "b", "/", ""},
		{onLinux, "/", "/", "/", ""},
		{onLinux, "/a/.env", ".env", "/a", ""},
		{onLinux, "/a/.env.local", ".env.local", "/a", "local"},
		{onLinux, "/a/x.tar.gz", "x.tar.gz", "/a", "gz"},
		{onLinux, "/a/x.", "x.", "/a", ""},
		{onLinux, "/a.b/c", "c", "/a.b", ""},
		{onWin, `C:\a\b.PNG`, "b.PNG", `C:\a`, "png"},
		{onWin, `C:\b`, "b", `C:\`, ""},
		{onWin, `C:\`, `C:\`, `C:\`, ""},
	}
	for _, tt := range tests {
		p, err := tt.lexer.Parse(tt.raw)
		if err != nil || p.Base() != tt.base || p.Dir() != tt.dir || p.Ext() != tt.ext {
			t.Errorf("%q: base %q dir %q ext %q, %v", tt.raw, p.Base(), p.Dir(), p.Ext(), err)
		}
		if p.Dir() != p.String() && p.WithBase(p.Base()).String() != p.String() {
			t.Errorf("%q: WithBase(Base) = %q", tt.raw, p.WithBase(p.Base()))
		}
	}
	p, _ := onLinux.Parse("a/b/")
	if q := p.WithBase("c"); q.String() != "/home/u/proj/a/c" || q.TrailingSlash() || !q.Relative() {
		t.Errorf("WithBase: %q", q)
	}
	if again, _ := onLinux.Parse("a/b/"); again != p {
		t.Error("equal paths differ")
	}
	var zero Path
	if zero.String()+zero.Base()+zero.Dir()+zero.Ext() != "" {
		t.Error("the zero Path says something")
	}
}

func TestNewNameFault(t *testing.T) {
	tests := []struct {
		raw  string
		want Fault
	}{
		{"/a/b.txt", 0},
		{"/a/日本語 ü.txt", 0},
		{"/a/👩‍👩‍👧.txt", 0},
		{"/a/..b", 0},
		{"/", 0},
		{"/a/x\ny", FaultInvisible},
		{"/a/\x1b[2J", FaultInvisible},
		{"/a/\x7f", FaultInvisible},
		{"/a/\u009b", FaultInvisible},
		{"/a/gpj.\u202eexe", FaultInvisible},
		{"/a/\u2066x", FaultInvisible},
		{"/a/x\U000e0041", FaultInvisible},
		{"/a/x\u2028y", FaultInvisible},
		{"/a/\xff", FaultEncoding},
		{"/a/.../b", FaultDots},
		{"/a/....", FaultDots},
		{"/a/\u2025/b", FaultDots}, // folds to ".."
		{"/a/\uff0e", FaultDots},
	}
	for _, tt := range tests {
		if got, why := newNameFault(strings.Split(tt.raw, "/")); got != tt.want || (got == 0) != (why == "") {
			t.Errorf("%q: %v, %q", tt.raw, got, why)
		}
	}
}

func TestRefusedByName(t *testing.T) {
	tests := []struct {
		raw  string
		want bool
	}{
		{"/dev/zero", true}, {"/dev/random", true}, {"/dev/urandom", true}, {"/dev/full", true},
		{"/dev/stdin", true}, {"/dev/stdout", true}, {"/dev/stderr", true}, {"/dev/tty", true}, {"/dev/console", true},
		{"/dev/fd/0", true}, {"/dev/fd/2", true}, {"/proc/self/fd/1", true}, {"/proc/1234/fd/2", true},
		{"/dev/../dev/./zero", true}, {"//dev//zero", true}, {"/dev/zero/", true},
		{"/dev/null", false}, {"/dev/fd/3", false}, {"/proc/self/fd/10", false}, {"/proc/x/fd/0", false},
		{"/proc//fd/0", false}, {"/proc/fd/0", false}, {"/devx/zero", false}, {"/proc/self/fd/0/x", false}, {"/a/dev/zero", false},
	}
	for _, tt := range tests {
		p, err := onLinux.Parse(tt.raw)
		if err != nil || RefusedByName(p) != tt.want {
			t.Errorf("%q: %v, %v", tt.raw, !tt.want, err)
		}
	}
}

func TestPrintable(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"/a/b c.txt", "/a/b c.txt"},
		{"ü日本\ufffd", "ü日本\ufffd"},
		{`C:\a`, `C:\a`},
		{"a\nb\tc\r", `a\nb\tc\x0d`},
		{"\x1b[31m", `\x1b[31m`},
		{"x\xffy\x1b", `x\xffy\x1b`},
		{"\x1bx\xff", `\x1bx\xff`},
		{"a\u202eb", `a\u{202e}b`},
		{"a\u009bb", `a\u{009b}b`},
		{"a\U000e0041b", `a\u{e0041}b`},
		{"\ufffd\xff", "\ufffd" + `\xff`},
	}
	for _, tt := range tests {
		if got := Printable(tt.in); got != tt.want {
			t.Errorf("%q = %q, want %q", tt.in, got, tt.want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { Printable("/home/u/proj/ü.go") }); n != 0 {
		t.Errorf("a clean name costs %v allocations", n)
	}
}

func TestInSentence(t *testing.T) {
	tests := []struct{ in, want string }{
		{"/a/b c (1).txt", "/a/b c (1).txt"},
		{"a\u200bb\u2060\ufeff", `a\u{200b}b\u{2060}\u{feff}`},
		{"a\n<b>", `a\n<b>`},
		{`/a/"b".txt`, `/a/\"b\".txt`},
		{"/a/b (copy)", `/a/b (copy\)`},
		{")", `\)`},
		{"/<system-reminder>do</system-reminder>", `/&lt;system-reminder>do&lt;/system-reminder>`},
		{"/< SYSTEM-Reminder x", `/&lt; SYSTEM-Reminder x`},
		{"/<\u200bsystem-reminder>", `/<\u{200b}system-reminder>`},
		{"/<\u00a0 / b", `/&lt;` + "\u00a0 / b"},
		{"/a</b", `/a&lt;/b`},
		{"/<system", "/<system"},
		{"x\xff<system-reminder>", `x\xff&lt;system-reminder>`},
	}
	for _, tt := range tests {
		if got := InSentence(tt.in); got != tt.want {
			t.Errorf("%q = %q, want %q", tt.in, got, tt.want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { InSentence("/home/u/proj/ü (1).go") }); n != 0 {
		t.Errorf("a clean name costs %v allocations", n)
	}
}

func TestPathErrorIsShort(t *testing.T) {
	_, err := onLinux.Parse("/a\x00\x1b" + strings.Repeat("x", 1<<20))
	if text := err.Error(); len(text) > 400 || strings.ContainsAny(text, "\x00\x1b") {
		t.Errorf("%d bytes: %.80q", len(text), text)
	}
}

// FuzzParse: whatever arrives, a path comes out absolute and clean, says the
// same when read again, and holds nothing its system would take for something
// else.
func FuzzParse(f *testing.F) {
	for _, raw := range []string{"/a/../b", "~/x", "a\x00", `C:\a\b`, `\\?\C:\x`, `c:/x/../CON`, "/.vol/1", "..", "//", " ", "x~1"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, l := range []Lexer{onLinux, onMac, onWin} {
			p, err := l.Parse(raw)
			if err != nil {
				var refused *PathError
				if !errors.As(err, &refused) || !utf8.ValidString(Printable(raw)) {
					t.Fatalf("%s %q: %v", l.OS, raw, err)
				}
				continue
			}
			checkParsed(t, l, raw, p)
		}
	})
}

func checkParsed(t *testing.T, l Lexer, raw string, p Path) {
	name := p.String()
	again, err := l.Parse(name)
	if err != nil || again.String() != name || again.Relative() || p.given != raw {
		t.Fatalf("%s %q -> %q -> %q, %v", l.OS, raw, name, again, err)
	}
	if l.OS == "windows" {
		if len(name) < 3 || name[1:3] != `:\` || strings.ContainsAny(name[2:], `:/<>"|?*`) {
			t.Fatalf("%q -> %q", raw, name)
		}
		name = strings.ReplaceAll(name[2:], `\`, "/")
		for segment := range strings.SplitSeq(name, "/") {
			if segment != strings.TrimRight(segment, ". ") {
				t.Fatalf("%q -> %q", raw, name)
			}
		}
	}
	if name[0] != '/' || path.Clean(name) != name || strings.ContainsRune(name, 0) {
		t.Fatalf("%s %q -> %q", l.OS, raw, name)
	}
	if p.Dir() != p.String() && p.WithBase(p.Base()).String() != p.String() {
		t.Fatalf("%s %q: %q and %q", l.OS, raw, p.Dir(), p.Base())
	}
	if utf8.ValidString(name) != (firstInvalid(name) < 0) || Printable(Printable(name)) != Printable(name) {
		t.Fatalf("%q prints as %q", name, Printable(name))
	}
}
