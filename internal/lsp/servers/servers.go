// Package servers is the table of the language servers that fsmcp can start without being
// told how: their commands, the files they are for, the files that mark a project's root,
// and the package that brings each.
//
// It does not look for programs and starts none.
package servers

import (
	"slices"

	"github.com/fsmcp/fsmcp/internal/lsp"
)

// KnownServer is a known language server.
type KnownServer struct {
	lsp.LanguageServer
	// Language is the name of what it is for, in sentences.
	Language string
	// Version are the arguments with which the program says its version; nil: it cannot.
	Version []string
	// Package is the command that installs the server, in words for the user.
	Package string
}

// Known lists the known servers. Callers must not change what it returns.
func Known() []KnownServer {
	return []KnownServer{
		{
			LanguageServer: lsp.LanguageServer{
				Name: "gopls", Command: []string{"gopls"},
				Languages:   map[string]string{".go": "go", ".mod": "go.mod"},
				RootMarkers: []string{"go.work", "go.mod"},
				// Other packages are checked that long after a change; a second by default,
				// which an answer would wait for. It says when it has checked all.
				Settings: []byte(`{"diagnosticsDelay":"50ms","verboseWorkDoneProgress":true}`),
			},
			Version: []string{"version"}, Language: "Go", Package: "go install golang.org/x/tools/gopls@latest",
		},
		{
			LanguageServer: lsp.LanguageServer{
				Name: "typescript-language-server", Command: []string{"typescript-language-server", "--stdio"},
				Languages: map[string]string{
					".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
					".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
				},
				RootMarkers: []string{"tsconfig.json", "jsconfig.json", "package.json"},
			},
			// The server needs tsserver, which TypeScript 7 no longer has (source: its README).
			Version: []string{"--version"}, Language: "TypeScript and JavaScript", Package: "npm install -g typescript-language-server typescript@6",
		},
		{
			LanguageServer: lsp.LanguageServer{
				Name: "pyright", Command: []string{"pyright-langserver", "--stdio"},
				Languages:   map[string]string{".py": "python", ".pyi": "python"},
				RootMarkers: []string{"pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"},
			},
			Language: "Python", Package: "npm install -g pyright",
		},
		{
			LanguageServer: lsp.LanguageServer{
				Name: "rust-analyzer", Command: []string{"rust-analyzer"},
				Languages:   map[string]string{".rs": "rust"},
				RootMarkers: []string{"Cargo.toml", "rust-project.json"},
			},
			Version: []string{"--version"}, Language: "Rust", Package: "rustup component add rust-analyzer",
		},
		{
			// Without one of its root markers clangd does not know how files are compiled.
			LanguageServer: lsp.LanguageServer{
				Name: "clangd", Command: []string{"clangd"},
				Languages: map[string]string{
					".c": "c", ".h": "c", ".m": "objective-c", ".mm": "objective-cpp",
					".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
				},
				RootMarkers: []string{"compile_commands.json", "compile_flags.txt", ".clangd"},
			},
			Version: []string{"--version"}, Language: "C and C++", Package: "apt install clangd",
		},
	}
}

// ByName returns a known server by its name.
func ByName(name string) (s KnownServer, ok bool) {
	all := Known()
	i := slices.IndexFunc(all, func(s KnownServer) bool { return s.Name == name })
	if i < 0 {
		return s, false
	}
	return all[i], true
}
