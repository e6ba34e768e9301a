package worker

import "os"

// Run serves jobs on the standard streams until they end. It ends the process as soon as
// its parent is gone, even during a job.
func Run(h Handler) error {
	out, err := ownOutput()
	if err != nil {
		return err
	}
	Confine()
	return Serve(os.Stdin, out, h, func() { os.Exit(0) })
}
