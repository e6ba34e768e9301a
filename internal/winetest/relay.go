// Package winetest lets tests on Linux run programs for Windows under Wine, which
// ".ci/wine" finds or installs. It builds the programs, starts them for a user with a home
// of the test's own, and translates names.
//
// Wine is not Windows: docs/platforms.md lists what it cannot try.
package winetest

// RelayVariable names the variable with the address of a relay: a program for Windows that
// stands for one of Linux, as sh.exe does, has the relay run it. On Windows such programs
// come with Git.
const RelayVariable = "FSMCP_WINE_RELAY"

// RelayStart is the first message to a relay.
type RelayStart struct {
	Program string
	Args    []string
	Dir     string
	Env     []string
}

// RelayInput is a piece of standard input, or its end. If the connection ends, so does the
// program with all that it started.
type RelayInput struct {
	Text []byte
	End  bool
}

// RelayOutput holds output of a program, or how it ended.
type RelayOutput struct {
	Out, Err []byte
	Ended    bool
	Status   int
}
