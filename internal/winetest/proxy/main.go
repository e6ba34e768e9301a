//go:build linux

// Command proxy runs fsmcp for Windows as if it were fsmcp: scripts start it under Wine. It takes
// a third of the time to start that the test binary takes.
package main

import (
	"os"

	"github.com/fsmcp/fsmcp/internal/winetest"
)

func main() { os.Exit(winetest.RunProxy()) }
