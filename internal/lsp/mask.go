package lsp

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
)

// maxMasked bounds the names that are decided on for one message of a server. Further ones
// count as not to be read.
const maxMasked = 100

// masked stands for the name of a file.
const masked = "(a file)"

// mask returns a function that takes the absolute names of files in these folders that the
// caller may not read out of messages: a server reads every file of a project.
func (c *Client) mask(folders []string) func(message string) string {
	var literal, patterns []string
	for _, folder := range folders {
		literal = append(literal, regexp.QuoteMeta(folder))
	}
	for _, quote := range []string{`"`, "'", "`", ""} { // a bare name ends before what seldom is in names
		end := cmp.Or(quote, "\"'`<>()\\[\\]{},;:* \t\r\n")
		patterns = append(patterns, quote+"(?:"+strings.Join(literal, "|")+")(?:[^"+end+"]*[^."+end+"])?")
	}
	names := regexp.MustCompile(strings.Join(patterns, "|"))
	readable := make(map[string]bool)
	return func(message string) string {
		return names.ReplaceAllStringFunc(phrase.Head(message, 8*maxWords), func(found string) string {
			name := strings.TrimLeft(found, "\"'`")
			if _, known := readable[name]; !known && len(readable) < maxMasked {
				readable[name] = c.o.Readable(name)
			}
			if readable[name] {
				return found
			}
			return strings.TrimSuffix(found, name) + masked
		})
	}
}
