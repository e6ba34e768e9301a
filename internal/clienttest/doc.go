// Package clienttest drives real MCP clients, from npm at exact versions, with the real
// fsmcp behind them. A client that needs a model gets one of ours, a script behind its
// maker's API on loopback; a test compares what the client sends to it.
//
// Language servers are driven the other way round: fsmcp starts them on small projects.
// gopls is built from the module proxy.
//
// Every client runs in an empty home and without credentials, is set up with what
// "fsmcp config" prints, and ends with its test. A client that cannot be had is skipped,
// with "NOT TESTED". The tests are "make clients"; the package exports nothing.
package clienttest
