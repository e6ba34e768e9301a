package protocol

import (
	"strings"
	"testing"
)

// TestReceived has each kind of message right and wrong.
func TestReceived(t *testing.T) {
	modern := func(id, method string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	}
	const list = `{"jsonrpc":"2.0","id":"l","method":"tools/list"}`
	for name, c := range map[string]struct {
		spoken, sent, line string
		wrong              string // words of the error; "": the line is right
	}{
		"an answer":                      {"2025-06-18", list, `{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}`, ""},
		"a tool without a schema":        {"2025-06-18", list, `{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"a"}]}}`, "inputSchema"},
		"nothing asked":                  {"2025-06-18", "", `{"jsonrpc":"2.0","id":"l","result":{"tools":[]}}`, "nothing asked"},
		"another id":                     {"2025-06-18", list, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`, "nothing asked"},
		"no version of JSON-RPC":         {"2025-06-18", list, `{"id":"l","result":{"tools":[]}}`, "jsonrpc"},
		"an image without a type":        {"2024-11-05", `{"id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","data":"AA=="}]}}`, "/content/0"},
		"structured content":             {"2025-06-18", `{"id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":[1]}}`, "structuredContent"},
		"an error":                       {"2024-11-05", list, `{"jsonrpc":"2.0","id":"l","error":{"code":-1,"message":"m"}}`, ""},
		"an error without words":         {"2025-11-25", list, `{"jsonrpc":"2.0","id":"l","error":{"code":-1}}`, "message"},
		"an error to an unknown request": {"2024-11-05", "", `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}`, ""},
		"an id with a fraction":          {"2024-11-05", `{"id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"result":{}}`, ""},
		"progress":                       {"2025-03-26", "", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`, ""},
		"progress without a token":       {"2025-03-26", "", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2}}`, "notifications/progress"},
		"a question too early":           {"2025-03-26", "", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}`, ""},
		"a question without words":       {"2025-03-26", "", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"requestedSchema":{"type":"object","properties":{}}}}`, "ServerRequest"},
		"a question":                     {"2025-06-18", "", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}`, ""},
		"a batch":                        {"2025-03-26", `[{"id":1,"method":"ping"},{"id":2,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]`, ""},
		"a batch elsewhere":              {"2025-06-18", `[{"id":1,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":1,"result":{}}]`, "an array"},
		"a list without its age":         {"", modern("1", "tools/list"), `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}}`, "ttlMs"},
		"a modern list":                  {"", modern("1", "tools/list"), `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}}`, ""},
		"a modern question":              {"", modern("1", "tools/call"), `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}`, ""},
		"no content":                     {"", modern("1", "tools/call"), `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`, "content"},
		"a modern request of the server": {"2026-07-28", "", `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, "ServerRequest"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New()
			s.spoken = c.spoken
			s.Sent([]byte(c.sent))
			err := s.Received([]byte(c.line))
			if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("%v", err)
			}
		})
	}
}
