package app

import (
	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/settings"
)

// languageServers lists the language servers that may be started now.
func (b *currentSettings) languageServers() []lsp.Server { return b.snapshot.Load().lspServers }

// languageServer returns a function that finds a language server's program as that of a
// hook: never one that an agent could have written. The program's PATH leads to none, too.
func (b *currentSettings) languageServer(runner *hooks.Runner) func(lsp.Server) (program string, env []string, err error) {
	return func(s lsp.Server) (string, []string, error) {
		e := b.snapshot.Load()
		barred, dir := e.agentWritable(), e.workDir(nil)
		h := hooks.Hook{Command: expandHome(s.Command, e.config.Home), From: e.config.LSP.From}
		program, err := runner.Check(h, dir, barred)
		return program, runner.Environment(dir, barred), err
	}
}

// newLanguageClient returns the client of the language servers that may be started. It is told
// of no file that a Read would ask about.
func (b *currentSettings) newLanguageClient(files *access.Checker, runner *hooks.Runner) *lsp.Client {
	return lsp.New(lsp.Options{
		Servers:  b.languageServers,
		Folders:  b.workspaceDirs,
		Readable: files.Readable,
		Read:     files.ReadFile,
		Find:     b.languageServer(runner),
		Ended: func(server, root, why string) {
			b.log.Info().Str("server", server).Str("root", root).Str("why", why).Msg("language server ended")
		},
	})
}

// FindLanguageServer returns a function that finds a language server's program, as a session
// with these settings does.
func FindLanguageServer(cfg settings.Config) func(lsp.Server) (program string, env []string, err error) {
	return newCurrentSettings(cfg, zerolog.Nop()).languageServer(hooks.New(hooks.Options{}))
}
