package fsys

import (
	"strings"
	"unicode/utf8"
)

// windowsFault returns why Windows takes a name for something else than a file of that name,
// "" if it does not: other machines, devices, streams, names that lose their last
// characters. It checks the argument before cleaning, so that "CON/.." cannot hide its first
// part. A short (8.3) name is no fault: the true name of its file is judged.
func windowsFault(raw string) string {
	if !utf8.ValidString(raw) {
		return "is not valid UTF-8"
	}
	p := strings.ReplaceAll(raw, `\`, "/")
	switch {
	case strings.HasPrefix(p, "//?/"), strings.HasPrefix(p, "//./"), strings.HasPrefix(p, "/??/"):
		return "is in the device name space"
	case strings.HasPrefix(p, "//"):
		return "names another machine (UNC)"
	case strings.HasPrefix(p, "/"):
		return "starts with a separator but names no drive"
	case hasDrive(p) && (len(p) == 2 || p[2] != '/'):
		return "is relative to a drive's current directory"
	case hasDrive(p):
		p = p[2:]
	}
	for segment := range strings.SplitSeq(p, "/") {
		if reason := windowsSegmentFault(segment); reason != "" {
			return reason
		}
	}
	return ""
}

func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

func windowsSegmentFault(segment string) string {
	if segment == "" || segment == "." || segment == ".." {
		return ""
	}
	for _, c := range []byte(segment) {
		switch {
		case c == ':':
			return "contains a colon (an alternate stream)"
		case c < 0x20 || strings.IndexByte(`<>"|?*`, c) >= 0:
			return "contains a character that Windows does not allow in names"
		}
	}
	switch last := segment[len(segment)-1]; {
	case last == '.' || last == ' ':
		return "has a name that ends with a dot or a blank"
	case isReserved(segment):
		return "contains a name that Windows reserves for a device"
	}
	return ""
}

// isReserved knows the DOS devices; an extension does not make them files
// ("NUL.txt", "con .log").
func isReserved(segment string) bool {
	stem, _, _ := strings.Cut(segment, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	number, isPort := strings.CutPrefix(stem, "COM")
	if !isPort {
		number, isPort = strings.CutPrefix(stem, "LPT")
	}
	return isPort && utf8.RuneCountInString(number) == 1 && strings.Contains("0123456789¹²³", number)
}
