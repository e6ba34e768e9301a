package settings

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/jsonc"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/similar"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Bounds of a settings file; beyond them it counts as broken.
const (
	MaxFileBytes = 1 << 20
	maxDepth     = 64
)

// Layer is the content of one settings file.
type Layer struct {
	File SettingsFile
	// Found says that there was a file, perhaps a broken one.
	Found bool
	Rules []perm.RuleText
	Dirs  []Word // additionalDirectories, as written
	// Mode is defaultMode by its name in settings; never set by Claude Code's files.
	Mode Word
	// Broken is set if the file cannot be understood; of the fields above it has the deny and
	// ask rules at most.
	Broken *perm.BrokenFile
	// Warnings are whole sentences about single words.
	Warnings []string
	// Misplaced are those of the warnings that are about known keys in the wrong case or
	// place: their values were meant to count.
	Misplaced []string

	Ownership

	values           map[string]value
	floor            string // a mode that was added while fsmcp runs: it can only tighten
	modeUntilRestart bool   // the file names a looser mode now
}

// tightens reports whether the layer can only tighten: a project's file without trust, and
// one that another user could have written.
func (l Layer) tightens(trust bool) bool {
	return l.Foreign != "" || l.File.Level.InProject() && !trust
}

// may reports whether the layer may set a key.
func (l Layer) may(by setBy, trust bool) bool {
	switch {
	case by == anyone:
		return true
	case by == userOnly && l.File.Level.InProject():
		return false
	}
	return !l.tightens(trust)
}

// Word is a text of a settings file, and its line.
type Word struct {
	Text string
	Line int
}

// value is the setting of one key.
type value struct {
	is   any
	line int
}

// Parse reads one settings file. It never fails: what is wrong is in the layer.
func Parse(f SettingsFile, b []byte) Layer {
	p := parser{layer: Layer{File: f, Found: true}, bytes: bytes.TrimPrefix(b, []byte("\ufeff"))}
	root, ok := p.syntax()
	if ok {
		ok = p.root(root)
	}
	if !ok {
		return Layer{File: f, Found: true, Broken: p.layer.Broken}
	}
	return p.layer
}

// unreadable returns the layer of a file that could not be read.
func unreadable(f SettingsFile, why string) Layer {
	return Layer{File: f, Found: true, Broken: &perm.BrokenFile{Name: f.Name, Why: why}}
}

type parser struct {
	layer Layer
	bytes []byte
	ends  []int // offsets of line breaks
}

// broken sets the reason why the file cannot be understood; it returns false.
func (p *parser) broken(offset int, why string) bool {
	if p.layer.Broken == nil {
		p.layer.Broken = &perm.BrokenFile{Name: p.layer.File.Name, Line: p.line(offset), Why: why}
	}
	return false
}

func (p *parser) warn(offset int, format string, args ...any) {
	p.layer.Warnings = append(p.layer.Warnings, p.sentence(offset, format, args...))
}

func (p *parser) sentence(offset int, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: ", p.layer.File.Name, p.line(offset)) + fmt.Sprintf(format, args...)
}

// line returns the number of the line that holds an offset.
func (p *parser) line(offset int) int {
	if p.ends == nil {
		p.ends = []int{}
		for i, c := range p.bytes {
			if c == '\n' {
				p.ends = append(p.ends, i)
			}
		}
	}
	n, _ := slices.BinarySearch(p.ends, offset)
	return n + 1
}

// syntax reads the file as the JSON of its kind.
func (p *parser) syntax() (root hujson.Value, ok bool) {
	switch bad := span.FirstStray(string(p.bytes)); {
	case len(p.bytes) > MaxFileBytes:
		return root, p.broken(0, "is larger than 1 MiB")
	case bad < len(p.bytes):
		return root, p.broken(bad, "is not valid UTF-8")
	case jsonc.TooDeep(p.bytes, maxDepth):
		return root, p.broken(0, "is nested too deeply")
	}
	if isEmpty(p.layer.File, p.bytes) {
		root, _ = jsonc.Parse([]byte("null"))
		return root, true
	}
	root, fault := jsonc.Parse(append(slices.Clip(p.bytes), '\n')) // a comment may be the last
	if fault != nil {
		end := max(0, len(bytes.TrimRight(p.bytes, " \t\r\n"))-1) // the number of an empty last line would not help
		p.layer.Broken = &perm.BrokenFile{Name: p.layer.File.Name, Line: min(fault.Line, p.line(end)), Why: "is not valid JSON"}
		return root, false
	}
	if at := firstExtension(p.bytes, root); p.layer.File.Claude && at >= 0 {
		return root, p.broken(at, "is not valid JSON (this file takes no comments and no trailing commas)")
	}
	return root, true
}

// isEmpty reports whether the text of a file is only blanks, or also comments if its kind allows
// them.
func isEmpty(file SettingsFile, text []byte) bool {
	if file.Claude {
		return len(bytes.TrimSpace(text)) == 0
	}
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) > 0 && (start[0] != '/' || jsonc.TooDeep(text, maxDepth)) {
		return false
	}
	_, fault := jsonc.Parse(append(slices.Clip(text), "\nnull"...))
	return fault == nil
}

// firstExtension returns the offset of the first comment or trailing comma, and -1 for
// plain JSON.
func firstExtension(b []byte, root hujson.Value) int {
	if root.IsStandard() {
		return -1
	}
	root = root.Clone()
	root.Standardize() // replaces comments with blanks, and takes out trailing commas
	plain := root.Pack()
	for i := range b {
		if i >= len(plain) || plain[i] != b[i] {
			return i
		}
	}
	return -1
}

// root reads the whole file.
func (p *parser) root(v hujson.Value) bool {
	object, ok := v.Value.(*hujson.Object)
	if lit, _ := v.Value.(hujson.Literal); lit.Kind() == 'n' {
		return true
	}
	if !ok {
		return p.broken(v.StartOffset, "is not a JSON object")
	}
	return p.permissionsOf(object) && (p.layer.File.Claude || p.group("", object))
}

// permissionsOf reads the key that both kinds of files have. A duplicate key makes the
// file broken: a lost deny rule would be worse.
func (p *parser) permissionsOf(root *hujson.Object) bool {
	seen := false
	for _, m := range root.Members {
		if name, _ := jsonc.Text(m.Name); name != keyPermissions {
			if p.layer.File.Claude {
				p.unknown(m, name)
			}
			continue
		}
		object, ok := m.Value.Value.(*hujson.Object)
		switch {
		case seen:
			return p.twice(m, keyPermissions)
		case !ok:
			return p.broken(m.Value.StartOffset, keyPermissions+" is not an object")
		case !p.permissions(object):
			return false
		}
		seen = true
	}
	return true
}

func (p *parser) twice(m hujson.ObjectMember, path string) bool {
	return p.broken(m.Name.StartOffset, "has "+path+" twice")
}

func (p *parser) permissions(object *hujson.Object) bool {
	seen := make(map[string]bool)
	for _, m := range object.Members {
		name, _ := jsonc.Text(m.Name)
		path := keyPermissions + "." + name
		if seen[path] {
			return p.twice(m, path)
		}
		ok := true
		switch path {
		case keyDeny:
			ok = p.rules(path, m.Value, perm.Deny)
		case keyAsk:
			ok = p.rules(path, m.Value, perm.Ask)
		case keyAllow:
			ok = p.rules(path, m.Value, perm.Allow)
		case keyDirectories:
			p.layer.Dirs, ok = p.words(path, m.Value)
		case keyMode:
			if p.layer.File.Claude {
				continue // in Claude Code's files the mode is Claude Code's own
			}
			ok = p.mode(m.Value)
		default:
			p.unknown(m, path)
			continue
		}
		if !ok {
			return false
		}
		seen[path] = true
	}
	return true
}

func (p *parser) rules(path string, v hujson.Value, list perm.List) bool {
	words, ok := p.words(path, v)
	f := p.layer.File
	for _, w := range words {
		from := perm.Source{Name: f.Name, Line: w.Line, Level: f.Level, Anchor: f.Anchor, Claude: f.Claude}
		p.layer.Rules = append(p.layer.Rules, perm.RuleText{Text: w.Text, List: list, Source: from})
	}
	return ok
}

func (p *parser) words(path string, v hujson.Value) (out []Word, ok bool) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, p.broken(v.StartOffset, path+" is not a list of strings")
	}
	for _, e := range list.Elements {
		s, ok := jsonc.Text(e)
		if !ok {
			return nil, p.broken(e.StartOffset, path+" holds something that is no string")
		}
		out = append(out, Word{s, p.line(e.StartOffset)})
	}
	return out, true
}

func (p *parser) mode(v hujson.Value) bool {
	s, ok := jsonc.Text(v)
	if !ok {
		return p.broken(v.StartOffset, keyMode+" is not a string")
	}
	mode, ok := knownMode(s)
	if !ok {
		p.warn(v.StartOffset, "%s", unknownMode(keyMode, s))
	}
	p.layer.Mode = Word{mode, p.line(v.StartOffset)}
	return true
}

// unknownMode returns the warning about an unknown mode.
func unknownMode(where, word string) string {
	return fmt.Sprintf("%s is %q, which is no mode; default is taken", where, word) + didYouMean(word, modes())
}

// group reads an object of fsmcp's own keys. A bad value is a warning: the other keys
// still count.
func (p *parser) group(prefix string, object *hujson.Object) bool {
	for _, m := range object.Members {
		name, _ := jsonc.Text(m.Name)
		switch path := prefix + name; {
		case path == keyPermissions || path == keySchema:
		case strings.Contains(name, "."):
			p.unknown(m, path) // nested objects form a key's path
		default:
			p.member(path, m)
		}
	}
	return true
}

func (p *parser) member(path string, m hujson.ObjectMember) {
	isGroup := false
	for _, k := range keys() {
		if k.path == path {
			p.set(k, m.Value)
			return
		}
		isGroup = isGroup || strings.HasPrefix(k.path, path+".")
	}
	switch object, ok := m.Value.Value.(*hujson.Object); {
	case isGroup && ok:
		p.group(path+".", object)
	case isGroup && keyPermissions+"."+path == keyAsk: // permissions.ask, not the settings of questions
		p.unknown(m, path)
	case isGroup:
		p.warn(m.Value.StartOffset, "%q takes an object; it is ignored", path)
	default:
		p.unknown(m, path)
	}
}

// set stores the value of a key. Its warnings never quote a value that could be a secret.
func (p *parser) set(k *key, v hujson.Value) {
	if lit, _ := v.Value.(hujson.Literal); k.none && lit.Kind() == 'n' {
		return
	}
	is, ok := k.take(v)
	if read, are := is.(hooks.List); are {
		p.hooks(k, v, read, ok)
		return
	}
	if l, is := is.(LSP); is && ok && !l.Off() {
		l.From = p.layer.File.Name
		p.keep(k, l, v.StartOffset)
		return
	}
	if ok {
		p.keep(k, is, v.StartOffset)
		return
	}
	hint := ""
	if s, isText := jsonc.Text(v); isText && k.words != nil {
		hint = fmt.Sprintf(", not %q", s) + didYouMean(s, k.words)
	}
	p.warn(v.StartOffset, "%q takes %s%s; it is ignored", k.path, k.want, hint)
}

func (p *parser) keep(k *key, is any, offset int) {
	if p.layer.values == nil {
		p.layer.values = make(map[string]value)
	}
	p.layer.values[k.path] = value{is, p.line(offset)}
}

// unknown warns of an unknown key in fsmcp's own files. Unknown keys in Claude Code's
// files are fine, except those that were meant for permissions.
func (p *parser) unknown(m hujson.ObjectMember, path string) {
	meant := p.misplaced(m.Value, path)
	if p.layer.File.Claude && meant == "" {
		return
	}
	hint := ""
	switch near := cmp.Or(meant, nearest(path, known())); {
	case near == path:
		group, leaf, _ := strings.Cut(path, ".")
		hint = fmt.Sprintf(" (it is written as {%q: {%q: ...}})", group, leaf)
	case near != "":
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	w := p.sentence(m.Name.StartOffset, "%q is not a known setting; it is ignored%s", path, hint)
	p.layer.Warnings = append(p.layer.Warnings, w)
	if meant != "" {
		p.layer.Misplaced = append(p.layer.Misplaced, w)
	}
}

// misplaced returns the known key that a path has in the wrong case or place, "" if there
// is none. In Claude Code's files it knows the keys that are read there, also with one slip,
// and goes by the form of the value, too.
func (p *parser) misplaced(v hujson.Value, path string) string {
	leaf := func(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
	keys, slip := known(), 0
	for _, k := range []string{keyPermissions, keyDeny, keyAsk} { // with any value
		if p.layer.File.Claude && strings.EqualFold(path, k) {
			return k
		}
	}
	if p.layer.File.Claude {
		keys, slip = []string{keyDeny, keyAsk, keyAllow, keyDirectories}, 1
		switch v.Value.(type) {
		case *hujson.Object:
			keys = []string{keyPermissions}
		case hujson.Literal:
			return ""
		}
	}
	for _, k := range keys {
		if _, near := similar.Within(path, k, slip); near || strings.EqualFold(leaf(path), leaf(k)) {
			return k
		}
	}
	return ""
}
