//go:build !fsmcp_scripts

package main

import "os"

func main() { os.Exit(start(currentProcess())) }
