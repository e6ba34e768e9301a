// Package clients enters fsmcp into the configuration of MCP clients: where each client
// keeps its file, in which format and under which keys, and its own command.
//
// It promises that a merge changes its own entry alone: every other byte of the file
// stays, comments, key order, number spelling, indentation, line endings and a byte order
// mark included; what cannot be merged without loss is refused, with the line. The table
// and the merge are pure; only Write touches the disk, and only through internal/save.
//
// It does not start a client, does not read the environment, and enters nothing into TOML
// or YAML: those clients have commands of their own, or none.
package clients

import (
	"slices"
	"strings"
)

// serverName is the name of fsmcp's entry in every client.
const serverName = "fsmcp"

// Format is the format of a client's file.
type Format string

// The formats. JSONC is JSON with comments.
const (
	JSON  Format = "json"
	JSONC Format = "jsonc"
	TOML  Format = "toml"
	YAML  Format = "yaml"
)

// KnownClient is one row of the table.
type KnownClient struct {
	Name   string // as on the command line
	Title  string // as people call it
	Format Format
	Notes  []string // what to know or to do next, whole sentences
	// Variables says that the client replaces variables such as ${workspaceFolder} in an
	// entry. (VS Code: docs/copilot/reference/mcp-configuration.md; Cursor: documentation,
	// "Model Context Protocol", "Config interpolation".)
	Variables bool

	commas  bool     // the client's parser takes trailing commas
	keys    []string // the path of keys to the object of servers
	typed   bool     // an entry says "type": "stdio"
	joined  bool     // an entry says "type": "local", and "command" holds the arguments, too
	project string   // a file of the same shape in the project, "" if there is none
	withC   bool     // a file of the same name with a c at its end is read after the file, and wins
	private string   // a file of Claude Code beside its settings
	// searchless: the client has no shell and no search of its own, so that its entry offers
	// Glob and Grep, too.
	searchless bool
	linux      place
	darwin     place
	windows    place
	packaged   packaged              // the file of the client as a package of Windows
	command    func(Launch) []string // nil: the client has no command
}

// Mergeable reports whether the client has a file that Merge understands.
func (c KnownClient) Mergeable() bool {
	return c.linux.base != noBase && (c.Format == JSON || c.Format == JSONC)
}

// Command returns the client's own command that enters the server; nil: it has none.
func (c KnownClient) Command(s Launch) []string {
	if c.command == nil {
		return nil
	}
	return c.command(s)
}

// All returns the table.
func All() []KnownClient { return slices.Clone(table) }

// Names lists the clients' names in the order of the table.
func Names() (names []string) {
	for _, c := range table {
		names = append(names, c.Name)
	}
	return names
}

// Find returns the client of that name.
func Find(name string) (KnownClient, bool) {
	i := slices.IndexFunc(table, func(c KnownClient) bool { return c.Name == name })
	if i < 0 {
		return KnownClient{}, false
	}
	return table[i], true
}

// add returns a command function: words, then the server's program and arguments.
func add(words ...string) func(Launch) []string {
	return func(s Launch) []string { return append(slices.Clone(words), s.line()...) }
}

// addMCP returns the command function of VS Code's program.
func addMCP(program string) func(Launch) []string {
	return func(s Launch) []string {
		return []string{program, "--add-mcp", inline(object(append([]member{{"name", text(serverName)}}, KnownClient{typed: true}.entry(s, nil)...)), false)}
	}
}

var table = []KnownClient{
	{
		// File and shape: modelcontextprotocol/modelcontextprotocol,
		// docs/docs/develop/connect-local-servers.mdx (macOS and Windows). Linux has had a
		// beta since 2026-06-30; its folder is that of aaddrick/claude-desktop-debian,
		// README.md, which repackages the official program. Not confirmed by the maker's own
		// documents: the folder on Linux, and that comments are no JSON to it. It has no tool
		// of its own that looks at files, unless its user adds one.
		searchless: true,
		Name:       "claude-desktop", Title: "Claude Desktop", Format: JSON, keys: []string{"mcpServers"},
		linux:   place{configDir, "Claude/claude_desktop_config.json"},
		darwin:  place{homeDir, "Library/Application Support/Claude/claude_desktop_config.json"},
		windows: place{appData, "Claude/claude_desktop_config.json"},
		// Since February 2026 the maker's installer and the Microsoft Store install a package,
		// which reads the file below its own folder alone: anthropics/claude-code, issues 25579,
		// 26073 and 57998 (package Claude_pzs8sxrjxfjjc).
		packaged: packaged{"Claude_", "LocalCache/Roaming/Claude/claude_desktop_config.json"},
		Notes:    []string{"Quit Claude Desktop and start it again: it reads the file when it starts."},
	},
	{
		// File, shape and command: Claude Code documentation, "Connect Claude Code to tools
		// via MCP" (mcp.md): the project's .mcp.json is shared and has to be approved;
		// "claude mcp add" without --scope is private to the user and this project. Tools:
		// "Configure permissions" (permissions.md): a rule in deny that is a bare tool name
		// takes the tool out of the model's sight; anthropics/claude-code, issue 62608:
		// --disallowedTools does, too, where --allowedTools does not. fsmcp reads the same
		// settings files, and takes a bare tool name there for the built-in tool. Tried with
		// Claude Code 2.1.197: "mcp list" says Connected of the command's entry and "pending
		// approval" of the file's; it reads a byte order mark and no comments; its session
		// lists mcp__fsmcp__Read and no Read with either way.
		Name: "claude-code", Title: "Claude Code", Format: JSON, keys: []string{"mcpServers"},
		linux: place{projectDir, ".mcp.json"}, darwin: place{projectDir, ".mcp.json"}, windows: place{projectDir, ".mcp.json"},
		// The command writes ~/.claude.json, at its top or below "projects" and the folder;
		// with CLAUDE_CONFIG_DIR the file is there (the same page, "MCP installation scopes").
		private: ".claude.json",
		command: add("claude", "mcp", "add", serverName, "--"),
		Notes: []string{
			"The file is the project's, is shared with it, and has to be approved at the next start; the command keeps the server to yourself.",
			`In place of the built-in file tools, for good: {"permissions": {"deny": ["Read", "Write", "Edit", "NotebookEdit"]}} in .claude/settings.local.json.`,
			"The same for one session: claude --disallowedTools Read,Write,Edit,NotebookEdit",
		},
	},
	{
		// Shape: microsoft/vscode-docs, docs/copilot/reference/mcp-configuration.md. Folder of
		// the user profile: docs/configure/settings.md there ("settings.json" of the user),
		// with mcp.json beside it. Command: microsoft/vscode,
		// src/vs/platform/environment/node/argv.ts ("add-mcp"). That its parser takes comments
		// and trailing commas is inferred from its other files, and is not documented.
		Name: "vscode", Title: "VS Code", Format: JSONC, Variables: true, commas: true, keys: []string{"servers"}, typed: true,
		linux:   place{configDir, "Code/User/mcp.json"},
		darwin:  place{homeDir, "Library/Application Support/Code/User/mcp.json"},
		windows: place{appData, "Code/User/mcp.json"},
		project: ".vscode/mcp.json",
		command: addMCP("code"),
		Notes:   []string{"For one project alone, the same text can be in its .vscode/mcp.json."},
	},
	{
		// As VS Code, in a folder of its own: microsoft/vscode-docs, docs/configure/settings.md
		// ("Code - Insiders"), and the program of that installation.
		Name: "vscode-insiders", Title: "VS Code Insiders", Format: JSONC, Variables: true, commas: true, keys: []string{"servers"}, typed: true,
		linux:   place{configDir, "Code - Insiders/User/mcp.json"},
		darwin:  place{homeDir, "Library/Application Support/Code - Insiders/User/mcp.json"},
		windows: place{appData, "Code - Insiders/User/mcp.json"},
		project: ".vscode/mcp.json",
		command: addMCP("code-insiders"),
		Notes:   []string{"For one project alone, the same text can be in its .vscode/mcp.json."},
	},
	{
		// File and shape: Cursor documentation, "Model Context Protocol", as cited by
		// confluentinc/mcp-confluent, docs/configuring-cursor.md; ~/.cursor on every system.
		// Not confirmed: that its parser takes comments. Existing ones are kept.
		Name: "cursor", Title: "Cursor", Format: JSONC, Variables: true, commas: true, keys: []string{"mcpServers"},
		linux: place{homeDir, ".cursor/mcp.json"}, darwin: place{homeDir, ".cursor/mcp.json"}, windows: place{homeDir, ".cursor/mcp.json"},
		project: ".cursor/mcp.json",
		Notes:   []string{"For one project alone, the same text can be in its .cursor/mcp.json."},
	},
	{
		// Shape: Zed documentation, "Model Context Protocol" (zed-industries/zed,
		// docs/src/ai/mcp.md); an older one had "source": "custom", and is kept where it is
		// there. Comments: docs/src/configuring-zed.md. Folders: crates/paths/src/paths.rs. Not
		// documented: trailing commas, which Zed's own default settings have.
		Name: "zed", Title: "Zed", Format: JSONC, commas: true, keys: []string{"context_servers"},
		linux:   place{configDir, "zed/settings.json"},
		darwin:  place{homeDir, ".config/zed/settings.json"},
		windows: place{appData, "Zed/settings.json"},
	},
	{
		// File and command: openai/codex, docs/config.md ($CODEX_HOME, else ~/.codex) and
		// codex-rs/cli/src/mcp_cmd.rs (add NAME -- COMMAND). Tried with Codex 0.169.0: the
		// command writes this very text, and "mcp list" shows the server from either.
		Name: "codex", Title: "Codex", Format: TOML, keys: []string{"mcp_servers"},
		linux: place{codexHome, "config.toml"}, darwin: place{codexHome, "config.toml"}, windows: place{codexHome, "config.toml"},
		command: add("codex", "mcp", "add", serverName, "--"),
	},
	{
		// File, shape and command: google-gemini/gemini-cli, docs/tools/mcp-server.md,
		// packages/cli/src/commands/mcp/add.ts (the default scope is the project) and
		// packages/core/src/utils/paths.ts (GEMINI_CLI_HOME). Comments but no trailing commas:
		// packages/cli/src/config/settings.ts strips comments, then parses strictly. Trusted
		// folders: packages/cli/src/commands/mcp/list.ts. Tried with Gemini CLI 0.61.0: the
		// command writes this very text; a file with comments is read, one with a trailing
		// comma or a byte order mark is an error to it.
		Name: "gemini", Title: "Gemini CLI", Format: JSONC, keys: []string{"mcpServers"},
		linux: place{geminiHome, ".gemini/settings.json"}, darwin: place{geminiHome, ".gemini/settings.json"}, windows: place{geminiHome, ".gemini/settings.json"},
		project: ".gemini/settings.json",
		command: add("gemini", "mcp", "add", "--scope", "user", serverName),
		Notes: []string{
			"Gemini CLI starts the server in folders that you trust, and lists it as disabled in others.",
			"For one project alone, the same text can be in its .gemini/settings.json.",
		},
	},
	{
		// File and shape: anomalyco/opencode, packages/web/src/content/docs/config.mdx and
		// mcp-servers.mdx; its folder follows XDG on every system (xdg-basedir), and its parser
		// is told to take trailing commas. It merges config.json, opencode.json and
		// opencode.jsonc in this order (packages/opencode/src/config/config.ts). 1.18.33 starts fsmcp by this entry (make clients). Its
		// own command asks questions.
		Name: "opencode", Title: "opencode", Format: JSONC, commas: true, keys: []string{"mcp"}, joined: true,
		linux:   place{configDir, "opencode/opencode.json"},
		darwin:  place{homeDir, ".config/opencode/opencode.json"},
		windows: place{homeDir, ".config/opencode/opencode.json"},
		project: "opencode.json", withC: true,
		Notes: []string{"For one project alone, the same text can be in its opencode.json."},
	},
	{
		// File and shape: Windsurf documentation, "Cascade MCP Integration"
		// (windsurf/cascade/mcp), which has no word of comments: taken for plain JSON.
		Name: "windsurf", Title: "Windsurf", Format: JSON, keys: []string{"mcpServers"},
		linux: place{homeDir, ".codeium/windsurf/mcp_config.json"}, darwin: place{homeDir, ".codeium/windsurf/mcp_config.json"}, windows: place{homeDir, ".codeium/windsurf/mcp_config.json"},
		Notes: []string{"Press the refresh button in Cascade's list of MCP servers."},
	},
	{
		// Shape and way: JetBrains AI Assistant documentation, "Model Context Protocol (MCP)"
		// (help/ai-assistant/mcp.html): the text is pasted in a dialog. Where the IDE keeps it
		// is not documented.
		Name: "jetbrains", Title: "JetBrains AI Assistant", Format: JSON, keys: []string{"mcpServers"},
		Notes: []string{"Paste it in the IDE: Settings, Tools, AI Assistant, Model Context Protocol (MCP), Add, As JSON."},
	},
	{
		// File and shape: block/goose, documentation/docs/guides/config-files.md. Command: goose
		// documentation, "Extensions" (goose session --with-extension), which is for one session;
		// there is none that adds an extension for good without asking.
		Name: "goose", Title: "goose", Format: YAML, keys: []string{"extensions"},
		linux:   place{configDir, "goose/config.yaml"},
		darwin:  place{configDir, "goose/config.yaml"},
		windows: place{appData, "Block/goose/config/config.yaml"},
		command: func(s Launch) []string {
			return []string{"goose", "session", "--with-extension", Shell("linux", s.line())}
		},
		Notes: []string{"The command is for one session; goose configure adds an extension for good."},
	},
	{
		// The shape that most clients share: modelcontextprotocol/modelcontextprotocol,
		// docs/docs/develop/connect-local-servers.mdx. The file is that of Claude Code and, by
		// the VS Code documentation (agents/reference/mcp-configuration), of Copilot, too.
		Name: "mcp-json", Title: "any client that reads mcpServers", Format: JSON, keys: []string{"mcpServers"},
		linux: place{projectDir, ".mcp.json"}, darwin: place{projectDir, ".mcp.json"}, windows: place{projectDir, ".mcp.json"},
	},
}

// base is a folder that a client's file lies below.
type base int

const (
	noBase     base = iota // the client has no file
	homeDir                // the user's home
	configDir              // XDG_CONFIG_HOME, else .config in the home
	appData                // APPDATA, else AppData\Roaming in the home
	codexHome              // CODEX_HOME, else .codex in the home
	geminiHome             // GEMINI_CLI_HOME, else the home
	projectDir             // the first folder that is served
)

// place is where a file lies: a base, and the way from there with slashes.
type place struct {
	base base
	path string
}

// packaged is the place of the file of a client that Windows has installed as a package: the
// folder %LOCALAPPDATA%\Packages\PREFIX*, and the path from there, with slashes.
type packaged struct{ prefix, path string }

// UserFolders holds what the places of files depend on. Absolute folders, or empty.
type UserFolders struct {
	OS         string // as runtime.GOOS
	Home       string
	ConfigHome string // XDG_CONFIG_HOME
	AppData    string // APPDATA
	LocalData  string // LOCALAPPDATA
	CodexHome  string // CODEX_HOME
	GeminiHome string // GEMINI_CLI_HOME
	ClaudeHome string // CLAUDE_CONFIG_DIR
	// Exists reports whether there is a file of that name; nil: there is none.
	Exists func(name string) bool
	// Entries returns the names of what a folder holds; nil: folders are empty.
	Entries func(folder string) []string
}

func (c KnownClient) place(os string) place {
	switch os {
	case "windows":
		return c.windows
	case "darwin":
		return c.darwin
	}
	return c.linux
}

// File returns the absolute name of the client's file, and "" if it has none or the
// folder is unknown. dir is the first folder that is served.
func (c KnownClient) File(s UserFolders, dir string) string {
	name := c.file(s, dir)
	if c.withC && s.Exists != nil && s.Exists(name+"c") {
		return name + "c"
	}
	return name
}

// packageFile returns the file of a client that Windows has installed as a package, and ""
// without a package. Of several packages the first one with a file counts.
func (c KnownClient) packageFile(s UserFolders) (file string) {
	if c.packaged.prefix == "" || s.OS != "windows" || s.Entries == nil {
		return ""
	}
	packages := s.join(s.or(s.LocalData, "AppData/Local"), "Packages")
	for _, name := range s.Entries(packages) {
		if !strings.HasPrefix(name, c.packaged.prefix) {
			continue
		}
		at := s.join(packages, name+"/"+c.packaged.path)
		if s.Exists != nil && s.Exists(at) {
			return at
		}
		if file == "" {
			file = at
		}
	}
	return file
}

// file returns the name that File returns if there is no file yet.
func (c KnownClient) file(s UserFolders, dir string) string {
	if file := c.packageFile(s); file != "" {
		return file
	}
	return c.plainFile(s, dir)
}

// plainFile returns the file of a client that is not installed as a package.
func (c KnownClient) plainFile(s UserFolders, dir string) string {
	p := c.place(s.OS)
	switch p.base {
	case homeDir:
		return s.join(s.Home, p.path)
	case configDir:
		return s.join(s.or(s.ConfigHome, ".config"), p.path)
	case appData:
		return s.join(s.or(s.AppData, "AppData/Roaming"), p.path)
	case codexHome:
		return s.join(s.or(s.CodexHome, ".codex"), p.path)
	case geminiHome:
		return s.join(s.or(s.GeminiHome, ""), p.path)
	case projectDir:
		return s.join(dir, p.path)
	}
	return ""
}

// or returns a folder, or another in the home if it is empty.
func (s UserFolders) or(folder, inHome string) string {
	if folder != "" || s.Home == "" {
		return folder
	}
	return s.join(s.Home, inHome)
}

// join is filepath.Join for the system of s, whatever this program was built for.
func (s UserFolders) join(folder, path string) string {
	if folder == "" || path == "" {
		return folder
	}
	separator := s.separator()
	return strings.TrimRight(folder, separator) + separator + strings.ReplaceAll(path, "/", separator)
}

func (s UserFolders) separator() string {
	if s.OS == "windows" {
		return `\`
	}
	return "/"
}
