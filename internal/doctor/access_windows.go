package doctor

import (
	"fmt"
	"os"
)

// writable returns why files cannot be made in a directory, as the rest of a sentence. Only
// a write tells on Windows, where Controlled Folder Access and antivirus programs refuse
// what the access list allows: it makes an empty file and removes it.
func writable(dir string) (known bool, err error) {
	f, err := os.CreateTemp(dir, ".fsmcp-doctor-*")
	if err != nil {
		return true, fmt.Errorf("cannot be written: %w", cause(err))
	}
	f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return true, fmt.Errorf("a file made in it cannot be removed: %w", cause(err))
	}
	return true, nil
}
