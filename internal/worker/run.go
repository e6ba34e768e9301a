package worker

import "os"

// Run makes this process a worker on its standard streams until they end, and
// ends the process when its parent has gone, whatever it does just then.
func Run(h Handler) error {
	out, err := ownOutput()
	if err != nil {
		return err
	}
	Confine()
	return Serve(os.Stdin, out, h, func() { os.Exit(0) })
}
