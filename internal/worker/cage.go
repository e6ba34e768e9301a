package worker

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/worker/sandbox"
)

// Cage starts workers in a sandbox that begins before they do, unlike that of
// sandbox.Enter. A worker in it can store nothing, so its pool's first job is done once out
// of it, by a worker that gets no body.
type Cage struct {
	// Program takes -p, a profile of macOS, a program and its arguments.
	Program string
	// Reads are folders that a worker may read.
	Reads []string

	mu    sync.Mutex
	holds map[string]bool // by program, as it was found out
}

// cageTimeout bounds the time in which a program says what is enforced on it.
const cageTimeout = 5 * time.Second

// SystemCage returns the cage of this system, and nil if it has none: only macOS has.
func SystemCage(reads ...string) *Cage {
	if runtime.GOOS != "darwin" {
		return nil
	}
	reads = slices.DeleteFunc(reads, func(dir string) bool { return dir == "" })
	return &Cage{Program: "/usr/bin/sandbox-exec", Reads: reads}
}

// command returns the command that starts a program in the cage. inside is false, and the
// command is unchanged, if there is no cage, or if the program does not say, started in
// it, that it holds.
func (c *Cage) command(path string, argv, env []string) (program string, args []string, inside bool) {
	if c == nil || len(argv) == 0 || !c.holdsFor(path, env) {
		return path, argv, false
	}
	return c.Program, append([]string{c.Program}, c.arguments(path, argv[1:])...), true
}

// arguments returns the arguments of the cage's program; nil: a name cannot be said.
func (c *Cage) arguments(path string, args []string) []string {
	var reads []string
	for _, dir := range append([]string{path}, c.Reads...) { // a profile means no links
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		reads = append(reads, dir)
	}
	profile := sandbox.Profile(reads[0], reads[1:])
	if profile == "" {
		return nil
	}
	return append([]string{"-p", profile, reads[0]}, args...)
}

// holdsFor reports whether the cage holds, by the program's own attempts, once for each
// program.
func (c *Cage) holdsFor(path string, env []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	held, known := c.holds[path]
	if !known {
		held = c.try(path, env)
		if c.holds == nil {
			c.holds = make(map[string]bool)
		}
		c.holds[path] = held
	}
	return held
}

func (c *Cage) try(path string, env []string) bool {
	args := c.arguments(path, []string{"media-worker", SandboxWord})
	if args == nil {
		return false
	}
	var s sandbox.State
	return json.Unmarshal([]byte(Ask(c.Program, args, env, cageTimeout)), &s) == nil && s.Files
}
