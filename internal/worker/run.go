package worker

import (
	"fmt"
	"os"
)

// Run serves jobs on the standard streams until they end. It ends the process as soon as
// its parent is gone, even during a job.
func Run(h Handler) error {
	out, err := KeepOutput(os.Stdout, "messages")
	if err != nil {
		return err
	}
	Confine()
	return Serve(os.Stdin, out, h, func() { os.Exit(0) })
}

// Program is a program that serves jobs and does nothing else.
type Program struct {
	Name    string
	Version func() string
	Handler func() Handler
}

// Main obeys the one word that such a program understands: "media-worker" serves jobs,
// "version" prints what it is. It returns the exit code.
func (p Program) Main(args []string) int {
	if len(args) != 1 || args[0] != "media-worker" && args[0] != "version" {
		fmt.Fprintf(os.Stderr, "%s is started by fsmcp, not by hand: %[1]s media-worker | version\n", p.Name)
		return 2
	}
	if args[0] == "version" {
		fmt.Println(p.Version())
		return 0
	}
	if err := Run(p.Handler()); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		return 1
	}
	return 0
}
