package office

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// Bounds of XML.
const (
	maxDepth = 512
	maxTag   = 1 << 20 // bytes of a tag with its attributes, and of a text; the rest of that is left out
	chunk    = 64 << 10
)

// Faults of XML.
var (
	errXML   = errors.New("its XML is not well-formed")
	errDepth = errors.New("its XML is nested too deeply")
	errDTD   = errors.New("its XML declares a document type, which no such document has")
)

// event is a piece of XML.
type event uint8

const (
	eventEnd   event = iota // of an element, or of everything
	eventStart              // of an element
	eventText
)

// attribute of an element. Its name has no prefix.
type attribute struct{ name, prefix, value []byte }

// scanner reads XML as a stream, in memory that does not grow with the document. After an error
// everything has ended.
type scanner struct {
	in  *bufio.Reader
	err error

	name  []byte // of the element that starts or ends, without its prefix
	attrs []attribute
	text  []byte

	open   []byte // the names of the open elements
	starts []int  // where each begins
	empty  bool   // the element ends at once
	tag    []byte
}

func newScanner(r io.Reader) *scanner {
	in := bufio.NewReaderSize(r, chunk)
	if head, _ := in.Peek(2); len(head) == 2 && (head[0] == 0xFE && head[1] == 0xFF || head[0] == 0xFF && head[1] == 0xFE) {
		in = bufio.NewReaderSize(unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Reader(in), chunk)
	}
	return &scanner{in: in}
}

func (s *scanner) depth() int { return len(s.starts) }

// fail ends the scan.
func (s *scanner) fail(err error) event {
	if s.err == nil {
		s.err = err
	}
	s.starts, s.open = s.starts[:0], s.open[:0]
	return eventEnd
}

// next returns the next event. At the end of the input depth is 0.
func (s *scanner) next() event {
	if s.empty {
		s.empty = false
		return s.pop()
	}
	for s.err == nil {
		if len(s.tag) == 0 && s.readText() {
			return eventText
		}
		if s.err != nil {
			break
		}
		if e, found := s.readTag(); found {
			return e
		}
	}
	return s.fail(s.err)
}

// readText reads up to the next tag, and reports whether there is text.
func (s *scanner) readText() bool {
	var long []byte // that does not fit into the buffer
	b, err := s.in.ReadSlice('<')
	for ; err == bufio.ErrBufferFull; b, err = s.in.ReadSlice('<') {
		long = append(long, b[:min(len(b), maxTag-len(long))]...)
	}
	if err == io.EOF && len(s.starts) > 0 {
		err = errXML
	}
	if err != nil {
		s.fail(err)
		return false
	}
	if b = b[:len(b)-1]; long != nil {
		b = append(long, b[:min(len(b), maxTag-len(long))]...)
	}
	s.text = decodeText(s.text[:0], b)
	s.tag = append(s.tag[:0], '<')
	return len(s.text) > 0
}

// readTag reads a tag whose "<" was read. found is false for comments and the like.
func (s *scanner) readTag() (e event, found bool) {
	s.tag = s.tag[:0]
	for {
		b, err := s.in.ReadSlice('>')
		s.tag = append(s.tag, b...)
		switch {
		case err == nil:
		case err == bufio.ErrBufferFull && len(s.tag) <= maxTag:
			continue
		case err == io.EOF || err == bufio.ErrBufferFull:
			return s.fail(errXML), true
		default:
			return s.fail(err), true
		}
		if len(s.tag) > maxTag && !bytes.HasPrefix(s.tag, []byte("!--")) {
			return s.fail(errXML), true
		}
		if s.tagEnds() {
			break
		}
		if bytes.HasPrefix(s.tag, []byte("!--")) && len(s.tag) > 64 { // a comment is dropped as it comes
			s.tag = append(s.tag[:3], append([]byte("    "), s.tag[len(s.tag)-4:]...)...)
		}
	}
	tag := s.tag[:len(s.tag)-1]
	s.tag = s.tag[:0]
	return s.take(tag)
}

// tagEnds reports whether the ">" at the end ends the tag.
func (s *scanner) tagEnds() bool {
	t := s.tag
	switch {
	case bytes.HasPrefix(t, []byte("!--")):
		return len(t) >= 6 && bytes.HasSuffix(t, []byte("-->"))
	case bytes.HasPrefix(t, []byte("![CDATA[")):
		return bytes.HasSuffix(t, []byte("]]>"))
	case t[0] == '?', t[0] == '!', t[0] == '/':
		return true
	}
	quote := byte(0)
	for _, c := range t {
		switch {
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote == 0
}

// take takes a tag without its brackets.
func (s *scanner) take(tag []byte) (e event, found bool) {
	switch {
	case len(tag) == 0:
		return s.fail(errXML), true
	case tag[0] == '?':
		return 0, false
	case bytes.HasPrefix(tag, []byte("![CDATA[")):
		s.text = append(s.text[:0], bytes.ToValidUTF8(tag[8:len(tag)-2], []byte("\uFFFD"))...)
		return eventText, len(s.text) > 0
	case bytes.HasPrefix(tag, []byte("!--")):
		return 0, false
	case tag[0] == '!':
		return s.fail(errDTD), true
	case tag[0] == '/':
		name := local(bytes.TrimRight(tag[1:], " \t\r\n"))
		if len(s.starts) == 0 || !bytes.Equal(name, s.open[s.starts[len(s.starts)-1]:]) {
			return s.fail(errXML), true
		}
		return s.pop(), true
	}
	if tag[len(tag)-1] == '/' {
		s.empty, tag = true, tag[:len(tag)-1]
	}
	if !s.readAttributes(tag) {
		return s.fail(errXML), true
	}
	if len(s.starts) >= maxDepth {
		return s.fail(errDepth), true
	}
	s.starts = append(s.starts, len(s.open))
	s.open = append(s.open, s.name...)
	return eventStart, true
}

// pop ends the innermost element.
func (s *scanner) pop() event {
	if len(s.starts) == 0 {
		return s.fail(errXML)
	}
	at := s.starts[len(s.starts)-1]
	s.name = s.open[at:]
	s.open, s.starts = s.open[:at], s.starts[:len(s.starts)-1]
	return eventEnd
}

func local(name []byte) []byte {
	return name[bytes.IndexByte(name, ':')+1:]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// readAttributes reads the name and the attributes of a start tag.
func (s *scanner) readAttributes(tag []byte) bool {
	n := 0
	for n < len(tag) && !isSpace(tag[n]) {
		n++
	}
	s.name, s.attrs = local(tag[:n]), s.attrs[:0]
	if len(s.name) == 0 {
		return false
	}
	for tag = tag[n:]; ; {
		tag = bytes.TrimLeft(tag, " \t\r\n")
		if len(tag) == 0 {
			return true
		}
		eq := bytes.IndexByte(tag, '=')
		if eq <= 0 {
			return false
		}
		name := bytes.TrimRight(tag[:eq], " \t\r\n")
		tag = bytes.TrimLeft(tag[eq+1:], " \t\r\n")
		if len(tag) < 2 || tag[0] != '"' && tag[0] != '\'' {
			return false
		}
		end := bytes.IndexByte(tag[1:], tag[0])
		if end < 0 {
			return false
		}
		value := tag[1 : 1+end]
		if bytes.IndexByte(value, '&') >= 0 || !utf8.Valid(value) {
			value = decodeText(nil, value)
		}
		prefix, rest, cut := bytes.Cut(name, []byte(":"))
		if !cut {
			prefix, rest = nil, name
		}
		s.attrs = append(s.attrs, attribute{rest, prefix, value})
		tag = tag[2+end:]
	}
}

// decodeText appends a text with its entities replaced. Unknown ones stay as they are.
func decodeText(to, b []byte) []byte {
	for {
		at := bytes.IndexByte(b, '&')
		if at < 0 {
			return appendValid(to, b)
		}
		to = appendValid(to, b[:at])
		b = b[at:]
		end := bytes.IndexByte(b[:min(len(b), 16)], ';')
		r, ok := rune(0), false
		if end > 0 {
			r, ok = entity(string(b[1:end]))
		}
		if ok {
			to, b = utf8.AppendRune(to, r), b[end+1:]
		} else {
			to, b = append(to, '&'), b[1:]
		}
	}
}

func appendValid(to, b []byte) []byte {
	if utf8.Valid(b) {
		return append(to, b...)
	}
	return append(to, bytes.ToValidUTF8(b, []byte("\uFFFD"))...)
}

func entity(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	return rune(n), err == nil && n <= utf8.MaxRune && utf8.ValidRune(rune(n)) && n != 0
}

// attr returns the value of an attribute of the element that starts, by its name without a
// prefix; "" if there is none.
func (s *scanner) attr(name string) string {
	for _, a := range s.attrs {
		if string(a.name) == name {
			return string(a.value)
		}
	}
	return ""
}

// relation returns the value of an attribute that has a prefix, such as r:id.
func (s *scanner) relation(name string) string {
	for _, a := range s.attrs {
		if string(a.name) == name && len(a.prefix) > 0 {
			return string(a.value)
		}
	}
	return ""
}

// number returns an attribute as a number, or what stands in for it.
func (s *scanner) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(s.attr(name)); err == nil {
		return n
	}
	return otherwise
}

// each calls f for each child of the element that has started, and leaves what f has not read of
// it. It returns behind the end of the element.
func (s *scanner) each(f func(name string)) {
	s.content(f, nil)
}

// content is each with the text between the children.
func (s *scanner) content(f func(name string), text func(b []byte)) {
	for at := s.depth(); s.err == nil; {
		switch s.next() {
		case eventStart:
			f(string(s.name))
			s.leave(at)
		case eventText:
			if text != nil {
				text(s.text)
			}
		case eventEnd:
			if s.depth() < at || s.depth() == 0 {
				return
			}
		}
	}
}

// leave passes over everything up to a depth.
func (s *scanner) leave(depth int) {
	for s.err == nil && s.depth() > depth {
		s.next()
	}
}

// root reads up to the start of the outermost element, and returns its name.
func (s *scanner) root() string {
	for s.err == nil {
		if s.next() == eventStart {
			return string(s.name)
		}
	}
	return ""
}

// textOf returns all text of the element that has started, at most so many bytes.
func (s *scanner) textOf(most int) string {
	var b []byte
	for at := s.depth(); s.err == nil; {
		switch s.next() {
		case eventText:
			b = append(b, s.text[:min(len(s.text), max(most-len(b), 0))]...)
		case eventEnd:
			if s.depth() < at {
				return string(bytes.ToValidUTF8(b, nil))
			}
		}
	}
	return string(bytes.ToValidUTF8(b, nil))
}

// end returns the fault of a scan.
func (s *scanner) end() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}
