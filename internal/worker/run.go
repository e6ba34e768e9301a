package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/fsmcp/fsmcp/internal/worker/sandbox"
)

// Run serves jobs on the standard streams until they end. It ends the process as soon as
// its parent is gone, even during a job. Before the first job with a body, which may be
// hostile, it enters the sandbox.
func Run(h Handler) error {
	out, err := KeepOutput(os.Stdout, "messages")
	if err != nil {
		return err
	}
	Confine()
	return Serve(os.Stdin, out, sandboxed(h), func() { os.Exit(0) })
}

// sandboxed returns a handler that enters the sandbox before the first job with a body.
// Jobs without one, which load and store compiled code, see no input; a job after the
// first body cannot do that any more.
func sandboxed(h Handler) Handler {
	var once sync.Once
	return func(t Task) (HandlerResult, error) {
		if len(t.Body) > 0 {
			once.Do(func() { sandbox.Enter() })
		}
		return h(t)
	}
}

// SandboxWord is the word after "media-worker" that has a worker enter the sandbox, print
// what holds as JSON of a sandbox.State, and end.
const SandboxWord = "sandbox"

// PrintSandbox obeys SandboxWord.
func PrintSandbox() error {
	Confine()
	return json.NewEncoder(os.Stdout).Encode(sandbox.Enter())
}

// Program is a program that serves jobs and does nothing else.
type Program struct {
	Name    string
	Version func() string
	Handler func() Handler
}

// Main obeys the words that such a program understands: "media-worker" serves jobs,
// "media-worker sandbox" prints what the system enforces on it, "version" prints what it
// is. It returns the exit code.
func (p Program) Main(args []string) int {
	var err error
	switch strings.Join(args, " ") {
	case "version":
		fmt.Println(p.Version())
	case "media-worker " + SandboxWord:
		err = PrintSandbox()
	case "media-worker":
		err = Run(p.Handler())
	default:
		fmt.Fprintf(os.Stderr, "%s is started by fsmcp, not by hand: %[1]s media-worker | version\n", p.Name)
		return 2
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		return 1
	}
	return 0
}
