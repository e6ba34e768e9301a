// Command fsmcp-media decodes for fsmcp, in a process of its own: the pictures that
// `fsmcp media-worker` decodes, and PDFs, which would make the server itself larger and
// slower to start. fsmcp uses it if it is in the same folder.
package main

import (
	"os"

	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/media/office"
	"github.com/fsmcp/fsmcp/internal/media/pdf"
	"github.com/fsmcp/fsmcp/internal/media/raster"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/worker"
)

func main() {
	program := worker.Program{
		Name:    "fsmcp-media",
		Version: func() string { return "pdf" },
		Handler: func() worker.Handler {
			cache, _ := owndir.Compiled() // nowhere, where others may have written it: the server tells
			return decoder.Handler(raster.Engine{}, pdf.New(cache), office.Reader{})
		},
	}
	os.Exit(program.Main(os.Args[1:]))
}
