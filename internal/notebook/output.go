package notebook

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
)

// outputs holds the outputs of a code cell as text and pictures.
type outputs struct {
	text      []byte
	pictures  []*Picture
	scratch   []byte // memory to decode pictures in
	streaming bool   // the text ends with a stream
	stream    []byte // the name of that stream
	unshown   int    // the number of outputs that cannot be shown
}

// outputsOf returns the outputs of the cell at index i.
func (nb *Notebook) outputsOf(i int, f fields) *outputs {
	o := &outputs{}
	nb.readOutputs(o, i, f)
	return o
}

// readOutputs does the same with the memory of o.
func (nb *Notebook) readOutputs(o *outputs, i int, f fields) {
	*o = outputs{text: o.text[:0], pictures: o.pictures[:0], scratch: o.scratch}
	if scan.IsArray(nb.raw, f.outputs) {
		scan.WalkArray(nb.raw, f.outputs.Start, func(at int) int { return nb.addOutput(o, at) })
	}
	if n := o.unshown - maxUnshown; n > 0 {
		o.note("%d more outputs are not shown", n)
	}
	for _, p := range o.pictures {
		p.Cell = i
	}
}

// start begins an output on a new line.
func (o *outputs) start() {
	if n := len(o.text); n > 0 && o.text[n-1] != '\n' {
		o.text = append(o.text, '\n')
	}
	o.streaming = false
}

// startStream begins an output, on a new line unless it continues the stream of the output
// before it.
func (o *outputs) startStream(name []byte) {
	if !o.streaming || !bytes.Equal(name, o.stream) {
		o.start()
	}
	o.streaming, o.stream = true, name
}

// note adds a line in brackets.
func (o *outputs) note(format string, args ...any) {
	o.start()
	o.text = append(fmt.Appendf(append(o.text, '['), format, args...), "]\n"...)
}

// maxUnshown bounds the notes on outputs that are not shown: such an output can have two
// bytes.
const maxUnshown = 100

// skip adds a note on an output that is not shown.
func (o *outputs) skip(format string, args ...any) {
	if o.unshown++; o.unshown <= maxUnshown {
		o.note(format, args...)
	}
}

// clean cleans the text from the offset from on.
func (o *outputs) clean(from int) {
	o.text = o.text[:from+len(clean(o.text[from:]))]
}

// addOutput adds the output that begins at the offset at, and returns its end.
func (nb *Notebook) addOutput(o *outputs, at int) (end int) {
	if nb.raw[at] != '{' {
		o.skip("an output that is not an object is not shown")
		return scan.SkipValue(nb.raw, at)
	}
	out, end := nb.outputFields(at)
	switch kind := nb.bytes(out.kind); string(kind) {
	case "stream":
		o.startStream(nb.bytes(out.name))
		from := len(o.text)
		o.text = nb.appendText(o.text, out.text)
		o.clean(from)
	case "error", "pyerr":
		nb.addError(o, out)
	case "execute_result", "display_data", "pyout":
		forms := out.data
		if nb.major < 4 || string(kind) == "pyout" { // they are fields of the output
			forms, _ = nb.formsAt(at)
		}
		nb.addBundle(o, forms)
	default:
		o.skip("output of type %.40q is not shown", kind)
	}
	return end
}

// outputFields holds the places of the values of an output that this package knows.
type outputFields struct {
	kind, name, text, ename, evalue, traceback scan.Extent

	data forms
}

// outputFields finds the known values of the output that begins at the offset at, and
// returns its end. Of equal keys the last one counts.
func (nb *Notebook) outputFields(at int) (out outputFields, end int) {
	end = scan.WalkObject(nb.raw, at, func(key scan.Extent, at int) int {
		v := scan.Extent{Start: at}
		name := scan.KeyOf(nb.raw, key)
		if string(name) == "data" {
			out.data, v.End = nb.formsAt(at)
			return v.End
		}
		v.End = scan.SkipValue(nb.raw, at)
		switch string(name) {
		case "output_type":
			out.kind = v
		case "name", "stream":
			out.name = v
		case "text":
			out.text = v
		case "ename":
			out.ename = v
		case "evalue":
			out.evalue = v
		case "traceback":
			out.traceback = v
		}
		return v.End
	})
	return out, end
}

// addError adds name, message and traceback; the first two only if the traceback does not
// contain them.
func (nb *Notebook) addError(o *outputs, out outputFields) {
	head := nb.str(out.ename)
	if evalue := nb.str(out.evalue); evalue != "" {
		head += ": " + evalue
	}
	head = string(clean([]byte(head)))
	trace := clean(nb.traceback(out.traceback))
	o.start()
	if head != "" && !bytes.Contains(trace, []byte(head)) {
		o.text = append(append(o.text, head...), '\n')
	}
	o.text = append(o.text, trace...)
}

// traceback joins the frames of a traceback, each on a new line.
func (nb *Notebook) traceback(v scan.Extent) []byte {
	if !scan.IsArray(nb.raw, v) {
		return nb.appendText(nil, v)
	}
	var text []byte
	scan.Elements(nb.raw, v, func(frame scan.Extent) bool {
		if n := len(text); n > 0 && text[n-1] != '\n' {
			text = append(text, '\n')
		}
		text = nb.appendText(text, frame)
		return true
	})
	return text
}

// appendText appends the text of a string or list of strings, and any other value as JSON.
func (nb *Notebook) appendText(dst []byte, v scan.Extent) []byte {
	dst, _, ok := scan.JoinText(dst, nb.raw, v)
	if ok || !v.OK() {
		return dst
	}
	return appendJSON(dst, nb.raw, v)
}

// appendJSON appends the value at v on one line.
func appendJSON(dst, raw []byte, v scan.Extent) []byte {
	for at := v.Start; at < v.End; {
		switch b := raw[at]; b {
		case '"':
			end := scan.SkipString(raw, at)
			dst = append(dst, raw[at:end]...)
			at = end
			continue
		case ',', ':':
			dst = append(dst, b, ' ')
		case ' ', '\n', '\r', '\t':
		default:
			dst = append(dst, b)
		}
		at++
	}
	return dst
}

// forms holds the places of the forms of one output.
type forms struct {
	markdown, latex, svg, plain, json, vendor, html, other scan.Extent
	pictures                                               [len(pictureTypes)]scan.Extent // in the order of pictureTypes
	rest                                                   []string                       // types that are never shown
}

// pictureTypes are the types of the forms that are shown as pictures. Of several forms of
// one output the first whole one is shown.
var pictureTypes = [...]string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// maxRest bounds the types that a note names.
const maxRest = 4

// formsAt finds the forms in the object that begins at the offset at, and returns its end.
// Any other value has none.
func (nb *Notebook) formsAt(at int) (f forms, end int) {
	if nb.raw[at] != '{' {
		return f, scan.SkipValue(nb.raw, at)
	}
	end = scan.WalkObject(nb.raw, at, func(key scan.Extent, at int) int {
		v := scan.Between(at, scan.SkipValue(nb.raw, at))
		nb.addForm(&f, scan.KeyOf(nb.raw, key), v)
		return v.End
	})
	return f, end
}

func (nb *Notebook) addForm(f *forms, name []byte, v scan.Extent) {
	if nb.major < 4 {
		mime, ok := oldForms[string(name)]
		if !ok {
			return // another field of the output
		}
		name = []byte(mime)
	}
	switch string(name) {
	case "text/plain":
		f.plain = v
	case "text/markdown":
		f.markdown = v
	case "text/latex":
		f.latex = v
	case "text/html":
		f.html = v
	case "image/svg+xml":
		f.svg = v
	case "application/json":
		f.json = v
	default:
		f.addOther(string(name), v)
	}
}

// addOther stores a picture, or a form of a type that is not known by name.
func (f *forms) addOther(mime string, v scan.Extent) {
	if i := slices.Index(pictureTypes[:], mime); i >= 0 {
		f.pictures[i] = v
		return
	}
	switch {
	case strings.HasSuffix(mime, "+json") && !isMachinery(mime):
		f.vendor = v
	case strings.HasPrefix(mime, "text/") && mime != "text/javascript":
		f.other = v
	case len(f.rest) < maxRest:
		f.rest = append(f.rest, mime)
	}
}

// oldForms maps the fields of an output in nbformat 3 that hold its forms to their types.
var oldForms = map[string]string{
	"text": "text/plain", "html": "text/html", "latex": "text/latex", "svg": "image/svg+xml",
	"png": "image/png", "jpeg": "image/jpeg", "json": "text/json", "javascript": "application/javascript",
	"pdf": "application/pdf",
}

// isMachinery reports whether a type only makes a page load or find something.
func isMachinery(mime string) bool {
	return strings.HasPrefix(mime, "application/vnd.jupyter.widget-") ||
		strings.HasPrefix(mime, "application/vnd.bokehjs_") ||
		strings.HasPrefix(mime, "application/vnd.holoviews_")
}

// addBundle adds an output that has several forms: the picture, and the text that is nearest
// to the output in a browser.
func (nb *Notebook) addBundle(o *outputs, f forms) {
	picture := nb.addPicture(o, f)
	best := nb.bestText(f, picture != nil)
	if best.OK() {
		o.start()
		from := len(o.text)
		o.text = nb.appendText(o.text, best)
		o.clean(from)
	}
	switch {
	case picture != nil:
		o.note("picture: %s, %d bytes", picture.MIME, picture.Size)
		picture.noted = len(o.text)
		if best != f.plain {
			picture.Plain = string(clean(nb.appendText(nil, f.plain)))
		}
	case !best.OK() && f.pictures == [len(pictureTypes)]scan.Extent{} && len(f.rest) > 0:
		o.skip("output of type %s is not shown", short(strings.Join(f.rest, ", ")))
	}
}

// addPicture adds an output's picture. For a broken one it adds a note and returns nil.
func (nb *Notebook) addPicture(o *outputs, f forms) *Picture {
	for i, at := range f.pictures {
		if !at.OK() {
			continue
		}
		picture, scratch, err := nb.picture(o.scratch, at)
		o.scratch = scratch
		if err == nil {
			o.pictures = append(o.pictures, picture)
			return picture
		}
		o.note("an %s output cannot be shown: it %v", pictureTypes[i], err)
	}
	return nil
}

// bestText returns the form of an output to show as text. Beside a picture it is only a form
// that says more than a place holder.
func (nb *Notebook) bestText(f forms, picture bool) scan.Extent {
	plain := f.plain
	if nb.isPlaceholder(plain) {
		plain = scan.Extent{}
	}
	order := []scan.Extent{f.markdown, f.latex, f.svg, plain, f.json, f.vendor, f.html, f.other, f.plain}
	if picture {
		order = []scan.Extent{f.markdown, f.latex, plain}
	}
	for _, v := range order {
		if v.OK() && !nb.isEmptyText(v) {
			return v
		}
	}
	return scan.Extent{}
}

// isEmptyText reports whether v is empty text. A value of many bytes is not.
func (nb *Notebook) isEmptyText(v scan.Extent) bool {
	var room [maxPlaceholder]byte
	text, ok := nb.brief(room[:0], v)
	return ok && len(text) == 0
}

// maxPlaceholder bounds the plain forms that may be place holders.
const maxPlaceholder = 400

// isPlaceholder reports whether the plain form at v only names the object that another form
// shows, such as "<Figure size 640x480 with 1 Axes>".
func (nb *Notebook) isPlaceholder(v scan.Extent) bool {
	var room [maxPlaceholder]byte
	text, ok := nb.brief(room[:0], v)
	if !ok {
		return false
	}
	text = bytes.TrimSpace(text)
	if string(text) == "plot without title" || bytes.HasPrefix(text, []byte("HTML widgets cannot be represented in plain text")) {
		return true
	}
	return bytes.HasPrefix(text, []byte("<")) && bytes.HasSuffix(text, []byte(">")) && bytes.IndexByte(text, '\n') < 0
}

// brief appends the text at v to dst if it takes at most maxPlaceholder bytes of the file.
func (nb *Notebook) brief(dst []byte, v scan.Extent) (text []byte, ok bool) {
	if v.End-v.Start > maxPlaceholder {
		return nil, false
	}
	text, _, ok = scan.JoinText(dst, nb.raw, v)
	return text, ok
}

// short bounds a text in a note.
func short(s string) string {
	if s = strings.ToValidUTF8(s[:min(len(s), 120)], ""); strings.ContainsFunc(s, isControl) {
		return fmt.Sprintf("%q", s)
	}
	return s
}
