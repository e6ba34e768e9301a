//go:build !(vips && cgo)

// Command fsmcp-vips decodes for fsmcp with libvips. Built without it, it only
// says so.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "fsmcp-vips was built without libvips: go build -tags vips, with cgo and libvips-dev")
	os.Exit(1)
}
