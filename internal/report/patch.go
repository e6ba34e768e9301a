package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
)

// NoTextError says that a diff would show nothing readable.
type NoTextError struct{ before, after int }

func (e *NoTextError) Error() string {
	return fmt.Sprintf("%d bytes before, %d bytes after, no text in UTF-8", e.before, e.after)
}

// Patch returns a change as a unified diff. The error is a *NoTextError if the file is not
// text in UTF-8.
func Patch(a *history.Archive, e history.Entry) (string, error) {
	if e.Partial() {
		return patchParts(a, e)
	}
	before, err := a.Before(e)
	if err != nil {
		return "", err
	}
	after, err := a.After(e)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(before) || !utf8.Valid(after) {
		return "", &NoTextError{len(before), len(after)}
	}
	return changes.Patch(label(before, e), label(after, e), string(before), string(after)), nil
}

// label names a side of a diff, as patch understands it.
func label(b []byte, e history.Entry) string {
	if b == nil {
		return "/dev/null"
	}
	return fsys.Printable(e.Path)
}

// patchParts returns the changed places of a large file, each with its offset.
func patchParts(a *history.Archive, e history.Entry) (string, error) {
	parts, err := a.Parts(e)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	name := fsys.Printable(e.Path)
	for _, p := range parts {
		where := fmt.Sprintf("%s (from byte %d on)", name, p.Offset)
		b.WriteString(changes.Patch(where, where, strings.ToValidUTF8(string(p.Before), "�"), strings.ToValidUTF8(string(p.After), "�")))
	}
	return b.String(), nil
}
