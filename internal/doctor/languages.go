package doctor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/lsp/servers"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// versionDeadline bounds the time in which a language server's program says its version.
// Those that run on node take up to half a second.
const versionDeadline = 5 * time.Second

// languageServer is a language server that fsmcp knows or that the settings name, and the
// result of the look for it.
type languageServer struct {
	servers.KnownServer
	named   bool   // the settings name it
	path    string // of its program; "" if there is none that may run
	why     string // the reason then, as the rest of a sentence
	version string
	broken  bool   // the program does not say its version
	marker  string // a file in the workspace that marks a project for it; "" if there is none
}

// FindServer returns the absolute name of a language server's program and the environment
// that it gets, or why there is none.
type FindServer func(lsp.LanguageServer) (program string, env []string, err error)

// LanguageServers checks the language servers: those that are found, and those that are
// missing although the settings name them or a project in the workspace is one of theirs.
// It starts programs that it finds to ask them for their version, but none if the
// settings allow no server.
func LanguageServers(cfg settings.Config, find FindServer) (checks []Check) {
	if cfg.LSP.Off() {
		return []Check{serversOff(cfg, find)}
	}
	all := make([]languageServer, len(cfg.LSP.Allowed()))
	var asked sync.WaitGroup
	for i, s := range cfg.LSP.Allowed() {
		asked.Go(func() {
			all[i] = lookAtServer(s, find)
			all[i].named, all[i].marker = !cfg.LSP.Auto, markerIn(cfg.Workspace, s.RootMarkers)
		})
	}
	asked.Wait()
	for _, s := range all {
		if s.path != "" || s.named || s.marker != "" {
			checks = append(checks, s.check())
		}
	}
	if checks == nil {
		checks = append(checks, Check{Name: NameLanguages, Status: Skip, Detail: "on; none is found, and no file here marks a project of a language that fsmcp knows"})
	}
	return checks
}

// serversOff is the check if the settings allow no language server.
func serversOff(cfg settings.Config, find FindServer) Check {
	c := Check{Name: NameLanguages, Status: Skip, Detail: "off: no answer says what a change broke"}
	var found []string
	for _, s := range servers.Known() {
		if _, _, err := find(s.LanguageServer); err == nil {
			found = append(found, s.Name)
		}
	}
	if len(found) > 0 {
		c.Detail += "; found: " + strings.Join(found, ", ")
	}
	c.Remedy = fmt.Sprintf(`"lsp": "auto" in %s turns them on. They run code of the project: docs/language-servers.md.`, cfg.OwnFile())
	return c
}

// lookAtServer looks for a language server's program, and asks a known one for its version.
func lookAtServer(s lsp.LanguageServer, find FindServer) languageServer {
	of, _ := servers.ByName(s.Name)
	known := slices.Equal(s.Command, of.Command)
	of.LanguageServer = s
	l := languageServer{KnownServer: of}
	program, env, err := find(s)
	if err != nil {
		l.why = notFound(s.Command[0], err)
		return l
	}
	l.path = program
	if known && of.Version != nil {
		said := worker.Ask(program, of.Version, env, versionDeadline)
		l.version, _, _ = strings.Cut(said, "\n")
		l.broken = said == ""
	}
	return l
}

// notFound says why a program cannot be run.
func notFound(program string, err error) string {
	if barred := (*hooks.BarredError)(nil); errors.As(err, &barred) {
		return "it " + err.Error()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return program + " is not found"
	}
	if e := (*exec.Error)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Sprintf("%s cannot be run: %v", program, err)
}

func (s languageServer) check() Check {
	c := Check{Name: NameLanguages, Status: Skip, Detail: s.Name}
	if s.Language != "" {
		c.Detail += ", for " + s.Language
	}
	if s.marker != "" {
		c.Detail += " (" + s.marker + ")"
	}
	switch {
	case s.path == "":
		c.Detail += ": " + s.why
	case s.broken:
		c.Detail += fmt.Sprintf(": %s does not start", s.path)
	default:
		c.Status = OK
		c.Detail += ": " + s.path
		if s.version != "" {
			c.Detail += ", " + s.version
		}
		return c
	}
	if s.named {
		c.Status, c.Remedy = Warn, "Mend its command in the settings, or take it out there."
	}
	if s.Package != "" {
		c.Remedy = "To install it: " + s.Package
	}
	return c
}

// markerIn returns the first file in dirs, or in a folder of theirs, that has one of the
// names; "" if there is none.
func markerIn(dirs, names []string) string {
	for _, dir := range dirs {
		inside, _ := os.ReadDir(dir) // one that cannot be read holds none
		for _, name := range names {
			if file := filepath.Join(dir, name); fsys.Exists(file) {
				return file
			}
			for _, folder := range inside {
				if file := filepath.Join(dir, folder.Name(), name); fsys.Exists(file) {
					return file
				}
			}
		}
	}
	return ""
}
