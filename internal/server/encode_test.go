package server

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/server/wire"
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

// The facts are written as encoding/json writes them, whichever of them are known.
func TestFactsAreWrittenAsByEncodingJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var f toolcall.Facts
		for i, v := 0, reflect.ValueOf(&f).Elem(); i < v.NumField(); i++ {
			if random.IntN(2) == 0 {
				continue
			}
			switch p := v.Field(i).Addr().Interface().(type) {
			case *string:
				*p = []string{"busy", `a"<b\`, "é\n"}[random.IntN(3)]
			case *int:
				*p = random.IntN(1000)
			case *int64:
				*p = random.Int64()
			case **int:
				*p = new(random.IntN(3))
			case **int64:
				*p = new(random.Int64N(3))
			case **bool:
				*p = new(random.IntN(2) == 0)
			case **[]toolcall.FailedEntry:
				*p = &[]toolcall.FailedEntry{{Index: random.IntN(9), Error: `a"<b`}}
			case *state.Sum:
				p[random.IntN(len(p))] = 1
			default:
				t.Fatalf("a field of type %T", p)
			}
		}
		got := "{" + strings.TrimSuffix(string(appendFacts(nil, &f)), ",") + "}"
		if want := string(wire.AppendJSON(nil, f)); got != want {
			t.Fatalf("%s\nwant %s", got, want)
		}
	}
}
