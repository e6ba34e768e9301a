package text

import "unicode/utf8"

// Escape writes stray bytes as \xNN, as pages show them, and leaves the rest.
func Escape(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(appendHex(nil, s))
}
