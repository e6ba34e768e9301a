//go:build vips && cgo

// Command fsmcp-vips decodes for fsmcp with libvips, in a process of its own.
// fsmcp uses it where it lies beside it, or where FSMCP_VIPS names it.
package main

import (
	"fmt"
	"os"

	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/media/raster"
	"github.com/fsmcp/fsmcp/internal/media/vips"
	"github.com/fsmcp/fsmcp/internal/worker"
)

func main() { os.Exit(run(os.Args[1:])) }

// run obeys one word: what it is, or to be it.
func run(args []string) int {
	if len(args) != 1 || args[0] != "media-worker" && args[0] != "version" {
		fmt.Fprintln(os.Stderr, "fsmcp-vips is started by fsmcp, not by hand: fsmcp-vips media-worker | version")
		return 2
	}
	if args[0] == "version" {
		fmt.Println("vips-" + vips.Version())
		return 0
	}
	limitAddresses()
	e := vips.Engine{Engine: raster.Engine{}}
	if err := worker.Run(decoder.Handler(e, nil)); err != nil {
		fmt.Fprintln(os.Stderr, "fsmcp-vips:", err)
		return 1
	}
	return 0
}
