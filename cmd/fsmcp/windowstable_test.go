package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// windowsReasons are why a script may differ on Windows. A fault of fsmcp is none. "native"
// is for scripts that pass under Wine, where the test itself is a program of Linux, and not
// if it is one for Windows.
var windowsReasons = []string{
	"links", "fifos", "owners", "modes", "in place", "terminal", "signals", "mounts", "sh hooks",
	"forbidden names", "case", "unix places", "system words", "processes", "wine", "native",
}

// differsOnWindows reads the table of the scripts that cannot pass on Windows, or not under
// Wine: a name and a reason on each line, and after ":" what differs, or the script that
// says the same for Windows.
func differsOnWindows() (map[string]string, error) {
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "script", "differs_windows.txt"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, why, _ := strings.Cut(line, " ")
		reason, _, _ := strings.Cut(why, ":")
		if !slices.Contains(windowsReasons, strings.TrimSpace(reason)) {
			return nil, fmt.Errorf("differs_windows.txt: %s: the reason %q is none of %q", name, reason, windowsReasons)
		}
		if _, err := os.Stat(filepath.Join("..", "..", "testdata", "script", name+".txtar")); err != nil || out[name] != "" {
			return nil, fmt.Errorf("differs_windows.txt: %s is no script, or is listed twice", name)
		}
		out[name] = why
	}
	return out, nil
}

var (
	scriptLine  = regexp.MustCompile(`(?m)^((?:\[[^\]\n]*\] ?|! ?|\? ?)*)(exec \S+|mkfifo|mksock|mode|forge|as|signal|mount-tmpfs|chmod|symlink)\b`)
	hookProgram = regexp.MustCompile(`"command": ?\["(\w[^"]*)"`)
)

// unixProgram returns what a script needs that Windows does not have, or "".
func unixProgram(script string) string {
	for _, m := range scriptLine.FindAllStringSubmatch(script, -1) {
		word := strings.TrimPrefix(m[2], "exec ")
		if word != "fsmcp" && !strings.Contains(m[1], "[!onwindows]") {
			return word
		}
	}
	if m := hookProgram.FindStringSubmatch(script); m != nil && m[1] != "fsmcp" && !strings.HasSuffix(m[1], ".exe") {
		return m[1]
	}
	return ""
}
