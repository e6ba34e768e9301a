package render

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/scan"
)

// outputs holds the outputs of a code cell as text and pictures.
type outputs struct {
	text      []byte
	pictures  []*Picture
	scratch   []byte // memory to decode pictures in
	streaming bool   // the text ends with a stream
	stream    string // the name of that stream
	unshown   int    // the number of outputs that cannot be shown
}

// read replaces the outputs by those of the cell at index i, in the same memory.
func (o *outputs) read(nb *notebook.Notebook, i int) {
	*o = outputs{text: o.text[:0], pictures: o.pictures[:0], scratch: o.scratch}
	list := nb.Fields(i).Outputs
	for output := range list.Elements() {
		o.add(output, nb.Major < 4)
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
	o.text = endLine(o.text)
	o.streaming = false
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

// addText adds text without terminal escapes.
func (o *outputs) addText(v scan.Value) {
	from := len(o.text)
	o.text = appendText(o.text, v)
	o.text = o.text[:from+len(clean(o.text[from:]))]
}

// outputKeys are the fields of an output that are shown, apart from data. The last is the
// name of a stream in nbformat 3.
var outputKeys = [...]string{"output_type", "name", "text", "ename", "evalue", "traceback", "stream"}

// add adds an output. old says that it is one of nbformat 3. Of equal keys the last one counts.
func (o *outputs) add(output *scan.Value, old bool) {
	if output.Kind() != '{' {
		o.skip("an output that is not an object is not shown")
		return
	}
	var data forms
	var values [len(outputKeys)]scan.Value
	for key, v := range output.Members() {
		name := string(key.Bytes())
		if name == "data" {
			data = formsOf(v, false)
		} else if i := slices.Index(outputKeys[:], name); i >= 0 {
			v.End()
			values[i] = *v
		}
	}
	kind, name, text, ename, evalue, traceback := values[0], values[1], values[2], values[3], values[4], values[5]
	if !name.OK() {
		name = values[6]
	}
	switch kind := string(kind.Bytes()); kind {
	case "stream":
		if stream := string(name.Bytes()); !o.streaming || stream != o.stream {
			o.start()
			o.streaming, o.stream = true, stream
		}
		o.addText(text)
	case "error", "pyerr":
		o.addError(ename, evalue, traceback)
	case "execute_result", "display_data", "pyout":
		if old || kind == "pyout" { // the forms are fields of the output
			data = formsOf(output, old)
		}
		o.addBundle(data)
	default:
		o.skip("output of type %.40q is not shown", kind)
	}
}

// addError adds name, message and traceback; the first two only if the traceback does not
// contain them.
func (o *outputs) addError(ename, evalue, traceback scan.Value) {
	head := string(ename.Bytes())
	if message := string(evalue.Bytes()); message != "" {
		head += ": " + message
	}
	head = string(clean([]byte(head)))
	var trace []byte
	if traceback.Kind() != '[' {
		trace = appendText(nil, traceback)
	}
	for frame := range traceback.Elements() {
		trace = appendText(endLine(trace), *frame)
	}
	trace = clean(trace)
	o.start()
	if head != "" && !bytes.Contains(trace, []byte(head)) {
		o.text = append(append(o.text, head...), '\n')
	}
	o.text = append(o.text, trace...)
}

// appendText appends the text of a string or list of strings, and any other value as JSON.
func appendText(dst []byte, v scan.Value) []byte {
	dst, _, ok := v.AppendText(dst)
	if ok || !v.OK() {
		return dst
	}
	return v.AppendLine(dst)
}

// forms holds the forms of one output.
type forms struct {
	text     [len(textTypes)]scan.Value
	pictures [len(pictureTypes)]scan.Value
	rest     []string // types that are never shown
}

// textTypes are the types of the forms that are shown as text. The first form that an output
// has is shown.
var textTypes = [...]string{"text/markdown", "text/latex", svg: "image/svg+xml", plain: "text/plain", "application/json", vendor: "+json", "text/html", otherText: "text/*"}

const (
	svg       = 2
	plain     = 3
	vendor    = 5 // any other JSON
	otherText = 7
)

// pictureTypes are the types of the forms that are shown as pictures. Of several forms of
// one output the first whole one is shown.
var pictureTypes = [...]string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// maxRest bounds the types that a note names.
const maxRest = 4

// oldForms maps the fields of an output in nbformat 3 that hold its forms to their types.
var oldForms = map[string]string{
	"text": "text/plain", "html": "text/html", "latex": "text/latex", "svg": "image/svg+xml",
	"png": "image/png", "jpeg": "image/jpeg", "json": "text/json", "javascript": "application/javascript",
	"pdf": "application/pdf",
}

// formsOf finds the forms in an object. old says that its keys are those of nbformat 3.
func formsOf(bundle *scan.Value, old bool) (f forms) {
	for key, v := range bundle.Members() {
		mime := key.Bytes()
		if old {
			mime = []byte(oldForms[string(mime)])
			if len(mime) == 0 {
				continue // another field of the output
			}
		}
		v.End()
		f.add(mime, *v)
	}
	return f
}

func (f *forms) add(mime []byte, v scan.Value) {
	for i, known := range textTypes {
		if string(mime) == known {
			f.text[i] = v
			return
		}
	}
	for i, known := range pictureTypes {
		if string(mime) == known {
			f.pictures[i] = v
			return
		}
	}
	switch name := string(mime); {
	case strings.HasSuffix(name, "+json") && !loadsPage(name):
		f.text[vendor] = v
	case strings.HasPrefix(name, "text/") && name != "text/javascript":
		f.text[otherText] = v
	case len(f.rest) < maxRest:
		f.rest = append(f.rest, name)
	}
}

// loadsPage reports whether a type only makes a page load or find something.
func loadsPage(mime string) bool {
	return strings.HasPrefix(mime, "application/vnd.jupyter.widget-") ||
		strings.HasPrefix(mime, "application/vnd.bokehjs_") ||
		strings.HasPrefix(mime, "application/vnd.holoviews_")
}

// addBundle adds an output that has several forms: the picture, and the text that is nearest
// to the output in a browser.
func (o *outputs) addBundle(f forms) {
	picture := o.addPicture(f)
	best := f.bestText(picture != nil)
	if best >= 0 {
		o.start()
		o.addText(f.text[best])
	}
	switch {
	case picture != nil:
		o.note("picture: %s, %d bytes", picture.MIME, picture.Size)
		picture.noted = len(o.text)
		if best != plain {
			picture.Plain = string(clean(appendText(nil, f.text[plain])))
		}
	case best < 0 && !slices.ContainsFunc(f.pictures[:], scan.Value.OK) && len(f.rest) > 0:
		o.skip("output of type %s is not shown", short(strings.Join(f.rest, ", ")))
	}
}

// addPicture adds an output's picture. For a broken one it adds a note and returns nil.
func (o *outputs) addPicture(f forms) *Picture {
	for i, v := range f.pictures {
		if !v.OK() {
			continue
		}
		picture, err := o.decode(v)
		if err == nil {
			o.pictures = append(o.pictures, picture)
			return picture
		}
		o.note("an %s output cannot be shown: it %v", pictureTypes[i], err)
	}
	return nil
}

// bestText returns the index of the form to show as text, -1 if none. A place holder is shown
// if there is nothing else. Beside a picture only a form that says more is shown.
func (f *forms) bestText(picture bool) int {
	for i, v := range f.text {
		if picture && (i == svg || i > plain) || !v.OK() {
			continue
		}
		if text, ok := brief(v); !ok || text != "" && !(i == plain && isPlaceholder(text)) {
			return i
		}
	}
	if text, ok := brief(f.text[plain]); !picture && ok && text != "" {
		return plain
	}
	return -1
}

// maxPlaceholder bounds the plain forms that may be place holders.
const maxPlaceholder = 400

// brief returns the text at v if it takes at most maxPlaceholder bytes of the file.
func brief(v scan.Value) (string, bool) {
	if v.End()-v.Start() > maxPlaceholder {
		return "", false
	}
	text, _, ok := v.AppendText(nil)
	return string(text), ok
}

// isPlaceholder reports whether a plain form only names the object that another form shows,
// such as "<Figure size 640x480 with 1 Axes>".
func isPlaceholder(text string) bool {
	text = strings.TrimSpace(text)
	return text == "plot without title" || strings.HasPrefix(text, "HTML widgets cannot be represented in plain text") ||
		strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">") && !strings.Contains(text, "\n")
}

// short bounds a text in a note.
func short(s string) string {
	if s = strings.ToValidUTF8(s[:min(len(s), 120)], ""); strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Sprintf("%q", s)
	}
	return s
}
