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
	var b strings.Builder
	b.WriteString(tool)
	b.WriteString("(//")
	path = path[1:]
	for i := 0; i < len(path); i++ {
		if strings.IndexByte(`\*?[`, path[i]) >= 0 || path[i] == ' ' && i == len(path)-1 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	b.WriteByte(')')
	return b.String()
}
