package doctor

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/worker/sandbox"
)

// Decoder is a program that decodes hostile files.
type Decoder struct {
	Path   string
	Answer string // what it says is enforced on it: JSON of a sandbox.State
}

// Sandboxes reports what the system enforces on the decoders, by their own attempts.
// Decoders work without; a missing limit is no fault.
func Sandboxes(system string, list []Decoder) (checks []Check) {
	limited := map[string]func(sandbox.State) ([]sandboxLimit, string){"linux": linuxLimits, "windows": windowsLimits, "darwin": darwinLimits}[system]
	if limited == nil {
		return []Check{{Name: NameSandbox, Status: Skip, Detail: "this system does not limit decoders: Linux, Windows and macOS do"}}
	}
	for _, d := range list {
		var s sandbox.State
		if json.Unmarshal([]byte(d.Answer), &s) != nil {
			checks = append(checks, Check{
				Name: NameSandbox, Status: Skip, Detail: d.Path + " does not say what the system limits",
				Remedy: "Use the fsmcp, fsmcp-media and fsmcp-vips of one version.",
			})
			continue
		}
		all, remedy := limited(s)
		c := Check{Name: NameSandbox, Status: OK, Remedy: remedy}
		said := make([]string, len(all))
		for i, l := range all {
			if said[i] = l.enforced; !l.holds {
				said[i], c.Status = l.missing, Skip
			}
		}
		c.Detail = d.Path + ": " + strings.Join(said, ", ")
		checks = append(checks, c)
	}
	return checks
}

// sandboxLimit is a limit of a decoder, with what is said of it.
type sandboxLimit struct {
	holds             bool
	enforced, missing string
}

func linuxLimits(s sandbox.State) (all []sandboxLimit, remedy string) {
	if !s.Files {
		remedy = unlimitedFiles(s)
	}
	return []sandboxLimit{
		{s.Files, fmt.Sprintf("files by Landlock (ABI %d)", s.ABI), "files are not limited"},
		{s.Calls, "system calls by seccomp", "system calls are not limited (no seccomp)"},
	}, remedy
}

func windowsLimits(s sandbox.State) (all []sandboxLimit, remedy string) {
	return []sandboxLimit{
		{s.Writes, "changes nothing of yours (low integrity)", "can change your files (Windows ignores its low integrity, as Wine does)"},
		{s.Privileges, "has no privileges", "keeps its privileges"},
		{s.Programs, "starts no program (job)", "can perhaps start programs (its job does not tell)"},
	}, ""
}

func darwinLimits(s sandbox.State) (all []sandboxLimit, remedy string) {
	return []sandboxLimit{
		{s.Files, "files by sandbox-exec", "files are not limited: sandbox-exec refused, or the program does not work in it"},
		{s.Network, "no network", "the network is open"},
		{s.Programs, "starts no program", "can start programs"},
	}, ""
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
