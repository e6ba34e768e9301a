//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// TestManual makes the manual pages, one for each command, and has man read them. With
// FSMCP_MAN they are made in that folder and stay ("make man"). That this is a test keeps
// cobra/doc and what it needs out of the program.
func TestManual(t *testing.T) {
	dir := os.Getenv("FSMCP_MAN")
	if dir == "" {
		dir = t.TempDir()
	}
	root := commands(process{}, subcommands())
	want := manualOf(root, make(map[*pflag.Flag]bool))
	header := &doc.GenManHeader{Section: "1", Manual: "fsmcp", Source: "fsmcp", Date: manualDate(t)}
	if err := doc.GenManTree(root, header, dir); err != nil {
		t.Fatal(err)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, page := range made {
		names = append(names, filepath.Base(page))
	}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("the pages are %q, not %q", names, want)
	}
	for _, program := range []string{"man", "groff"} { // without groff, man is a stub
		if _, err := exec.LookPath(program); err != nil || runtime.GOOS != "linux" {
			t.Logf("!!! NOT TESTED: %s of Linux is missing, so the manual pages are not read !!!", program)
			return
		}
	}
	step := 1
	if os.Getenv("FSMCP_MAN") == "" {
		step = len(made) / shortrun.Most(t, len(made), min(8, len(made)), "manual pages")
	}
	for i := 0; i < len(made); i += step {
		readManual(t, made[i])
	}
}

// manualOf prepares a command and those below it for cobra/doc, which takes their texts for
// Markdown, and returns the names of their pages. done has the flags that are prepared:
// commands share some.
func manualOf(cmd *cobra.Command, done map[*pflag.Flag]bool) (pages []string) {
	cmd.DisableAutoGenTag = true
	cmd.Long = asMarkdown(cmd.Long)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !done[f] {
			f.Usage, done[f] = escapeMarkdown(f.Usage), true
		}
	})
	pages = append(pages, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() { // help is none
			pages = append(pages, manualOf(sub, done)...)
		}
	}
	return pages
}

// asMarkdown makes code of the lines that are indented, and escapes the others.
func asMarkdown(text string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(text) {
		indented := strings.TrimLeft(line, " \t")
		if indented == line {
			code = code && line == "\n"
			b.WriteString(escapeMarkdown(line))
			continue
		}
		if !code {
			b.WriteString("\n") // Markdown wants a blank line before code
		}
		code = true
		b.WriteString("    " + indented)
	}
	return b.String()
}

func escapeMarkdown(text string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`).Replace(text)
}

// manualDate returns the time of SOURCE_DATE_EPOCH, so that the same commit makes the same
// pages.
func manualDate(t *testing.T) *time.Time {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil && os.Getenv("SOURCE_DATE_EPOCH") != "" {
		t.Fatal(err)
	}
	date := time.Unix(seconds, 0).UTC()
	return &date
}

// readManual has man format a page.
func readManual(t *testing.T, page string) {
	cmd := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", page)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=80", "MANPAGER=cat")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		t.Errorf("%s: %v: %s", filepath.Base(page), err, &said)
	}
	text := string(out)
	for _, words := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", strings.TrimSuffix(filepath.Base(page), ".1")} {
		if !strings.Contains(text, words) {
			t.Errorf("%s lacks %s", filepath.Base(page), words)
		}
	}
	if strings.Contains(text, `\*`) || strings.Contains(text, `\_`) || strings.Contains(text, `\<`) {
		t.Errorf("%s shows an escape:\n%s", filepath.Base(page), text)
	}
}
