package server

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/fsmcp/fsmcp/internal/tools"
)

// peer is the client's session in mcp-go. It stores the client's information and the
// protocol revision. mcp-go sends it notifications through a channel that the loop empties
// after each request.
type peer struct {
	notes   chan mcp.JSONRPCNotification
	limited func(client string) tools.ClientLimits

	mu           sync.Mutex
	initialized  bool
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	version      string
	limits       tools.ClientLimits
}

var _ mcpserver.SessionWithClientInfo = (*peer)(nil)

func newPeer(limited func(client string) tools.ClientLimits) *peer {
	return &peer{notes: make(chan mcp.JSONRPCNotification, 16), limited: limited}
}

// SessionID names the only session of the connection.
func (p *peer) SessionID() string { return "stdio" }

// NotificationChannel is where mcp-go puts notifications.
func (p *peer) NotificationChannel() chan<- mcp.JSONRPCNotification { return p.notes }

// Initialize notes that the handshake is done.
func (p *peer) Initialize() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.initialized = true
}

// Initialized tells whether it is.
func (p *peer) Initialized() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.initialized
}

// SetClientInfo stores the client's information, and its bounds on an answer.
func (p *peer) SetClientInfo(info mcp.Implementation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.info = info
	p.limits = p.limited(info.Name)
}

// GetClientInfo returns the client's information.
func (p *peer) GetClientInfo() mcp.Implementation {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.info
}

// SetClientCapabilities stores the client's capabilities.
func (p *peer) SetClientCapabilities(c mcp.ClientCapabilities) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.capabilities = c
}

// GetClientCapabilities returns what SetClientCapabilities noted.
func (p *peer) GetClientCapabilities() mcp.ClientCapabilities {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.capabilities
}

// SetProtocolVersion notes the revision that initialize agreed on.
func (p *peer) SetProtocolVersion(version string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = version
}

// ProtocolVersion is the revision that initialize agreed on, or "".
func (p *peer) ProtocolVersion() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}

func (p *peer) clientLimits() tools.ClientLimits {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limits
}

// asks reports whether the client can ask its user a question.
func (p *peer) asks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return asks(&p.capabilities)
}

// hasRoots reports whether the client can name its folders.
func (p *peer) hasRoots() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.capabilities.Roots != nil
}

// asks reports whether a client can show a form; without a list of modes it can.
func asks(c *mcp.ClientCapabilities) bool {
	e := c.Elicitation
	return e != nil && (e.Form != nil || e.URL == nil)
}
