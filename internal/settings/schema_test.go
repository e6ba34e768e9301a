package settings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/tailscale/hujson"
)

const schemaFile = "../../schemas/settings.schema.json"

type node struct {
	Title, Description, Pattern string
	Type                        any
	Default                     *json.RawMessage
	Enum                        []string
	Properties                  map[string]node
	AdditionalProperties        any
	Items                       *node
	Required                    []string
}

func readSchema(t *testing.T) node {
	t.Helper()
	b, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var n node
	if err := json.Unmarshal(b, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// flatten lists all that a schema has a name for.
func flatten(prefix string, n node, into map[string]node) {
	for name, p := range n.Properties {
		into[prefix+name] = p
		flatten(prefix+name+".", p, into)
	}
}

func TestSchemaSaysWhatParseKnows(t *testing.T) {
	all := make(map[string]node)
	flatten("", readSchema(t), all)
	want := append(known(), keySchema, keyTokensAPI.path+".url", keyTokensAPI.path+".key", keyTokensAPI.path+".model")
	for name, n := range all {
		if !slices.Contains(want, name) {
			t.Errorf("the schema has %s, which is not known", name)
		}
		if n.Title == "" || n.Description == "" || n.Type == nil {
			t.Errorf("%s lacks a title, a description or a type", name)
		}
		if n.Properties != nil && n.AdditionalProperties != false {
			t.Errorf("%s is open", name)
		}
	}
	for _, name := range want {
		if _, ok := all[name]; !ok {
			t.Errorf("the schema lacks %s", name)
		}
	}
	if !slices.Equal(all[keyMode].Enum, modes()) {
		t.Errorf("modes: %q", all[keyMode].Enum)
	}
	if all[keyTokensAPI.path+".url"].Pattern != urls || all[keyAskTimeout.path].Pattern != timeouts || all[keyHistoryMaxSize.path].Pattern != sizes || all[keyImageDecoded.path].Pattern != sizes || all[keyMaxBytes.path].Pattern != sizes || all[keyHistoryMaxAge.path].Pattern != ages {
		t.Error("a pattern differs")
	}
	for _, path := range []string{keyHooksBefore.path, keyHooksAfter.path} {
		item := all[path].Items
		if item.AdditionalProperties != false || !slices.Equal(item.Required, []string{"glob", "command"}) || len(item.Properties) != 3 {
			t.Errorf("%s: %+v", path, item)
		}
		if limit := item.Properties["timeout"]; limit.Pattern != timeouts || string(*limit.Default) != `"`+defaultHookTimeout.String()+`"` || limit.Description == "" {
			t.Errorf("%s: %+v", path, limit)
		}
	}
	for _, k := range keys() {
		n := all[k.path]
		if !slices.Equal(n.Enum, k.words) {
			t.Errorf("%s: %q in the schema, %q in the table", k.path, n.Enum, k.words)
		}
		if n.Default == nil && !strings.Contains(toString(t, n.Type), "null") {
			t.Errorf("%s has no default", k.path)
		}
		if alone := strings.Contains(n.Description, "The user's own settings only."); alone != (k.setBy == userOnly) {
			t.Errorf("%s: who may set it?", k.path)
		}
		if trust := strings.Contains(n.Description, "counts only with --trust-project"); trust != (k.setBy == trusted) {
			t.Errorf("%s: is trust needed?", k.path)
		}
	}
}

func toString(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The defaults of the schema, as a file, change nothing.
func TestSchemaDefaultsAreTheDefaults(t *testing.T) {
	all := make(map[string]node)
	flatten("", readSchema(t), all)
	plain, _, err := New(Flags{}, env(nil), 25000)
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range all {
		if n.Default == nil {
			continue
		}
		s := with(env(nil), map[string]string{userOwn: asFile(name, string(*n.Default))})
		c, warnings, err := New(Flags{}, s, 25000)
		if err != nil || warnings != nil {
			t.Errorf("%s: %q, %v", name, warnings, err)
		}
		if !reflect.DeepEqual(visible(c), visible(plain)) {
			t.Errorf("%s: %s changes something:\n%+v\n%+v", name, *n.Default, visible(c), visible(plain))
		}
	}
}

// visible leaves out what a Config remembers of its making.
func visible(c Config) Config {
	c.origin, c.entries = origin{}, nil
	return c
}

func TestSchemaAndParseAgree(t *testing.T) {
	schema := jsonschema.NewCompiler().MustCompile(schemaFile)
	valid := func(text string) bool {
		plain, err := hujson.Standardize([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var v any
		if err := json.Unmarshal(plain, &v); err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v) == nil
	}
	for path, row := range values() {
		for text := range row.good {
			if !valid(asFile(path, text)) {
				t.Errorf("the schema refuses %s: %s", path, text)
			}
		}
		for _, text := range row.bad {
			if valid(asFile(path, text)) {
				t.Errorf("the schema takes %s: %s", path, text)
			}
		}
	}
	samples, err := filepath.Glob("testdata/*.json")
	if err != nil || len(samples) < 2 {
		t.Fatalf("samples: %q, %v", samples, err)
	}
	for _, name := range samples {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		l := Parse(ownFile, b)
		clean := l.Broken == nil && l.Warnings == nil
		if bad := strings.HasPrefix(filepath.Base(name), "bad_"); clean == bad || valid(string(b)) == bad {
			t.Errorf("%s: %+v, %q, schema: %v", name, l.Broken, l.Warnings, valid(string(b)))
		}
	}
}
