package refusal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// Unopened words why access did not open a file for good. Any other error, of resolving for
// example, stays as it is.
func Unopened(err error) error {
	return reword(err,
		as(func(e *access.DeniedError) *Refusal { return judgement{e.Decision, ""}.denied() }),
		as(func(e *access.DeviceError) *Refusal { return New(isDevice, fsys.InSentence(e.Path.String())) }),
		as(func(e *access.SpecialError) *Refusal { return New(Special, fsys.InSentence(e.Path.String())) }),
		as(func(e *access.UnservedError) *Refusal { return New(unserved, e.Dir, e.Why, unservedCalls(e)) }),
		as(func(e *access.SlashError) *Refusal { return New(endsInSlash, e.Path.Given()) }),
	)
}

// unservedCalls says which calls are refused while a workspace folder is not there.
func unservedCalls(e *access.UnservedError) string {
	if e.Only {
		return "every call is refused"
	}
	return "calls below it are refused"
}

// Elsewhere refuses a path that is spelt as another system or program spells it. meant is
// the path to use and workspace the directory that relative names start from, "" if there is
// none.
func Elsewhere(e *access.ElsewhereError, meant, workspace string) error {
	what := map[fsys.ElsewhereKind]string{
		fsys.BadURL:   "is a URL with an invalid escape",
		fsys.PartURL:  "is a URL with a part behind the file's name",
		fsys.OtherURL: "is a URL: the tools take files of this machine alone",
		fsys.DataURL:  "is content, not the name of a file: the tools take files alone",
		fsys.Machine:  "names a file on another machine (UNC), which this system does not reach by such a name",
		fsys.Drive:    "begins with a drive letter, which this system does not have",
		fsys.Mount:    "is a path of another system",
		fsys.Variable: "begins with a variable, which the tools do not expand",
		fsys.Device:   "is in the device name space",
		fsys.Quoted:   "is in quotes, and nothing bears that name",
	}[e.Kind]
	way := "Give the absolute path of a file."
	switch {
	case meant != "":
		way = fmt.Sprintf("Use %s.", fsys.InSentence(meant))
	case workspace != "":
		way += fmt.Sprintf(" The workspace directory is %s.", fsys.InSentence(workspace))
	}
	return New(badSpelling, e.Raw, what, way)
}

// Missing holds the facts on a name that is not there.
type Missing struct {
	Path      fsys.Path
	Near      []string // names that the caller may have meant
	Workspace string   // the folder that relative names start from, "" if there is none
	ToCreate  bool     // the call would change a notebook
}

// Refusal words it.
func (m Missing) Refusal() error {
	var b strings.Builder
	if len(m.Near) > 0 {
		fmt.Fprintf(&b, " Did you mean %s?", strings.Join(phrase.Names(m.Near), " or "))
	}
	if m.Workspace != "" && (m.Path.Relative() || !fsys.Within(m.Workspace, m.Path.String())) {
		fmt.Fprintf(&b, " The workspace directory is %s.", fsys.InSentence(m.Workspace))
	}
	if m.ToCreate {
		b.WriteString(" Write creates a notebook.")
	}
	return New(notThere, fsys.InSentence(m.Path.String()), b.String())
}

// Directory refuses a folder with its first entries, so that the caller can go on;
// listed is false if the caller may not know them.
func Directory(name string, list access.Listing, listed bool) error {
	switch {
	case !listed:
		return New(directory, name)
	case len(list.Names) == 0:
		return New(directoryEmpty, name)
	}
	names := phrase.Names(list.Names)
	if list.More {
		names = append(names, "…")
	}
	return New(directoryHolds, name, strings.Join(names, "\n"))
}

// NamesOffice reports whether a name ends like that of an Office document whose text is read.
func NamesOffice(path fsys.Path) bool {
	return slices.Contains([]string{"docx", "xlsx", "pptx", "odt", "ods", "odp"}, path.Ext())
}

// Binary refuses a file that is no text; changes says that the call would change it. The
// file's extension only fills the sentence.
func Binary(path fsys.Path, changes bool) error {
	what := "a binary file"
	if ext := path.Ext(); ext != "" {
		what = "a binary ." + fsys.InSentence(ext) + " file"
	}
	name := fsys.InSentence(path.String())
	if changes && NamesOffice(path) {
		return New(officeUnchanged, name)
	}
	if changes {
		return New(binaryUnchanged, name, what)
	}
	return New(binaryFile, what, name)
}
