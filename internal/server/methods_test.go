package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/schemas"
)

// reference answers requests by mcp-go's own dispatch. It is a client's session, too.
type reference struct {
	server *mcpserver.MCPServer
	notes  chan mcp.JSONRPCNotification
	said   peer
	limits func(client string) toolcall.ClientLimits
}

func (r *reference) Initialize()                                         {}
func (r *reference) Initialized() bool                                   { return true }
func (r *reference) SessionID() string                                   { return "stdio" }
func (r *reference) NotificationChannel() chan<- mcp.JSONRPCNotification { return r.notes }
func (r *reference) GetClientInfo() (i mcp.Implementation)               { return i }
func (r *reference) SetClientInfo(info mcp.Implementation)               { r.said.limits = r.limits(info.Name) }
func (r *reference) GetClientCapabilities() mcp.ClientCapabilities       { return r.said.capabilities }
func (r *reference) SetClientCapabilities(c mcp.ClientCapabilities)      { r.said.capabilities = c }
func (r *reference) SetProtocolVersion(v string)                         { r.said.version = v }

func newReference(s *Server) *reference {
	r := &reference{notes: make(chan mcp.JSONRPCNotification, 9), limits: s.limitsFor}
	r.server = mcpserver.NewMCPServer(serverName, s.opts.Version,
		mcpserver.WithToolCapabilities(false),
		mcpserver.WithTitle(serverName),
		mcpserver.WithInstructions(s.opts.instructions(s.opts.WantRoots)),
		mcpserver.WithToolFilter(func(context.Context, []mcp.Tool) []mcp.Tool { return s.listed }),
	)
	for _, t := range s.listed {
		r.server.AddTool(t, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("The _meta of this call cannot be read."), nil
		})
	}
	return r
}

// answer returns all lines that mcp-go answers a request with.
func (r *reference) answer(line []byte) string {
	m, _ := wire.ParseMessage(line)
	var b []byte
	reply := r.server.HandleMessage(r.server.WithContext(context.Background(), r), m.Raw)
	for len(r.notes) > 0 {
		note := <-r.notes
		note.Params.Meta[mcp.MetaKeySubscriptionID] = json.RawMessage(m.ID)
		b = append(wire.AppendJSON(b, note), '\n')
	}
	switch reply := reply.(type) {
	case mcp.JSONRPCResponse:
		if listen, ok := reply.Result.(mcp.SubscriptionsListenResult); ok {
			listen.EnsureResultMeta().SetSubscriptionID(json.RawMessage(m.ID))
		}
		b = wire.AppendAnswer(b, m.ID, func(b []byte) []byte { return wire.AppendJSON(b, reply.Result) })
	case mcp.JSONRPCError:
		e := reply.Error
		if strings.Contains(e.Message, "json:") || strings.Contains(e.Message, "base64") {
			e.Code, e.Message = mcp.INVALID_PARAMS, "The params of "+m.Method+" do not have the form that the protocol gives them."
		}
		b = wire.AppendFailure(b, m.ID, e.Code, e.Message, e.Data)
	default:
		b = wire.AppendFailure(b, m.ID, mcp.INTERNAL_ERROR, "The request could not be answered.", nil)
	}
	return string(b) + "\n"
}

// requests of every method, with params of many shapes, in each revision.
func requestsOfAllKinds() (lines []string) {
	methods := []string{"initialize", "ping", "server/discover", "subscriptions/listen", "tools/list", "tools/call", "logging/setLevel",
		"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get",
		"tasks/get", "tasks/list", "tasks/result", "tasks/cancel", "completion/complete", "roots/list", "elicitation/create", "sampling/createMessage", "no/such", "a\\\"b"}
	meta := func(version, capabilities, more string) string {
		return `"_meta":{"io.modelcontextprotocol/protocolVersion":` + version + capabilities + more + `}`
	}
	const info = `,"io.modelcontextprotocol/clientInfo":{"name":"codex","version":"1"}`
	caps := func(s string) string { return `,"io.modelcontextprotocol/clientCapabilities":` + s }
	metas := []string{"", `"_meta":{}`, `"_meta":null`, `"_meta":5`, `"_meta":{"progressToken":1}`,
		meta(`"2026-07-28"`, caps(`{}`), info), meta(`"2026-07-28"`, caps(`{"roots":{},"elicitation":{}}`), ""), meta(`"2026-07-28"`, "", ""),
		meta(`"2026-07-28"`, caps(`5`), ""), meta(`"2026-07-28"`, caps(`null`), info), meta(`"2026-07-28"`, caps(`{"roots":5}`), ""),
		meta(`"2027-01-01"`, caps(`{}`), ""), meta(`"2027-01-01"`, "", ""), meta(`"2025-06-18"`, caps(`{}`), ""), meta(`7`, caps(`{}`), ""), meta(`"zz"`, caps(`{}`), `,"io.modelcontextprotocol/clientInfo":5`)}
	params := []string{"", `"cursor":""`, `"cursor":"UmVhZA=="`, `"cursor":"!!"`, `"cursor":7`, `"cursor":"Wg=="`, `"cursor":null`,
		`"name":"Read","arguments":{}`, `"name":"None"`, `"name":5`, `"name":"Read","arguments":5`, `"uri":"file:///x"`, `"level":"info"`,
		`"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true},"elicitation":{}},"clientInfo":{"name":"claude-ai","version":"2"}`,
		`"protocolVersion":"2026-07-28"`, `"protocolVersion":"1999-01-01"`, `"protocolVersion":""`, `"protocolVersion":5`, `"capabilities":[]`, `"clientInfo":"x"`,
		`"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a"]}`, `"notifications":5`, `"notifications":null`}
	id := 0
	for _, method := range methods {
		for _, m := range metas {
			for _, p := range params {
				id++
				all := strings.Trim(p+","+m, ",")
				lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{%s}}`, id, method, all))
			}
		}
		for i, odd := range []string{``, `,"params":null`, `,"params":[]`, `,"params":"x"`, `,"params":[{"_meta":{}}]`, `,"result":{}`, `,"result":null`, `,"error":{"code":1}`, `,"extra":1`} {
			lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s%d<&","method":"%s"%s}`, "x", i, method, odd))
		}
	}
	return lines
}

// TestLikeTheLibrary compares the answers to all requests but good tools/call with
// mcp-go's, and what is known of the client after each.
func TestLikeTheLibrary(t *testing.T) {
	var out bytes.Buffer
	s := newFake(t, &fakes{}, nil)
	c := s.connect(t.Context(), nil, io.Discard).conn
	c.out.Outbox = wire.NewOutbox(&out)
	ref := newReference(s)
	said := func(p peer) string {
		return fmt.Sprint(p.version, p.limits, asks(&p.capabilities), p.capabilities.Roots != nil)
	}
	lines := requestsOfAllKinds()
	for _, line := range lines {
		m, err := wire.ParseMessage([]byte(line))
		if err != nil || m.ID == nil {
			t.Fatal(line, err)
		}
		out.Reset()
		c.methods.ask(m, c.out)
		c.out.Flush()
		if got, want := out.String(), ref.answer([]byte(line)); got != want {
			t.Fatalf("%s\ngot  %swant %s", line, got, want)
		}
		if got, want := said(c.peer), said(ref.said); got != want {
			t.Fatalf("%s\nknows %s, not %s", line, got, want)
		}
	}
	t.Log(len(lines), "requests")
}

// TestDescribed: facts replace their names; JSON in a description stays as it is.
func TestDescribed(t *testing.T) {
	facts := map[string]string{"size": "256KB", "pdf": ""}
	for text, want := range map[string]string{
		"up to {size}.":                         "up to 256KB.",
		"text{pdf:, PDFs}{office:, documents}.": "text, PDFs.",
		"{unknown}":                             "{unknown}",
		"{}":                                    "{}",
		"an open {":                             "an open {",
		"`{\"a\": [{\"b\": 1}]}`{pdf: and {size}}": "`{\"a\": [{\"b\": 1}]}` and {size}",
	} {
		if got := described(text, facts); got != want {
			t.Errorf("%s becomes %s, not %s", text, got, want)
		}
	}
}

// TestDescriptionsKeepTheirExamples: a description is published with its examples.
func TestDescriptionsKeepTheirExamples(t *testing.T) {
	files, err := fs.Glob(schemas.Files, "*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no descriptions", err)
	}
	examples := 0
	for _, name := range files {
		text, _ := schemas.Files.ReadFile(name)
		published := described(string(text), map[string]string{"pdf": "", "change": ""})
		for _, example := range regexp.MustCompile("`{[^`]*}`").FindAllString(string(text), -1) {
			examples++
			if !strings.Contains(published, example) || !json.Valid([]byte(strings.Trim(example, "`"))) {
				t.Errorf("%s: %s is published as\n%s", name, example, published)
			}
		}
	}
	if examples == 0 {
		t.Error("there is no example: nothing was tested")
	}
}
