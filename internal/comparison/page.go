package main

import (
	"fmt"
	"strings"
)

// render returns docs/comparison.md.
func render(ours, theirs []outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Comparison with the official file system server

%d tasks, each through fsmcp and through `+"`%s`"+` %s, the reference server of the protocol's makers. `+"`make comparison`"+` runs them and writes this page; a test compares.

fsmcp serves all its tools here. No model takes part: a script makes the obvious call, does what an error says, and believes an answer that reports success.

- **calls**: tool calls until the task is done or the script gives up
- **bytes**: what is sent and comes back, pictures in base64 included
- **wrong**: bytes on the disk afterwards that should not be there, and those that lack
- **better**: by done, then wrong, then calls, then bytes that differ by more than a tenth and 500

| | task | fsmcp: done | calls | bytes | wrong | official: done | calls | bytes | wrong | better |
|---|---|---|---|---|---|---|---|---|---|---|
`, len(ours), officialName, officialVersion)
	var wins [3]int
	for i, t := range tasks() {
		better := compare(ours[i], theirs[i])
		wins[better+1]++
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", i+1, t.title, cells(ours[i]), cells(theirs[i]),
			[]string{"official", "–", "**fsmcp**"}[better+1])
	}
	fmt.Fprintf(&b, "\nfsmcp is better in %d of these tasks, the official server in %d; %d are even. The tasks were chosen by fsmcp's authors.\n", wins[2], wins[0], wins[1])
	fmt.Fprintf(&b, "\nThe list of tools, which a client loads first, has %s bytes from fsmcp for %d tools, %s from the official server for %d.\n",
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
	return fmt.Sprintf("%s | %d | %s | %s", done, o.cost.calls, bytesIn(o.cost.total()), bytesIn(o.wrong))
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
	x, y := a.cost.total(), b.cost.total()
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
What the official server does in them:

- **1.** It changes the first of two equal places and reports success; fsmcp refuses and names the lines.
- **2.** It writes LF at all line ends.
- **4, 16.** It reads UTF-16 and PDF as UTF-8.
- **5.** Its answer does not show what the other program changed.
- **7, 8.** It sends a picture in a notebook as text, and a large picture as it is; fsmcp scales it, and says how to map coordinates back.
- **10.** It runs both edits at once; both report success, and usually one is lost.
- **13, 15.** It moves and edits one file a call, and finds files by name alone.
- **14.** It has no tool that deletes.

It has tools that fsmcp has not, which make a folder and list one as a tree. fsmcp's tools for [searching](search.md), [moving and deleting](tools.md#move) are off by default.
`
