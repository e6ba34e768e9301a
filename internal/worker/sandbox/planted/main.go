//go:build linux || windows

// Command planted is a decoder as an attacker would like it, for tests alone: its jobs open
// files, connect, start processes and trace. FREE=1 in its environment keeps it out of the
// sandbox, the control arm.
package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/worker"
)

func main() {
	if os.Getenv("FREE") != "" && strings.Join(os.Args[1:], " ") == "media-worker" {
		if worker.Serve(os.Stdin, os.Stdout, attack, func() { os.Exit(0) }) != nil {
			os.Exit(1)
		}
		return
	}
	program := worker.Program{
		Name:    "planted",
		Version: func() string { return "planted" },
		Handler: func() worker.Handler { return attack },
	}
	os.Exit(program.Main(os.Args[1:]))
}

// attack does what a job's name says, and answers with the number of its error. A picture,
// whatever it shows, opens a connection.
func attack(t worker.Task) (worker.HandlerResult, error) {
	var where string
	if t.Op != "picture" && json.Unmarshal(t.Params, &where) != nil {
		return worker.HandlerResult{}, errors.New("the job names no place")
	}
	var failed error
	switch t.Op {
	case "read":
		_, failed = os.ReadFile(where)
	case "write":
		failed = os.WriteFile(where, []byte("planted"), 0o600)
	case "list":
		_, failed = os.ReadDir(where)
	case "connect", "picture":
		failed = connect(where)
	case "code":
		failed = executable()
	default:
		failed = attackHere(t.Op, where)
	}
	var number syscall.Errno
	errors.As(failed, &number)
	return worker.HandlerResult{Value: int(number)}, nil
}
