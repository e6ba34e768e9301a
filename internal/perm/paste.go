package perm

import (
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/perm/notation"
)

// addPasteLines sets the allow rules that would have allowed the operation. It is called only
// if allow rules count.
func (q *question) addPasteLines() {
	_, byMode := q.allowedByMode()
	var lines []string
	for i := range q.names {
		n := &q.names[i]
		if n.null || !q.needsRule(n, byMode) {
			continue
		}
		line := pasteLine(q.op, n.exact, q.p.config.Windows)
		if line == "" {
			return
		}
		lines = append(lines, line)
	}
	q.d.PasteLines = lines
	if len(lines) == 1 {
		q.d.PasteLine = lines[0]
	}
}

// needsRule reports whether the name needs another allow rule: to reach a protected path, or
// because neither the mode nor a rule allows it.
func (q *question) needsRule(n *name, byMode bool) bool {
	if q.op.Changes() && q.asksAsProtected(n) {
		return true
	}
	return !byMode && q.allowRule(n) == none
}

// escapes protects the special characters of patterns.
var escapes = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// pasteLine returns the rule that allows an operation on exactly this path. It returns "" if
// settings cannot hold the rule or if the rule would open the whole disk.
func pasteLine(op Op, path string, windows bool) string {
	if path == "/" || !utf8.ValidString(path) {
		return ""
	}
	tool := "Edit"
	if op == Read {
		tool = "Read"
	}
	if windows {
		return tool + "(//" + notation.Written(path[1:]) + ")"
	}
	spec := escapes.Replace(path[1:])
	if before, blank := strings.CutSuffix(spec, " "); blank {
		spec = before + `\ `
	}
	return tool + "(//" + spec + ")"
}
