//go:build !fsys_portable

package main

// differs is empty: on Linux fsmcp keeps what the scripts promise.
var differs map[string]string
