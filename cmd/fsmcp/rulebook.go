package main

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/config"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// rulebook holds what follows from the settings and the workspace as they are
// now. An edition is made as a whole and never changed: who has asked for one
// part of it may get the next one of another edition, but none that is mixed.
type rulebook struct {
	log zerolog.Logger

	now      atomic.Pointer[edition]
	changing sync.Mutex // held from reading an edition to putting the next in its place
}

type edition struct {
	config config.Config
	policy *perm.Policy
	lexer  fsys.Lexer
}

func newRulebook(cfg config.Config, log zerolog.Logger) *rulebook {
	b := &rulebook{log: log}
	b.print(cfg)
	return b
}

// policy is the decision as the rules are now.
func (b *rulebook) policy() *perm.Policy { return b.now.Load().policy }

// lexer reads relative names from the workspace as it is now.
func (b *rulebook) lexer() fsys.Lexer { return b.now.Load().lexer }

// print makes the edition that follows from cfg.
func (b *rulebook) print(cfg config.Config) {
	policy, warnings := perm.Compile(permissions(cfg))
	for _, w := range warnings {
		b.log.Warn().Msg(w.String())
	}
	e := &edition{config: cfg, policy: policy, lexer: fsys.Lexer{OS: runtime.GOOS, Home: cfg.Home}}
	if len(cfg.Workspace) > 0 {
		e.lexer.Base = cfg.Workspace[0]
	}
	b.now.Store(e)
}

// follow makes the client's roots the workspace. Where none of them counts, it
// is as if there were none.
func (b *rulebook) follow(roots []string) {
	b.changing.Lock()
	defer b.changing.Unlock()
	old := b.now.Load().config
	next, warnings := old.WithRoots(roots)
	if len(next.Workspace) == 0 && len(roots) > 0 {
		b.log.Warn().Msg("none of the client's roots can be the workspace: / and the home directory count only when the command line names them")
		next, warnings = old.WithRoots(nil)
	}
	for _, w := range warnings {
		b.log.Warn().Msg(w)
	}
	b.print(next)
	b.log.Info().Strs("workspace", next.Workspace).Msg("the client has named its roots")
}
