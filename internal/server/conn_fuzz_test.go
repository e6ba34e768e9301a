package server

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		s := newFake(t, &fakes{}, nil)
		var out syncBuffer
		input := append(bytes.Clone(in), "\n{\"jsonrpc\":\"2.0\",\"id\":\"the end\",\"method\":\"no/such\"}\n"...)
		began := time.Now()
		if err := s.Serve(t.Context(), bytes.NewReader(input), &out); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Fatalf("took %v", took)
		}
		ended := false
		for line := range strings.Lines(out.String()) {
			var message struct{ JSONRPC, ID any }
			var messages []json.RawMessage
			if json.Unmarshal([]byte(line), &messages) != nil && (json.Unmarshal([]byte(line), &message) != nil || message.JSONRPC != "2.0") {
				t.Fatalf("%q", line)
			}
			ended = ended || message.ID == "the end"
		}
		if !ended {
			t.Fatalf("no answer to the last request in\n%s", out.String())
		}
	})
}
