package main

import (
	"io"
	"os"
	"os/exec"
	"os/signal"

	"golang.org/x/sys/windows"
)

var (
	kernel32     = windows.NewLazySystemDLL("kernel32.dll")
	freeConsole  = kernel32.NewProc("FreeConsole")
	allocConsole = kernel32.NewProc("AllocConsole")
)

// ctrlC runs a program on a console of its own and passes the input on to it. At the end of the
// input it presses Ctrl-C there, and ends as the program does.
func ctrlC(program string, args []string) error {
	_, _, _ = freeConsole.Call() // there may be one that other programs share
	if ok, _, err := allocConsole.Call(); ok == 0 {
		return err
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // Ctrl-C is for all on the console
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := io.Copy(in, os.Stdin); err != nil {
		return err
	}
	if err := windows.GenerateConsoleCtrlEvent(windows.CTRL_C_EVENT, 0); err != nil {
		return err
	}
	return cmd.Wait()
}
