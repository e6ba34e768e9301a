// Package jsonschema stands where mcp-go imports a JSON schema validator, and
// validates nothing.
//
// mcp-go links its validator for two server options (checking of arguments and
// of structured results) that fsmcp never sets: arguments are decoded strictly
// by fsmcp itself, and no result is structured. The real package compiles
// every metaschema when the program starts, which took 4.7 of the 12 ms until
// the first answer. The replace line in go.mod puts this package in its place;
// it declares what mcp-go names, and each of its functions fails, so that an
// option set by mistake refuses every call instead of letting it pass
// unchecked. The tests validate with an earlier version of the real package,
// which has another import path.
package jsonschema

import (
	"errors"
	"io"
)

// ErrNotLinked is the error of every function here.
var ErrNotLinked = errors.New("this build has no JSON schema validator")

// Schema is a compiled schema; there is never one.
type Schema struct{}

// Validate fails.
func (*Schema) Validate(any) error { return ErrNotLinked }

// ValidationError is never returned.
type ValidationError struct {
	InstanceLocation []string
	ErrorKind        any
	Causes           []*ValidationError
}

func (*ValidationError) Error() string { return ErrNotLinked.Error() }

// Compiler compiles nothing.
type Compiler struct{}

// NewCompiler gives a compiler that fails.
func NewCompiler() *Compiler { return &Compiler{} }

// AddResource fails.
func (*Compiler) AddResource(string, any) error { return ErrNotLinked }

// Compile fails.
func (*Compiler) Compile(string) (*Schema, error) { return nil, ErrNotLinked }

// UnmarshalJSON fails.
func UnmarshalJSON(io.Reader) (any, error) { return nil, ErrNotLinked }
