// Command fsmcp-media decodes for fsmcp, in a process of its own: all that
// `fsmcp media-worker` does, and what would make the server itself slower to
// start and larger: WebP written, PDFs read. fsmcp uses it where it lies beside
// it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fsmcp/fsmcp/internal/darkroom"
	"github.com/fsmcp/fsmcp/internal/media/goengine"
	"github.com/fsmcp/fsmcp/internal/media/pdf"
	"github.com/fsmcp/fsmcp/internal/media/webpwriter"
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
		fmt.Println("webp pdf")
		return 0
	}
	reader := pdf.New(cache())
	if err := worker.Run(darkroom.Handler(goengine.Engine{WebP: webpwriter.Encode}, reader)); err != nil {
		fmt.Fprintln(os.Stderr, "fsmcp-media:", err)
		return 1
	}
	return 0
}

// cache is where compiled code is kept; empty: nowhere.
func cache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "fsmcp", "pdfium")
}
