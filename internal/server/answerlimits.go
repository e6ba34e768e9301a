package server

import "github.com/fsmcp/fsmcp/internal/toolcall"

// answerLimits holds what each client passes on to its model of one answer, by the beginning of
// clientInfo.name in lower case, with "-" for blanks. Each fact has its source: a
// repository and file, a document or an issue. What is not known has no bound here; a
// client without a row has the limits of settings alone.
//
// Without a row, because nothing is known that bounds an answer: Cursor (cursor-vscode) and
// Windsurf (windsurf-client), whose code is closed and whose documents name no number;
// JetBrains AI Assistant and Junie, likewise, and not even the name that they send is known;
// the MCP Inspector, which shows every block to its user and has no model.
var answerLimits = []struct {
	name   string
	limits toolcall.ClientLimits
}{
	{
		// codex-mcp-client: openai/codex, codex-rs/rmcp-client. Text: core/src/context_manager/
		// history.rs and utils/output-truncation cut the middle out; 10,000 tokens at four bytes
		// in models.json. Tried with 0.169.0: 48,000 bytes arrive, a fifth more; of models that
		// Codex does not know, 12,000. Earlier versions counted the text with JSON's escapes.
		// Pictures: protocol/src/models.rs hands all on in their place, uncounted (since PR
		// 5600 of October 2025); any other block as its JSON, a PDF as base64.
		"codex", toolcall.ClientLimits{Tokens: 10_000, Chars: 40_000, PagesOnly: true},
	},
	{
		// gemini-cli-mcp-client, also with the server's name behind: google-gemini/gemini-cli,
		// packages/core/src/tools/mcp-client.ts. Text: core/src/scheduler/tool-executor.ts cuts
		// an answer of one text block to 40,000 characters, others not at all; tried with
		// 0.61.0, which keeps the first 8,000 and the last 32,000. Pictures and PDFs:
		// tools/mcp-tool.ts passes all on; utils/generateContentResponseUtilities.ts joins the
		// texts and puts the rest behind.
		"gemini-cli", toolcall.ClientLimits{Chars: 40_000, PicturesLast: true},
	},
	{
		// Claude Code documentation, "Connect Claude Code to tools via MCP": text up to _meta
		// anthropic/maxResultSizeChars, which Read sets; beyond, and for tools without it above
		// 50,000 characters, a file and its name. Results with pictures count by
		// MAX_MCP_OUTPUT_TOKENS (25,000); how, is not said. Tried with 2.1.330: of an error's
		// text of 13,700 characters 10,000 arrive, without the middle; an embedded PDF becomes
		// the name of a file that it is saved in.
		"claude-code", toolcall.ClientLimits{Chars: 200_000, Errors: 10_000, PagesOnly: true},
	},
	{
		// Claude Desktop refuses a result of more than 1,048,576 characters, base64 included:
		// PrefectHQ/fastmcp, issue 1036 ("result exceeds maximum length of 1048576").
		"claude-ai", toolcall.ClientLimits{Chars: 1_048_576, Answer: 1_048_576},
	},
	{
		// VS Code sends its long name, "Visual Studio Code" or one that begins so: microsoft/vscode,
		// src/vs/workbench/contrib/mcp/common/mcpServerRequestHandler.ts. Text: microsoft/
		// vscode-copilot-chat, src/extension/prompts/node/panel/toolCalling.tsx puts a block
		// of more than chat.agent.largeToolResultsToDisk.thresholdBytes (8,192) in a file and
		// names it. Pictures: as long as the budget of bytes lasts, in their place. An embedded
		// PDF becomes a link: mcpLanguageModelToolContribution.ts.
		"visual-studio-code", toolcall.ClientLimits{Chars: 8192, PagesOnly: true},
	},
	{
		// anomalyco/opencode: packages/opencode/src/session joins the texts of an answer and
		// attaches pictures and embedded PDFs; src/tool/truncate.ts keeps the first 2,000 lines
		// or 50 KB of the text and puts all of it in a file. Tried with 1.18.33.
		"opencode", toolcall.ClientLimits{Chars: 50 << 10, Lines: 2000, PicturesLast: true},
	},
	{
		// zed-industries/zed, crates/agent/src/tools/context_server_registry.rs: text without
		// a bound; embedded resources are dropped; pictures since PR 57134 (May 2026), before
		// they were dropped, too. clientInfo.version is that of a crate and does not tell.
		"zed", toolcall.ClientLimits{PagesOnly: true},
	},
	{
		// block/goose: crates/goose/src/agents/mcp_client.rs (the name) and
		// large_response_handler.rs: a text block of more than 200,000 characters goes in a file;
		// pictures pass.
		"goose", toolcall.ClientLimits{Chars: 200_000},
	},
	// Cline 4.1 in VS Code, and its command line: cline/cline, apps/vscode/src/services/mcp/
	// McpHub.ts and sdk/packages/core/src/extensions/mcp/client.ts. An answer becomes one JSON
	// text, pictures and documents with it (session/persisted-tool-result-content.ts). Its
	// middle is cut, and 8,000 characters are kept (session/services/message-builder.ts); 1,000
	// of them are left to JSON's own signs. Tried with its command line 3.0.65.
	{"cline", cline},
	{"@cline", cline},
}

var cline = toolcall.ClientLimits{Chars: 7000, Pictures: toolcall.NoPictures, PagesOnly: true}

// limitsFor returns what a client passes on, corrected by the settings.
func (s *Server) limitsFor(client string) toolcall.ClientLimits {
	limits := knownLimits(client)
	limits.Name = client
	return s.opts.Limits(client, limits)
}

// knownLimits finds a client in the table.
func knownLimits(client string) toolcall.ClientLimits {
	for _, c := range answerLimits {
		if isClient(client, c.name) {
			return c.limits
		}
	}
	return toolcall.ClientLimits{}
}
