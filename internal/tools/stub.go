package tools

import "strings"

// stub is the answer to an unchanged re-read. It is refused as file content.
const stub = "File unchanged since last read. The content from the earlier Read tool_result in this conversation is still current — refer to that instead of re-reading. If it is no longer in view, read again."

// unchanged is that answer, with what is to be told of the path.
func unchanged(s *spot) *Result { return textResult(stub, s.note()) }

// isStub tells whether a text is that answer.
func isStub(content string) bool {
	head, _, _ := strings.Cut(strings.TrimSpace(content), "\n(") // where what is told of the path begins
	return head == stub
}

func stubAsText(arg string) error {
	return refuse(slugBadArgument, "%s is the notice that a file is unchanged, not a file's text. Read the file again and send the text itself.", arg)
}
