package server

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// lasting lists the clients whose name of a conversation stays the same over a restart, by the
// beginning of clientInfo.name as in answerLimits, and the member of a call's _meta that holds
// it. Each fact has its source. A name that another client sends parts the memory of the
// server, and is not known to be of one conversation alone: nothing is kept under it.
//
// Claude Code sends none, and names the conversation by a variable: see launched. Nothing that
// names a conversation is sent by Gemini CLI (tried with 0.61.0), opencode (1.18.33) and Zed
// (zed-industries/zed, crates/agent/src/tools/context_server_registry.rs: meta is None). Of
// Cursor, Windsurf, Claude Desktop and JetBrains nothing is known.
var lasting = []struct{ client, member string }{
	// openai/codex: the id of the thread, which exec resume and the app keep; a thread that is
	// forked, or of a subagent, has its own. Tried with 0.169.0.
	{"codex", "threadId"},
	// microsoft/vscode, src/vs/workbench/contrib/mcp/common/mcpServer.ts: the id of the chat,
	// which is stored with it.
	{"visual-studio-code", "vscode.conversationId"},
	// block/goose, crates/goose/src/agents/mcp_client.rs and session_context.rs: the id of the
	// session in its database.
	{"goose", "agent-session-id"},
}

// launched returns the conversation for which Claude Code has started the server, "" if none
// is known. Claude Code 2.1.330 sets CLAUDE_CODE_SESSION_ID for a server, to the id that it
// resumes by --resume ID, or when it starts the server again in the middle of a conversation;
// with --continue and --fork-session it is a new one. A server that goes on after /clear keeps
// the old id, as it keeps what it has in memory. Programs of its shell inherit the variable
// together with CLAUDE_CODE_CHILD_SESSION, which a server is not given: then the conversation
// is that of another client.
func launched(getenv func(string) string) string {
	if getenv == nil || getenv("CLAUDE_CODE_CHILD_SESSION") != "" {
		return ""
	}
	return getenv("CLAUDE_CODE_SESSION_ID")
}

// session returns the session of the conversation of a call, by the client of that name.
func (c *conn) session(meta *wire.CallMeta, client string) *toolcall.Session {
	if meta.Thread != nil {
		name, keep := meta.ThreadKey+" "+string(meta.Thread), ""
		for _, l := range lasting {
			if l.member == meta.ThreadKey && isClient(client, l.client) {
				keep = l.client + " " + name
			}
		}
		return c.sessions.of(name, keep)
	}
	if c.launched != "" && isClient(client, "claude-code") {
		name := "claude-code " + c.launched
		return c.sessions.of(name, name)
	}
	return c.sessions.of("", "")
}

// isClient reports whether the name that a client sends is that of a row: it is equal, or goes on
// with something that is no letter.
func isClient(sent, row string) bool {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(sent), " ", "-"), row)
	return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}
