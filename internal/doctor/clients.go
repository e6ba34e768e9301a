package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/fsmcp/fsmcp/internal/clients"
)

// Installation holds this program and the workspace, which the clients' entries are
// compared with.
type Installation struct {
	System  clients.System
	Dirs    []string // the workspace; clients have files there
	Program string   // the file of this program
	// Look finds a program that is named without a folder, as a shell does.
	Look func(name string) (string, error)
}

// maxClientFile bounds a client's file that is read.
const maxClientFile = 16 << 20

// Clients checks the entries of fsmcp in the clients' files. A client without an entry is
// named in one line for all of them.
func Clients(in Installation) (checks []Check) {
	seen := make(map[string]bool) // several clients read one file
	var without []string
	for _, client := range clients.All() {
		fresh, found := false, false
		for _, src := range client.Sources(in.System, in.Dirs) {
			if seen[src.File] {
				continue
			}
			seen[src.File], fresh = true, true
			list := in.source(client, src)
			found = found || len(list) > 0
			checks = append(checks, list...)
		}
		if fresh && !found {
			without = append(without, client.Name)
		}
	}
	if len(without) > 0 {
		checks = append(checks, Check{NameClients, Skip, "no entry in the files of " + strings.Join(without, ", "), "fsmcp config CLIENT --write enters it; for codex, goose and jetbrains, fsmcp config CLIENT prints what to enter."})
	}
	return checks
}

// source checks one file.
func (in Installation) source(client clients.Client, src clients.Source) (checks []Check) {
	at := client.Title + ", " + src.File
	text, err := readFile(src.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []Check{{NameClients, Warn, fmt.Sprintf("%s: %v", at, cause(err)), fmt.Sprintf("Make it a file of at most %d MB that you may read, or remove it.", maxClientFile>>20)}}
	}
	entries, err := client.Registered(src, text)
	if err != nil {
		return []Check{{NameClients, Warn, fmt.Sprintf("%s: %v", at, cause(err)), "Mend the file: the client cannot read it, either."}}
	}
	for _, e := range entries {
		c := in.entry(e, in.remedy(client, src.File, text, e))
		c.Detail = fmt.Sprintf("%s:%d: %s", at, e.Line, c.Detail)
		checks = append(checks, c)
	}
	return checks
}

// remedy says how an entry comes to start this program: by the command where that replaces
// the entry, else by hand.
func (in Installation) remedy(client clients.Client, file string, text []byte, e clients.Registration) string {
	if !client.Mergeable() {
		return fmt.Sprintf("fsmcp config %s prints the entry of this program.", client.Name)
	}
	if e.Named && file == client.File(in.System, in.Dirs[0]) {
		if _, err := client.Merge(text, clients.Server{Program: in.Program, Dirs: in.Dirs}); err == nil {
			return fmt.Sprintf("fsmcp config %s --write enters this program.", client.Name)
		}
	}
	return fmt.Sprintf("Remove the entry, or change it to the one that fsmcp config %s prints.", client.Name)
}

// entry checks what one entry starts.
func (in Installation) entry(e clients.Registration, remedy string) Check {
	if e.Command == "" {
		return Check{NameClients, Warn, "the entry names no program on this machine", remedy}
	}
	path, err := e.Command, error(nil)
	if !strings.ContainsAny(path, `/\`) {
		path, err = in.Look(path)
	}
	var theirs os.FileInfo
	if err == nil {
		theirs, err = os.Stat(path)
	}
	if err != nil {
		return Check{NameClients, Fail, fmt.Sprintf("the entry starts %s, which is not there", e.Command), remedy}
	}
	ours, err := os.Stat(in.Program)
	if err != nil || !os.SameFile(ours, theirs) {
		return Check{NameClients, Warn, fmt.Sprintf("the entry starts %s, which is another program than this one", e.Command), remedy}
	}
	return Check{NameClients, OK, "the entry starts this program", ""}
}

// readFile reads a regular file; anything else could block.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case info.Size() > maxClientFile:
		return nil, fmt.Errorf("has more than %d MB", maxClientFile>>20)
	}
	return os.ReadFile(name)
}
