package refusal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Every error of another package has a slug, words that name the file, and the number
// of the tool's own table, however often it is wrapped.
func TestErrorsHaveWords(t *testing.T) {
	const path = "/w/file.txt"
	full := errors.New("no space left on device")
	for _, c := range []struct {
		err        error
		slug       string
		read, edit int
		unnamed    bool // the sentence is about the arguments
	}{
		{err: &fsys.PathError{Raw: path, Reason: "is empty"}, slug: SlugBadArgument, read: 12, edit: 12},
		{err: &save.BusyError{Why: "another program writes it"}, slug: SlugBusy, read: 16, edit: 16},
		{err: &history.KeepError{Err: full}, slug: SlugIO, read: 11, edit: 11},
		{err: &AuditError{full}, slug: SlugIO, read: 11, edit: 11},
		{err: &text.UnencodableError{Rune: '€', Line: 3, Name: "ISO-8859-1"}, slug: SlugNotEncodable, read: 17, edit: 17, unnamed: true},
		{err: edit.ErrSame, slug: SlugNoChange, read: 1, edit: 1, unnamed: true},
		{err: text.ErrBinary, slug: SlugBinary, read: 4, edit: 18},
		{err: fsys.ErrLoop, slug: SlugNotFound, read: 2, edit: 4},
		{err: fs.ErrNotExist, slug: SlugNotFound, read: 2, edit: 4},
		{err: io.ErrUnexpectedEOF, slug: SlugBusy, read: 16, edit: 16},
		{err: save.ErrModified, slug: SlugModified, read: 21, edit: 7},
		{err: save.ErrVanished, slug: SlugNotFound, read: 19, edit: 19},
		{err: save.ErrReadOnly, slug: SlugReadOnly, read: 14, edit: 14},
		{err: save.ErrLocked, slug: SlugReadOnly, read: 14, edit: 14},
		{err: ErrStopping, slug: SlugBusy, read: 16, edit: 16},
		{err: context.DeadlineExceeded, slug: SlugBusy, read: 16, edit: 16},
		{err: &save.IOError{Op: "write", Err: full}, slug: SlugIO, read: 11, edit: 11},
		{err: &save.IOError{Op: "write", Err: full, Changed: true}, slug: SlugIO, read: 11, edit: 11},
		{err: &save.IOError{Op: "write", Err: full, Changed: true, Mixed: true}, slug: SlugIO, read: 11, edit: 11},
		{err: full, slug: SlugIO, read: 11, edit: 11},
	} {
		r := Of(path, fmt.Errorf("tools: %w", c.err))
		if r.Slug != c.slug || r.Code("Read") != c.read || r.Code("Edit") != c.edit {
			t.Errorf("%v: %s %d %d", c.err, r.Slug, r.Code("Read"), r.Code("Edit"))
		}
		if strings.Contains(r.Text, path) == c.unnamed || strings.Contains(r.Text, "tools:") {
			t.Errorf("%v: %s", c.err, r.Text)
		}
	}
	if r := Of(path, &save.IOError{Op: "write", Err: full, Changed: true, Mixed: true}); strings.Contains(r.Text, "The new text is in place") || !strings.Contains(r.Text, "parts of both") {
		t.Error(r.Text)
	}
	if r := Of(path, fmt.Errorf("plan: %w", New(NotRead, path))); r.Slug != SlugNotRead || r.Code("Write") != 2 {
		t.Errorf("%+v", r)
	}
}

// An error of a hidden file tells the same whether a guess was right or not.
func TestHiddenFilesConfirmNoGuess(t *testing.T) {
	h := Hidden{Name: "/w/secret", Read: true}
	right := h.Refusal(&text.UnencodableError{Rune: '€', Line: 3, Name: "ISO-8859-1"})
	wrong := h.Refusal(NoMatch("/w/secret", "guess", edit.Hint{Lines: []string{"SECRET"}}, true))
	if right.Error() != wrong.Error() || strings.Contains(wrong.Error(), "SECRET") {
		t.Errorf("%v\n%v", right, wrong)
	}
}

// Advice is in the words of the system.
func TestAdviceOnWindows(t *testing.T) {
	for system, want := range map[string]string{"linux": `'Read(//a'\''b)'`, "windows": `"Read(//a'b)"`} {
		if got := shellWord("Read(//a'b)", system); got != want {
			t.Errorf("%s: %s", system, got)
		}
	}
	if got := readOnlyOn("windows"); strings.Contains(got, "chmod") || !strings.Contains(got, "attrib -r") {
		t.Error(got)
	}
	if got := readOnlyOn("linux"); !strings.Contains(got, "chmod u+w") {
		t.Error(got)
	}
}
