// Package arguments decodes the arguments of calls strictly, by the same schemas that the
// server publishes.
//
// It promises that what the published schema allows is accepted, that everything else is
// refused in sentences that name each fault and the arguments there are, and that no
// unknown or duplicate argument is dropped in silence. It does not know what an argument
// means. encoding/json cannot serve here: it drops unknown members or reports Go names,
// and takes the last of duplicate ones.
package arguments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// A Spec is one tool, as published and as decoded: both come from the same file.
type Spec struct {
	Tool        tools.Tool
	Description string
	Published   json.RawMessage // the schema without fsmcp's own keyword
	Own         ownKeyword
	fields      []field
	known       string // the arguments' names, for an answer to a wrong one
}

// ownKeyword is "x-fsmcp" of a schema.
type ownKeyword struct {
	Title              string            `json:"title"`
	SearchHint         string            `json:"searchHint"`
	MaxResultSizeChars int               `json:"maxResultSizeChars"`
	Later              map[string]string `json:"later"`
	// KeepEmpty names optional strings whose "" means itself, not absence.
	KeepEmpty []string `json:"keepEmpty"`
	// Aliases are names that models give arguments of this tool by the habit of another one.
	Aliases map[string]string `json:"aliases"`
	// Numbers names strings that are also taken as whole numbers.
	Numbers []string `json:"numbers"`
}

// A field is one argument: its name, and the field of the tool's struct.
type field struct {
	name      string
	quoted    string // the name as it stands in JSON
	required  bool
	keepEmpty bool
	number    bool // a string that is also taken as a whole number
	index     int  // in the argument struct
	take      reflect.Kind
	pointer   bool
	items     *Spec // of an array of objects: their members
}

// Load reads a tool's schema and description, and checks that schema and
// argument struct agree.
func Load(files fs.FS, tool tools.Tool) (*Spec, error) {
	raw, err := fs.ReadFile(files, tool.Name+".json")
	if err != nil {
		return nil, err
	}
	description, err := fs.ReadFile(files, tool.Name+".md")
	if err != nil {
		return nil, err
	}
	sp := &Spec{Tool: tool, Description: strings.TrimSpace(string(description))}
	if err := sp.load(raw); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", tool.Name, err)
	}
	return sp, nil
}

func (sp *Spec) load(raw []byte) error {
	var required []string
	var properties []byte
	var published bytes.Buffer
	published.WriteByte('{')
	err := wire.Members(raw, func(name []byte, v wire.Value) error {
		switch string(name) {
		case `"x-fsmcp"`:
			return json.Unmarshal(v.Raw, &sp.Own)
		case `"required"`:
			if err := json.Unmarshal(v.Raw, &required); err != nil {
				return err
			}
		case `"properties"`:
			properties = v.Raw
		}
		if published.Len() > 1 {
			published.WriteByte(',')
		}
		published.Write(name)
		published.WriteByte(':')
		return json.Compact(&published, v.Raw)
	})
	if err != nil {
		return err
	}
	published.WriteByte('}')
	sp.Published = published.Bytes()
	return sp.bind(reflect.TypeOf(sp.Tool.Args()).Elem(), properties, required)
}

// bind finds the field of a struct for each property.
func (sp *Spec) bind(args reflect.Type, properties []byte, required []string) error {
	var names []string
	err := wire.Members(properties, func(quoted []byte, v wire.Value) error {
		name, err := wire.Unquote(quoted)
		if err != nil {
			return err
		}
		f, err := bindField(args, name, v.Raw, sp.Own)
		if err != nil {
			return err
		}
		f.required = slices.Contains(required, name)
		f.keepEmpty = slices.Contains(sp.Own.KeepEmpty, name)
		f.number = slices.Contains(sp.Own.Numbers, name)
		sp.fields, names = append(sp.fields, f), append(names, name)
		return nil
	})
	if err != nil {
		return err
	}
	for alias, own := range sp.Own.Aliases {
		if !slices.ContainsFunc(sp.fields, func(f field) bool { return f.name == own }) {
			return fmt.Errorf("%s is an alias of %s, which is no property", alias, own)
		}
	}
	if args.NumField() != len(sp.fields) {
		return fmt.Errorf("%d properties, but %d struct fields", len(sp.fields), args.NumField())
	}
	sp.known = strings.Join(names, ", ")
	return nil
}

func bindField(args reflect.Type, name string, property []byte, own ownKeyword) (field, error) {
	var schema struct {
		Type  string          `json:"type"`
		Items json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(property, &schema); err != nil {
		return field{}, err
	}
	want, ok := map[string]reflect.Kind{"string": reflect.String, "integer": reflect.Int, "boolean": reflect.Bool, "array": reflect.Slice}[schema.Type]
	if !ok {
		return field{}, fmt.Errorf("%s: type %q is not decoded", name, schema.Type)
	}
	for i := range args.NumField() {
		f := args.Field(i)
		if f.Tag.Get("json") != name {
			continue
		}
		t := f.Type
		pointer := t.Kind() == reflect.Pointer
		if pointer {
			t = t.Elem()
		}
		if t.Kind() != want {
			return field{}, fmt.Errorf("%s: schema says %s, the struct %s", name, schema.Type, t.Kind())
		}
		bound := field{name: name, quoted: `"` + name + `"`, index: i, take: want, pointer: pointer}
		if want == reflect.Slice {
			return bound, bound.bindList(t, schema.Items, own)
		}
		return bound, nil
	}
	return field{}, fmt.Errorf("%s: no struct field has it as its json tag", name)
}
