package clients

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/jsonc"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Bounds of a file that is read or merged.
const (
	MaxBytes = 16 << 20
	maxDepth = 1000 // of brackets; the parser recurses
)

// FileFault says why a file is left as it is.
type FileFault struct {
	Line int    // counted from 1; 0: of the whole file
	Why  string // a clause with its subject
}

func (r *FileFault) Error() string {
	if r.Line == 0 {
		return r.Why
	}
	return fmt.Sprintf("line %d: %s", r.Line, r.Why)
}

// byteOrderMark may begin a file in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// Merged says how a client's file changes.
type Merged struct {
	Splices []span.Splice // none: nothing changes
	Found   bool          // the entry is there already
	Line    int           // of the entry, if it is there
	Program string        // that the entry starts, with its arguments
	Before  []string      // the folders that it serves
	After   []string      // those that it then serves
	Items   []LaunchItem  // what the entry holds beside what fsmcp config writes
}

// Merge returns how the server is entered into the text of a client's file. All outside
// fsmcp's entry stays, and of the entry the items that s keeps. The error is a *FileFault.
//
// hujson parses; its own Patch is not used, since it drops comments around what it
// replaces, leaves new text unformatted, and has no notion of a duplicate key.
func (c KnownClient) Merge(old []byte, s Launch) (m Merged, err error) {
	text, again := old, true
	for pass := 0; again; pass++ {
		d, err := parse(c, text)
		if err != nil {
			return Merged{}, err
		}
		var done Merged
		if done, again, err = d.enter(s); err != nil {
			return Merged{}, err
		}
		if pass == 0 {
			m = done
		}
		text = span.Apply(text, d.sorted())
	}
	if !bytes.Equal(old, text) {
		m.Splices = span.Tighten([]span.Splice{{End: int64(len(old)), New: text}}, old)
	}
	return m, nil
}

// Remove returns how the entry is taken out of the text of a client's file. All else stays.
func (c KnownClient) Remove(old []byte) (m Merged, err error) {
	d, err := parse(c, old)
	if err != nil || d.empty {
		return m, err
	}
	servers, n, err := d.walk(c.keys)
	if err != nil || n < len(c.keys) {
		return m, err
	}
	i, err := d.find(servers, serverName)
	if err != nil || i < 0 {
		return m, err
	}
	entry := members(servers)[i]
	m = Merged{Found: true, Line: d.line(entry.Name.StartOffset), Program: d.started(&entry.Value)}
	d.cut(servers, i)
	m.Splices = d.sorted()
	return m, nil
}

// document is the settings file of a client.
type document struct {
	client KnownClient
	jsonFile
	empty bool // nothing but blanks and comments
}

func (d *document) refuse(at int, format string, a ...any) error {
	return &FileFault{Line: d.line(at), Why: fmt.Sprintf(format, a...)}
}

// parse parses a client's file and finds out how it is written.
func parse(c KnownClient, text []byte) (*document, error) {
	body := bytes.TrimPrefix(text, []byte(byteOrderMark))
	switch {
	case len(body) > MaxBytes:
		return nil, &FileFault{Why: fmt.Sprintf("the file has more than %d MB", MaxBytes>>20)}
	case !utf8.Valid(body):
		return nil, &FileFault{Why: "the file is not in UTF-8"}
	case jsonc.TooDeep(body, maxDepth):
		return nil, &FileFault{Why: fmt.Sprintf("more than %d brackets are nested", maxDepth)}
	}
	root, fault := jsonc.Parse(body)
	empty := false
	if fault != nil {
		blank, still := jsonc.Parse(append(slices.Clip(body), "\n{}"...))
		if still != nil {
			return nil, &FileFault{Line: fault.Line, Why: fmt.Sprintf("the file is not valid JSON: %s (column %d)", fault.What, fault.Column)}
		}
		root, empty = blank, true
	}
	d := &document{client: c, jsonFile: jsonFile{body: body, shift: int64(len(text) - len(body)), root: root}, empty: empty}
	d.style()
	return d, d.checkClient()
}

// checkClient refuses what the client itself would not read.
func (d *document) checkClient() error {
	for v := range d.root.All() {
		last := lastValue(v.Value)
		if last != nil && last.AfterExtra != nil && !d.client.commas {
			return d.refuse(last.EndOffset, "%s does not accept a comma before a closing bracket", d.client.Title)
		}
	}
	if at := jsonc.Comment(d.body); at >= 0 && d.client.Format == JSON {
		return d.refuse(at, "%s does not accept comments", d.client.Title)
	}
	return nil
}

// lastValue returns the last value in an array or object, nil if there is none.
func lastValue(v hujson.ValueTrimmed) *hujson.Value {
	switch v := v.(type) {
	case *hujson.Object:
		if n := len(v.Members); n > 0 {
			return &v.Members[n-1].Value
		}
	case *hujson.Array:
		if n := len(v.Elements); n > 0 {
			return &v.Elements[n-1]
		}
	}
	return nil
}

// enter walks to the entry and enters or updates it. again reports that it only removed an
// item of the entry, and that enter has to follow on the result.
func (d *document) enter(s Launch) (m Merged, again bool, err error) {
	if d.empty {
		d.append(d.client.Snippet(s))
		return Merged{After: s.Dirs}, false, nil
	}
	path := append(slices.Clip(d.client.keys), serverName)
	v, n, err := d.walk(path)
	switch {
	case err != nil:
		return m, false, err
	case n == len(path):
		return d.update(v, s)
	}
	d.insert(v, []member{{path[n], nested(path[n+1:], object(d.client.entry(s, nil)))}})
	return Merged{After: s.Dirs}, false, nil
}

// walk follows a path of keys. It returns the last object on it, and how many keys lead
// there.
func (d *document) walk(path []string) (v *hujson.Value, n int, err error) {
	v = &d.root
	for n = 0; ; n++ {
		switch {
		case !isObject(v) && n == 0:
			return nil, n, d.refuse(v.StartOffset, "the file does not hold an object")
		case !isObject(v):
			return nil, n, d.refuse(v.StartOffset, "%q is not an object", strings.Join(path[:n], "."))
		case n == len(path):
			return v, n, nil
		}
		next, err := d.member(v, path[n])
		if err != nil || next == nil {
			return v, n, err
		}
		v = next
	}
}

// members returns the members of an object, and nil for another value.
func members(v *hujson.Value) []hujson.ObjectMember {
	if object, ok := v.Value.(*hujson.Object); ok {
		return object.Members
	}
	return nil
}

// find returns the index of a key, -1 if it is absent. A key that appears twice is refused:
// parsers differ about which one counts.
func (d *document) find(object *hujson.Value, key string) (found int, err error) {
	found = -1
	for i, m := range members(object) {
		if name, _ := jsonc.Text(m.Name); name != key {
			continue
		}
		if found >= 0 {
			return -1, d.refuse(m.Name.StartOffset, "%q appears twice", key)
		}
		found = i
	}
	return found, nil
}

// member returns the value of a key, nil if it is absent.
func (d *document) member(object *hujson.Value, key string) (*hujson.Value, error) {
	i, err := d.find(object, key)
	if i < 0 {
		return nil, err
	}
	return &members(object)[i].Value, nil
}

// remoteKeys are members of an entry that names a server elsewhere.
var remoteKeys = []string{"url", "serverUrl", "httpUrl"}

// update makes an entry that exists start this server, and removes the items that s does
// not keep: one member, and again is true, or the last of them with the rest.
func (d *document) update(v *hujson.Value, s Launch) (m Merged, again bool, err error) {
	for _, key := range remoteKeys {
		if remote, err := d.member(v, key); err != nil || remote != nil {
			return m, false, cmp.Or(err, d.refuse(v.StartOffset, "the entry %q is for a remote server (%s): remove or rename it, and try again (--remove takes it out)", serverName, key))
		}
	}
	args, err := d.arguments(v, s)
	if err != nil {
		return m, false, err
	}
	s, args = s.withOlder(args)
	items := d.items(v, args, s)
	if len(items) > maxItems {
		return m, false, d.refuse(v.StartOffset, "the entry %q has more than %d items that fsmcp config does not write: remove it, and try again (--remove takes it out)", serverName, maxItems)
	}
	m = Merged{Found: true, Line: d.line(v.StartOffset), Program: d.started(v), Before: args.Dirs, After: s.foldersAfter(args.Dirs, items)}
	for _, i := range items {
		m.Items = append(m.Items, i.LaunchItem)
	}
	if i := slices.IndexFunc(items, func(i located) bool { return i.object != nil && !i.Kept }); i >= 0 {
		d.cut(items[i].object, items[i].at)
		return m, true, nil
	}
	s.Dirs = m.After
	var flags []string
	for _, f := range args.Flags {
		dropped := func(i located) bool { return i.object == nil && i.Text == Shell("linux", f) && !i.Kept }
		if !slices.ContainsFunc(items, dropped) {
			flags = append(flags, f...)
		}
	}
	return m, false, d.complete(v, s, flags)
}

// complete gives an entry the members that start the server.
func (d *document) complete(v *hujson.Value, s Launch, flags []string) error {
	var missing []member
	for _, want := range d.client.entry(s, flags) {
		have, err := d.member(v, want.key)
		if err != nil {
			return err
		}
		if have == nil {
			missing = append(missing, want)
		} else if err := d.replace(have, want); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		d.insert(v, missing)
	}
	return nil
}

// arguments returns the arguments of an entry that exists. An entry that starts another
// program is refused: what it does would be lost.
func (d *document) arguments(entry *hujson.Value, s Launch) (args Arguments, err error) {
	v, err := d.member(entry, "command")
	if err != nil {
		return args, err
	}
	if v != nil {
		form := "a string"
		if d.client.joined {
			form = "a list of strings"
		}
		name, ok := d.commandOf(v)
		if !ok {
			return args, d.refuse(v.StartOffset, "%q is not %s: remove the entry %q, and try again (--remove takes it out)", "command", form, serverName)
		}
		if base := baseName(name); base != baseName(s.Program) && !strings.HasPrefix(base, serverName) {
			return args, d.refuse(v.StartOffset, "the entry %q starts %s: remove or rename it, and try again (--remove takes it out)", serverName, text(name))
		}
	}
	key := "command"
	if !d.client.joined {
		key = "args"
		if v, err = d.member(entry, key); err != nil {
			return args, err
		}
	}
	if v == nil {
		return args, nil
	}
	words, ok := jsonc.Texts(*v)
	if ok && d.client.joined {
		words = words[1:]
	}
	switch {
	case !ok:
		return args, d.refuse(v.StartOffset, "%q is not a list of strings", key)
	case len(words) == 0:
		return args, nil
	case words[0] != "serve" && words[0] != "stdio":
		return args, d.refuse(v.StartOffset, "%q begins with %s and not with %q: remove the entry %q, and try again (--remove takes it out)", key, text(words[0]), "serve", serverName)
	case s.Split == nil:
		return args, nil
	}
	if args, err = s.Split(words[1:]); err != nil {
		return args, d.refuse(v.StartOffset, "%q: %v", key, err)
	}
	return args, nil
}

// started returns the program of an entry and its arguments, as far as they are text.
func (d *document) started(v *hujson.Value) string {
	if !isObject(v) {
		return d.brief(v)
	}
	var words []string
	for _, key := range []string{"command", "args"} {
		if value, _ := d.member(v, key); value != nil {
			if word, ok := jsonc.Text(*value); ok {
				words = append(words, word)
			}
			list, _ := jsonc.Texts(*value)
			words = append(words, list...)
		}
	}
	return Shell("linux", words)
}

// commandOf returns the program of a value of "command"; ok is false if it has another
// form than the client's.
func (d *document) commandOf(v *hujson.Value) (program string, ok bool) {
	if !d.client.joined {
		return jsonc.Text(*v)
	}
	list, _ := jsonc.Texts(*v)
	if len(list) == 0 {
		return "", false
	}
	return list[0], true
}

func baseName(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }

// replace puts another value in the place of one that differs.
func (d *document) replace(have *hujson.Value, want member) error {
	word, isText := jsonc.Text(*have)
	list, isList := jsonc.Texts(*have)
	if isText && text(word) == want.value || isList && text(list) == want.value {
		return nil
	}
	old := d.body[have.StartOffset:have.EndOffset]
	if at := jsonc.Comment(old); at >= 0 {
		return d.refuse(have.StartOffset+at, "a comment in %q would be lost: change it by hand", want.key)
	}
	value := inline(want.value, true)
	if bytes.ContainsRune(old, '\n') {
		indent, _ := d.indentOf(have.StartOffset)
		value = pretty(want.value, indent, d.unit, d.eol)
	} else if d.oneLine && !d.spaced() {
		value = want.value
	}
	d.splice(have.StartOffset, have.EndOffset, value)
	return nil
}
