package arguments

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/similar"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// Decode reads the arguments of one call into a new argument struct. remark is for the end
// of the answer; "" is none. If the arguments do not fit the schema, Decode returns an answer
// instead, which names every fault in sentences that help the caller.
func (sp *Spec) Decode(v wire.Value) (args tools.Args, remark string, refused *toolcall.Result) {
	d := decoder{Spec: sp, args: sp.Tool.Args()}
	d.into = reflect.ValueOf(d.args).Elem()
	switch v.Kind {
	case 0, wire.Null: // no arguments
	case wire.Object:
		wire.Members(v.Raw, d.member) // its grammar was checked with the message's
	default:
		return nil, "", toolcall.Refuse(sp.Tool.Name, refusal.New(refusal.NotAnObject, sp.Tool.Name, wordFor(v.Kind), sp.known))
	}
	d.takeAliases()
	d.missing()
	if len(d.wrong) > 0 || len(d.unknown) > 0 {
		return nil, "", toolcall.Refuse(sp.Tool.Name, d.refusal())
	}
	return d.args, strings.Join(d.remarks, "\n"), nil
}

// decoder is the state of one decode.
type decoder struct {
	*Spec
	args    tools.Args
	into    reflect.Value
	given   [16]bool // by index in fields: the name was there
	present [16]bool // and its value does not mean absence
	unknown []string
	others  []string // other names seen so far, to find duplicates
	aliases []alias  // taken once all names are known
	remarks []string
	wrong   []string // whole sentences
}

// alias is an argument that was given by another name.
type alias struct {
	name  string
	value wire.Value
}

// maxWrong bounds the sentences of one answer.
const maxWrong = 8

func (d *decoder) complain(fault *refusal.Refusal) {
	if len(d.wrong) < maxWrong {
		d.wrong = append(d.wrong, fault.Text)
	}
}

// member handles one member of the arguments. It never returns an error, so that every
// member is seen.
func (d *decoder) member(quoted []byte, v wire.Value) error {
	for i := range d.fields {
		if f := &d.fields[i]; string(quoted) == f.quoted {
			d.field(i, v)
			return nil
		}
	}
	name, err := wire.Unquote(quoted)
	if err != nil {
		if errors.Is(err, wire.ErrSurrogate) {
			d.complain(refusal.New(refusal.NameSurrogate, string(quoted)))
		} else {
			d.complain(refusal.New(refusal.NameNotUTF8, string(quoted)))
		}
		return nil
	}
	for i := range d.fields { // the name may have been written with escapes
		if d.fields[i].name == name {
			d.field(i, v)
			return nil
		}
	}
	d.unknownArgument(name, v)
	return nil
}

// field decodes the value of a known argument.
func (d *decoder) field(i int, v wire.Value) {
	f := &d.fields[i]
	if d.given[i] {
		d.complain(refusal.New(refusal.GivenTwice, f.name))
		return
	}
	d.given[i] = true
	if v.Kind == wire.Null {
		return
	}
	var text string
	if v.Kind == wire.String {
		var err error
		if text, err = wire.Unquote(v.Raw); err != nil {
			if errors.Is(err, wire.ErrSurrogate) {
				d.complain(refusal.New(refusal.StringSurrogate, f.name))
			} else {
				d.complain(refusal.New(refusal.StringNotUTF8, f.name))
			}
			d.present[i] = true
			return
		}
		if text == "" && !f.required && !f.keepEmpty {
			return
		}
	}
	d.present[i] = true
	if problem := d.set(f, v, text); problem != nil {
		d.complain(problem)
	}
}

// set stores one value, or returns what it should have been.
func (d *decoder) set(f *field, v wire.Value, text string) (problem *refusal.Refusal) {
	slot := d.into.Field(f.index)
	if f.pointer {
		slot.Set(reflect.New(slot.Type().Elem()))
		slot = slot.Elem()
	}
	switch f.take {
	case reflect.String:
		if f.number && v.Kind == wire.Number {
			n, problem := integer(f.name, v, text)
			slot.SetString(strconv.Itoa(n))
			return problem
		}
		if v.Kind != wire.String {
			if v.Kind == wire.Object || v.Kind == wire.Array {
				return refusal.New(refusal.NotAJSONString, f.name, wordFor(v.Kind))
			}
			return refusal.New(refusal.NotAString, f.name, wordFor(v.Kind))
		}
		slot.SetString(text)
	case reflect.Int:
		n, problem := integer(f.name, v, text)
		if problem != nil {
			return problem
		}
		slot.SetInt(int64(n))
	case reflect.Slice:
		return d.setList(f, slot, v, text)
	case reflect.Bool:
		switch {
		case v.Kind == wire.True, text == "true":
			slot.SetBool(true)
		case v.Kind == wire.False, text == "false":
		default:
			return refusal.New(refusal.NotABool, f.name, wordsFor(v, text))
		}
	}
	return nil
}

// integer reads 10, 10.0, 1e1 and their forms as strings.
func integer(name string, v wire.Value, text string) (n int, problem *refusal.Refusal) {
	switch {
	case v.Kind == wire.Number:
		text = string(v.Raw)
	case v.Kind != wire.String, !wire.IsNumber(text):
		return 0, refusal.New(refusal.NotWhole, name, wordsFor(v, text))
	}
	n64, err := strconv.ParseInt(text, 10, strconv.IntSize)
	if err == nil {
		return int(n64), nil
	}
	f, ferr := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), ferr != nil, math.Abs(f) >= 1<<53:
		return 0, refusal.New(refusal.TooLargeNumber, name, text)
	case f != math.Trunc(f), int64(int(f)) != int64(f):
		return 0, refusal.New(refusal.NotWhole, name, phrase.QuoteAtMost(text, 80))
	}
	return int(f), nil
}

// unknownArgument handles an argument without a field: of a later version, or unknown. A
// value that means absence is ignored.
func (d *decoder) unknownArgument(name string, v wire.Value) {
	if slices.Contains(d.others, name) {
		d.complain(refusal.New(refusal.UnknownGivenTwice, name))
		return
	}
	d.others = append(d.others, name)
	why, later := d.Own.Later[name]
	switch {
	case later && (v.Kind == wire.Null || string(v.Raw) == `""`):
	case later:
		d.complain(refusal.New(refusal.NotYet, name, why))
	case d.Own.Aliases[name] != "":
		d.aliases = append(d.aliases, alias{name, v})
	case len(d.unknown) < maxWrong:
		d.unknown = append(d.unknown, name)
	}
}

// takeAliases takes the value of each alias whose argument was not given by its own name.
func (d *decoder) takeAliases() {
	for _, a := range d.aliases {
		own := d.Own.Aliases[a.name]
		i := slices.IndexFunc(d.fields, func(f field) bool { return f.name == own })
		if d.given[i] {
			d.unknown = append(d.unknown, a.name)
			continue
		}
		d.field(i, a.value)
		d.remarks = append(d.remarks, fmt.Sprintf("(%s was taken for %s.)", a.name, own))
	}
}

// missing names required arguments that are missing.
func (d *decoder) missing() {
	for i := range d.fields {
		if f := &d.fields[i]; f.required && !d.present[i] {
			d.complain(refusal.New(refusal.Required, f.name))
		}
	}
}

// refusal returns every fault that was found.
func (d *decoder) refusal() *refusal.Refusal {
	var faults []string
	for _, name := range d.unknown {
		fault := refusal.New(refusal.UnknownArgument, name)
		if near := d.nearest(name); near != "" {
			fault = refusal.New(refusal.MisspeltArgument, name, near)
		}
		faults = append(faults, fault.Text)
	}
	return refusal.New(refusal.BadArguments, d.Tool.Name, strings.Join(append(faults, d.wrong...), " "), d.known)
}

// longestName bounds the bytes of an unknown name that are compared.
const longestName = 64

// nearest returns the argument that a caller most likely meant, or "".
func (d *decoder) nearest(name string) string {
	var missing []string
	for i := range d.fields {
		if !d.given[i] {
			missing = append(missing, d.fields[i].name)
		}
	}
	folded := fold(name[:min(len(name), longestName)])
	return similar.Nearest(missing, func(field string) (int, bool) {
		return similar.Within(folded, fold(field), maxDistance(name, field))
	})
}

// maxDistance bounds the distance of two similar names: a third of the longer one, or any
// distance if one is part of the other ("path", "file_path").
func maxDistance(a, b string) int {
	longer := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	if x, y := fold(a), fold(b); len(x) > 2 && (strings.Contains(y, x) || strings.Contains(x, y)) {
		return longer
	}
	return (longer + 2) / 3
}

// fold makes filePath, file-path and FILE_PATH equal.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// wordsFor describes a value: a string by its text, any other by its kind.
func wordsFor(v wire.Value, text string) string {
	if v.Kind == wire.String {
		return phrase.QuoteAtMost(text, 80)
	}
	return wordFor(v.Kind)
}

// wordFor names a kind of value.
func wordFor(k wire.ValueKind) string {
	switch k {
	case wire.Object:
		return "an object"
	case wire.Array:
		return "an array"
	case wire.String:
		return "a string"
	case wire.True, wire.False:
		return "a boolean"
	case wire.Null:
		return "null"
	}
	return "a number"
}
