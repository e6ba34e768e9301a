package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/clients"
	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Installation holds this program and the workspace, which the clients' entries are
// compared with.
type Installation struct {
	System  clients.UserFolders
	Dirs    []string // the workspace; clients have files there
	Program string   // the file of this program
	// Split parts the arguments of serve.
	Split func(args []string) (clients.Arguments, error)
	// Serve starts this program as an entry does, in a folder, and has it list its tools. The
	// error is a sentence. nil: nothing is started.
	Serve func(dir string, args, env []string) error
	// Look finds a program that is named without a folder, as a shell does.
	Look func(name string) (string, error)
}

// Clients checks the entries of fsmcp in the clients' files. A client without an entry is
// named in one line for all of them.
func Clients(in Installation) (checks []Check) {
	seen := make(map[string]bool) // several clients read one file
	var without []string
	own := false
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
			own = own || len(list) > 0 && client.Name == "claude-code"
		}
		if fresh && !found {
			without = append(without, client.Name)
		}
	}
	if own {
		checks = append(checks, in.ownTools()...)
	}
	if len(without) > 0 {
		checks = append(checks, Check{NameClients, Skip, "no entry in the files of " + strings.Join(without, ", "), "fsmcp config CLIENT --write enters it; for codex, goose and jetbrains, fsmcp config CLIENT prints what to enter."})
	}
	return checks
}

// source checks one file.
func (in Installation) source(client clients.KnownClient, src clients.ServersFile) (checks []Check) {
	at := client.Title + ", " + src.File
	text, err := clients.ReadFile(src.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []Check{{NameClients, Warn, fmt.Sprintf("%s: %v", at, cause(err)), fmt.Sprintf("Make it a file of at most %d MB that you may read.", clients.MaxBytes>>20)}}
	}
	entries, err := client.Registered(src, text)
	if err != nil {
		return []Check{{NameClients, Warn, fmt.Sprintf("%s: %v", at, cause(err)), "Mend the file: the client cannot read it, either."}}
	}
	for _, e := range entries {
		if src.Instead != "" {
			detail := fmt.Sprintf("%s:%d: the entry has no effect: %s is installed as a package of Windows, and reads %s", at, e.Line, client.Title, src.Instead)
			checks = append(checks, Check{NameClients, Warn, detail, fmt.Sprintf("fsmcp config %s --write enters it there.", client.Name)})
			continue
		}
		c := in.entry(client, e, in.remedy(client, src.File, text, e))
		c.Detail = fmt.Sprintf("%s:%d: %s", at, e.Line, c.Detail)
		checks = append(checks, c)
	}
	return checks
}

// remedy says how to make an entry start this program: by fsmcp config if that replaces the
// entry, else by hand.
func (in Installation) remedy(client clients.KnownClient, file string, text []byte, e clients.Registration) string {
	if !client.Mergeable() {
		return fmt.Sprintf("fsmcp config %s prints the entry of this program.", client.Name)
	}
	if e.Named && file == client.File(in.System, in.Dirs[0]) {
		if _, err := client.Merge(text, clients.Launch{Program: in.Program, Dirs: in.Dirs}); err == nil {
			return fmt.Sprintf("fsmcp config %s --write enters this program.", client.Name)
		}
	}
	return fmt.Sprintf("Remove the entry, or change it to the one that fsmcp config %s prints.", client.Name)
}

// entry checks what one entry starts.
func (in Installation) entry(client clients.KnownClient, e clients.Registration, remedy string) Check {
	if e.Off {
		return Check{NameClients, Fail, "the entry is disabled: the client does not start it", fmt.Sprintf("Turn it on in %s, or remove it.", client.Title)}
	}
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
	switch same := err == nil && os.SameFile(ours, theirs); {
	case same:
	case strings.TrimSuffix(filepath.Base(path), ".exe") == "fsmcp": // an installation beside this one
		return Check{NameClients, Warn, fmt.Sprintf("the entry starts %s, which is another fsmcp than this one", e.Command), remedy}
	case slices.Contains(starters, strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".exe"), ".cmd")):
		return Check{NameClients, Skip, fmt.Sprintf("the entry starts %s, which is not run here", clients.Shell(in.System.OS, append([]string{e.Command}, e.Args...))), ""}
	default:
		return Check{NameClients, Fail, fmt.Sprintf("the entry starts %s, which is another program than this one", e.Command), remedy}
	}
	args, why := in.arguments(client, e.Args)
	if why != "" {
		return Check{NameClients, Fail, "the entry " + why, "Correct the arguments of the entry, or make the folder."}
	}
	if err := in.serves(client, args, e.Env); err != nil {
		return Check{NameClients, Fail, "the entry starts this program, which does not serve: " + err.Error(), "Correct the arguments and the environment of the entry."}
	}
	return Check{NameClients, OK, "the entry starts this program", ""}
}

// starters are programs that may start fsmcp out of a package or an image. To run them here could
// download and run anything.
var starters = []string{"npx", "npm", "pnpm", "yarn", "bunx", "node", "docker", "podman"}

// serves starts an entry as the client would. Of its environment only fsmcp's own variables
// count, without those that name files and programs: a repository can hold an entry, and the user
// has not approved it by asking for a check.
func (in Installation) serves(client clients.KnownClient, parts clients.Arguments, variables []string) error {
	if in.Serve == nil {
		return nil
	}
	var env []string
	for _, v := range variables {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "FSMCP_") && !slices.Contains([]string{"FSMCP_LOG", "FSMCP_MEDIA", "FSMCP_VIPS"}, name) {
			env = append(env, v)
		}
	}
	args := []string{"serve"}
	for _, flag := range parts.Flags {
		if name, _, _ := strings.Cut(flag[0], "="); name != "--log" { // it would be written
			args = append(args, flag...)
		}
	}
	for _, dir := range parts.Dirs {
		if client.Variables && strings.ContainsAny(dir, "$%") { // the client knows its value
			dir = in.Dirs[0]
		}
		args = append(args, dir)
	}
	return in.Serve(in.Dirs[0], args, env)
}

// ownTools warns if the file tools of Claude Code itself are on: an agent can use them in place of
// those of fsmcp, without its rules and history.
func (in Installation) ownTools() []Check {
	on := clients.OwnFileTools(in.System, in.Dirs)
	if len(on) == 0 {
		return nil
	}
	return []Check{{
		NameClients, Warn, "Claude Code has file tools of its own, which the agent can use in place of those of fsmcp: " + strings.Join(on, ", "),
		`Add {"permissions": {"deny": ["` + strings.Join(on, `", "`) + `"]}} to .claude/settings.local.json, which leaves those of fsmcp on.`,
	}}
}

// arguments parts the arguments of a server. why says that it serves no client, or a folder that
// is not there, as the rest of a sentence; "" if it serves.
func (in Installation) arguments(client clients.KnownClient, args []string) (parts clients.Arguments, why string) {
	if len(args) == 0 {
		return parts, ""
	}
	if args[0] != "serve" && args[0] != "stdio" {
		return parts, fmt.Sprintf("starts this program with %q, which serves no client", args[0])
	}
	parts, err := in.Split(args[1:])
	if err != nil {
		return parts, "is wrong: " + err.Error()
	}
	for _, dir := range parts.Folders() {
		if why := in.folderFault(client, dir); why != "" {
			return parts, fmt.Sprintf("serves %q, which %s", dir, why)
		}
	}
	return parts, ""
}

// folderFault returns why a folder of an entry is not served. A relative name is
// refused only for a variable that the client does not replace: the client's working
// directory is unknown.
func (in Installation) folderFault(client clients.KnownClient, dir string) string {
	rest, home := strings.CutPrefix(dir, "~")
	variable := strings.ContainsAny(dir, "$%")
	switch {
	case dir == "" || filepath.IsAbs(dir) && !variable:
		return fsys.FolderFault(dir)
	case variable && client.Variables:
		return ""
	case home && (rest == "" || os.IsPathSeparator(rest[0])):
		return fsys.FolderFault(filepath.Join(in.System.Home, rest))
	case variable && filepath.IsAbs(dir):
		return fsys.FolderFault(dir)
	case variable:
		return fsys.FolderFault(filepath.Join(in.Dirs[0], dir))
	}
	return ""
}
