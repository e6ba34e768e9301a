package arguments

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/server/wire"
)

// bindList binds an array: of strings, or of objects, whose members are fields of a struct.
func (f *field) bindList(t reflect.Type, items json.RawMessage, own ownKeyword) error {
	var schema struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(items, &schema); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	want, ok := map[string]reflect.Kind{"string": reflect.String, "object": reflect.Struct}[schema.Type]
	if !ok || t.Kind() != reflect.Slice || t.Elem().Kind() != want {
		return fmt.Errorf("%s: schema says an array of %s, the struct %s", f.name, schema.Type, t)
	}
	if want == reflect.Struct {
		f.items = &Spec{Own: ownKeyword{KeepEmpty: own.KeepEmpty}}
		if err := f.items.bind(t.Elem(), schema.Properties, schema.Required); err != nil {
			return err
		}
		f.items.Own.Aliases = maps.Clone(own.Aliases)
		maps.DeleteFunc(f.items.Own.Aliases, func(_, own string) bool {
			return !slices.ContainsFunc(f.items.fields, func(f field) bool { return f.name == own })
		})
		return nil
	}
	return nil
}

// setList stores an array. One entry alone stands for a list of it, and a string that holds
// a JSON array for that array: models write both.
func (d *decoder) setList(f *field, slot reflect.Value, v wire.Value, text string) *refusal.Refusal {
	if v.Kind == wire.String {
		if inner, err := wire.Parse([]byte(text)); err == nil && inner.Kind == wire.Array {
			v = inner
		}
	}
	one := wire.String
	if f.items != nil {
		one = wire.Object
	}
	entries := [][]byte{v.Raw}
	switch {
	case v.Kind == wire.Array:
		entries = wire.Elements(v.Raw)
	case v.Kind != one:
		return refusal.New(refusal.NotAList, f.name, wordFor(one), wordFor(v.Kind))
	}
	list := reflect.MakeSlice(slot.Type(), len(entries), len(entries))
	for i, raw := range entries {
		d.setEntry(f, list.Index(i), raw, i)
	}
	slot.Set(list)
	return nil
}

// setEntry stores entry i of an array.
func (d *decoder) setEntry(f *field, slot reflect.Value, raw []byte, i int) {
	where := fmt.Sprintf("%s[%d]", f.name, i)
	v, err := wire.Parse(raw)
	switch {
	case err != nil:
		d.complain(refusal.New(refusal.NotAString, where, "broken JSON"))
	case f.items != nil && v.Kind != wire.Object:
		d.complain(refusal.New(refusal.NotAnEntry, where, f.items.known, wordFor(v.Kind)))
	case f.items != nil:
		below := decoder{Spec: f.items, into: slot}
		_ = wire.Members(v.Raw, below.member)
		below.takeAliases()
		below.missing()
		for _, name := range below.unknown {
			below.complain(refusal.New(refusal.UnknownArgument, name))
		}
		for _, why := range below.wrong {
			d.complain(&refusal.Refusal{Text: "In " + where + ": " + why})
		}
		for _, r := range below.remarks {
			if !slices.Contains(d.remarks, r) {
				d.remarks = append(d.remarks, r)
			}
		}
	case v.Kind != wire.String:
		d.complain(refusal.New(refusal.NotAString, where, wordFor(v.Kind)))
	default:
		text, err := wire.Unquote(v.Raw)
		if err != nil {
			d.complain(refusal.New(refusal.StringNotUTF8, where))
		}
		slot.SetString(text)
	}
}
