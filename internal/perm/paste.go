package perm

import (
	"strings"
	"unicode/utf8"
)

// paste fills in the allow rules that would have allowed the operation. It is called only
// where allow rules count.
func (q *question) paste() {
	_, byMode := q.allowedByMode()
	var lines []string
	for i := range q.names {
		n := &q.names[i]
		if n.null || !q.lacks(n, byMode) {
			continue
		}
		line := pasteLine(q.op, n.exact)
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

// lacks reports whether the name needs an allow rule of its own: to reach a
// protected path, or, where the mode does not allow it, because none covers it.
func (q *question) lacks(n *name, byMode bool) bool {
	if q.op.Changes() && q.shielded(n) {
		return true
	}
	return !byMode && q.covered(n) == none
}

// escapes protects the special characters of patterns.
var escapes = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// pasteLine returns the rule that allows an operation on exactly this path, ""
// where settings cannot hold it or it would open the whole disk.
func pasteLine(op Op, path string) string {
	if path == "/" || !utf8.ValidString(path) {
		return ""
	}
	tool := "Edit"
	if op == Read {
		tool = "Read"
	}
	spec := escapes.Replace(path[1:])
	if before, blank := strings.CutSuffix(spec, " "); blank {
		spec = before + `\ `
	}
	return tool + "(//" + spec + ")"
}
