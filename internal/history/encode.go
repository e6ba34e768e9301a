package history

import (
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/fsmcp/fsmcp/internal/save"
)

// fields writes the members of a JSON object as encoding/json does, but without reflection: a call
// with a thousand names writes as many lines, and json.Marshal took half of their time (2.9 of 6 µs).
// Members that are rare are left to json.Marshal.
type fields struct {
	b   []byte
	err error
}

// appendJSON appends what json.Marshal makes of a line.
func (l line) appendJSON(b []byte) ([]byte, error) {
	f := fields{b: append(b, '{')}
	f.name("v").number(int64(l.Version))
	f.unlessZero("n", int64(l.Number))
	f.unlessZero("t", l.Time)
	f.text("session", l.Session)
	f.text("tool", l.Tool)
	f.text("call", l.Call)
	f.text("group", l.Group)
	f.text("path", l.Path)
	f.bytes("raw", l.Raw)
	f.text("to", l.To)
	f.bytes("rawTo", l.RawTo)
	f.object("old", l.Old)
	f.object("new", l.New)
	f.object("places", l.Places)
	f.unlessZero("dirs", int64(l.NewDirs))
	f.text("op", string(l.Operation))
	f.meta(l.Meta)
	if l.Deposit != nil {
		f.name("deposit").any(l.Deposit)
	}
	if l.Copied != nil {
		f.name("copied").any(l.Copied)
	}
	if l.Ino != 0 {
		f.name("ino")
		f.b = strconv.AppendUint(f.b, l.Ino, 10)
	}
	if l.Pending {
		f.name("pending").raw("true")
	}
	f.unlessZero("void", int64(l.Void))
	if len(l.Made) > 0 {
		f.name("made").any(l.Made)
	}
	return append(f.b, '}'), f.err
}

func (f *fields) name(s string) *fields {
	if f.b[len(f.b)-1] != '{' {
		f.b = append(f.b, ',')
	}
	f.b = append(append(append(f.b, '"'), s...), '"', ':')
	return f
}

func (f *fields) raw(s string)   { f.b = append(f.b, s...) }
func (f *fields) number(n int64) { f.b = strconv.AppendInt(f.b, n, 10) }

func (f *fields) any(v any) {
	text, err := json.Marshal(v)
	f.b = append(f.b, text...)
	if err != nil {
		f.err = err
	}
}

func (f *fields) unlessZero(name string, n int64) {
	if n != 0 {
		f.name(name).number(n)
	}
}

func (f *fields) bytes(name string, b []byte) {
	if len(b) > 0 {
		f.name(name).any(b)
	}
}

func (f *fields) text(name, s string) {
	if s == "" {
		return
	}
	if f.name(name); !isPlain(s) {
		f.any(s)
		return
	}
	f.b = append(append(append(f.b, '"'), s...), '"')
}

// isPlain reports whether json.Marshal escapes nothing of s. It returns false for all but ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

func (f *fields) object(name string, o *object) {
	switch {
	case o == nil:
		return
	case o.Sum == nil || len(o.Chunks) != 1 || len(o.Base) > 0 || o.Thinned:
		f.name(name).any(o)
		return
	}
	c := o.Chunks[0]
	f.name(name).raw(`{"sum":"`)
	f.b = hex.AppendEncode(f.b, o.Sum[:])
	f.raw(`","in":[{"at":`)
	f.number(c.At)
	f.name("len").number(c.Len)
	f.name("crc").number(int64(c.Check))
	f.raw("}]}")
}

func (f *fields) meta(m *save.Meta) {
	switch {
	case m == nil:
		return
	case m.Attrs != nil || m.Link != nil:
		f.name("meta").any(m)
		return
	}
	f.name("meta").raw(`{"kind":`)
	f.number(int64(m.Kind))
	f.name("mode").number(int64(m.Mode))
	f.unlessZero("UID", int64(m.UID))
	f.unlessZero("GID", int64(m.GID))
	f.name("mtime").number(m.Mtime)
	f.unlessZero("flags", int64(m.Flags))
	f.raw("}")
}
