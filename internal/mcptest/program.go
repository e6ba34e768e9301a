package mcptest

import (
	"os"
	"syscall"
)

// WriteProgram writes a shell script that a test starts, with "#!/bin/sh" before it. No
// process is forked meanwhile: until it runs its own program it would hold the script open
// for writing, and a start of the script would fail with "text file busy" (source: Go
// issue 22315).
func WriteProgram(path, script string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755)
}
