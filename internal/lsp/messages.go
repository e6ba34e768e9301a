package lsp

import "encoding/json"

// The parts of the protocol's messages that this client uses (source: Language Server
// Protocol 3.17).

type initializeParams struct {
	ProcessID        int               `json:"processId"`
	ClientInfo       clientInfo        `json:"clientInfo"`
	RootPath         string            `json:"rootPath"`
	RootURI          string            `json:"rootUri"`
	Capabilities     json.RawMessage   `json:"capabilities"`
	Options          json.RawMessage   `json:"initializationOptions,omitempty"`
	WorkspaceFolders []workspaceFolder `json:"workspaceFolders"`
}

type clientInfo struct {
	Name string `json:"name"`
}

type workspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// capabilities are those of this client. It applies no edits.
const capabilities = `{
"general":{"positionEncodings":["utf-8","utf-16"]},
"window":{"workDoneProgress":true},
"workspace":{"workspaceFolders":true,"configuration":true,"didChangeWatchedFiles":{"dynamicRegistration":true},"diagnostics":{"refreshSupport":true}},
"textDocument":{
"synchronization":{"didSave":true},
"publishDiagnostics":{"versionSupport":true,"relatedInformation":false,"codeDescriptionSupport":false},
"diagnostic":{"dynamicRegistration":true,"relatedDocumentSupport":true}}}`

type initializeResult struct {
	Capabilities struct {
		PositionEncoding   encoding        `json:"positionEncoding"`
		TextDocumentSync   json.RawMessage `json:"textDocumentSync"`
		DiagnosticProvider *pullOptions    `json:"diagnosticProvider"`
	} `json:"capabilities"`
}

// Kinds of synchronization.
const (
	syncNone        = 0
	syncIncremental = 2
)

// pullOptions say how a server answers textDocument/diagnostic.
type pullOptions struct {
	Identifier string `json:"identifier,omitempty"`
	// OtherFiles says that a change of one file may change the problems of another.
	OtherFiles bool `json:"interFileDependencies"`
}

// syncOptions say which changes a server wants.
type syncOptions struct {
	Change int             `json:"change"`
	Save   json.RawMessage `json:"save"` // a bool or saveOptions
}

// syncOf reads the capability, which is the options or the kind of changes alone.
func syncOf(raw json.RawMessage) (o syncOptions) {
	if json.Unmarshal(raw, &o.Change) == nil {
		return o
	}
	o = syncOptions{}
	_ = json.Unmarshal(raw, &o)
	return o
}

// saves reports whether the server wants didSave, and with the text.
func (o syncOptions) saves() (wanted, withText bool) {
	if json.Unmarshal(o.Save, &wanted) == nil && len(o.Save) > 0 {
		return wanted, false
	}
	var options struct {
		IncludeText bool `json:"includeText"`
	}
	if len(o.Save) == 0 || json.Unmarshal(o.Save, &options) != nil {
		return false, false
	}
	return true, options.IncludeText
}

type documentItem struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int    `json:"version"`
	Text       string `json:"text"`
}

type documentID struct {
	URI     string `json:"uri"`
	Version int    `json:"version,omitempty"`
}

type didOpenParams struct {
	Document documentItem `json:"textDocument"`
}

// documentParams are those of messages about one document, each with its own part of them.
type documentParams struct {
	Document   documentID      `json:"textDocument"`
	Changes    []contentChange `json:"contentChanges,omitempty"`
	Text       *string         `json:"text,omitempty"`
	Identifier string          `json:"identifier,omitempty"`
}

// fileEvent is a change of a file on the disk.
type fileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

// Types of a fileEvent.
const (
	fileCreated = 1
	fileChanged = 2
	fileDeleted = 3
)

type watchedFilesParams struct {
	Changes []fileEvent `json:"changes"`
}

type diagnostic struct {
	Range    textRange       `json:"range"`
	Severity severity        `json:"severity"`
	Code     json.RawMessage `json:"code"`
	Message  string          `json:"message"`
}

type publishParams struct {
	URI         string          `json:"uri"`
	Version     *int            `json:"version"`
	Diagnostics json.RawMessage `json:"diagnostics"` // a list of diagnostic
}

// pullReport answers a pull of diagnostics; it has Items only if Kind is "full".
type pullReport struct {
	Kind    string                `json:"kind"`
	Items   json.RawMessage       `json:"items"` // a list of diagnostic
	Related map[string]pullReport `json:"relatedDocuments"`
}

type configurationParams struct {
	Items []struct {
		Section string `json:"section"`
	} `json:"items"`
}

type registrationParams struct {
	Registrations []struct {
		Method  string          `json:"method"`
		Options json.RawMessage `json:"registerOptions"`
	} `json:"registrations"`
}

// progressParams report on work that a server does by itself.
type progressParams struct {
	Token json.RawMessage `json:"token"`
	Value struct {
		Kind string `json:"kind"`
	} `json:"value"`
}
