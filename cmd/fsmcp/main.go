// Command fsmcp serves files to AI agents over the Model Context Protocol.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Set by the build.
var (
	version = "devel"
	commit  = "unknown"
)

func main() {
	// A client that stops reading ends the session, not the process. Caught and
	// not ignored, for programs that fsmcp starts would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], process()))
}
