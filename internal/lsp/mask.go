package lsp

import (
	"path/filepath"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
)

// maxMasked bounds the names that are decided on for one message of a server. Further ones
// count as not to be read.
const maxMasked = 100

// masked stands for the name of a file.
const masked = "(a file)"

// mask returns a function that takes the absolute names of files that the caller may not
// read out of messages: a server reads every file of a project.
func (c *Client) mask() func(message string) string {
	folders := c.o.Folders()
	readable := make(map[string]bool)
	shown := func(name string) string {
		may, known := readable[name]
		if !known && len(readable) < maxMasked {
			may = c.o.Readable(name)
			readable[name] = may
		}
		if may {
			return name
		}
		return masked
	}
	return func(message string) string {
		if message = phrase.Head(message, 8*maxWords); !strings.Contains(message, string(filepath.Separator)) {
			return message
		}
		for _, folder := range folders {
			parts := strings.Split(message, folder)
			for i := 1; i < len(parts); i++ {
				end := nameEnd(parts[i-1], parts[i])
				parts[i] = shown(folder+parts[i][:end]) + parts[i][end:]
			}
			message = strings.Join(parts, "")
		}
		return message
	}
}

// nameEnd returns the end in rest of a name that follows before: the quote that encloses it,
// else the next character that seldom is in names.
func nameEnd(before, rest string) int {
	ends := "\"'`<>()[]{},;:* \t\r\n"
	if n := len(before); n > 0 && strings.ContainsRune("\"'`", rune(before[n-1])) {
		ends = before[n-1:]
	}
	if end := strings.IndexAny(rest, ends); end >= 0 {
		rest = rest[:end]
	}
	return len(strings.TrimRight(rest, "."))
}
