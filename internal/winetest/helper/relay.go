package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/fsmcp/fsmcp/internal/winetest"
)

// runOnLinux runs a program of Linux in place of this one. It returns the exit status. The
// connection ends with this process, and the program with the connection.
func runOnLinux(address, program string) int {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return notRun(err)
	}
	dir, _ := os.Getwd()
	request := json.NewEncoder(conn)
	if err := request.Encode(winetest.RelayStart{Program: program, Args: os.Args[1:], Dir: dir, Env: os.Environ()}); err != nil {
		return notRun(err)
	}
	go func() {
		buf := make([]byte, 1<<15)
		for {
			n, err := os.Stdin.Read(buf)
			if request.Encode(winetest.RelayInput{Text: buf[:n], End: err != nil}) != nil || err != nil {
				return
			}
		}
	}()
	answers := json.NewDecoder(bufio.NewReader(conn))
	for {
		var a winetest.RelayOutput
		if err := answers.Decode(&a); err != nil {
			if err == io.EOF {
				return 1 // a signal ended the program
			}
			return notRun(err)
		}
		_, _ = os.Stdout.Write(a.Out)
		_, _ = os.Stderr.Write(a.Err)
		if a.Ended {
			return a.Status
		}
	}
}

func notRun(err error) int {
	fmt.Fprintln(os.Stderr, "helper:", err)
	return 127
}
