package lsp

import (
	"context"
	"io"
	"time"
)

// Server is one language server that may be used.
type Server struct {
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
	Settings []byte
}

// Options are the parts of a Client. All are required that do not say what nil or zero means.
type Options struct {
	// Servers returns the servers that may be used now. It is asked at each change, and must
	// cost nothing where there are none.
	Servers func() []Server
	// Folders returns the workspace folders, by names without links.
	Folders func() []string
	// Readable reports whether the caller may read a file without a question.
	Readable func(name string) bool
	// Find returns the absolute name of a server's program and the environment it gets, just
	// before it starts. A server whose program is not found is not used.
	Find func(s Server) (program string, env []string, err error)
	// Start starts a program in a folder; nil starts a process.
	Start func(l Launch) (Process, error)
	// Wait bounds the wait of a change for its problems; 0 is 1.5 s.
	Wait time.Duration
	// Notify has the next answer end with a notice; nil drops it.
	Notify func(notices ...string)
	// Debug notes what a server did, or wrote to its standard error; nil drops it.
	Debug func(server, root, text string)
}

// Launch describes the process to start.
type Launch struct {
	Program string // absolute
	Args    []string
	Env     []string // nil: that of this process
	Dir     string   // the root of the project
	// Stderr takes what the program writes to its standard error. It never blocks.
	Stderr io.Writer
}

// Process is a running language server.
type Process interface {
	// In is the server's standard input, Out its standard output.
	In() io.WriteCloser
	Out() io.Reader
	// Kill ends the process with its group at once.
	Kill()
	// Wait returns once the process has ended.
	Wait()
}

// Client tells language servers of changes. It is safe for concurrent use.
type Client struct {
	o Options
}

// New returns a Client. It starts nothing and touches no file.
func New(o Options) *Client { return &Client{o: o} }

// Changed tells the servers of a file that it was changed from old to now; old is nil for a
// new file. It returns once they have reported on it, at the latest after Options.Wait, and
// at once if a server is still starting or has not caught up with an earlier change. path is
// resolved. The problems are in the next Report.
func (c *Client) Changed(ctx context.Context, path string, old, now []byte) {}

// Report returns the sentences on new problems, and on those that were told and are gone, in
// at most room bytes. It is "" where there is nothing to tell. It waits for nothing.
func (c *Client) Report(room int) string { return "" }

// Close ends all servers: it asks them to shut down, and kills what is left within half a
// second. It may be called at any time and more than once.
func (c *Client) Close() {}
