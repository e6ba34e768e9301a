package tools

import "strings"

// stub is the answer to an unchanged re-read. It is refused as file content.
const stub = "File unchanged since last read. The content from the earlier Read tool_result in this conversation is still current — refer to that instead of re-reading. If it is no longer in view, read again."

// stubStart is the first sentence of stub, without its period.
const stubStart = "File unchanged since last read"

// isStub reports whether a text is that answer, or its beginning from the first
// sentence on: also behind a line number, as a Read shows text, and in other lines.
func isStub(content string) bool {
	head := strings.TrimSpace(content)
	if bare := strings.TrimLeft(head, "0123456789"); bare != head {
		head = strings.TrimLeft(bare, "\t →:|")
	}
	if !strings.HasPrefix(head, stubStart) {
		return false
	}
	head, _, _ = strings.Cut(head, "\n(") // where what is told of the path begins
	return strings.HasPrefix(stub, strings.Join(strings.Fields(head), " "))
}
