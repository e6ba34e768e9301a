// Command demo drives a real session over standard input and output on sample
// files and prints it as it goes: a read, an edit, a write that comes too late
// and is refused, the way out of that, one cell of a notebook, a picture and a
// part of it, pages of a PDF, a path that is denied. It promises to exit non-zero when any answer or any byte on disk is
// not what it should be.
//
// With -svg it draws a part of what it printed as a picture of a terminal.
//
// Usage: demo [-svg FILE] PATH-OF-FSMCP
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

func main() {
	picture := flag.String("svg", "", "also draw a part of it to `FILE`")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: demo [-svg FILE] PATH-OF-FSMCP") }
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	var text bytes.Buffer
	err := show(flag.Arg(0), io.MultiWriter(os.Stdout, &text))
	if err == nil && *picture != "" {
		err = os.WriteFile(*picture, drawTerminal(excerpt(text.String())), 0o644)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: not as it should be: %v\n", err)
		os.Exit(1)
	}
	fmt.Println("\nAll of it was as it should be.")
}

const sample = `package greet

// Hello greets somebody by name.
func Hello(name string) string {
	return "Hello, " + name + "!"
}
`

// growth is a notebook as JupyterLab saves it: a note, and a cell of code.
func growth(executionCount, outputs, rate string) string {
	return fmt.Sprintf(`{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "about",
   "metadata": {},
   "source": [
    "# Growth over ten years"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": %s,
   "id": "rate",
   "metadata": {},
   "outputs": [%s],
   "source": [
    "rate = %s\n",
    "(1 + rate) ** 10"
   ]
  }
 ],
 "metadata": {
  "seed": 12345678901234567890,
  "scale": 1.0
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`, executionCount, outputs, rate)
}

// result is the output of the cell's last run.
const result = `
    {
     "data": {
      "text/plain": [
       "1.6288946267774416"
      ]
     },
     "execution_count": 3,
     "metadata": {},
     "output_type": "execute_result"
    }
   `

// show plays the session in a folder of its own, and prints it to out.
func show(binary string, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "fsmcp-demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &session{dir: filepath.Join(dir, "project"), out: out}
	if err := s.prepare(); err != nil {
		return err
	}
	path, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	cache, _ := os.UserCacheDir() // there PDFium is compiled once, not for each demonstration
	s.client, err = mcptest.Start(mcptest.Options{
		Path: path, Args: []string{"serve", "--deny", "Read(.env)", s.dir}, Dir: s.dir, Stderr: os.Stderr,
		Env: append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_STATE_HOME=", "XDG_CACHE_HOME="+cache),
	})
	if err != nil {
		return err
	}
	hello, err := s.client.Initialize(mcptest.Latest)
	if err != nil {
		s.client.Kill()
		return err
	}
	fmt.Fprintf(out, "$ fsmcp serve --deny 'Read(.env)' DIR      (MCP %s over standard input and output)\n", revision(hello))
	s.play(path)
	return errors.Join(append(s.wrong, s.client.Close())...)
}

func revision(m mcptest.Message) string {
	var r struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return err.Error()
	}
	return r.ProtocolVersion
}

type session struct {
	dir    string
	out    io.Writer
	client *mcptest.Client
	wrong  []error
}

func (s *session) file(name string) string { return filepath.Join(s.dir, name) }

func (s *session) prepare() error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"greet.go": sample, "growth.ipynb": growth("3", result, "5e-2"), ".env": "TOKEN=demo\n"} {
		if err := os.WriteFile(s.file(name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	picture, err := screen()
	return errors.Join(err, os.WriteFile(s.file("screen.png"), picture, 0o644), os.WriteFile(s.file("report.pdf"), report(), 0o644))
}

type args map[string]any

func (s *session) play(binary string) {
	greet := s.file("greet.go")

	s.title("Nothing is changed that was not read")
	edit := args{"file_path": greet, "old_string": `"Hello, " + name + "!"`, "new_string": `"Good day, " + name + "."`}
	s.refused("Edit", edit, "not_read", "File has not been read yet.")

	s.title("Read, then edit")
	s.done("Read", args{"file_path": greet}, "5\t\treturn \"Hello, \" + name + \"!\"")
	s.done("Edit", edit, "has been updated.")
	s.holds("greet.go", strings.Replace(sample, `"Hello, " + name + "!"`, `"Good day, " + name + "."`, 1))

	s.title("Another program changes the file; a write that does not know of it is refused, and told what changed")
	theirs := strings.Replace(string(s.onDisk("greet.go")), "greets somebody by name", "greets somebody politely", 1)
	s.foreign("greet.go", theirs)
	ours := strings.Replace(theirs, "Good day", "Good evening", 1)
	s.refused("Write", args{"file_path": greet, "content": "package greet\n"}, "modified", "politely")
	s.holds("greet.go", theirs)

	s.title("Having seen it, the caller goes on")
	s.done("Edit", args{"file_path": greet, "old_string": "Good day", "new_string": "Good evening"}, "has been updated.")
	s.holds("greet.go", ours)

	s.title("A new file, in a folder that is made on the way")
	s.done("Write", args{"file_path": s.file("docs/hello.md"), "content": "# Hello\n"}, "docs/hello.md")
	s.holds("docs/hello.md", "# Hello\n")

	s.title("A notebook: read as its cells, and one cell edited; every other byte stays as it was")
	path := s.file("growth.ipynb")
	s.done("Read", args{"file_path": path}, "1.6288946267774416")
	s.done("NotebookEdit", args{"notebook_path": path, "cell_id": "rate", "new_source": "rate = 4e-2\n(1 + rate) ** 10"}, "outputs were cleared")
	s.holds("growth.ipynb", growth("null", "", "4e-2"))

	s.playPictures()
	s.playPDF(binary)

	s.title("What the rules deny stays closed")
	s.refused("Read", args{"file_path": s.file(".env")}, "denied", "denied by your permission settings")
	s.refused("Write", args{"file_path": s.file(".git/hooks/pre-commit"), "content": "x"}, "denied", "")
	s.refused("Read", args{"file_path": "/etc/passwd"}, "denied", "")
	s.absent(".git")
}

func (s *session) title(text string) { fmt.Fprintf(s.out, "\n== %s\n", text) }

func (s *session) fail(format string, a ...any) {
	err := fmt.Errorf(format, a...)
	fmt.Fprintf(s.out, "!! %v\n", err)
	s.wrong = append(s.wrong, err)
}

// call makes one call and prints both sides of it, with the folder as DIR.
func (s *session) call(tool string, a args) mcptest.Result {
	text, _ := json.Marshal(a)
	fmt.Fprintf(s.out, "-> %s %s\n", tool, s.short(string(text)))
	res, err := s.client.Call(tool, a)
	if err != nil {
		s.fail("%s: %v", tool, err)
		return res
	}
	mark := "<-"
	if res.IsError {
		mark = fmt.Sprintf("<- refused, code %d %s:", res.Code, res.Slug)
	}
	body := strings.ReplaceAll(s.short(transcript(res)), "\n", "\n   ")
	fmt.Fprintf(s.out, "%s %s\n", mark, body)
	return res
}

func (s *session) short(text string) string { return strings.ReplaceAll(text, s.dir, "DIR") }

// mostTries bounds the calls for an answer that comes late: until the PDF engine is compiled, which
// happens once on a machine, a Read is answered by "make the same call again".
const mostTries = 10

func (s *session) done(tool string, a args, says string) mcptest.Result {
	res := s.call(tool, a)
	for try := 1; try < mostTries && res.IsError && res.Slug == "busy"; try++ {
		res = s.call(tool, a)
	}
	if res.IsError || !strings.Contains(res.Text, says) {
		s.fail("%s should have been done and said %q", tool, says)
	}
	return res
}

func (s *session) refused(tool string, a args, slug, says string) {
	if res := s.call(tool, a); !res.IsError || res.Slug != slug || !strings.Contains(res.Text, says) {
		s.fail("%s should have been refused as %q and said %q", tool, slug, says)
	}
}

func (s *session) foreign(name, text string) {
	fmt.Fprintf(s.out, ".. another program writes DIR/%s\n", name)
	if err := os.WriteFile(s.file(name), []byte(text), 0o644); err != nil {
		s.fail("%v", err)
	}
}

func (s *session) onDisk(name string) []byte {
	b, err := os.ReadFile(s.file(name))
	if err != nil {
		s.fail("%v", err)
	}
	return b
}

func (s *session) holds(name, want string) {
	if got := string(s.onDisk(name)); got != want {
		s.fail("DIR/%s holds\n%s\nand should hold\n%s", name, got, want)
	}
}

func (s *session) absent(name string) {
	if _, err := os.Lstat(s.file(name)); !errors.Is(err, os.ErrNotExist) {
		s.fail("DIR/%s should not be there", name)
	}
}
