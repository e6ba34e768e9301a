package fsys

import (
	"errors"
	"path"
	"path/filepath"
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
		{onWin, `C:\PROGRA~1\longna~1.txt`, `C:\PROGRA~1\longna~1.txt`, false, false},
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
		want  string
	}{
		{onLinux, "", "is empty"},
		{onLinux, "/a\x00b", "contains a NUL byte"},
		{onLinux, "/" + strings.Repeat("a", 256), "has a name of more than 255 bytes in it"},
		{onLinux, strings.Repeat("/abcdefg", 512), "is longer than the system takes"},
		{Lexer{OS: "linux"}, "a", "is relative, and there is no directory to start from"},
		{Lexer{OS: "linux"}, "~/a", "starts with ~, and no home directory is known"},
		{onMac, "/.vol/16777220/2", "names a file by its number"},
		{onMac, "/.VOL/1/2", "names a file by its number"},
		{onMac, "/a/..namedfork/rsrc", "names a fork of a file"},
		{onMac, "/a/..namedfork", "names a fork of a file"},
		{onMac, strings.Repeat("/abcdefg", 128), "is longer than the system takes"},
		{onWin, `\\server\share\x`, "names another machine (UNC)"},
		{onWin, `//server/share/x`, "names another machine (UNC)"},
		{onWin, `/\server\share`, "names another machine (UNC)"},
		{onWin, `\\?\C:\x`, "is in the device name space"},
		{onWin, `\\?\UNC\server\share`, "is in the device name space"},
		{onWin, `//./PhysicalDrive0`, "is in the device name space"},
		{onWin, `\\.\pipe\x`, "is in the device name space"},
		{onWin, `\??\C:\x`, "is in the device name space"},
		{onWin, `\Windows\x`, "starts with a separator but names no drive"},
		{onWin, `C:x`, "is relative to a drive's current directory"},
		{onWin, `C:`, "is relative to a drive's current directory"},
		{onWin, `C:\a:b`, "contains a colon (an alternate stream)"},
		{onWin, `C:\a::$DATA`, "contains a colon (an alternate stream)"},
		{onWin, `a:b`, "is relative to a drive's current directory"}, // drive A
		{onWin, `ab:c`, "contains a colon (an alternate stream)"},
		{onWin, `C:\dir:stream\x`, "contains a colon (an alternate stream)"},
		{onWin, `NUL`, "contains a name that Windows reserves for a device"},
		{onWin, `C:\x\nul.txt`, "contains a name that Windows reserves for a device"},
		{onWin, `C:\con\x`, "contains a name that Windows reserves for a device"},
		{onWin, `C:\con\..\x`, "contains a name that Windows reserves for a device"},
		{onWin, `C:\Aux .h`, "contains a name that Windows reserves for a device"},
		{onWin, `C:\com1`, "contains a name that Windows reserves for a device"},
		{onWin, `C:\LPT².x`, "contains a name that Windows reserves for a device"},
		{onWin, `C:\CONIN$`, "contains a name that Windows reserves for a device"},
		{onWin, `C:\a.`, "has a name that ends with a dot or a blank"},
		{onWin, `C:\a `, "has a name that ends with a dot or a blank"},
		{onWin, `C:\.git. \config`, "has a name that ends with a dot or a blank"},
		{onWin, `C:\...\x`, "has a name that ends with a dot or a blank"},
		{onWin, `C:\a?b`, "contains a character that Windows does not allow in names"},
		{onWin, `C:\a*`, "contains a character that Windows does not allow in names"},
		{onWin, "C:\\a\tb", "contains a character that Windows does not allow in names"},
		{onWin, "C:\\a\xff", "is not valid UTF-8"},
		{onWin, `C:\` + strings.Repeat("a", 256), "has a name of more than 255 bytes in it"},
		{onWin, `C:` + strings.Repeat(`\abcdefg`, 4100), "is longer than the system takes"},
	}
	for _, tt := range tests {
		p, err := tt.lexer.Parse(tt.raw)
		var refused *PathError
		if !errors.As(err, &refused) {
			t.Errorf("%s %q = %q, %v", tt.lexer.OS, tt.raw, p, err)
			continue
		}
		if refused.Reason != tt.want || refused.Raw != tt.raw {
			t.Errorf("%s %q: %v, want %q", tt.lexer.OS, tt.raw, err, tt.want)
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
		want string
	}{
		{"/a/b.txt", ""},
		{"/a/日本語 ü.txt", ""},
		{"/a/👩‍👩‍👧.txt", ""},
		{"/a/..b", ""},
		{"/", ""},
		{"/a/x\ny", "contains control, bidi or tag characters"},
		{"/a/\x1b[2J", "contains control, bidi or tag characters"},
		{"/a/\x7f", "contains control, bidi or tag characters"},
		{"/a/\u009b", "contains control, bidi or tag characters"},
		{"/a/gpj.\u202eexe", "contains control, bidi or tag characters"},
		{"/a/\u2066x", "contains control, bidi or tag characters"},
		{"/a/x\U000e0041", "contains control, bidi or tag characters"},
		{"/a/x\u2028y", "contains control, bidi or tag characters"},
		{"/a/\xff", "is not valid UTF-8"},
		{"/a/.../b", "contains a name of nothing but dots"},
		{"/a/....", "contains a name of nothing but dots"},
		{"/a/\u2025/b", "contains a name of nothing but dots"}, // folds to ".."
		{"/a/\uff0e", "contains a name of nothing but dots"},
	}
	for _, tt := range tests {
		if got := newNameFault(strings.Split(tt.raw, "/")); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.raw, got, tt.want)
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
	if !utf8.ValidString(Printable(name)) || Printable(Printable(name)) != Printable(name) {
		t.Fatalf("%q prints as %q", name, Printable(name))
	}
}

func TestWithin(t *testing.T) {
	tests := []struct {
		dir, name     string
		unix, windows bool
	}{
		{"/a", "/a", true, true},
		{"/a", "/a/b", true, false},
		{"/a/", "/a/b", true, false},
		{"/", "/", true, true},
		{"/", "/a", true, false},
		{"/a", "/ab", false, false},
		{"/a/b", "/a", false, false},
		{`C:\a`, `C:\a`, true, true},
		{`C:\a`, `C:\a\b`, false, true},
		{`C:\`, `C:\a\b`, false, true},
		{`C:\a`, `C:\ab`, false, false},
		{`C:\a`, `D:\a`, false, false},
	}
	for _, tt := range tests {
		if unix, windows := within(tt.dir, tt.name, false), within(tt.dir, tt.name, true); unix != tt.unix || windows != tt.windows {
			t.Errorf("%s in %s: %v on Unix, %v on Windows", tt.name, tt.dir, unix, windows)
		}
	}
	if dir := t.TempDir(); !Within(dir, filepath.Join(dir, "f")) || Within(dir, filepath.Dir(dir)) {
		t.Error(dir)
	}
}

func TestNativeNames(t *testing.T) {
	for _, tt := range []struct {
		windows         bool
		dir, rel        string
		name, back, end string // of the joined name: itself, its folder, its last segment
	}{
		{false, "/", "a", "/a", "/", "a"},
		{false, "/a", "b/c", "/a/b/c", "/a/b", "c"},
		{false, `/a`, `b\c`, `/a/b\c`, "/a", `b\c`},
		{false, "", "a", "/a", "/", "a"},
		{true, `C:\`, "a", `C:\a`, `C:\`, "a"},
		{true, `C:\a`, "b/c", `C:\a\b\c`, `C:\a\b`, "c"},
		{true, `C:\a`, `b\c`, `C:\a\b\c`, `C:\a\b`, "c"},
	} {
		name := joinName(tt.dir, native(tt.rel, tt.windows), tt.windows)
		if back, end := dirOf(name, tt.windows), baseOf(name, tt.windows); name != tt.name || back != tt.back || end != tt.end {
			t.Errorf("%q and %q: %q, which is %q in %q", tt.dir, tt.rel, name, end, back)
		}
		rel, ok := below(tt.dir, name, tt.windows)
		if !ok || rel != native(tt.rel, tt.windows) {
			t.Errorf("%q below %q: %q, %v", name, tt.dir, rel, ok)
		}
	}
	for _, tt := range []struct {
		windows   bool
		dir, name string
		rel       string
		ok        bool
	}{
		{false, "/a", "/a", "", true}, {false, "/a", "/ab", "", false}, {false, "/", "/", "", true}, {false, "/a", "/b/a", "", false},
		{true, `C:\a`, `C:\a`, "", true}, {true, `C:\a`, `C:\ab`, "", false}, {true, `C:\`, `C:\`, "", true}, {true, `C:\a`, `D:\a\b`, "", false},
	} {
		if rel, ok := below(tt.dir, tt.name, tt.windows); rel != tt.rel || ok != tt.ok {
			t.Errorf("%q below %q: %q, %v", tt.name, tt.dir, rel, ok)
		}
	}
}
