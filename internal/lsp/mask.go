package lsp

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

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
	names := sync.OnceValue(func() *regexp.Regexp { return namesIn(folders) })
	readable := make(map[string]bool)
	return func(message string) string {
		return names().ReplaceAllStringFunc(phrase.Head(message, 8*maxWords), func(found string) string {
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

// namesIn matches the names of files in folders, each with the quote before it: such a name ends
// at the next one, a bare name before what seldom is in names.
func namesIn(folders []string) *regexp.Regexp {
	roots := strings.ReplaceAll(regexp.QuoteMeta(strings.Join(folders, "\x00")), "\x00", "|")
	var patterns []string
	for _, quote := range []string{`"`, "'", "`", ""} {
		end := cmp.Or(quote, "\"'`<>()\\[\\]{},;:* \t\r\n")
		patterns = append(patterns, quote+"(?:"+roots+")(?:[^"+end+"]*[^."+end+"])?")
	}
	return regexp.MustCompile(strings.Join(patterns, "|"))
}
