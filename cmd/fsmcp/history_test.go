package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// changeID puts the id of a change into an environment variable: the Nth newest
// one, from 1, of all or of PATH.
func changeID(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "change-id NAME N [PATH]")
	ts.Check(ts.Exec("fsmcp", append([]string{"history", "list", "--json"}, args[2:]...)...))
	var list struct{ Changes []struct{ ID string } }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
	n := number(ts, args, 1)
	if n > len(list.Changes) {
		ts.Fatalf("there are only %d changes", len(list.Changes))
	}
	ts.Setenv(args[0], list.Changes[n-1].ID)
}

// spoil flips one byte in each file that the patterns name, but for a file's
// first and last ones.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "spoil PATTERN...")
	for _, pattern := range args {
		files, err := filepath.Glob(pattern)
		ts.Check(err)
		if len(files) == 0 {
			ts.Fatalf("nothing is named %s", pattern)
		}
		for _, name := range files {
			b, err := os.ReadFile(name)
			ts.Check(err)
			if edge := min(20, len(b)/3); len(b) > 0 {
				b[edge+rand.IntN(len(b)-2*edge)] ^= 0x40 // 0x20 would leave a hexadecimal checksum as it is
			}
			ts.Check(os.WriteFile(name, b, 0o600))
		}
	}
}
