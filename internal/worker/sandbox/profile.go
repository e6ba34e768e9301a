package sandbox

import (
	"path/filepath"
	"strings"
)

// Profile returns the profile for macOS's sandbox-exec that lets a program start and read
// libraries, fonts, its own file and the folders in reads, and find out what any name stands
// for: not open another file, change any, connect, or start another program. It returns ""
// if a name cannot be written in a profile. The folders have no link in their names.
func Profile(program string, reads []string) string {
	names := append([]string{program}, reads...)
	for i, name := range names {
		if !filepath.IsAbs(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return ""
		}
		names[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
	}
	p := new(strings.Builder)
	p.WriteString(profileBase)
	p.WriteString("(allow process-exec file-read* file-map-executable (literal " + names[0] + "))\n")
	for _, name := range names[1:] {
		p.WriteString("(allow file-read* (subpath " + name + "))\n")
	}
	return p.String()
}

// profileBase is the part of a profile that is the same for all programs. Whatever no line
// allows is denied. sandbox-exec itself starts the program under it.
const profileBase = `(version 1)
(deny default)
(allow process-info* signal (target self))
(allow sysctl-read file-read-metadata)
(allow file-read* (literal "/") (literal "/dev/random") (literal "/dev/urandom") (literal "/private/etc/localtime")
  (subpath "/private/var/db/timezone") (subpath "/private/var/db/dyld") (subpath "/Library/Fonts"))
(allow file-read* file-write-data (literal "/dev/null"))
(allow file-read* file-map-executable (subpath "/usr/lib") (subpath "/usr/share") (subpath "/System") (subpath "/Library/Apple")
  (subpath "/opt/homebrew/lib") (subpath "/opt/homebrew/opt") (subpath "/opt/homebrew/Cellar") (subpath "/opt/homebrew/etc/fonts")
  (subpath "/usr/local/lib") (subpath "/usr/local/opt") (subpath "/usr/local/Cellar") (subpath "/usr/local/etc/fonts")
  (subpath "/opt/local/lib") (subpath "/opt/local/share"))
`
