package settings

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/jsonc"
	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/lsp/servers"
)

// LSP says which language servers may be started. The zero value means none.
type LSP struct {
	Auto bool // the known ones that are found
	// Servers are those that the settings name, in that order, completed from the table of
	// known ones. Their programs are not looked for yet.
	Servers []lsp.LanguageServer
	From    string // the settings file that names it; "" if none does
}

// Off reports that no server may be started.
func (l LSP) Off() bool { return !l.Auto && len(l.Servers) == 0 }

// Allowed lists the servers that may be started where their programs are found.
func (l LSP) Allowed() []lsp.LanguageServer {
	if !l.Auto {
		return l.Servers
	}
	var all []lsp.LanguageServer
	for _, s := range servers.Known() {
		all = append(all, s.LanguageServer)
	}
	return all
}

func takeLSP(v hujson.Value) (any, bool) {
	if s, isText := jsonc.Text(v); isText {
		return LSP{Auto: s == "auto"}, s == "auto" || s == "off"
	}
	var named LSP
	ok := members(v, func(name string, v hujson.Value) bool {
		server, ok := takeServer(name, v)
		named.Servers = slices.DeleteFunc(named.Servers, func(s lsp.LanguageServer) bool { return s.Name == name })
		named.Servers = append(named.Servers, server)
		return ok
	})
	return named, ok
}

// takeServer reads one server. What a known one does not say is as in the table.
func takeServer(name string, v hujson.Value) (lsp.LanguageServer, bool) {
	of, _ := servers.ByName(name)
	s := of.LanguageServer
	s.Name = name
	ok := members(v, func(field string, v hujson.Value) bool {
		switch field {
		case "command":
			s.Command, _ = jsonc.Texts(v)
			return len(s.Command) > 0 && s.Command[0] != ""
		case "extensions":
			s.Languages = takeExtensions(v)
			return len(s.Languages) > 0
		case "rootMarkers":
			var areTexts bool
			s.RootMarkers, areTexts = jsonc.Texts(v)
			return areTexts && !slices.ContainsFunc(s.RootMarkers, func(m string) bool { return m == "" || strings.ContainsAny(m, `/\`) })
		}
		return false
	})
	return s, ok && name != "" && len(s.Command) > 0 && len(s.Languages) > 0
}

// takeExtensions reads the language of each suffix of names; nil if that is wrong.
func takeExtensions(v hujson.Value) map[string]string {
	out := make(map[string]string)
	ok := members(v, func(ext string, v hujson.Value) bool {
		language, isText := jsonc.Text(v)
		out[ext] = language
		return isText && language != "" && len(ext) > 1 && ext[0] == '.' && !strings.ContainsAny(ext, `/\`)
	})
	if !ok {
		return nil
	}
	return out
}
