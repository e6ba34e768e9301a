// Package schemas holds the published texts of each tool: its input schema (NAME.json) and
// its description (NAME.md). The same schema drives the decoder of arguments, so the
// server accepts what the schema promises.
//
// The keyword "x-fsmcp" of a schema is fsmcp's own and never published: the tool's title,
// a search hint, the size of answers a client should expect, and "later", the arguments
// that are known but not served yet, each with the reason.
//
// A description names the limits in force as {maxFileBytes} and {maxOutputTokens}; the
// server puts them in.
//
// The package only carries the files; it neither parses nor checks them.
package schemas

import "embed"

// Files are the published files.
//
//go:embed *.json *.md
var Files embed.FS
