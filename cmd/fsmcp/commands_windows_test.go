package main

import (
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// Scripts with these commands do not run on Windows: see unixProgram.
var forge, wantMode, mkfifo, mksock = notHere, notHere, notHere, notHere

func notHere(ts *testscript.TestScript, neg bool, args []string) {
	ts.Fatalf("Windows has no such files or modes")
}

// credential is never asked for: "as" needs root.
func credential(int) *syscall.SysProcAttr { return nil }
