// Package tools holds the tools as functions of typed arguments: what each
// refuses, in which order, and in which words. It knows nothing of the protocol
// that carries the calls, and reaches the disk only through fsys and save.
//
// It does not decode arguments and does not recover panics: the server does.
package tools

import (
	"context"

	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// A Tool is one published tool. Args returns a pointer to a fresh argument
// struct whose json tags are the properties of schemas/NAME.json; the server
// fills it and hands it to Run.
type Tool struct {
	Name string
	// ReadOnly tells the server that the tool never changes a file.
	ReadOnly bool
	// Args returns a new argument struct (a pointer) for one call.
	Args func() Args
	// Run answers one call. Failures that the caller can mend are results
	// with IsError set; Run never panics on purpose. It leaves the arguments as
	// they are: a call that had to ask is run again with the same.
	Run func(ctx context.Context, call toolcall.Call, args Args) *toolcall.Result
}

// Args is an argument struct. Target is the raw file argument, by which the
// server keeps calls on one file in order.
type Args interface{ Target() string }

// ManyTargets is an argument struct that names several files. Targets are all raw file
// arguments, as Args.Target is one; the server keeps calls on each of them in order.
type ManyTargets interface{ Targets() []string }
