package server

import (
	"sync"

	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/mark3labs/mcp-go/mcp"
)

// peer holds what a client said about itself in its handshake.
type peer struct {
	limited func(client string) toolcall.ClientLimits

	mu           sync.Mutex
	capabilities mcp.ClientCapabilities
	version      string
	limits       toolcall.ClientLimits
}

func newPeer(limited func(client string) toolcall.ClientLimits) *peer { return &peer{limited: limited} }

// setInfo stores the client's bounds on an answer.
func (p *peer) setInfo(info mcp.Implementation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits = p.limited(info.Name)
}

// setCapabilities stores what the client can do.
func (p *peer) setCapabilities(c mcp.ClientCapabilities) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.capabilities = c
}

// setVersion stores the revision that initialize agreed on.
func (p *peer) setVersion(version string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = version
}

// protocolVersion returns the revision that initialize agreed on, or "".
func (p *peer) protocolVersion() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}

func (p *peer) clientLimits() toolcall.ClientLimits {
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
