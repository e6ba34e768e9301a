package server

import (
	"testing"

	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// _meta has the facts that are known, in the order of their names.
func TestFactsAreWrittenAsMeta(t *testing.T) {
	for name, c := range map[string]struct {
		facts      toolcall.Facts
		serverInfo []byte
		want       string
	}{
		"none":            {want: ``},
		"server info":     {serverInfo: []byte(`{}`), want: `"_meta":{"io.modelcontextprotocol/serverInfo":{}},`},
		"an empty file":   {facts: toolcall.Facts{Size: new(int64(0)), Cells: new(0)}, want: `"_meta":{"fsmcp/cells":0,"fsmcp/size":0},`},
		"a refusal":       {facts: toolcall.Facts{Error: "not_read", ErrorCode: 6, AbsolutePath: new(false)}, want: `"_meta":{"fsmcp/error":"not_read","fsmcp/errorCode":6,"fsmcp/isFilePathAbsolute":"false"},`},
		"an edit":         {facts: toolcall.Facts{Size: new(int64(12)), Replacements: 2, Durability: "unknown"}, want: `"_meta":{"fsmcp/durability":"unknown","fsmcp/replacements":2,"fsmcp/size":12},`},
		"a page":          {facts: toolcall.Facts{Size: new(int64(12)), Lines: 3}, serverInfo: []byte(`{}`), want: `"_meta":{"fsmcp/lines":3,"fsmcp/size":12,"io.modelcontextprotocol/serverInfo":{}},`},
		"a cell":          {facts: toolcall.Facts{Cell: `a<"b`}, want: `"_meta":{"fsmcp/cell":"a<\"b"},`},
		"a hash":          {facts: toolcall.Facts{Hash: state.Sum{0xab}}, want: `"_meta":{"fsmcp/hash":"ab00000000000000000000000000000000000000000000000000000000000000"},`},
		"a picture":       {facts: toolcall.Facts{OriginalSize: 9, OriginalWidth: 4, OriginalHeight: 3, DisplayWidth: 2, DisplayHeight: 1}, want: `"_meta":{"fsmcp/displayHeight":1,"fsmcp/displayWidth":2,"fsmcp/originalHeight":3,"fsmcp/originalSize":9,"fsmcp/originalWidth":4},`},
		"a PDF's pages":   {facts: toolcall.Facts{OriginalSize: 9, Pages: 5}, want: `"_meta":{"fsmcp/originalSize":9,"fsmcp/pages":5},`},
		"a call to Write": {facts: toolcall.Facts{Size: new(int64(1))}, want: `"_meta":{"fsmcp/size":1},`},
	} {
		if got := string(appendMeta(nil, c.facts, c.serverInfo)); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}
