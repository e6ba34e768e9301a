package arguments

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/server/wire"
)

// CommandLine is one call of a tool as it was written on a command line.
type CommandLine struct {
	Tool      string
	Arguments []byte // JSON
}

// Lines reads calls from a command line: each is a tool and its arguments, as one JSON object
// or as words NAME=VALUE. Whether such a JSON is valid is not checked.
func Lines(words []string) (calls []CommandLine, err error) {
	for len(words) > 0 {
		call := CommandLine{Tool: words[0]}
		words = words[1:]
		switch {
		case len(words) == 0:
			return nil, fmt.Errorf("%s lacks its arguments: call takes a tool and its arguments, as JSON or as NAME=VALUE", call.Tool)
		case isAssignment(words[0]):
			n := 0
			for n < len(words) && isAssignment(words[n]) {
				n++
			}
			call.Arguments, words = object(words[:n]), words[n:]
		case !strings.HasPrefix(strings.TrimSpace(words[0]), "{"):
			return nil, fmt.Errorf("%q is neither a JSON object nor NAME=VALUE: call %s %s=%s", words[0], call.Tool, firstArgument(call.Tool), words[0])
		default:
			call.Arguments, words = []byte(words[0]), words[1:]
		}
		calls = append(calls, call)
	}
	if calls == nil {
		return nil, errors.New("call takes a tool and its arguments, as JSON or as NAME=VALUE")
	}
	return calls, nil
}

// firstArgument returns the argument that a user mostly means by a bare word.
func firstArgument(tool string) string {
	switch tool {
	case "NotebookEdit":
		return "notebook_path"
	case "Glob", "Grep":
		return "pattern"
	}
	return "file_path"
}

// isAssignment reports whether a word is an argument's name, "=" and a value.
func isAssignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && name != "" && strings.Trim(name, "-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// object returns words NAME=VALUE as a JSON object of strings. The decoder takes "10" for a
// number and "true" for a boolean if a schema wants one.
func object(words []string) []byte {
	b := []byte{'{'}
	for i, w := range words {
		if i > 0 {
			b = append(b, ',')
		}
		name, value, _ := strings.Cut(w, "=")
		b = append(wire.AppendString(b, name), ':')
		b = wire.AppendString(b, value)
	}
	return append(b, '}')
}
