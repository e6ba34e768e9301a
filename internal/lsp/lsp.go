package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// LanguageServer is one language server that may be used.
type LanguageServer struct {
	// Name is the server's name in answers and settings.
	Name string
	// Command is its program and the arguments. Options.Find looks for the program.
	Command []string
	// Languages maps a file extension with its dot to the languageId of the protocol.
	Languages map[string]string
	// RootMarkers are the names of files or folders that mark the root of a project. A
	// server without markers has the workspace folder as its root.
	RootMarkers []string
	// Settings are sent as initializationOptions, and answer workspace/configuration for
	// any section. They are JSON; nil sends none.
	Settings json.RawMessage
}

// Options are the parts of a Client. All are required.
type Options struct {
	// Servers returns the servers that may be used now. It is asked at each change, and must
	// cost nothing if there are none.
	Servers func() []LanguageServer
	// Folders returns the workspace folders, by names without links.
	Folders func() []string
	// Readable reports whether the caller may read a file without a question.
	Readable func(name string) bool
	// Read returns the bytes of a regular file of at most so many bytes for which Readable is
	// true. It never blocks.
	Read func(name string, most int64) ([]byte, error)
	// Find returns the absolute name of a server's program and the environment it gets, just
	// before it starts. A server whose program is not found is not used.
	Find func(s LanguageServer) (program string, env []string, err error)
	// Ended notes why a run of a server ended. What servers write to their standard error
	// goes nowhere: it may hold text of files.
	Ended func(server, root, why string)
}

// MaxFile is the size in bytes up to which servers are told of a file.
const MaxFile = 1 << 20

// Bounds of a Client.
const (
	maxProcesses = 4
	maxOpen      = 32       // open documents of one server
	maxOpenBytes = 16 << 20 // of their texts
	maxRestarts  = 3
	closeTimeout = 300 * time.Millisecond // for a server to end by itself
	killTimeout  = 500 * time.Millisecond // for a killed one
)

// timing holds the bounds in time, which tests change.
type timing struct {
	wait time.Duration // of a change for its problems
	// start bounds the answer to initialize, settle the diagnostics of a text. A server that
	// sends nothing for settle is hung.
	start, settle time.Duration
	// load bounds the wait for the first diagnostics of a server that says it is at work.
	load time.Duration
	// quiet is the time without further diagnostics after those of the version sent;
	// unversioned if the server names no versions; first after the start; silent for a
	// server that sends diagnostics only if they differ.
	quiet, unversioned, first, silent time.Duration
	// work is the time for further diagnostics of a server that says it is still at work.
	work time.Duration
	// again is the time after which a program that was not found is looked for again.
	again time.Duration
}

// usualTiming has a wait just below 1.5 s: on a busy machine it ends later than that.
var usualTiming = timing{
	wait: 1450 * time.Millisecond, start: time.Minute, settle: 20 * time.Second, load: 5 * time.Minute,
	quiet: 100 * time.Millisecond, unversioned: 300 * time.Millisecond, first: 500 * time.Millisecond, silent: 500 * time.Millisecond,
	work: 400 * time.Millisecond, again: time.Minute,
}

// Client tells language servers of changes. It is safe for concurrent use.
type Client struct {
	// Notify has the next answer end with a notice; nil drops it. It is set before the first
	// change.
	Notify func(notices ...string)

	o     Options
	t     timing
	start func(*exec.Cmd) (*program, error) // a field for tests, as is t

	mu        sync.Mutex
	processes map[projectKey]*process // nil after Close
	changing  map[string]int          // calls that are changing a file, by its path
	uses      int                     // counts changes
	runs      sync.WaitGroup          // of all servers, also of those that were asked to stop
}

// projectKey names the one process of a server in a root.
type projectKey struct{ server, root string }

// New returns a Client. It starts nothing and touches no file.
func New(o Options) *Client {
	return &Client{o: o, t: usualTiming, start: startProgram, processes: make(map[projectKey]*process), changing: make(map[string]int)}
}

// FileChange is one change of a file that was made.
type FileChange struct {
	Path string // resolved
	// Old are the bytes before; nil for a new file.
	Old, Now []byte
	// Followed is closed when another call on the same file waits: it ends the wait. nil: none
	// is known.
	Followed <-chan struct{}
}

// Begin notes that a call is changing a file, until end is called, after Changed: the bytes
// on the disk meanwhile are no change of another program.
func (c *Client) Begin(path string) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.processes) == 0 {
		return func() {}
	}
	c.changing[path]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.changing[path]--; c.changing[path] == 0 {
			delete(c.changing, path)
		}
	}
}

// Wants reports whether a server is to be told of changes of a file, by its name alone. It
// ends servers that may not be used any longer as they were started.
func (c *Client) Wants(path string) bool {
	servers := c.o.Servers()
	c.retire(servers)
	return slices.ContainsFunc(servers, func(s LanguageServer) bool { return s.language(path) != "" })
}

// Renamed has the servers look at once at what a call has done to files and folders: moved, copied
// or removed them. It waits for nothing. Servers that are not running are not started.
func (c *Client) Renamed(paths []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.processes {
		if p.run != nil && slices.ContainsFunc(paths, func(path string) bool { return fsys.Within(p.root, path) }) {
			p.run.look = true
			p.run.wake()
		}
	}
}

// retire ends the processes of all servers but these.
func (c *Client) retire(servers []LanguageServer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, p := range c.processes {
		if !slices.ContainsFunc(servers, func(s LanguageServer) bool { return reflect.DeepEqual(s, p.server) }) {
			c.end(key)
		}
	}
}

// end ends a process without waiting for it. The caller holds the lock.
func (c *Client) end(key projectKey) {
	if p := c.processes[key]; p.run != nil {
		p.run.end(errStopped)
	}
	delete(c.processes, key)
}

// language returns the languageId of a file; "" for one that the server is not for.
func (s LanguageServer) language(path string) string {
	return s.Languages[strings.ToLower(filepath.Ext(path))]
}

// isSource reports whether changes of a file with such a name may matter to the server.
func (s LanguageServer) isSource(name string) bool {
	return s.language(name) != "" || slices.Contains(s.RootMarkers, name)
}

// Changed tells the servers of a file of a change. It returns once they have reported on it,
// at the latest after the wait of a change, and at once if a server is still starting or has
// not caught up with an earlier change. The problems are in the next Report.
func (c *Client) Changed(ctx context.Context, change FileChange) {
	began := time.Now()
	var all []<-chan struct{}
	for _, s := range c.o.Servers() {
		if root := c.root(s, change.Path); root != "" && c.o.Readable(change.Path) {
			if settled := c.deliver(s, root, change); settled != nil {
				all = append(all, settled)
			}
		}
	}
	for _, settled := range all {
		select {
		case <-settled:
		case <-change.Followed:
			return
		case <-ctx.Done():
			return
		case <-time.After(c.t.wait - time.Since(began)):
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, p := range c.processes {
				p.late = p.late || slices.Contains(all, p.settled)
			}
			return
		}
	}
}

// root returns the root of a server for a file: the nearest folder above it that holds a root
// marker, inside the outermost workspace folder that holds the file. It is "" for a file that
// the server is not for.
func (c *Client) root(s LanguageServer, path string) string {
	if s.language(path) == "" {
		return ""
	}
	top := ""
	for _, folder := range c.o.Folders() {
		if fsys.Within(folder, path) && (top == "" || len(folder) < len(top)) {
			top = folder
		}
	}
	if top == "" || len(s.RootMarkers) == 0 {
		return top
	}
	for dir, below := filepath.Dir(path), path; dir != below && fsys.Within(top, dir); dir, below = filepath.Dir(dir), dir {
		if slices.ContainsFunc(s.RootMarkers, func(marker string) bool { return fsys.Exists(filepath.Join(dir, marker)) }) {
			return dir
		}
	}
	return ""
}

// deliver gives a change to the process of a server in a root, which is started if it is not
// running. The channel is closed once the server has reported on it; it is nil if no wait for
// that is worth while.
func (c *Client) deliver(s LanguageServer, root string, change FileChange) (settled <-chan struct{}) {
	old, now := asText(change.Old), asText(change.Now)
	if old == nil || now == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.processes == nil {
		return nil
	}
	key := projectKey{s.Name, root}
	p := c.processes[key]
	if p == nil {
		c.evict()
		p = &process{client: c, server: s, root: root, files: make(map[string]*file), settled: make(chan struct{})}
		c.processes[key] = p
	}
	c.uses++
	p.used = c.uses
	if p.run == nil && !p.start() {
		return nil
	}
	f := p.file(change.Path)
	f.deliver(old, now, change.Old == nil)
	f.used = p.used
	p.files[f.path] = f
	p.behind = true
	p.run.wake()
	if !p.run.warm || p.late {
		return nil // it is starting, or behind
	}
	return p.settled
}

// evict makes room for one more process: the one that was used least recently ends.
func (c *Client) evict() {
	running := slices.DeleteFunc(slices.Collect(maps.Values(c.processes)), func(p *process) bool { return p.run == nil })
	if len(running) >= maxProcesses {
		oldest := slices.MinFunc(running, func(a, b *process) int { return cmp.Compare(a.used, b.used) })
		c.end(projectKey{oldest.server.Name, oldest.root})
	}
}

// Close ends all servers: it asks them to shut down, and kills those that do not. It
// returns within a second. It may be called at any time and more than once.
func (c *Client) Close() {
	c.mu.Lock()
	for key := range c.processes {
		c.end(key)
	}
	c.processes = nil
	c.mu.Unlock()
	over := make(chan struct{})
	go func() {
		c.runs.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(closeTimeout + killTimeout):
	}
}
