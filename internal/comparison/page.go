package main

import (
	"fmt"
	"strings"
)

// render returns docs/comparison.md.
func render(ours, theirs []outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Comparison with the official file system server

The same %d tasks through fsmcp and through `+"`%s`"+` %s, the reference server of the protocol's makers. `+"`make comparison`"+` runs them and writes this page; it needs Go and npm. A test runs them again and compares.

fsmcp serves all its tools here, as it does for clients without a shell. No model takes part. A script plays an agent that makes the obvious call, does what an error says, and believes an answer that reports success. It reads a file before it edits it.

- **calls**: tool calls until the task is done or the agent gives up.
- **in**: bytes of tool names and arguments, which the model writes. The workspace counts as `+"`/project`"+`.
- **out**: bytes of text that come back, and after the plus sign bytes of pictures in base64. What the official server sends a second time, as structured content, is not counted.
- **wrong**: bytes on the disk afterwards that should not be there, and those that lack.
- **better**: first by whether the task is done, then by wrong bytes, then by calls, then by bytes in and out, pictures included, if they differ by more than a tenth and by more than 500.

| | task | fsmcp: done | calls | in | out | wrong | official: done | calls | in | out | wrong | better |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
`, len(ours), officialName, officialVersion)
	var wins [3]int
	for i, t := range tasks() {
		better := compare(ours[i], theirs[i])
		wins[better+1]++
		fmt.Fprintf(&b, "| %d | **%s**: %s | %s | %s | %s |\n", i+1, t.title, t.what, cells(ours[i]), cells(theirs[i]),
			[]string{"official", "–", "**fsmcp**"}[better+1])
	}
	fmt.Fprintf(&b, "\nfsmcp is better in %d of these tasks, the official server in %d; %d are even. The tasks were chosen by fsmcp's authors.\n", wins[2], wins[0], wins[1])
	fmt.Fprintf(&b, "\nBefore the first call a client loads the list of tools: %s bytes from fsmcp for %d tools, %s from the official server for %d.\n",
		bytesIn(ours[0].cost.list), ours[0].cost.tools, bytesIn(theirs[0].cost.list), theirs[0].cost.tools)
	b.WriteString(remarks)
	return b.String()
}

// cells returns the columns of one server.
func cells(o outcome) string {
	done := "yes"
	if !o.done {
		done = "no"
	}
	if o.note != "" {
		done += ", " + o.note
	}
	out := bytesIn(o.cost.out)
	if o.cost.pictures > 0 {
		out += " + " + bytesIn(o.cost.pictures)
	}
	return fmt.Sprintf("%s | %d | %s | %s | %s", done, o.cost.calls, bytesIn(o.cost.in), out, bytesIn(o.wrong))
}

// compare returns 1 if the first is better, -1 if the second is, else 0.
func compare(a, b outcome) int {
	flag := func(done bool) int {
		if done {
			return 0
		}
		return 1
	}
	for _, pair := range [][2]int{{flag(a.done), flag(b.done)}, {a.wrong, b.wrong}, {a.cost.calls, b.cost.calls}} {
		if pair[0] != pair[1] {
			return sign(pair[1] - pair[0])
		}
	}
	x, y := a.cost.in+a.cost.out+a.cost.pictures, b.cost.in+b.cost.out+b.cost.pictures
	if 10*min(x, y) < 9*max(x, y) && max(x, y)-min(x, y) > 500 {
		return sign(y - x)
	}
	return 0
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// bytesIn writes a number with commas.
func bytesIn(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

const remarks = `
What happens in them:

- **1.** Text that is there twice: fsmcp refuses and names the lines. The official server changes the first place and reports success; its answer shows the diff.
- **2.** The official server writes LF at all line ends.
- **4.** The official server reads the file as UTF-8, so that the text is not found. Nothing is changed.
- **5.** Both edit the file as it is. The answer of fsmcp shows what the other program changed; that of the official server says nothing of it.
- **7.** fsmcp sends the picture in the notebook as a picture. The official server sends it as base64 within the text.
- **8.** fsmcp scales the picture to at most 2000 pixels a side and says how to map coordinates back. The official server sends the file as it is.
- **9.** Both refuse.
- **10.** fsmcp makes one edit after the other. The calls of the official server run at the same time; both report success, and usually one edit is lost.
- **13.** The official server moves one file a call, after the folder was made.
- **14.** The official server has no tool that deletes.
- **15.** The official server finds files by name alone, so that all twelve are read, and it edits one file a call.
- **16.** The official server reads the PDF as UTF-8: what comes back is no text.

The official server has tools that fsmcp has not: a folder is made by itself, and listed as a tree. fsmcp's tools for searching, moving and deleting are off by default: [search.md](search.md), [tools.md](tools.md#move). The official server runs on every system that has Node.
`
