//go:build vips && cgo

// Command fsmcp-vips decodes for fsmcp with libvips, in a process of its own.
// fsmcp uses it if it is in the same folder, or if FSMCP_VIPS names it.
package main

import (
	"os"

	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/media/vips"
	"github.com/fsmcp/fsmcp/internal/worker"
)

func main() {
	program := worker.Program{
		Name:    "fsmcp-vips",
		Version: func() string { return "vips-" + vips.Version() },
		Handler: func() worker.Handler {
			limitAddresses()
			return decoder.Handler(vips.New(), nil, nil)
		},
	}
	os.Exit(program.Main(os.Args[1:]))
}
