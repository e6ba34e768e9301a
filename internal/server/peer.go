package server

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// peer holds what a client said about itself in its handshake.
type peer struct {
	capabilities mcp.ClientCapabilities
	version      string // the revision that initialize agreed on, or ""
	limits       toolcall.ClientLimits
}

// asks reports whether the client can ask its user a question.
func (p *peer) asks() bool { return asks(&p.capabilities) }

// hasRoots reports whether the client can name its folders.
func (p *peer) hasRoots() bool { return p.capabilities.Roots != nil }

// asks reports whether a client can show a form; without a list of modes it can.
func asks(c *mcp.ClientCapabilities) bool {
	e := c.Elicitation
	return e != nil && (e.Form != nil || e.URL == nil)
}
