package lsp

import "encoding/json"

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

// syncOptions say what a server wants to hear of a document.
type syncOptions struct{ changes, saves, textOfSaves bool }

// syncOf reads the capability textDocumentSync, which holds the options, or only the number of
// their member change.
func syncOf(capability any) syncOptions {
	options, ok := capability.(map[string]any)
	if !ok {
		options = object{"change": capability}
	}
	save, _ := options["save"].(map[string]any) // or a bool
	change, _ := options["change"].(float64)
	return syncOptions{change != 0, save != nil || options["save"] == true, save["includeText"] == true}
}

// position is a place in a text: a line, and the code units before the place in that line,
// both from 0.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
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

// progressParams report on work that a server does by itself.
type progressParams struct {
	Token json.RawMessage
	Value struct{ Kind string }
}
