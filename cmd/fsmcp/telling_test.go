//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// auditLines holds every line of an audit file against the schema.
func auditLines(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "audit-lines FILE")
	name, err := filepath.Abs(filepath.Join("..", "..", "schemas", "audit.schema.json"))
	ts.Check(err)
	schema, err := jsonschema.Compile(name)
	ts.Check(err)
	text := ts.ReadFile(args[0])
	if text == "" || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("%s is empty, or ends in half a line", args[0])
	}
	for line := range strings.Lines(text) {
		var v any
		ts.Check(json.Unmarshal([]byte(line), &v))
		if err := schema.Validate(v); err != nil {
			ts.Fatalf("%s: %v", line, err)
		}
	}
}
