package notebook

import (
	"bytes"
	"fmt"
	"strings"
)

// outputs is what a code cell's run left, as text and pictures.
type outputs struct {
	text     []byte
	pictures []*Picture
	scratch  []byte // room to decode pictures in
	stream   string // the stream that the text ends in, "" if in none
	unshown  int    // how many outputs have nothing to show
}

// outputsOf reads the outputs of the cell at index i.
func (nb *Notebook) outputsOf(i int, f fields) *outputs {
	o := &outputs{}
	if isArray(nb.raw, f.outputs) {
		elements(nb.raw, f.outputs, func(v span) bool {
			nb.addOutput(o, v)
			return true
		})
	}
	if n := o.unshown - maxUnshown; n > 0 {
		o.note("%d more outputs are not shown", n)
	}
	for _, p := range o.pictures {
		p.Cell = i
	}
	o.scratch = nil
	return o
}

// start begins an output: on a new line, unless it goes on with the stream that
// the one before it wrote to.
func (o *outputs) start(stream string) {
	if n := len(o.text); n > 0 && o.text[n-1] != '\n' && (stream == "" || stream != o.stream) {
		o.text = append(o.text, '\n')
	}
	o.stream = stream
}

// note says in a line of its own what is not shown.
func (o *outputs) note(format string, args ...any) {
	o.start("")
	o.text = append(fmt.Appendf(append(o.text, '['), format, args...), "]\n"...)
}

// maxUnshown bounds how many outputs of a cell are told one by one not to be
// shown: two bytes of the file can be such an output.
const maxUnshown = 100

// skip notes an output of which nothing is shown.
func (o *outputs) skip(format string, args ...any) {
	if o.unshown++; o.unshown <= maxUnshown {
		o.note(format, args...)
	}
}

// add appends what write appends, cleaned.
func (o *outputs) add(stream string, write func(dst []byte) []byte) {
	o.start(stream)
	from := len(o.text)
	o.text = write(o.text)
	o.text = o.text[:from+len(clean(o.text[from:]))]
}

func (nb *Notebook) addOutput(o *outputs, v span) {
	if !isObject(nb.raw, v) {
		o.skip("an output that is not an object is not shown")
		return
	}
	out := nb.outputFields(v)
	switch kind := nb.str(out.kind); kind {
	case "stream":
		nb.addStream(o, out)
	case "error", "pyerr":
		nb.addError(o, out)
	case "execute_result", "display_data":
		if nb.major == 4 {
			v = out.data
		}
		nb.addBundle(o, v)
	case "pyout":
		nb.addBundle(o, v)
	default:
		o.skip("output of type %.40q is not shown", kind)
	}
}

// outputFields are the values of an output that this package knows.
type outputFields struct {
	kind, name, text, ename, evalue, traceback, data span
}

func (nb *Notebook) outputFields(v span) outputFields {
	var out outputFields
	members(nb.raw, v, func(m member) bool {
		switch string(keyOf(nb.raw, m.key)) {
		case "output_type":
			out.kind = m.val
		case "name", "stream":
			out.name = m.val
		case "text":
			out.text = m.val
		case "ename":
			out.ename = m.val
		case "evalue":
			out.evalue = m.val
		case "traceback":
			out.traceback = m.val
		case "data":
			out.data = m.val
		}
		return true
	})
	return out
}

func (nb *Notebook) addStream(o *outputs, out outputFields) {
	o.add("stream "+nb.str(out.name), func(dst []byte) []byte { return nb.appendText(dst, out.text) })
}

// addError writes name, message and traceback; the first two only where the
// traceback does not say them itself.
func (nb *Notebook) addError(o *outputs, out outputFields) {
	head := nb.str(out.ename)
	if evalue := nb.str(out.evalue); evalue != "" {
		head += ": " + evalue
	}
	head = string(clean([]byte(head)))
	trace := clean(nb.traceback(out.traceback))
	o.start("")
	if head != "" && !bytes.Contains(trace, []byte(head)) {
		o.text = append(append(o.text, head...), '\n')
	}
	o.text = append(o.text, trace...)
}

// traceback joins the frames of a traceback, each from a new line.
func (nb *Notebook) traceback(v span) []byte {
	if !isArray(nb.raw, v) {
		return nb.appendText(nil, v)
	}
	var text []byte
	elements(nb.raw, v, func(frame span) bool {
		if n := len(text); n > 0 && text[n-1] != '\n' {
			text = append(text, '\n')
		}
		text = nb.appendText(text, frame)
		return true
	})
	return text
}

// appendText appends text as it reads, and any other value as JSON.
func (nb *Notebook) appendText(dst []byte, v span) []byte {
	switch {
	case !v.ok():
		return dst
	case isText(nb.raw, v):
		dst, _ = joinText(dst, nb.raw, v)
		return dst
	}
	return appendJSON(dst, nb.raw, v)
}

// appendJSON appends the value at v on one line.
func appendJSON(dst, raw []byte, v span) []byte {
	for at := v.start; at < v.end; {
		switch b := raw[at]; b {
		case '"':
			end := skipString(raw, at)
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

// forms are the forms in which one output is there.
type forms struct {
	markdown, latex, svg, plain, json, vendor, html, other span
	png, jpeg                                              span
	rest                                                   []string // the types that are never shown
}

// maxRest bounds how many types a note names.
const maxRest = 4

func (nb *Notebook) formsOf(data span) forms {
	var f forms
	if !isObject(nb.raw, data) {
		return f
	}
	members(nb.raw, data, func(m member) bool {
		nb.addForm(&f, string(keyOf(nb.raw, m.key)), m.val)
		return true
	})
	return f
}

func (nb *Notebook) addForm(f *forms, mime string, v span) {
	if nb.major < 4 {
		if mime = oldForms[mime]; mime == "" {
			return // no form but another field of the output
		}
	}
	switch {
	case mime == "text/plain":
		f.plain = v
	case mime == "text/markdown":
		f.markdown = v
	case mime == "text/latex":
		f.latex = v
	case mime == "text/html":
		f.html = v
	case mime == "image/svg+xml":
		f.svg = v
	case mime == "image/png":
		f.png = v
	case mime == "image/jpeg":
		f.jpeg = v
	case mime == "application/json":
		f.json = v
	case strings.HasSuffix(mime, "+json") && !isMachinery(mime):
		f.vendor = v
	case strings.HasPrefix(mime, "text/") && mime != "text/javascript":
		f.other = v
	case len(f.rest) < maxRest:
		f.rest = append(f.rest, mime)
	}
}

// oldForms are the fields of an output in nbformat 3 that hold its forms.
var oldForms = map[string]string{
	"text": "text/plain", "html": "text/html", "latex": "text/latex", "svg": "image/svg+xml",
	"png": "image/png", "jpeg": "image/jpeg", "json": "text/json", "javascript": "application/javascript",
	"pdf": "application/pdf",
}

// isMachinery tells the types that make a page load or find something and say
// nothing themselves.
func isMachinery(mime string) bool {
	return strings.HasPrefix(mime, "application/vnd.jupyter.widget-") ||
		strings.HasPrefix(mime, "application/vnd.bokehjs_") ||
		strings.HasPrefix(mime, "application/vnd.holoviews_")
}

// addBundle shows an output that is there in several forms: the picture, and
// the form in text that is closest to what a person sees of it.
func (nb *Notebook) addBundle(o *outputs, data span) {
	f := nb.formsOf(data)
	picture := nb.addPicture(o, f)
	best := nb.bestText(f, picture != nil)
	if best.ok() {
		o.add("", func(dst []byte) []byte { return nb.appendText(dst, best) })
	}
	switch {
	case picture != nil:
		o.note("picture: %s, %d bytes", picture.MIME, picture.Size)
		if best != f.plain {
			picture.Plain = string(clean(nb.appendText(nil, f.plain)))
		}
	case !best.ok() && !f.png.ok() && !f.jpeg.ok() && len(f.rest) > 0:
		o.skip("output of type %s is not shown", short(strings.Join(f.rest, ", ")))
	}
}

// addPicture takes an output's picture; for a broken one a line says why.
func (nb *Notebook) addPicture(o *outputs, f forms) *Picture {
	for _, form := range []struct {
		mime string
		at   span
	}{{"image/png", f.png}, {"image/jpeg", f.jpeg}} {
		if !form.at.ok() {
			continue
		}
		picture, scratch, err := nb.picture(o.scratch, form.at)
		o.scratch = scratch
		if err == nil {
			o.pictures = append(o.pictures, picture)
			return picture
		}
		o.note("an %s output cannot be shown: it %v", form.mime, err)
	}
	return nil
}

// bestText is the form of an output to show as text. Beside a picture that is
// only what says more than the picture's place holder does.
func (nb *Notebook) bestText(f forms, picture bool) span {
	plain := f.plain
	if nb.isPlaceholder(plain) {
		plain = span{}
	}
	order := []span{f.markdown, f.latex, f.svg, plain, f.json, f.vendor, f.html, f.other, f.plain}
	if picture {
		order = []span{f.markdown, f.latex, plain}
	}
	for _, v := range order {
		if v.ok() && !nb.isEmptyText(v) {
			return v
		}
	}
	return span{}
}

// isEmptyText tells whether v is text that says nothing. What takes many bytes
// to spell says something.
func (nb *Notebook) isEmptyText(v span) bool {
	return v.end-v.start <= maxPlaceholder && isText(nb.raw, v) && nb.text(v) == ""
}

// maxPlaceholder bounds the plain forms that may be place holders.
const maxPlaceholder = 400

// isPlaceholder tells whether the plain form at v only names the thing that
// another form shows, as "<Figure size 640x480 with 1 Axes>" does.
func (nb *Notebook) isPlaceholder(v span) bool {
	if !isText(nb.raw, v) || v.end-v.start > maxPlaceholder {
		return false
	}
	text := strings.TrimSpace(nb.text(v))
	if text == "plot without title" || strings.HasPrefix(text, "HTML widgets cannot be represented in plain text") {
		return true
	}
	return strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">") && !strings.Contains(text, "\n")
}

// short bounds a text that stands in a note.
func short(s string) string {
	if s = strings.ToValidUTF8(s[:min(len(s), 120)], ""); strings.ContainsFunc(s, isControl) {
		return fmt.Sprintf("%q", s)
	}
	return s
}
