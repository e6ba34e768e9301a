package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// Sizes of the picture, in pixels and characters.
const (
	terminalColumns = 108
	lineHeight      = 19
	columnWidth     = 8 // at least that of the usual monospaced fonts at 13 pixels
	margin          = 18
	titleBar        = 34
)

// shown lists the parts of the session that the picture has, by their titles.
var shown = []string{
	"Read, then edit",
	"Another program changes the file;",
	"Having seen it, the caller goes on",
	"What the rules deny stays closed",
}

// excerpt returns the lines of the picture: the first line of the session, and the parts
// that are shown. Nothing in them varies from run to run. A long line is cut.
func excerpt(session string) (lines []string) {
	parts := strings.Split(strings.TrimSpace(session), "\n\n== ")
	lines = append(lines, parts[0])
	for _, part := range parts[1:] {
		for _, title := range shown {
			if strings.HasPrefix(part, title) {
				lines = append(append(lines, ""), strings.Split("== "+part, "\n")...)
			}
		}
	}
	for i, line := range lines {
		line = strings.ReplaceAll(line, "\t", "  ")
		if r := []rune(line); len(r) > terminalColumns {
			line = string(r[:terminalColumns-1]) + "…"
		}
		lines[i] = line
	}
	return lines
}

// drawTerminal draws lines as a terminal shows them. The picture brings its own
// background, so that it reads alike on light and dark pages.
func drawTerminal(lines []string) []byte {
	var b bytes.Buffer
	width, height := terminalColumns*columnWidth+2*margin, titleBar+len(lines)*lineHeight+margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="A session with fsmcp in a terminal">
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #d7dce2 }
.command { fill: #7ee2a8 } .title { fill: #ffffff; font-weight: bold } .call { fill: #79b8ff } .refused { fill: #ffb3a7 }
.other { fill: #e6c07b } .gone { fill: #ff9a8f } .new { fill: #8ddb8c }
</style>
<rect width="100%%" height="100%%" rx="9" fill="#1b1f24"/>
<circle cx="20" cy="17" r="6" fill="#ff6b60"/><circle cx="40" cy="17" r="6" fill="#f5bf4f"/><circle cx="60" cy="17" r="6" fill="#5fc454"/>
`, width, height, width, height)
	for i, line := range lines {
		if line == "" {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" xml:space="preserve"`, margin, titleBar+(i+1)*lineHeight-5)
		if class := classOf(line); class != "" {
			fmt.Fprintf(&b, ` class="%s"`, class)
		}
		b.WriteByte('>')
		_ = xml.EscapeText(&b, []byte(line)) // a buffer takes everything
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// classOf returns the colour of a line.
func classOf(line string) string {
	for _, c := range []struct{ prefix, class string }{
		{"$ ", "command"}, {"== ", "title"}, {"-> ", "call"}, {"<- refused", "refused"}, {".. ", "other"},
		{"   -", "gone"}, {"   +", "new"},
	} {
		if strings.HasPrefix(line, c.prefix) {
			return c.class
		}
	}
	return ""
}
