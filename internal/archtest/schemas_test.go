package archtest

import (
	"encoding/json"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/tools"
	"github.com/fsmcp/fsmcp/schemas"
)

// The properties of each published schema are the fields of the tool's
// argument struct, in the same order and of the same type, and every schema
// belongs to a tool.
func TestSchemasAreTheArguments(t *testing.T) {
	var names []string
	for _, tool := range tools.New(tools.Options{}).Tools() {
		names = append(names, tool.Name+".json")
		raw, err := fs.ReadFile(schemas.Files, tool.Name+".json")
		if err != nil {
			t.Error(err)
			continue
		}
		args := reflect.TypeOf(tool.Args()).Elem()
		want := make([]string, args.NumField())
		for i := range want {
			f := args.Field(i)
			kind := f.Type
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			want[i] = f.Tag.Get("json") + " " + map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer", reflect.Bool: "boolean", reflect.Slice: "array"}[kind.Kind()]
		}
		if got := properties(t, raw); !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %q, the struct %q", tool.Name, got, want)
		}
	}
	files, _ := fs.Glob(schemas.Files, "[A-Z]*.json")
	slices.Sort(names)
	if !slices.Equal(files, names) {
		t.Errorf("schemas %q for tools %q", files, names)
	}
}

// properties lists a schema's properties with their types, in order.
func properties(t *testing.T, schema []byte) (out []string) {
	t.Helper()
	var s struct {
		Properties           map[string]struct{ Type string }
		Required             []string
		AdditionalProperties *bool
		Own                  json.RawMessage `json:"x-fsmcp"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	if s.AdditionalProperties == nil || *s.AdditionalProperties || s.Own == nil {
		t.Errorf("a schema must close its properties and carry fsmcp's own keyword: %s", schema)
	}
	for name, p := range s.Properties {
		out = append(out, name+" "+p.Type)
	}
	text := string(schema)
	slices.SortFunc(out, func(a, b string) int {
		return strings.Index(text, `"`+strings.Fields(a)[0]+`": {`) - strings.Index(text, `"`+strings.Fields(b)[0]+`": {`)
	})
	return out
}
