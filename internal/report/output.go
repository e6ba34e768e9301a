// Package report writes the results of commands: for people with colours on a terminal and
// through their pager, and for programs as JSON.
//
// It promises that nothing of a file or its name can steer the terminal: control characters
// are escaped. It does not read the environment and does not know flags: callers say
// whether output is a terminal, and which pager there is.
package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/phrase"
)

// Output is where a command's result goes.
type Output struct {
	io.Writer
	Terminal bool // a person looks at it
	Coloured bool
}

// colour is a parameter of the terminal's sequence for colours (source: ECMA-48, SGR). All
// have two digits, so that the cells of a table's column are longer by the same amount.
type colour string

const (
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	cyan   colour = "36"
)

func (o Output) paint(c colour, text string) string {
	if !o.Coloured || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// visible escapes control characters and bytes that are no text, and marks them; tabs stay.
func (o Output) visible(line string) string {
	if clean := phrase.Printable(line); clean == line || !o.Coloured {
		return clean
	}
	var b strings.Builder
	for line != "" {
		_, size := utf8.DecodeRuneInString(line)
		part := line[:size]
		line = line[size:]
		if clean := phrase.Printable(part); clean != part {
			part = o.paint(cyan, clean)
		}
		b.WriteString(part)
	}
	return b.String()
}

// lines writes a text as it is, but on a terminal each line as shown returns it.
func (o Output) lines(text []byte, shown func(line string) string) error {
	if !o.Terminal {
		_, err := o.Write(text)
		return err
	}
	for line := range bytes.Lines(text) {
		if _, err := fmt.Fprintln(o, shown(string(line))); err != nil {
			return err
		}
	}
	return nil
}

// Text writes a file's content: the very bytes, but on a terminal with control characters
// escaped.
func (o Output) Text(content []byte) error {
	return o.lines(content, func(line string) string {
		text, ended := strings.CutSuffix(line, "\n")
		if text = o.visible(text); !ended && o.Coloured {
			text += o.paint(cyan, `\ no newline at the end`)
		}
		return text
	})
}

// Lines writes lines that are escaped already.
func (o Output) Lines(lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(o, line); err != nil {
			return err
		}
	}
	return nil
}

// Answer writes a text of an answer to a tool's call, and ends the line. On a terminal
// control characters are escaped and a refusal is red.
func (o Output) Answer(text string, refused bool) error {
	return o.lines([]byte(text+"\n"), func(line string) string {
		if refused {
			return o.paint(red, phrase.Printable(strings.TrimSuffix(line, "\n")))
		}
		return o.visible(strings.TrimSuffix(line, "\n"))
	})
}

// Diff writes a unified diff. On a terminal removed lines are red and added lines green.
func (o Output) Diff(diff string) error {
	return o.lines([]byte(diff), func(line string) string {
		colours := map[byte]colour{'-': red, '+': green, '@': cyan}
		text := phrase.Printable(strings.TrimSuffix(line, "\n"))
		if c, coloured := colours[line[0]]; coloured {
			text = o.paint(c, text)
		}
		return text
	})
}

// bytesOf returns a name's bytes if JSON cannot hold it, since it is not UTF-8, else nil.
func bytesOf(name string) []byte {
	if utf8.ValidString(name) {
		return nil
	}
	return []byte(name)
}

// allBytesOf returns the bytes of all names if JSON cannot hold one of them, else nil.
func allBytesOf(names []string) (all [][]byte) {
	if !slices.ContainsFunc(names, func(name string) bool { return bytesOf(name) != nil }) {
		return nil
	}
	for _, name := range names {
		all = append(all, []byte(name))
	}
	return all
}

// JSON writes a value as one line.
func (o Output) JSON(v any) error {
	e := json.NewEncoder(o)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Paged writes through a pager; nil means none. If the pager cannot be started, or ends
// with an error, the text is written without it. A user may leave it early: that is no error.
func (o Output) Paged(pager *exec.Cmd, write func(Output) error) error {
	if pager == nil || !o.Terminal {
		return write(o)
	}
	in, err := pager.StdinPipe()
	if err != nil {
		return write(o)
	}
	pager.Stdout = o.Writer
	if pager.Start() != nil {
		return write(o)
	}
	page := o
	page.Writer = in
	err = write(page)
	in.Close()
	if exit, ok := errors.AsType[*exec.ExitError](pager.Wait()); ok && exit.Exited() {
		return write(o)
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
