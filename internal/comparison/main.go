// Command comparison gives the same tasks to fsmcp and to the official file system server
// of the Model Context Protocol, and prints what each of them needed and left on the disk
// as docs/comparison.md.
//
// It promises to use an agent that is the same for both: it makes the obvious call, does
// as an error says, and believes an answer that reports success. It measures calls and
// bytes, not time, and no model takes part.
//
// Usage: comparison [-o FILE]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	out := flag.String("o", "", "write the page to `FILE` instead of standard output")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "comparison:", err)
		os.Exit(1)
	}
}

func run(out string) (err error) {
	temp, err := os.MkdirTemp("", "fsmcp-comparison-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	program, err := buildServer(temp)
	if err != nil {
		return err
	}
	ours, err := measure(filepath.Join(temp, "ours"), fsmcpServer(program), func(t task) script { return t.fsmcp })
	if err != nil {
		return err
	}
	if program, err = installServer(filepath.Join(temp, "npm")); err != nil {
		return err
	}
	theirs, err := measure(filepath.Join(temp, "theirs"), officialServer(program), func(t task) script { return t.official })
	if err != nil {
		return err
	}
	page := render(ours, theirs)
	if out == "" {
		fmt.Print(page)
		return nil
	}
	return os.WriteFile(out, []byte(page), 0o644)
}

// buildServer builds fsmcp into a folder of its own, so that no decoder lies beside it:
// the bytes of pictures are then the same on every machine.
func buildServer(dir string) (program string, err error) {
	program = filepath.Join(dir, "fsmcp")
	out, err := exec.Command("go", "build", "-trimpath", "-o", program, "github.com/fsmcp/fsmcp/cmd/fsmcp").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}
