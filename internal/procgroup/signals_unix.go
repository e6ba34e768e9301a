//go:build unix

package procgroup

import (
	"os"
	"os/signal"
	"syscall"
)

// OnFatalSignal runs f before a signal ends this process at once, with a print of what
// it was doing, and then lets the signal do that. A fault of the process itself and
// SIGKILL run nothing.
func OnFatalSignal(f func()) (stop func()) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSYS)
	go func() {
		for sig := range got {
			f()
			signal.Reset(sig)
			syscall.Kill(os.Getpid(), sig.(syscall.Signal))
		}
	}()
	return func() {
		signal.Stop(got)
		close(got)
	}
}
