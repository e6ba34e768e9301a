package settings

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/jsonc"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/similar"
)

// setBy says which files may set a key.
type setBy uint8

const (
	anyone   setBy = iota // a project's file, too
	lower                 // a project's file only to a lower value, without trust
	trusted               // a project's file only with trust
	userOnly              // programs, paths and URLs: never a project's file
)

// key is one setting of fsmcp's own files.
type key struct {
	path  string
	setBy setBy
	// take reads the value. want names the expected form in a warning.
	take func(v hujson.Value) (value any, ok bool)
	want string
	// words lists the values, if there are only some.
	words []string
	// none allows null, if the default is no value.
	none bool
}

// Keys that are not in the table of settings.
const (
	keySchema      = "$schema" // for editors
	keyPermissions = "permissions"
	keyDeny        = "permissions.deny"
	keyAsk         = "permissions.ask"
	keyAllow       = "permissions.allow"
	keyDirectories = "permissions.additionalDirectories"
	keyMode        = "permissions.defaultMode"
)

// Patterns that the schema has, too.
const (
	// The text of files is sent there: it must be encrypted, or stay on this machine.
	urls     = `^(https://.+|http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]*)?(/.*)?)$`
	timeouts = `^([0-9]+(\.[0-9]*)?(ms|s|m|h))+$`
)

// longestAsk bounds the wait for the user's answer.
const longestAsk = time.Hour

// known returns the names that a mistyped one is compared with.
func known() []string {
	names := []string{keyPermissions, keyDeny, keyAsk, keyAllow, keyDirectories, keyMode}
	for _, k := range keys() {
		names = append(names, k.path)
		if group, _, ok := strings.Cut(k.path, "."); ok && !slices.Contains(names, group) {
			names = append(names, group)
		}
	}
	return names
}

// The settings of fsmcp's own files, permissions apart.
var (
	keyGate            = word("edit.gate", trusted, "shown", "full")
	keyWhenChanged     = word("edit.whenChanged", trusted, "apply", "refuse")
	keyOverlong        = &key{path: "read.overlong", setBy: anyone, take: takeOverlong, words: []string{"page", "refuse"}, want: "page or refuse"}
	keyStrip           = &key{path: "edit.stripTrailingSpace", setBy: trusted, take: takeBool, want: "true or false"}
	keyDedup           = &key{path: "dedup", setBy: anyone, take: takeBool, want: "true or false"}
	keyHardLinks       = &key{path: "keepHardLinks", setBy: userOnly, take: takeBool, want: "true or false"}
	keyDurability      = word("durability", trusted, durabilities()...)
	keyMaxTokens       = &key{path: "limits.maxOutputTokens", setBy: lower, take: takeCount, want: "a whole number above 0"}
	keyMaxBytes        = &key{path: "limits.maxFileBytes", setBy: lower, take: takeBytes, want: `a number of bytes above 0, such as "512KB"`}
	keyClients         = &key{path: "limits.clients", setBy: lower, take: takeClients, want: `an object as {"NAME": {"tokens": N, "characters": N, "lines": N, "pictures": N}}`}
	keyTokensAPI       = &key{path: "tokens.api", setBy: userOnly, take: takeAPI, want: `{"url", "key", "model"}, all of them, with an https URL (or http on this machine)`, none: true}
	keyAskTimeout      = &key{path: "ask.timeout", setBy: trusted, take: takeTimeout, want: `a length of time up to an hour, such as "50s"`}
	keyLog             = &key{path: "log", setBy: userOnly, take: takeText, want: "the name of a file", none: true}
	keyHints           = &key{path: "hints", setBy: anyone, take: takeBool, want: "true or false"}
	keyPersist         = &key{path: "state.persist", setBy: userOnly, take: takeBool, want: "true or false"}
	keyClipboard       = &key{path: "clipboard", setBy: userOnly, take: takeBool, want: "true or false"}
	keyLSP             = &key{path: "lsp", setBy: userOnly, take: takeLSP, want: `"off", "auto" or an object as {"NAME": {"command": ["PROGRAM"], "extensions": {".x": "LANGUAGE"}, "rootMarkers": ["FILE"]}}`}
	keyTools           = &key{path: "tools", setBy: lower, take: takeTools, want: `a list of tools and sets of tools, such as ["Read", "Grep"], ["read-only"] or ["all"]`}
	keyAuditFile       = &key{path: "audit.file", setBy: userOnly, take: takeText, want: "the name of a file", none: true}
	keyAuditNeeded     = &key{path: "audit.required", setBy: userOnly, take: takeBool, want: "true or false"}
	keyHistoryEnabled  = &key{path: "history.enabled", setBy: trusted, take: takeBool, want: "true or false"}
	keyHistoryRequired = &key{path: "history.required", setBy: trusted, take: takeBool, want: "true or false"}
	keyHistoryMaxSize  = &key{path: "history.maxSize", setBy: trusted, take: takeSize, want: `a number of bytes, such as "1GB"`}
	keyHistoryMaxAge   = &key{path: "history.maxAge", setBy: trusted, take: takeAge, want: `a length of time, such as "30d" or "12h"`}
	keyHistoryExclude  = &key{path: "history.exclude", setBy: trusted, take: takeGlobs, want: `a list of globs, such as [".env", "secrets/**"]`}
	keyImageTokens     = &key{path: "maxImageTokens", setBy: lower, take: takeCount, want: "a whole number above 0"}
	keySentSide        = &key{path: "images.maxSentSide", setBy: lower, take: takeCount, want: "a whole number above 0"}
	keyMegapixels      = &key{path: "images.maxMegapixels", setBy: lower, take: takeCount, want: "a whole number above 0"}
	keyImageSide       = &key{path: "images.maxSide", setBy: lower, take: takeCount, want: "a whole number above 0"}
	keyImageDecoded    = &key{path: "images.maxDecoded", setBy: lower, take: takeSize, want: `a number of bytes, such as "512MB"`}
	keyPDFMode         = word("pdf.mode", anyone, pdfModes()...)
	keyPDFImages       = word("pdf.images", anyone, pdfImages()...)
	keyPDFClients      = &key{path: "pdf.clients", setBy: anyone, take: takePDFClients, want: `an object as {"NAME": {"mode": "document", "images": "never"}}`}
	keyPDFWarm         = &key{path: "pdf.warm", setBy: anyone, take: takeBool, want: "true or false"}
	keyHooksBefore     = &key{path: "hooks.beforeFileEdited", setBy: trusted, take: takeHooks, want: `a list of {"glob", "command", "timeout"}`}
	keyHooksAfter      = &key{path: "hooks.afterFileEdited", setBy: trusted, take: takeHooks, want: `a list of {"glob", "command", "timeout"}`}
)

// keys lists them.
func keys() []*key {
	return []*key{
		keyGate, keyWhenChanged, keyStrip, keyOverlong, keyDedup, keyHardLinks, keyDurability, keyMaxTokens, keyMaxBytes, keyClients, keyTokensAPI, keyAskTimeout, keyLog,
		keyHints, keyPersist, keyClipboard, keyLSP, keyTools, keyAuditFile, keyAuditNeeded, keyHistoryEnabled, keyHistoryRequired, keyHistoryMaxSize, keyHistoryMaxAge,
		keyHistoryExclude, keyImageTokens, keySentSide, keyMegapixels, keyImageSide, keyImageDecoded, keyPDFMode, keyPDFImages, keyPDFClients, keyPDFWarm,
		keyHooksBefore, keyHooksAfter,
	}
}

// modes returns the words for permissions.defaultMode, loosest first, and then the other
// names of default.
func modes() []string {
	return []string{"bypassPermissions", "acceptEdits", "default", "dontAsk", "plan", "auto", "manual"}
}

func takeOverlong(v hujson.Value) (any, bool) {
	s, ok := jsonc.Text(v)
	return s, ok && (s == "page" || s == "refuse")
}

// knownMode returns a mode's name; an unknown word means default.
func knownMode(word string) (mode string, ok bool) {
	m, ok := perm.ParseMode(word)
	return m.String(), ok
}

// tightest returns the stricter mode.
func tightest(a, b string) string {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

func rank(mode string) int { return slices.Index(modes(), mode) }

// word makes a key whose values are words.
func word(path string, by setBy, words ...string) *key {
	take := func(v hujson.Value) (any, bool) {
		s, ok := jsonc.Text(v)
		return s, ok && slices.Contains(words, s)
	}
	last := len(words) - 1
	return &key{path: path, setBy: by, take: take, words: words, want: strings.Join(words[:last], ", ") + " or " + words[last]}
}

// ClientLimit bounds what a client passes on to its model of one answer; 0 means unknown.
// Pictures is NoPictures if a setting says 0.
type ClientLimit struct{ Tokens, Chars, Lines, Pictures int }

// NoPictures is less than any other bound: the client passes no picture on.
const NoPictures = -1

// over returns the bounds of l, and those of other where l has none.
func (l ClientLimit) over(other ClientLimit) ClientLimit {
	return ClientLimit{cmp.Or(l.Tokens, other.Tokens), cmp.Or(l.Chars, other.Chars), cmp.Or(l.Lines, other.Lines), cmp.Or(l.Pictures, other.Pictures)}
}

// lowest returns the lower one of each bound.
func (l ClientLimit) lowest(other ClientLimit) ClientLimit {
	return ClientLimit{lowest(l.Tokens, other.Tokens), lowest(l.Chars, other.Chars), lowest(l.Lines, other.Lines), lowest(l.Pictures, other.Pictures)}
}

// TokensAPI names the service that counts tokens over HTTP.
type TokensAPI struct{ URL, Key, Model string }

func takeText(v hujson.Value) (any, bool) {
	s, ok := jsonc.Text(v)
	return s, ok && s != ""
}

func takeBool(v hujson.Value) (any, bool) {
	lit, ok := v.Value.(hujson.Literal)
	return ok && lit.Bool(), ok && (lit.Kind() == 't' || lit.Kind() == 'f')
}

// takeCount accepts 10.0 and 1e1 for 10: they are the same number in JSON.
func takeCount(v hujson.Value) (any, bool) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '0' {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(lit), 64)
	if err != nil || n != math.Trunc(n) || n <= 0 || n > math.MaxInt32 {
		return 0, false
	}
	return int(n), true
}

func isZero(v hujson.Value) bool {
	lit, ok := v.Value.(hujson.Literal)
	return ok && lit.Kind() == '0' && lit.Float() == 0
}

func takeTimeout(v hujson.Value) (any, bool) {
	s, _ := jsonc.Text(v)
	d, err := time.ParseDuration(s)
	return d, err == nil && matches(timeouts, s) && d > 0 && d <= longestAsk
}

func matches(pattern, s string) bool { return regexp.MustCompile(pattern).MatchString(s) }

func takeClients(v hujson.Value) (any, bool) {
	return takeByClient(v, func(limit *ClientLimit, v hujson.Value) bool {
		fields := map[string]*int{"tokens": &limit.Tokens, "characters": &limit.Chars, "lines": &limit.Lines, "pictures": &limit.Pictures}
		return members(v, func(field string, v hujson.Value) bool {
			to := fields[field]
			n, ok := takeCount(v)
			switch {
			case to == nil:
				return false
			case field == "pictures" && isZero(v):
				n, ok = NoPictures, true
			}
			*to = n.(int)
			return ok
		})
	})
}

// takeByClient reads a table by the names of clients; take reads the value of one.
func takeByClient[T any](v hujson.Value, take func(of *T, v hujson.Value) bool) (any, bool) {
	clients := make(map[string]T)
	ok := members(v, func(name string, v hujson.Value) bool {
		var own T
		ok := take(&own, v)
		client := clientName(name)
		clients[client] = own
		return ok && client != ""
	})
	return clients, ok
}

func takeAPI(v hujson.Value) (any, bool) {
	var api TokensAPI
	ok := takeTexts(v, map[string]*string{"url": &api.URL, "key": &api.Key, "model": &api.Model})
	return api, ok && api.Key != "" && api.Model != "" && matches(urls, api.URL)
}

// takeTexts reads an object whose members are texts, none of them empty.
func takeTexts(v hujson.Value, fields map[string]*string) bool {
	return members(v, func(field string, v hujson.Value) bool {
		s, _ := jsonc.Text(v)
		if to := fields[field]; to != nil {
			*to = s
			return s != ""
		}
		return false
	})
}

// members calls f for each member of an object until it returns false; it
// reports whether v is one and f always returned true.
func members(v hujson.Value, f func(name string, v hujson.Value) bool) bool {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	for _, m := range o.Members {
		name, _ := jsonc.Text(m.Name)
		if !f(name, m.Value) {
			return false
		}
	}
	return true
}

// clientName normalizes a client's name: clients vary in case and blanks.
func clientName(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "-")
}

// covers reports whether a name in a table of clients means the client: the client's name
// is equal, or goes on with something that is no letter.
func covers(name, client string) bool {
	rest, ok := strings.CutPrefix(client, name)
	return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}

// ofClient returns the client's part of a table, that of the longest name that covers it.
func ofClient[T any](table map[string]T, client string) (of T) {
	longest := -1
	for name, own := range table {
		if len(name) > longest && covers(name, client) {
			longest, of = len(name), own
		}
	}
	return of
}

// lowest returns the smaller of two bounds; 0 is no bound.
func lowest(a, b int) int {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// nearest returns the known name that a mistyped one probably means, or "". It compares
// whole names, and last parts if only the last part was written.
func nearest(name string, known []string) string {
	return similar.Nearest(known, func(k string) (int, bool) {
		most := max(1, len(k)/3)
		slips, near := similar.Within(name, k, most)
		leaf, mine := k[strings.LastIndexByte(k, '.')+1:], name[strings.LastIndexByte(name, '.')+1:]
		if leaf != k || mine != name {
			alone, _ := similar.Within(mine, leaf, most)
			alone++ // the wrong place counts as one mistake
			slips, near = min(slips, alone), near || alone <= max(1, len(leaf)/3)
		}
		return slips, near
	})
}

// didYouMean is a question after a mistyped word, "" if no known one is near.
func didYouMean(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf(" (did you mean %s?)", near)
	}
	return ""
}
