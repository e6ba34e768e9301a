// Command helper is a program for Windows that tests run under Wine beside fsmcp.
//
//	helper stay        has Wine set no variables of a user, and waits for the end of its input
//	helper serve       opens and changes files as the test says
//	helper nothing     ends at once
//	helper tick FILE   appends to a file, every 100 ms
//	helper ctrl-c PROGRAM ARG...   runs a program, and presses Ctrl-C at the end of the input
//
// Under another name it stands for the program of Linux of that name.
package main

import (
	"errors"
	"fmt"
	"os"
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
	if len(os.Args) < 2 || os.Args[1] == "ctrl-c" && len(os.Args) < 3 {
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "stay":
		err = stay()
	case "serve":
		err = serve()
	case "nothing":
	case "tick":
		err = tick(os.Args[2])
	case "ctrl-c":
		err = ctrlC(os.Args[2], os.Args[3:])
	default:
		err = errors.New("usage: helper stay|serve|nothing|tick FILE|ctrl-c PROGRAM")
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
