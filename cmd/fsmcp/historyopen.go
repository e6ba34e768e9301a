package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/historypage"
	"github.com/fsmcp/fsmcp/internal/procgroup"
	"github.com/fsmcp/fsmcp/internal/restore"
	"github.com/fsmcp/fsmcp/internal/settings"
)

func historyOpen(s process, f *settings.Flags) *cobra.Command {
	var all, noBrowser bool
	cmd := &cobra.Command{
		Use:   "open [PATH...]",
		Short: "Look at the history in a browser, and restore from there",
		Long: `Open the history in your browser: the changes below the working directory, or
those of the files and folders named, with a search, and a button that takes one
back after it has shown what that would do. The page comes from this machine and
loads nothing from elsewhere. The command ends when the page is closed.`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			flags, err := s.inFolders(cmd, *f)
			if err != nil {
				return err
			}
			if len(paths) == 0 {
				paths = flags.Dirs
			}
			if err := withHistory(s, flags, func(*historySession) error { return nil }); err != nil {
				return err
			}
			o := s.page
			o.Open, o.Ready = s.historyOpener(flags), func(address string) { s.browse(address, noBrowser) }
			if !all {
				o.Below, o.Folder = s.below(paths), fsys.Printable(s.system.Absolute(paths[0], s.system.WorkDir))
			}
			return s.interruptible(cmd.Context(), new(atomic.Bool), func() error { return historypage.Serve(cmd.Context(), o) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show the changes of every folder")
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the address")
	return cmd
}

// historyOpener opens the history as a command does, with the settings of the moment. What that
// would print is the error.
func (s process) historyOpener(f settings.Flags) func(func(restore.Restorer) error) error {
	return func(use func(restore.Restorer) error) error {
		var printed bytes.Buffer
		s.err = &printed
		err := withHistory(s, f, func(h *historySession) error { return use(h.restorer()) })
		if errors.As(err, new(exit)) {
			return errors.New(strings.TrimPrefix(strings.TrimSpace(printed.String()), "fsmcp: "))
		}
		return err
	}
}

// browse prints an address and, unless the user wants it only printed, opens it in the browser.
func (s process) browse(address string, onlyPrint bool) {
	fmt.Fprintf(s.out, "The history is at %s\nThe address works once. This command ends when the page is closed.\n", address)
	if onlyPrint {
		return
	}
	words := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	case "darwin":
		words[0] = "open"
	}
	browser := exec.Command(words[0], words[1:]...)
	if err := procgroup.StartAlone(browser); err != nil {
		fmt.Fprintf(s.err, "fsmcp: no browser could be started: open the address yourself (%v)\n", err)
		return
	}
	go browser.Wait()
}
