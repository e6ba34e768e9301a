package server

// This file answers all methods but tools/call. mcp-go's server package could do that, and
// TestLikeTheLibrary compares the answers with it. It is not linked: it imports a schema
// validator that compiles its metaschemas at every start (4.7 of 12 ms until the first
// answer), which took a replacement in go.mod to avoid, and "go install" refuses that.
// Without it the program is 0.6 MB smaller and starts as fast as with the replacement.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sort"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// failure is a JSON-RPC error.
type failure struct{ mcp.JSONRPCErrorDetails }

func failed(code int, format string, a ...any) *failure {
	return &failure{mcp.JSONRPCErrorDetails{Code: code, Message: fmt.Sprintf(format, a...)}}
}

// unsupported names the feature of each method that fsmcp does not have.
var unsupported = map[mcp.MCPMethod]string{
	mcp.MethodSetLogLevel:            "logging",
	mcp.MethodResourcesList:          "resources",
	mcp.MethodResourcesTemplatesList: "resources",
	mcp.MethodResourcesRead:          "resources",
	mcp.MethodResourcesSubscribe:     "resources",
	mcp.MethodResourcesUnsubscribe:   "resources",
	mcp.MethodPromptsList:            "prompts",
	mcp.MethodPromptsGet:             "prompts",
	mcp.MethodTasksGet:               "tasks",
	mcp.MethodTasksList:              "tasks",
	mcp.MethodTasksResult:            "tasks",
	mcp.MethodTasksCancel:            "tasks",
	mcp.MethodCompletionComplete:     "completions",
}

// removed reports whether the revision 2026-07-28 removed a method.
func removed(method mcp.MCPMethod) bool {
	switch method {
	case mcp.MethodInitialize, mcp.MethodPing, mcp.MethodSetLogLevel, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe, mcp.MethodTasksList, mcp.MethodTasksResult:
		return true
	}
	return false
}

// methods answers the requests that are no good tools/call. Only the reader uses it.
type methods struct {
	*Server
	out  *output
	peer *peer
}

// peer holds what a client said about itself in its handshake.
type peer struct {
	capabilities mcp.ClientCapabilities
	version      string // the revision that initialize agreed on, or ""
	limits       toolcall.ClientLimits
}

// asks reports whether a client can show a form; without a list of modes it can.
func asks(c *mcp.ClientCapabilities) bool {
	e := c.Elicitation
	return e != nil && (e.Form != nil || e.URL == nil)
}

// ask answers a request other than a good tools/call, at once and in order.
func (c *methods) ask(m wire.Message, to replies) {
	if !to.mayRun() {
		c.noRoom(m.ID, to)
		return
	}
	result, err := c.respond(m)
	if err != nil {
		if strings.Contains(err.Message, "json:") || strings.Contains(err.Message, "base64") { // an error of a decoder
			err = failed(mcp.INVALID_PARAMS, "The params of %s do not have the form that the protocol gives them.", m.Method)
		}
		to.answer(wire.AppendFailure(c.out.Buffer(), m.ID, err.Code, err.Message, err.Data), true)
		return
	}
	line := wire.AppendAnswer(c.out.Buffer(), m.ID, func(b []byte) []byte { return wire.AppendJSON(b, result) })
	if !to.reserve(len(line)) {
		c.out.Recycle(line)
		c.noRoom(m.ID, to)
		return
	}
	to.answer(line, true)
}

// noRoom answers a request other than a call whose answer has no room in its array.
func (c *methods) noRoom(id []byte, to replies) {
	c.out.fail(to, id, mcp.INTERNAL_ERROR, string(refusal.TooMuchOutput)+". Make the request again outside the array.")
}

// respond returns the result of a request. After a panic only this request fails.
func (c *methods) respond(m wire.Message) (result any, err *failure) {
	defer func() {
		if r := recover(); r != nil {
			c.opts.Log.Error().Str("method", m.Method).Interface("panic", r).Bytes("stack", debug.Stack()).Msg("a request failed inside")
			result, err = nil, failed(mcp.INTERNAL_ERROR, "The request could not be answered.")
		}
	}()
	modern, err := c.introduced(m)
	method := mcp.MCPMethod(m.Method)
	switch feature := unsupported[method]; {
	case err != nil:
		return nil, err
	case m.Result.Kind != 0 && m.Result.Kind != wire.Null: // half a request, half an answer
		return nil, failed(mcp.INTERNAL_ERROR, "The request could not be answered.")
	case modern && removed(method):
		return nil, failed(mcp.METHOD_NOT_FOUND, "%q was removed in protocol version %s", m.Method, mcp.ProtocolVersion20260728)
	case !modern && (method == mcp.MethodServerDiscover || method == mcp.MethodSubscriptionsListen):
		return nil, failed(mcp.METHOD_NOT_FOUND, "%q requires protocol version %s or later", m.Method, mcp.ProtocolVersion20260728)
	case feature != "":
		return nil, failed(mcp.METHOD_NOT_FOUND, "%s not supported", feature)
	case modern:
		return c.modern(m)
	}
	return c.legacy(m)
}

// introduced reads what a request says about its client and its revision. Since the
// revision 2026-07-28 every request does that, and there is no handshake.
func (c *methods) introduced(m wire.Message) (modern bool, err *failure) {
	var meta *mcp.Meta
	if json.Unmarshal(m.Meta.Raw, &meta) != nil || !mcp.IsModernProtocol(meta.ProtocolVersion()) {
		return false, nil
	}
	capabilities := meta.ClientCapabilities()
	switch version := meta.ProtocolVersion(); {
	case capabilities == nil:
		return true, failed(mcp.INVALID_PARAMS, "missing or invalid _meta field %s", mcp.MetaKeyClientCapabilities)
	case !mcp.IsValidProtocolVersion(version):
		unknown := mcp.UnsupportedProtocolVersionError{Version: version, Supported: mcp.ValidProtocolVersions}
		return true, &failure{unknown.JSONRPCError().Error}
	}
	if info := meta.ClientInfo(); info != nil {
		c.peer.limits = c.limitsFor(info.Name)
	}
	c.peer.capabilities = *capabilities
	return true, nil
}

// legacy answers a request of a revision before 2026-07-28.
func (c *methods) legacy(m wire.Message) (any, *failure) {
	switch m.Method {
	case string(mcp.MethodInitialize):
		var request mcp.InitializeRequest
		if err := into(m, &request); err != nil {
			return nil, err
		}
		c.peer.limits = c.limitsFor(request.Params.ClientInfo.Name)
		c.peer.capabilities = request.Params.Capabilities
		version := mcp.NegotiateLegacyVersion(request.Params.ProtocolVersion)
		c.peer.version = version
		return mcp.InitializeResult{
			ProtocolVersion: version,
			ServerInfo:      c.implementation(),
			Capabilities:    capabilities(),
			Instructions:    c.instructions(),
		}, nil
	case string(mcp.MethodPing):
		return mcp.EmptyResult{}, into(m, &mcp.PingRequest{})
	case string(mcp.MethodToolsList):
		list, err := c.list(m)
		return list, err
	case wire.MethodCall:
		return c.faulty(m)
	}
	return nil, unknownMethod(m)
}

// modern answers a request of the revision 2026-07-28.
func (c *methods) modern(m wire.Message) (any, *failure) {
	switch m.Method {
	case string(mcp.MethodServerDiscover):
		r := mcp.DiscoverResult{SupportedVersions: mcp.ValidProtocolVersions, Capabilities: capabilities(), Instructions: c.instructions()}
		c.stamp(&r)
		return r, into(m, &mcp.DiscoverRequest{})
	case string(mcp.MethodSubscriptionsListen):
		return c.listen(m)
	case string(mcp.MethodToolsList):
		r, err := c.list(m)
		c.stamp(&r)
		return r, err
	case wire.MethodCall:
		r, err := c.faulty(m)
		if r != nil {
			c.stamp(r)
		}
		return r, err
	}
	return nil, unknownMethod(m)
}

// faulty answers a tools/call whose _meta cannot be read.
func (c *methods) faulty(m wire.Message) (*mcp.CallToolResult, *failure) {
	var request mcp.CallToolRequest
	if err := into(m, &request); err != nil {
		return nil, err
	}
	if c.specs[request.Params.Name] == nil {
		return nil, failed(mcp.INVALID_PARAMS, "tool '%s' not found: tool not found", request.Params.Name)
	}
	return mcp.NewToolResultError("The _meta of this call cannot be read."), nil
}

// maxMethod bounds the name of a method in an error, in bytes.
const maxMethod = 200

func unknownMethod(m wire.Message) *failure {
	name := m.Method
	if len(name) > maxMethod {
		name = strings.ToValidUTF8(name[:maxMethod], "") + "..."
	}
	return failed(mcp.METHOD_NOT_FOUND, "Method %s not found", name)
}

// into decodes a request.
func into(m wire.Message, request any) *failure {
	if err := json.Unmarshal(m.Raw, request); err != nil {
		return failed(mcp.INVALID_REQUEST, "unparsable %s request: %s", m.Method, err)
	}
	return nil
}

// list returns the tools after the request's cursor. fsmcp never sends a cursor: the list
// has one page.
func (s *Server) list(m wire.Message) (mcp.ListToolsResult, *failure) {
	r := mcp.ListToolsResult{Tools: s.listed}
	var request mcp.ListToolsRequest
	if err := into(m, &request); err != nil {
		return r, err
	}
	after, err := base64.StdEncoding.DecodeString(string(request.Params.Cursor))
	if err != nil {
		return r, failed(mcp.INVALID_PARAMS, "%s", err)
	}
	if len(after) > 0 {
		r.Tools = s.listed[sort.Search(len(s.listed), func(i int) bool { return s.listed[i].Name > string(after) }):]
	}
	return r, nil
}

// listen answers a subscription. fsmcp has nothing to subscribe to, so it acknowledges
// none, and the stream ends at once.
func (c *methods) listen(m wire.Message) (any, *failure) {
	if err := into(m, &mcp.SubscriptionsListenRequest{}); err != nil {
		return nil, err
	}
	id := json.RawMessage(m.ID)
	c.out.answer(wire.AppendJSON(c.out.Buffer(), mcp.JSONRPCNotification{
		JSONRPC: mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{
			Method: mcp.MethodNotificationSubscriptionsAcknowledged,
			Params: mcp.NotificationParams{
				Meta:             map[string]any{mcp.MetaKeySubscriptionID: id},
				AdditionalFields: map[string]any{"notifications": mcp.SubscriptionFilter{}},
			},
		},
	}), true)
	var r mcp.SubscriptionsListenResult
	r.EnsureResultMeta().SetSubscriptionID(id)
	c.stamp(&r)
	return r, nil
}

// stamp adds what the revision 2026-07-28 wants in every result. A cacheable result is
// valid for its client only, and must be asked for again.
func (s *Server) stamp(r mcp.ResultMetadata) {
	r.SetResultType(mcp.ResultTypeComplete)
	r.EnsureResultMeta().SetServerInfo(s.implementation())
	if c, ok := r.(mcp.CacheHintSetter); ok {
		c.SetCacheHints(0, mcp.CacheScopePrivate)
	}
}

func (s *Server) implementation() mcp.Implementation {
	return mcp.Implementation{Name: serverName, Title: serverName, Version: s.opts.Version}
}

// capabilities returns those of the server: tools, and no notice of changed ones.
func capabilities() (c mcp.ServerCapabilities) {
	c.Tools = &struct {
		ListChanged bool `json:"listChanged,omitempty"`
	}{}
	return c
}

// instructions returns the instructions; those for a client with root directories name
// them.
func (c *methods) instructions() string {
	return c.opts.instructions(c.opts.WantRoots && c.peer.capabilities.Roots != nil)
}
