package arguments

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/alike"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// Decode reads the arguments of one call into a new argument struct. If they do not fit
// the schema, it returns an answer instead, which names every fault in sentences that help
// the caller.
func (sp *Spec) Decode(v wire.Value) (tools.Args, *tools.Result) {
	d := decoder{Spec: sp, args: sp.Tool.Args()}
	d.into = reflect.ValueOf(d.args).Elem()
	switch v.Kind {
	case 0, wire.Null: // no arguments
	case wire.Object:
		wire.Members(v.Raw, d.member) // its grammar was checked with the message's
	default:
		return nil, tools.BadArgument(fmt.Sprintf("The arguments of %s must be one JSON object, not %s. It takes: %s.", sp.Tool.Name, wordFor(v.Kind), sp.known))
	}
	d.missing()
	if len(d.wrong) > 0 || len(d.unknown) > 0 {
		return nil, tools.BadArgument(d.words())
	}
	return d.args, nil
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
	wrong   []string // whole sentences
}

// maxWrong bounds the sentences of one answer.
const maxWrong = 8

func (d *decoder) complain(format string, args ...any) {
	if len(d.wrong) < maxWrong {
		d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
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
		d.complain("The argument name %s is %s.", Quoted(string(quoted)), flaw(err))
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
		d.complain("%s was given twice; give it once.", f.name)
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
			d.complain("%s %s.", f.name, flawed(err))
			d.present[i] = true
			return
		}
		if text == "" && !f.required && !f.keepEmpty {
			return
		}
	}
	d.present[i] = true
	if problem := d.set(f, v, text); problem != "" {
		d.complain("%s %s.", f.name, problem)
	}
}

// set stores one value, or returns what it should have been.
func (d *decoder) set(f *field, v wire.Value, text string) (problem string) {
	slot := d.into.Field(f.index)
	if f.pointer {
		slot.Set(reflect.New(slot.Type().Elem()))
		slot = slot.Elem()
	}
	switch f.take {
	case reflect.String:
		if v.Kind != wire.String {
			return "must be a string, not " + wordFor(v.Kind) + hintForText(v.Kind)
		}
		slot.SetString(text)
	case reflect.Int:
		n, problem := integer(v, text)
		if problem != "" {
			return problem
		}
		slot.SetInt(int64(n))
	case reflect.Bool:
		switch {
		case v.Kind == wire.True, text == "true":
			slot.SetBool(true)
		case v.Kind == wire.False, text == "false":
		case v.Kind == wire.String:
			return "must be true or false, not " + Quoted(text)
		default:
			return "must be true or false, not " + wordFor(v.Kind)
		}
	}
	return ""
}

// hintForText helps callers that send the content of a JSON file as JSON.
func hintForText(k wire.Kind) string {
	if k == wire.Object || k == wire.Array {
		return " (text that is JSON itself must be sent as one string)"
	}
	return ""
}

// integer reads 10, 10.0, 1e1 and their forms as strings.
func integer(v wire.Value, text string) (n int, problem string) {
	switch v.Kind {
	case wire.Number:
		text = string(v.Raw)
	case wire.String:
		if !wire.IsNumber(text) {
			return 0, "must be a whole number, not " + Quoted(text)
		}
	default:
		return 0, "must be a whole number, not " + wordFor(v.Kind)
	}
	n64, err := strconv.ParseInt(text, 10, strconv.IntSize)
	if err == nil {
		return int(n64), ""
	}
	f, ferr := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), ferr != nil, math.Abs(f) >= 1<<53:
		return 0, "is too large a number: " + Quoted(text)
	case f != math.Trunc(f), int64(int(f)) != int64(f):
		return 0, "must be a whole number, not " + Quoted(text)
	}
	return int(f), ""
}

// unknownArgument handles an argument without a field: of a later version, or unknown. A
// value that means absence is ignored.
func (d *decoder) unknownArgument(name string, v wire.Value) {
	for _, other := range d.others {
		if other == name {
			d.complain("%s was given twice; give it once.", Quoted(name))
			return
		}
	}
	d.others = append(d.others, name)
	why, later := d.Own.Later[name]
	switch {
	case later && (v.Kind == wire.Null || string(v.Raw) == `""`):
	case later:
		d.complain("%s cannot be used: %s. Leave it out.", name, why)
	case len(d.unknown) < maxWrong:
		d.unknown = append(d.unknown, name)
	}
}

// missing names required arguments that are missing.
func (d *decoder) missing() {
	for i := range d.fields {
		if f := &d.fields[i]; f.required && !d.present[i] {
			d.complain("%s is required.", f.name)
		}
	}
}

// words returns the whole answer.
func (d *decoder) words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The arguments of %s cannot be used. ", d.Tool.Name)
	for _, name := range d.unknown {
		fmt.Fprintf(&b, "There is no argument %s", Quoted(name))
		if near := d.nearest(name); near != "" {
			fmt.Fprintf(&b, "; did you mean %s?", near)
		} else {
			b.WriteByte('.')
		}
		b.WriteByte(' ')
	}
	for _, w := range d.wrong {
		b.WriteString(w)
		b.WriteByte(' ')
	}
	fmt.Fprintf(&b, "%s takes: %s.", d.Tool.Name, d.known)
	return b.String()
}

// longestName bounds the bytes of an unknown name that are compared.
const longestName = 64

// nearest returns the argument that a caller most likely meant, or "".
func (d *decoder) nearest(name string) string {
	best, least := "", 0
	folded := fold(name[:min(len(name), longestName)])
	for i := range d.fields {
		f := &d.fields[i]
		if d.given[i] {
			continue
		}
		limit := maxDistance(name, f.name)
		dist := alike.Distance(folded, fold(f.name), limit)
		if dist > limit {
			continue
		}
		if best == "" || dist < least {
			best, least = f.name, dist
		}
	}
	return best
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

// flaw describes what is wrong with a string.
func flaw(err error) string {
	if errors.Is(err, wire.ErrSurrogate) {
		return `a string with a lone surrogate (half of a \uXXXX\uXXXX pair)`
	}
	return "not valid UTF-8"
}

// flawed returns the same as a predicate.
func flawed(err error) string {
	if errors.Is(err, wire.ErrSurrogate) {
		return `holds a lone surrogate, half of a \uXXXX\uXXXX pair, which no file can hold; send the whole character`
	}
	return "is not valid UTF-8; send the text as UTF-8"
}

// wordFor names a kind of value.
func wordFor(k wire.Kind) string {
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

// Quoted quotes what a caller sent, shortened, with nothing in it that a
// terminal or a model could take for more than text.
func Quoted(s string) string { return phrase.QuoteAtMost(s, 80) }
