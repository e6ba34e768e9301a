package server

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/tools"
)

// clients holds, by the beginning of clientInfo.name in lower case, the bound on what each
// client passes on to its model of one answer. Other clients have the token limit only.
var clients = []struct {
	name   string
	limits tools.ClientLimits
}{
	{"codex", tools.ClientLimits{Tokens: 10_000}},                          // cuts the middle out
	{"gemini-cli", tools.ClientLimits{Chars: 40_000}},                      // named gemini-cli-mcp-client, also with the server's name behind
	{"claude-code", tools.ClientLimits{Chars: 200_000}},                    // as maxResultSizeChars asks for
	{"claude-ai", tools.ClientLimits{Chars: 1_048_576, Answer: 1_048_576}}, // Claude Desktop; base64 counts
}

// limitsOf returns a client's bounds, corrected by the settings.
func (s *Server) limitsOf(client string) tools.ClientLimits {
	limits := limitsOf(client)
	limits.Name = client
	if s.opts.Limits != nil {
		limits = s.opts.Limits(client, limits)
	}
	return limits
}

// limitsOf finds a client in the table. An entry matches if the name is equal, or goes on
// with something that is no letter.
func limitsOf(client string) tools.ClientLimits {
	client = strings.ReplaceAll(strings.ToLower(client), " ", "-")
	for _, c := range clients {
		rest, ok := strings.CutPrefix(client, c.name)
		if ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z') {
			return c.limits
		}
	}
	return tools.ClientLimits{}
}
