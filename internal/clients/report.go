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

// Entry is one server for one client on one system.
type Entry struct {
	Client Client
	Server Server
	System System
}

// file returns the client's file, "" if there is none.
func (e Entry) file() string { return e.Client.File(e.System, e.Server.Dirs[0]) }

// Print writes the text that the client's file needs to out, and to notes where it
// belongs, the client's own command and what to know.
func (e Entry) Print(out, notes io.Writer) error {
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
	for _, note := range append(e.Client.Notes[:len(e.Client.Notes):len(e.Client.Notes)], e.warnings()...) {
		fmt.Fprintf(&b, "Note: %s\n", fsys.Printable(note))
	}
	_, err := io.WriteString(notes, b.String())
	return err
}

// PrintJSON writes the same as one object, without the notes.
func (e Entry) PrintJSON(out io.Writer) error {
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

func (e Entry) shell() string { return Shell(e.System.OS, e.Client.Command(e.Server)) }

// warnings returns notes on what is likely meant otherwise.
func (e Entry) warnings() (notes []string) {
	for _, dir := range e.Server.Dirs {
		if dir == e.System.Home || strings.Trim(dir, `/\`) == "" {
			notes = append(notes, fmt.Sprintf("The workspace is all of %s; --dir names a smaller one.", dir))
		}
	}
	if e.temporary() {
		notes = append(notes, "This program is a temporary file of go run: build it first.")
	}
	return notes
}

// temporary reports whether the program was built by "go run", which removes it.
func (e Entry) temporary() bool {
	folders := strings.FieldsFunc(e.Server.Program, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.ContainsFunc(folders, func(name string) bool { return strings.HasPrefix(name, "go-build") })
}

// Enter merges the server into the client's file and returns a sentence about it. The
// error is a sentence, too, and the file is as it was.
func (e Entry) Enter(ctx context.Context, saver *save.Saver) (string, error) {
	file := e.file()
	switch {
	case e.Client.linux.base == noBase:
		return "", fmt.Errorf("%s has no file that fsmcp knows: paste the text above", e.Client.Title)
	case file == "":
		return "", fmt.Errorf("the home directory is unknown, and with it the file of %s", e.Client.Title)
	case !e.Client.Mergeable():
		return "", fmt.Errorf("%s is %s, which fsmcp does not merge: add the text above, or run: %s", file, strings.ToUpper(string(e.Client.Format)), e.shell())
	case e.temporary():
		return "", fmt.Errorf("%s was not changed: this program is a temporary file of go run", file)
	}
	written, err := e.Client.Write(ctx, saver, file, e.Server)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s was not changed: %w", file, err)
	case written.Created:
		return fmt.Sprintf("Created %s.", file), nil
	case written.Changed():
		return fmt.Sprintf("Updated %s; the previous version is %s.", file, written.Backup), nil
	}
	return fmt.Sprintf("%s is up to date; nothing was changed.", file), nil
}
