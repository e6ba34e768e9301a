package fsys

import "strings"

// RefusedByName reports names that are never even looked at: reading them would
// block for ever, never end, or take the server's own streams. "/dev/null" is
// not one of them.
func RefusedByName(p Path) bool {
	if p.windows {
		return false // the lexer refuses device names there
	}
	switch p.name {
	case "/dev/zero", "/dev/random", "/dev/urandom", "/dev/full",
		"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/console",
		"/dev/fd/0", "/dev/fd/1", "/dev/fd/2":
		return true
	}
	rest, ok := strings.CutPrefix(p.name, "/proc/")
	if !ok {
		return false
	}
	process, stream, ok := strings.Cut(rest, "/fd/")
	if !ok || stream != "0" && stream != "1" && stream != "2" {
		return false
	}
	return process == "self" || process != "" && strings.Trim(process, "0123456789") == ""
}
