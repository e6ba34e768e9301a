//go:build linux

package faults

import (
	"fmt"
	"os"
)

// playRole is what this test binary does when a test starts it as another
// program.
func playRole(role string, args []string) {
	switch role {
	case "naive":
		naiveWriter(args[0])
	default:
		fmt.Fprintln(os.Stderr, "no such role:", role)
		os.Exit(2)
	}
}

// naiveWriter writes a file in place again and again, as programs do that
// trust their luck, and says so after each time.
func naiveWriter(file string) {
	for gen := 0; ; gen++ {
		if os.WriteFile(file, content(gen, 4<<20), 0o666) != nil {
			os.Exit(1)
		}
		fmt.Println(gen)
	}
}
