// Command helper is a program for Windows that tests run under Wine beside fsmcp.
//
//	helper launch HOME TEMP PROGRAM ARG...   runs a program for a user with that home
//	helper serve                             opens and changes files as the test says
//	helper nothing                           ends at once
//	helper tick FILE                         appends to a file, every 100 ms
//
// Under another name it stands for the program of Linux of that name.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/winetest"
)

func main() {
	if address := os.Getenv(winetest.RelayVariable); address != "" {
		program, _ := os.Executable()
		if name := strings.TrimSuffix(filepath.Base(program), ".exe"); name != "helper" {
			os.Exit(runOnLinux(address, name))
		}
	}
	if len(os.Args) < 2 {
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "launch":
		err = launch(os.Args[2:])
	case "serve":
		err = serve()
	case "nothing":
	case "tick":
		err = tick(os.Args[2])
	default:
		err = errors.New("usage: helper launch HOME TEMP PROGRAM ARGUMENTS")
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		os.Exit(1)
	}
}

// tick grows a file until it is killed.
func tick(name string) error {
	for {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		f.WriteString(".")
		f.Close()
		time.Sleep(100 * time.Millisecond)
	}
}

// launch sets what Wine overwrites at the start of its first program.
func launch(args []string) error {
	home, temp := args[0], args[1]
	for name, value := range map[string]string{
		"USERPROFILE":  home,
		"APPDATA":      filepath.Join(home, "AppData", "Roaming"),
		"LOCALAPPDATA": filepath.Join(home, "AppData", "Local"),
		"TMP":          temp,
		"TEMP":         temp,
	} {
		os.Setenv(name, value)
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
