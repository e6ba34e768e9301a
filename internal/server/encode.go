package server

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// appendResult appends a tool's result as the object that tools/call returns, with its
// members in a fixed order. serverInfo is part of every result since the revision
// 2026-07-28; it is nil for older ones.
func appendResult(b []byte, r *toolcall.Result, serverInfo []byte) []byte {
	b = append(b, '{')
	b = appendMeta(b, r.Facts, serverInfo)
	b = append(b, `"content":[`...)
	for i := range r.Blocks {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendBlock(b, &r.Blocks[i])
	}
	b = append(b, ']')
	if r.IsError {
		b = append(b, `,"isError":true`...)
	}
	if serverInfo != nil {
		b = append(b, `,"resultType":"complete"`...)
	}
	return append(b, '}')
}

// appendMeta appends _meta with a comma behind it, if it has members: the facts, and
// serverInfo.
func appendMeta(b []byte, facts toolcall.Facts, serverInfo []byte) []byte {
	if facts == (toolcall.Facts{}) && serverInfo == nil {
		return b
	}
	b = appendFacts(append(b, `"_meta":{`...), &facts)
	if serverInfo != nil {
		b = append(b, `"io.modelcontextprotocol/serverInfo":`...)
		b = append(append(b, serverInfo...), ',')
	}
	b[len(b)-1] = '}' // in place of the last comma
	return append(b, ',')
}

// appendFacts appends the members of facts, each with a comma behind it, as encoding/json
// writes them: that takes a microsecond more of the 33 of a Read of 1 KB.
func appendFacts(b []byte, f *toolcall.Facts) []byte {
	text := func(key, s string) {
		if s != "" {
			b = append(wire.AppendString(append(b, key...), s), ',')
		}
	}
	number := func(key string, n int64, known bool) {
		if known {
			b = append(strconv.AppendInt(append(b, key...), n, 10), ',')
		}
	}
	count := func(key string, n int) { number(key, int64(n), n != 0) }
	text(`"fsmcp/cell":`, f.Cell)
	if f.Cells != nil {
		number(`"fsmcp/cells":`, int64(*f.Cells), true)
	}
	count(`"fsmcp/displayHeight":`, f.DisplayHeight)
	count(`"fsmcp/displayWidth":`, f.DisplayWidth)
	text(`"fsmcp/durability":`, f.Durability)
	text(`"fsmcp/error":`, f.Error)
	count(`"fsmcp/errorCode":`, f.ErrorCode)
	if f.Failed != nil {
		b = append(wire.AppendJSON(append(b, `"fsmcp/failed":`...), *f.Failed), ',')
	}
	text(`"fsmcp/group":`, f.Group)
	if f.Hash != (toolcall.Facts{}).Hash {
		b = append(hex.AppendEncode(append(b, `"fsmcp/hash":"`...), f.Hash[:]), `",`...)
	}
	if f.AbsolutePath != nil {
		text(`"fsmcp/isFilePathAbsolute":`, strconv.FormatBool(*f.AbsolutePath))
	}
	count(`"fsmcp/lines":`, f.Lines)
	count(`"fsmcp/originalHeight":`, f.OriginalHeight)
	number(`"fsmcp/originalSize":`, f.OriginalSize, f.OriginalSize != 0)
	count(`"fsmcp/originalWidth":`, f.OriginalWidth)
	count(`"fsmcp/pages":`, f.Pages)
	count(`"fsmcp/replacements":`, f.Replacements)
	if f.Size != nil {
		number(`"fsmcp/size":`, *f.Size, true)
	}
	return b
}

func appendBlock(b []byte, block *toolcall.Block) []byte {
	switch {
	case block.MIME == "":
		b = append(b, `{"type":"text","text":`...)
		return append(wire.AppendString(b, block.Text), '}')
	case strings.HasPrefix(block.MIME, "image/"):
		b = append(b, `{"type":"image","data":"`...)
		b = base64.StdEncoding.AppendEncode(b, block.Data)
		b = append(b, `","mimeType":`...)
		return append(wire.AppendString(b, block.MIME), '}')
	}
	b = append(b, `{"type":"resource","resource":{"uri":`...)
	b = wire.AppendString(b, resourceURI(block.Path))
	b = append(b, `,"mimeType":`...)
	b = wire.AppendString(b, block.MIME)
	b = append(b, `,"blob":"`...)
	b = base64.StdEncoding.AppendEncode(b, block.Data)
	return append(b, `"}}`...)
}

// resourceURI returns the URI of a resource's file. Bytes other than letters, digits and
// unreserved marks are escaped.
func resourceURI(path string) string {
	const marks = "/-._~:"
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive's letter comes behind a slash
		path = "/" + path
	}
	uri := []byte("file://")
	for _, c := range []byte(path) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if letter || strings.IndexByte(marks, c) >= 0 {
			uri = append(uri, c)
		} else {
			uri = fmt.Appendf(uri, "%%%02X", c)
		}
	}
	return string(uri)
}
