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
	built, err := build(temp)
	if err != nil {
		return err
	}
	ours, err := measure(filepath.Join(temp, "ours"), fsmcpServer(built), func(t task) script { return t.fsmcp })
	if err != nil {
		return err
	}
	program, err := installServer(filepath.Join(temp, "npm"))
	if err != nil {
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

// programs are those of fsmcp, and the folder in which PDFium is compiled once for all tasks.
type programs struct{ fsmcp, media, cache string }

// build builds the programs, each into a folder of its own, so that no decoder lies beside fsmcp.
func build(dir string) (p programs, err error) {
	p = programs{filepath.Join(dir, "server", "fsmcp"), filepath.Join(dir, "media", "fsmcp-media"), filepath.Join(dir, "cache")}
	if user, err := os.UserCacheDir(); err == nil { // PDFium is compiled there once, not for each comparison
		p.cache = user
	}
	for program, source := range map[string]string{p.fsmcp: "fsmcp", p.media: "fsmcp-media"} {
		c := exec.Command("go", "build", "-trimpath", "-o", program, "github.com/fsmcp/fsmcp/cmd/"+source)
		if source == "fsmcp-media" {
			c.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		if out, err := c.CombinedOutput(); err != nil {
			return p, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	return p, nil
}
