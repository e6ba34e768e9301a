// Command fsmcp-media decodes for fsmcp, in a process of its own: all that
// `fsmcp media-worker` does, and what would make the server itself slower to
// start and larger: it reads PDFs. fsmcp uses it where it lies beside it.
package main

import (
	"fmt"
	"os"

	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/media/pdf"
	"github.com/fsmcp/fsmcp/internal/media/raster"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/worker"
)

func main() { os.Exit(run(os.Args[1:])) }

// run obeys one word: what it is, or to be it.
func run(args []string) int {
	if len(args) != 1 || args[0] != "media-worker" && args[0] != "version" {
		fmt.Fprintln(os.Stderr, "fsmcp-media is started by fsmcp, not by hand: fsmcp-media media-worker | version")
		return 2
	}
	if args[0] == "version" {
		fmt.Println("pdf")
		return 0
	}
	cache, _ := owndir.Compiled() // nowhere, where others may have written it: the server tells
	reader := pdf.New(cache)
	if err := worker.Run(decoder.Handler(raster.Engine{}, reader)); err != nil {
		fmt.Fprintln(os.Stderr, "fsmcp-media:", err)
		return 1
	}
	return 0
}
