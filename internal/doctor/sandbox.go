package doctor

import (
	"encoding/json"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/worker/sandbox"
)

// Decoder is a program that decodes hostile files.
type Decoder struct {
	Path   string
	Answer string // what it says is enforced on it: JSON of a sandbox.State
}

// Sandboxes reports what the kernel enforces on the decoders, by their own attempts.
// Decoders work without; a missing limit is no fault.
func Sandboxes(system string, list []Decoder) (checks []Check) {
	if system != "linux" {
		return []Check{{Name: NameSandbox, Status: Skip, Detail: "the system limits neither files nor system calls of decoders: only on Linux"}}
	}
	for _, d := range list {
		c := Check{Name: NameSandbox, Status: Skip}
		var s sandbox.State
		if json.Unmarshal([]byte(d.Answer), &s) != nil {
			c.Detail = d.Path + " does not say what the kernel limits"
			c.Remedy = "Use the fsmcp, fsmcp-media and fsmcp-vips of one version."
			checks = append(checks, c)
			continue
		}
		files, calls := fmt.Sprintf("files by Landlock (ABI %d)", s.ABI), "system calls by seccomp"
		if !s.Files {
			files, c.Remedy = "files are not limited", unlimitedFiles(s)
		}
		if !s.Calls {
			calls = "system calls are not limited (no seccomp)"
		}
		if s.Files && s.Calls {
			c.Status = OK
		}
		c.Detail = fmt.Sprintf("%s: %s, %s", d.Path, files, calls)
		checks = append(checks, c)
	}
	return checks
}

// unlimitedFiles returns what lets the kernel limit a decoder's files.
func unlimitedFiles(s sandbox.State) string {
	switch {
	case s.Cgo:
		return "The program is built with C code (cgo): make build, or go build with CGO_ENABLED=0, makes one that can be limited."
	case s.ABI == 0:
		return "The kernel has no Landlock, or a container forbids it: Linux 5.13 or later with landlock in its list of security modules has it."
	}
	return "The kernel refused to limit files."
}
