package tools

// House holds what all sessions of one process share: the resolver, the
// decision, the save path, the limits.
type House struct{}

// Session is one conversation: what it was shown of which file.
type Session struct{}

// New builds a house. It touches no file.
func New() *House { return &House{} }

// NewSession starts a conversation that has been shown nothing.
func (h *House) NewSession() *Session { return &Session{} }

// Tools lists the published tools in their fixed order.
func (h *House) Tools() []Tool { return nil }
