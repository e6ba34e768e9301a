// Command fsmcp serves files to AI agents over the Model Context Protocol.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/procgroup"
)

// start runs the command line until it ends or a signal arrives, and returns the exit
// code.
func start(s process) int {
	// Package os/exec and the programs that fsmcp starts then find none in the working
	// directory, which an agent may write. Only Windows knows the variable.
	if runtime.GOOS == "windows" {
		os.Setenv(procgroup.NoCurrentDirectory, "1")
	}
	// A client that stops reading ends the session, not the process. SIGPIPE is caught and
	// not ignored: programs that fsmcp starts would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	return run(ctx, os.Args[1:], s)
}
