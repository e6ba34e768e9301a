package fsys

import (
	"encoding/hex"
	"strings"
)

// Elsewhere is a file argument spelt as another system or program spells it: a URL, a drive
// letter, a machine of the network, a name in quotes.
type Elsewhere struct {
	Kind ElsewhereKind
	// Path is the path that the argument means on this system. It is "" if this system has
	// no such path.
	Path string
	// Guess is an absolute path that may be meant, and is worth naming if it exists; "" if
	// there is none.
	Guess string
	// Tail is the path without its drive or machine, for a look below the workspace: with
	// "/" as separator and none at its start.
	Tail string
}

// ElsewhereKind is the way in which an argument is spelt.
type ElsewhereKind int

// The ways. Only FileURL and Blanks are taken for their Path.
const (
	FileURL  ElsewhereKind = iota + 1
	BadURL                 // a file: URL with an invalid escape
	PartURL                // a file: URL with a query or a fragment
	OtherURL               // of another scheme
	DataURL                // the content itself
	Machine                // a file on another machine
	Drive                  // a drive letter, on a system without them
	Mount                  // a drive as other programs mount it, on Windows
	Quoted
	Variable // begins with a variable of Windows, which Tail holds with the rest
	Device   // a name on a drive in the device name space, on Windows
	Blanks   // blanks around a name that Windows cannot have; taken for its Path
)

// ParseElsewhere reports whether an argument is spelt in such a way on a system (GOOS). It
// does not look at the disk: a file may bear this very name.
func ParseElsewhere(raw, goos string) (e Elsewhere, ok bool) {
	s := strings.TrimSpace(raw)
	windows := goos == "windows"
	switch {
	case len(s) < 2:
		return e, false
	case unquoted(s) != "":
		return Elsewhere{Kind: Quoted, Path: unquoted(s)}, true
	case foldPrefix(s, "data:"):
		return Elsewhere{Kind: DataURL}, true
	case foldPrefix(s, "file:/"):
		return parseFileURL(s[len("file:"):], windows), true
	case hasScheme(s):
		return Elsewhere{Kind: OtherURL}, true
	case windows:
		return parseWindows(raw, s)
	case onDrive(s):
		return driveOf(s), true
	case strings.HasPrefix(s, `\\`):
		return machineOf(strings.ReplaceAll(s[2:], `\`, "/")), true
	}
	return e, false
}

// unquoted returns the name between quotes; "" if s has none around it.
func unquoted(s string) string {
	for _, q := range []struct{ open, end string }{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"‘", "’"}} {
		if rest, ok := strings.CutPrefix(s, q.open); ok && strings.HasSuffix(rest, q.end) {
			return strings.TrimSpace(strings.TrimSuffix(rest, q.end))
		}
	}
	return ""
}

func foldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// hasScheme reports whether s begins as a URL of two letters and more does (source: RFC
// 3986, section 3.1). One letter is a drive.
func hasScheme(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	if !ok || len(scheme) < 2 || !isLetter(scheme[0]) {
		return false
	}
	return strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// onDrive reports whether s begins with a drive letter and a separator.
func onDrive(s string) bool {
	return len(s) >= 3 && hasDrive(s) && (s[2] == '/' || s[2] == '\\')
}

// parseFileURL parses a file: URL behind its scheme (source: RFC 8089).
func parseFileURL(s string, windows bool) Elsewhere {
	encoded, _, _ := strings.Cut(s, "#")
	encoded, _, _ = strings.Cut(encoded, "?")
	name, ok := percentDecoded(encoded)
	if !ok {
		return Elsewhere{Kind: BadURL}
	}
	if host, ok := strings.CutPrefix(name, "//"); ok {
		host, _, _ = strings.Cut(host, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return machineOf(name[2:])
		}
		name = name[2+len(host):]
	}
	if len(name) > 0 && onDrive(name[1:]) {
		if name = name[1:]; !windows {
			return driveOf(name)
		}
	}
	if len(encoded) < len(s) {
		return Elsewhere{Kind: PartURL, Path: name}
	}
	return Elsewhere{Kind: FileURL, Path: name}
}

// percentDecoded replaces each %XX by its byte; ok is false if a % begins no such escape.
func percentDecoded(s string) (decoded string, ok bool) {
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(s, "%")
		b.WriteString(plain)
		if !found {
			return b.String(), true
		}
		octet, err := hex.DecodeString(rest[:min(2, len(rest))])
		if err != nil || len(octet) != 1 {
			return "", false
		}
		b.Write(octet)
		s = rest[2:]
	}
}

// driveOf returns a path on a drive. WSL mounts drives below /mnt.
func driveOf(s string) Elsewhere {
	tail := strings.TrimLeft(strings.ReplaceAll(s[2:], `\`, "/"), "/")
	return Elsewhere{Kind: Drive, Guess: "/mnt/" + strings.ToLower(s[:1]) + "/" + tail, Tail: tail}
}

// machineOf returns a path of another machine, "server/share/name". Windows names the files
// of a Linux system in WSL so, too.
func machineOf(s string) Elsewhere {
	machine, rest, _ := strings.Cut(s, "/")
	share, tail, _ := strings.Cut(rest, "/")
	if strings.EqualFold(machine, "wsl$") || strings.EqualFold(machine, "wsl.localhost") {
		return Elsewhere{Kind: Machine, Guess: "/" + tail, Tail: tail}
	}
	return Elsewhere{Kind: Machine, Guess: "/" + s, Tail: share + "/" + tail}
}

// parseWindows knows what is not a name on Windows although it names a file there. s is raw
// without the blanks around it.
func parseWindows(raw, s string) (e Elsewhere, ok bool) {
	if e, ok = parseMount(s); ok {
		return e, true
	}
	slashed := strings.ReplaceAll(s, `\`, "/")
	for _, device := range []string{"//?/", "//./", "/??/"} {
		if rest, ok := strings.CutPrefix(slashed, device); ok && onDrive(rest) {
			return Elsewhere{Kind: Device, Path: strings.ReplaceAll(rest, "/", `\`)}, true
		}
	}
	switch variable, _, _ := strings.Cut(slashed, "/"); {
	case foldPrefix(variable, "$env:"), len(variable) > 2 && variable[0] == '%' && strings.IndexByte(variable[1:], '%') == len(variable)-2:
		return Elsewhere{Kind: Variable, Tail: s}, true
	case raw != s && (onDrive(s) || strings.TrimRight(raw, " ") != raw):
		return Elsewhere{Kind: Blanks, Path: s}, true
	}
	return e, false
}

// parseMount knows drives as MSYS, WSL and Cygwin mount them.
func parseMount(s string) (e Elsewhere, ok bool) {
	for _, above := range []string{"/", "/mnt/", "/cygdrive/"} {
		rest, ok := strings.CutPrefix(s, above)
		if ok && rest != "" && isLetter(rest[0]) && (len(rest) == 1 || rest[1] == '/') {
			return Elsewhere{Kind: Mount, Path: strings.ToUpper(rest[:1]) + `:\` + strings.ReplaceAll(strings.TrimPrefix(rest[1:], "/"), "/", `\`)}, true
		}
	}
	return e, false
}
