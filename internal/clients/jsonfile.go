package clients

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/span"
)

// jsonFile is a parsed JSON file and the changes to it, which are laid out as the rest.
type jsonFile struct {
	body    []byte // without a byte order mark
	shift   int64  // the length of that
	root    hujson.Value
	eol     string
	unit    string // one step of indentation
	oneLine bool
	splices []span.Splice
}

// line returns the line of an offset, counted from 1.
func (f *jsonFile) line(at int) int { return 1 + bytes.Count(f.body[:at], []byte("\n")) }

// style finds out the line ending, the indentation, and whether there is more than one
// line.
func (f *jsonFile) style() {
	f.eol, f.unit = "\n", "  "
	if i := bytes.IndexByte(f.body, '\n'); i > 0 && f.body[i-1] == '\r' {
		f.eol = "\r\n"
	}
	f.oneLine = !bytes.Contains(bytes.TrimSpace(f.body), []byte("\n"))
	if first := members(&f.root); len(first) > 0 {
		indent, own := f.indentOf(first[0].Name.StartOffset)
		if base, _ := f.indentOf(f.root.StartOffset); own && len(indent) > len(base) && strings.HasPrefix(indent, base) {
			f.unit = indent[len(base):]
		}
	}
}

// indentOf returns the blanks that the line of an offset begins with, and whether there is
// nothing else before the offset.
func (f *jsonFile) indentOf(at int) (indent string, own bool) {
	line := f.body[bytes.LastIndexByte(f.body[:at], '\n')+1 : at]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0
}

// append puts a text behind the blanks and comments of an empty file.
func (f *jsonFile) append(snippet string) {
	used := len(bytes.TrimRight(f.body, " \t\r\n"))
	snippet = strings.ReplaceAll(snippet, "\n", f.eol)
	if used > 0 {
		snippet = f.eol + snippet
	}
	f.splice(used, len(f.body), snippet)
}

// cut removes a member of an object, with its comma and the line that it leaves empty.
func (f *jsonFile) cut(v *hujson.Value, i int) {
	members := members(v)
	start, end := members[i].Name.StartOffset, members[i].Value.EndOffset
	if value := members[i].Value; i < len(members)-1 || value.AfterExtra != nil {
		end += len(value.AfterExtra) + 1
	} else if i > 0 {
		before := members[i-1].Value
		comma := before.EndOffset + len(before.AfterExtra)
		if blank(f.body[comma+1 : start]) {
			f.splice(comma, end, "")
			return
		}
		f.splice(comma, comma+1, "")
	}
	if len(members) == 1 && blank(f.body[v.StartOffset+1:start]) && blank(f.body[end:v.EndOffset-1]) {
		f.splice(v.StartOffset+1, v.EndOffset-1, "")
		return
	}
	indent, own := f.indentOf(start)
	rest := f.body[end:]
	if line := bytes.IndexByte(rest, '\n'); own && line >= 0 && blank(rest[:line]) {
		start, end = start-len(indent), end+line+1
	} else if i < len(members)-1 {
		end += len(rest) - len(bytes.TrimLeft(rest, " \t"))
	}
	f.splice(start, end, "")
}

// insert adds members behind those that an object has.
func (f *jsonFile) insert(v *hujson.Value, added []member) {
	closing := v.EndOffset - 1
	end := len(bytes.TrimRight(f.body[:closing], " \t\r\n")) // behind the last value, comma or comment
	base, _ := f.indentOf(v.StartOffset)
	indent, lines := base+f.unit, !f.oneLine || v == &f.root
	until, before, after := end, "", ""
	if have := members(v); len(have) > 0 {
		indent, lines = f.memberIndent(v.Value.(*hujson.Object), base)
		if last := have[len(have)-1].Value; last.AfterExtra != nil {
			after = ","
		} else {
			f.splice(last.EndOffset, last.EndOffset, ",")
		}
		if !lines && f.spaced() {
			before = " "
		}
	} else if lines {
		until, after = closing, f.eol+base
	}
	if lines {
		before = f.eol + indent
	}
	f.splice(end, until, before+f.spread(added, indent, lines)+after)
}

// memberIndent returns the indentation of an object's members, and whether they are on
// lines of their own.
func (f *jsonFile) memberIndent(object *hujson.Object, base string) (indent string, lines bool) {
	for _, m := range slices.Backward(object.Members) {
		if indent, own := f.indentOf(m.Name.StartOffset); own {
			return indent, true
		}
	}
	last := object.Members[len(object.Members)-1].Value
	// A comment to the end of a line needs a line behind it.
	if bytes.Contains(last.AfterExtra, []byte("\n")) || bytes.Contains(object.AfterExtra, []byte("//")) {
		return base + f.unit, true
	}
	return "", false
}

// spread writes members: each on a line of its own, or all on one.
func (f *jsonFile) spread(members []member, indent string, lines bool) string {
	var out []string
	for _, m := range members {
		if lines {
			out = append(out, text(m.key)+": "+pretty(m.value, indent, f.unit, f.eol))
			continue
		}
		one := inline(object([]member{m}), f.spaced())
		out = append(out, one[1:len(one)-1])
	}
	switch {
	case lines:
		return strings.Join(out, ","+f.eol+indent)
	case f.spaced():
		return strings.Join(out, ", ")
	}
	return strings.Join(out, ",")
}

// spaced reports whether a file of one line has blanks behind its colons.
func (f *jsonFile) spaced() bool {
	object, ok := f.root.Value.(*hujson.Object)
	return !ok || len(object.Members) == 0 || len(object.Members[0].Value.BeforeExtra) > 0
}

func (f *jsonFile) splice(start, end int, text string) {
	f.splices = append(f.splices, span.Splice{Start: f.shift + int64(start), End: f.shift + int64(end), New: []byte(text)})
}

// sorted returns the splices in ascending order.
func (f *jsonFile) sorted() []span.Splice {
	slices.SortStableFunc(f.splices, func(a, b span.Splice) int { return int(a.Start - b.Start) })
	return f.splices
}

// maxBrief bounds a value that is shown to the user, in bytes.
const maxBrief = 200

// brief returns a value as the file has it, cut at maxBrief.
func (f *jsonFile) brief(v *hujson.Value) string {
	text := strings.Join(strings.Fields(string(f.body[v.StartOffset:v.EndOffset])), " ")
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief], "") + "…"
	}
	return text
}

func blank(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }
