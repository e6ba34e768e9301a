package notebook_test

import (
	"errors"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/notebooktest"
)

// A file is refused as JSON just where encoding/json refuses it.
func FuzzParse(f *testing.F) {
	for _, raw := range notebooktest.Seeds(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := notebook.Parse(raw)
		var fault *notebook.ParseError
		if err != nil && !errors.As(err, &fault) {
			t.Fatal(err)
		}
		isJSON := err == nil || fault.Fault == notebook.NotNotebook || fault.Fault == notebook.BadVersion
		if isJSON != accepted(raw) {
			t.Fatalf("%q: %v, but JSON is %v", raw, err, accepted(raw))
		}
		if err != nil && (fault.Offset < 0 || fault.Offset > int64(len(raw))) {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}
