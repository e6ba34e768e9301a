package lsp

import (
	"cmp"
	"encoding/json"
)

// The parts of the protocol's messages that this client reads (source: Language Server
// Protocol 3.17).

// capabilities are those of this client. It applies no edits. It does not name
// textDocument.diagnostic: a server that finds it may wait to be asked for diagnostics. All
// known servers send them: gopls 0.22, typescript-language-server 6.0 and clangd by default,
// pyright 1.1.414 and rust-analyzer if the capability is missing (source: their code).
const capabilities = `{
"general":{"positionEncodings":["utf-8","utf-16"]},
"window":{"workDoneProgress":true},
"workspace":{"workspaceFolders":true,"configuration":true,"didChangeWatchedFiles":{"dynamicRegistration":true}},
"textDocument":{
"synchronization":{"didSave":true},
"publishDiagnostics":{"versionSupport":true,"relatedInformation":false,"codeDescriptionSupport":false}}}`

type initializeResult struct {
	Capabilities struct {
		TextDocumentSync json.RawMessage `json:"textDocumentSync"`
	} `json:"capabilities"`
}

// syncOptions say which changes a server wants.
type syncOptions struct {
	Change int             `json:"change"` // 0 for none
	Save   json.RawMessage `json:"save"`   // a bool or saveOptions
}

// syncOf reads the capability textDocumentSync, which holds the options, or only the number of
// their member change.
func syncOf(raw json.RawMessage) (o syncOptions) {
	if json.Unmarshal(raw, &o.Change) != nil {
		_ = json.Unmarshal(raw, &o)
	}
	return o
}

// saves reports whether the server wants didSave, and with the text.
func (o syncOptions) saves() (wanted, withText bool) {
	var options struct {
		IncludeText bool `json:"includeText"`
	}
	if json.Unmarshal(o.Save, &options) == nil && string(o.Save) != "null" {
		return true, options.IncludeText
	}
	return string(o.Save) == "true", false
}

// position is a place in a text: a line, and the code units before the place in that line,
// both from 0.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Character, q.Character))
}

type diagnostic struct {
	Range struct {
		Start position `json:"start"`
	} `json:"range"`
	Severity severity        `json:"severity"`
	Code     json.RawMessage `json:"code"`
	Message  string          `json:"message"`
}

type publishParams struct {
	URI         string          `json:"uri"`
	Version     *int            `json:"version"`
	Diagnostics json.RawMessage `json:"diagnostics"` // a list of diagnostic
}

type configurationParams struct {
	Items []struct{} `json:"items"`
}

// progressParams report on work that a server does by itself.
type progressParams struct {
	Token json.RawMessage `json:"token"`
	Value struct {
		Kind string `json:"kind"`
	} `json:"value"`
}
