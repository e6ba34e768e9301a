package server

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzConn throws whole inputs at the loop. Whatever came before, each line of
// output is a JSON-RPC message, and the request at the end is answered: the
// stream is never out of step, and nothing ends the process.
func FuzzConn(f *testing.F) {
	files, _ := filepath.Glob("testdata/wire/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, section := range archive.Files {
			if section.Name == "send" || section.Name == "cut" {
				f.Add(section.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Contains(in, []byte("progress")) || bytes.Contains(in, []byte("slow")) {
			return // fakes that take their time
		}
		input := append(bytes.Clone(in), "\n{\"jsonrpc\":\"2.0\",\"id\":\"the end\",\"method\":\"no/such\"}\n"...)
		said, best := "", time.Hour
		for n := 0; n < 5 && best > 5*time.Second; n++ { // the machine holds up only some
			var out syncBuffer
			began := time.Now()
			if err := newFake(t, &fakes{}, nil).Serve(t.Context(), bytes.NewReader(input), &out); err != nil {
				t.Fatal(err)
			}
			said, best = out.String(), min(best, time.Since(began))
		}
		if best > 5*time.Second {
			t.Fatalf("took %v at best", best)
		}
		ended := false
		if !utf8.ValidString(said) {
			t.Fatalf("not UTF-8: %q", said)
		}
		for line := range strings.Lines(said) {
			var message struct{ JSONRPC, ID any }
			var messages []json.RawMessage
			if json.Unmarshal([]byte(line), &messages) != nil && (json.Unmarshal([]byte(line), &message) != nil || message.JSONRPC != "2.0") {
				t.Fatalf("%q", line)
			}
			ended = ended || message.ID == "the end"
		}
		if !ended {
			t.Fatalf("no answer to the last request in\n%s", said)
		}
	})
}
