package server

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fsmcp/fsmcp/internal/mcptest/protocol"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/wire")

// TestWire plays raw conversations. A file's sections are done in order:
//
//	send    lines for the server
//	cut     the same without a newline at the end, then the end of input
//	want    what it answers, byte for byte
//	end     the end of input; the rest of the answers
//
// After the last section nothing more may come. Each answer is validated against the
// official schemas.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			play(t, file)
		})
	}
}

func play(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w := dial(t, newFake(t, &fakes{texts: map[string]string{
		"/text":  "1\tif a < b && c > d {\n2\t\u00fc\u4e16\U0001f600\x01\x7f\u2028",
		"/torn":  "not UTF-8: \xff\xfe.",
		"/empty": "",
	}}, nil))
	session := protocol.New()
	validate := func(lines string) {
		for line := range strings.Lines(lines) {
			if err := session.Received([]byte(strings.TrimSpace(line))); err != nil {
				t.Error(err)
			}
		}
	}
	ended := false
	for i := range archive.Files {
		section := &archive.Files[i]
		body := string(section.Data)
		if section.Name == "send" || section.Name == "cut" {
			for line := range strings.Lines(body) {
				session.Sent([]byte(line))
			}
		}
		switch section.Name {
		case "send":
			w.sendAll(body)
		case "cut":
			w.sendAll(strings.TrimSuffix(body, "\n"))
			w.in.Close()
		case "want":
			compare(t, section, w.lines(strings.Count(body, "\n")))
			validate(body)
		case "end":
			ended = true
			compare(t, section, w.rest())
			validate(body)
		default:
			t.Fatalf("no such section: %s", section.Name)
		}
	}
	if !ended {
		if more := w.rest(); len(more) > 0 {
			t.Errorf("unexpected answers:\n%s", strings.Join(more, "\n"))
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func compare(t *testing.T, section *txtar.File, got []string) {
	t.Helper()
	text := strings.Join(got, "\n")
	if len(got) > 0 {
		text += "\n"
	}
	if *update {
		section.Data = []byte(text)
	} else if want := string(section.Data); text != want {
		t.Errorf("got\n%swant\n%s(If the new answer is meant: go test ./internal/server -run TestWire -update)", text, want)
	}
}

// sendAll writes in the background, for a server that answers before it has
// read all.
func (w *client) sendAll(text string) {
	if _, err := w.in.Write([]byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *client) lines(n int) (lines []string) {
	for range n {
		lines = append(lines, w.line())
	}
	return lines
}
