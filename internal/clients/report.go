package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save"
)

// ReportedServer is one server for one client on one system.
type ReportedServer struct {
	Client  KnownClient
	Server  Launch
	System  UserFolders
	Project string   // the folder of a project that has a file of its own
	Keep    []string // the names of items of an older entry to keep; KeepHarmless for all that do not loosen

	leftOut []string // the flags of an older entry that the printed text does not have
}

// KeepHarmless stands for the items that do not loosen.
const KeepHarmless = "*"

// file returns the client's file, "" if there is none.
func (e ReportedServer) file() string { return e.Client.File(e.System, e.Project) }

// project returns the folder that the client's file has to be in, "" for a file of the user.
func (e ReportedServer) project() string {
	if e.Client.place(e.System.OS).base != projectDir {
		return ""
	}
	return e.Project
}

// withOlder returns the entry with the folders of an older entry that fsmcp cannot change,
// in TOML or YAML, and that entry, nil if there is none.
func (e ReportedServer) withOlder() (ReportedServer, *Registration) {
	if e.Client.Mergeable() || e.file() == "" {
		return e, nil
	}
	text, err := ReadFile(e.file())
	if err != nil {
		return e, nil
	}
	list, _ := e.Client.Registered(ServersFile{File: e.file()}, text) // it has no error in TOML and YAML
	i := slices.IndexFunc(list, func(r Registration) bool { return r.Named })
	if i < 0 {
		return e, nil
	}
	if args := list[i].Args; len(args) > 0 && e.Server.Split != nil {
		if old, err := e.Server.Split(args[1:]); err == nil {
			e.Server, old = e.Server.withOlder(old)
			e.Server.Dirs, e.leftOut = e.Server.foldersAfter(old.Dirs, nil), slices.Concat(old.Flags...)
		}
	}
	return e, &list[i]
}

// Print writes the text that the client's file needs to out, and to notes where it
// belongs, the client's own command and what to know.
func (e ReportedServer) Print(out, notes io.Writer) error {
	e, older := e.withOlder()
	if _, err := io.WriteString(out, e.Client.Snippet(e.Server)); err != nil {
		return err
	}
	var b strings.Builder
	if file := e.file(); file != "" {
		fmt.Fprintf(&b, "File: %s\n", fsys.Printable(file))
	}
	if e.Client.command != nil {
		fmt.Fprintf(&b, "Command: %s\n", fsys.Printable(e.shell()))
	}
	list := append(e.Client.Notes[:len(e.Client.Notes):len(e.Client.Notes)], e.warnings()...)
	if older != nil {
		list = append(list, fmt.Sprintf("The file has an entry of fsmcp already, on line %d: put this text in its place.", older.Line))
		if len(e.leftOut) > 0 {
			list = append(list, "That entry has flags which this text leaves out: "+Shell(e.System.OS, e.leftOut))
		}
	}
	for _, note := range list {
		fmt.Fprintf(&b, "Note: %s\n", fsys.Printable(note))
	}
	_, err := io.WriteString(notes, b.String())
	return err
}

// PrintJSON writes the same as one object, without the notes.
func (e ReportedServer) PrintJSON(out io.Writer) error {
	e, _ = e.withOlder()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		Client  string   `json:"client"`
		File    string   `json:"file"`
		Format  Format   `json:"format"`
		Snippet string   `json:"snippet"`
		Command []string `json:"command"`
	}{e.Client.Name, e.file(), e.Client.Format, e.Client.Snippet(e.Server), append([]string{}, e.Client.Command(e.Server)...)})
}

func (e ReportedServer) shell() string { return Shell(e.System.OS, e.Client.Command(e.Server)) }

// warnings returns notes on what is likely meant otherwise.
func (e ReportedServer) warnings() (notes []string) {
	for _, dir := range e.Server.Dirs {
		if dir == e.System.Home || strings.Trim(dir, `/\`) == "" {
			notes = append(notes, fmt.Sprintf("The workspace is all of %s; --dir names a smaller one.", dir))
		}
	}
	if e.temporary() {
		notes = append(notes, "This program is a temporary file of go run: build it first.")
	}
	if e.below("_npx") {
		notes = append(notes, "This program lies in the cache of npx, which npm may clear: install it first (npm install --global).")
	}
	return notes
}

// temporary reports whether the program was built by "go run", which removes it.
func (e ReportedServer) temporary() bool {
	return e.below("go-build")
}

// below reports whether the program lies below a folder whose name begins so.
func (e ReportedServer) below(prefix string) bool {
	folders := strings.FieldsFunc(e.Server.Program, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.ContainsFunc(folders, func(name string) bool { return strings.HasPrefix(name, prefix) })
}

// Enter merges the server into the client's file and returns lines about it, with control characters escaped. The error is
// a sentence, and the file is as it was.
func (e ReportedServer) Enter(ctx context.Context, saver *save.Saver) (lines []string, err error) {
	e, older := e.withOlder()
	instead := "add the text above, or run: " + e.shell()
	if e.Client.command == nil {
		instead = "paste the text above"
	}
	if err := e.unchangeable(older, instead); err != nil {
		return nil, err
	}
	file := e.file()
	if e.temporary() {
		return nil, fmt.Errorf("%s was not changed: this program is a temporary file of go run", file)
	}
	e.Server.Project = e.project()
	e.Server.Keep = e.keeps
	w, err := change(ctx, saver, file, e.Server.Project, func(old []byte) (Merged, error) {
		m, err := e.Client.Merge(old, e.Server)
		if err == nil && m.Found {
			err = e.unknownItem(m.Items)
		}
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("%s was not changed: %w", file, err)
	}
	return printable(append(e.outcome(w), e.before(w)...)), nil
}

// Remove removes the entry from the client's file and returns lines about it, with control characters escaped. The error is
// a sentence, and the file is as it was.
func (e ReportedServer) Remove(ctx context.Context, saver *save.Saver) (lines []string, err error) {
	_, older := e.withOlder()
	by := "remove the entry"
	if older != nil {
		by = fmt.Sprintf("remove the entry on line %d", older.Line)
	}
	if err := e.unchangeable(nil, by); err != nil {
		return nil, err
	}
	file := e.file()
	w, err := change(ctx, saver, file, e.project(), e.Client.Remove)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s was not changed: %w", file, err)
	case !w.Found:
		return printable([]string{fmt.Sprintf("%s has no entry %q; nothing was changed.", file, serverName)}), nil
	}
	return printable(append(e.outcome(w), fmt.Sprintf("The entry %q is out of it; it started %s", serverName, w.Program))), nil
}

// unchangeable returns why the client's file cannot be changed here, and what to do.
func (e ReportedServer) unchangeable(older *Registration, instead string) error {
	file := e.file()
	switch {
	case e.Client.linux.base == noBase:
		return fmt.Errorf("%s has no file that fsmcp knows: %s", e.Client.Title, instead)
	case file == "":
		return fmt.Errorf("the home directory is unknown, and with it the file of %s", e.Client.Title)
	case e.Client.Mergeable():
		return nil
	case older != nil:
		instead = fmt.Sprintf("it has an entry of fsmcp on line %d; put the text above in its place", older.Line)
	}
	return fmt.Errorf("%s is %s, which fsmcp does not merge: %s", file, strings.ToUpper(string(e.Client.Format)), instead)
}

// keeps reports whether the user keeps an item.
func (e ReportedServer) keeps(i LaunchItem) bool {
	return i.Name != KeepHarmless && slices.Contains(e.Keep, i.Name) || !i.Loosens && slices.Contains(e.Keep, KeepHarmless)
}

// unknownItem returns an error if the user keeps an item that an entry does not have.
func (e ReportedServer) unknownItem(items []LaunchItem) error {
	var names []string
	for _, i := range items {
		names = append(names, i.Name)
	}
	unknown := slices.IndexFunc(e.Keep, func(name string) bool { return name != KeepHarmless && !slices.Contains(names, name) })
	switch {
	case unknown < 0:
		return nil
	case len(names) == 0:
		return fmt.Errorf("--keep=%s names nothing: the entry holds nothing to keep", e.Keep[unknown])
	}
	return fmt.Errorf("--keep=%s names nothing in the entry, which holds %s", e.Keep[unknown], strings.Join(names, ", "))
}

// outcome says what became of the file.
func (e ReportedServer) outcome(w Written) []string {
	file := e.file()
	if w.Link != "" {
		file += " (which leads to " + w.Link + ")"
	}
	switch {
	case w.Created:
		return []string{fmt.Sprintf("Created %s.", file)}
	case w.Changed():
		return []string{fmt.Sprintf("Updated %s; the previous version is %s.", file, w.Backup)}
	}
	return []string{fmt.Sprintf("%s is up to date; nothing was changed.", file)}
}

// before says what an older entry held, and what stays of it.
func (e ReportedServer) before(w Written) (lines []string) {
	if w.Found && !slices.Equal(w.Before, w.After) {
		lines = append(lines, fmt.Sprintf("It served %s, and serves %s now.", served(w.Before), served(w.After)))
	}
	for _, i := range w.Items {
		switch {
		case i.Kept:
			lines = append(lines, "Kept: "+i.Text)
		case i.Loosens:
			lines = append(lines, fmt.Sprintf("Not kept: %s (it may loosen; --keep=%s keeps it)", i.Text, Shell(e.System.OS, []string{i.Name})))
		default:
			lines = append(lines, fmt.Sprintf("Not kept: %s (--keep keeps it)", i.Text))
		}
	}
	return lines
}

// printable escapes what could steer a terminal: a file's text is in the lines.
func printable(lines []string) []string {
	for i := range lines {
		lines[i] = fsys.Printable(lines[i])
	}
	return lines
}

// served names folders for people.
func served(dirs []string) string {
	if len(dirs) == 0 {
		return "the folder that the client names"
	}
	return strings.Join(dirs, ", ")
}
