package editor

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/filelock"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/procgroup"
)

// Folder is the folder in the state folder for old texts and marks. Each old text has a
// folder of its own, and keeps its base name: editors go by that.
const Folder = "diff"

const (
	// burst is the pause between two changes of a file after which the second one gets a
	// window of its own.
	burst = 30 * time.Second
	// keepCopies is the age at which an old text is removed. An editor reads it when its
	// window opens, and again when the user returns to a restored window.
	keepCopies = 24 * time.Hour
)

// Options of a Viewer.
type Options struct {
	// Dir makes the state folder, if it is missing, and returns its name.
	Dir func(context.Context) (string, error)
	// Getenv reads a variable of the environment.
	Getenv func(name string) string
	// LookPath finds a program in PATH, as exec.LookPath does.
	LookPath func(name string) (string, error)
	Now      func() time.Time
}

// Viewer shows changes.
type Viewer struct{ o Options }

// New makes a Viewer.
func New(o Options) *Viewer { return &Viewer{o} }

// Show opens the old text beside the file of an event, unless a window of the same burst
// shows it. command names an editor with its arguments; if it is empty, a known editor is
// looked for. Show returns nil if a missing editor was reported before in the session.
func (v *Viewer) Show(ctx context.Context, e hooks.HookInput, command []string) error {
	if e.Event != hooks.AfterEdit || !filepath.IsAbs(e.Path) {
		return fmt.Errorf("it shows changes after they are made: it belongs in hooks.%s", hooks.AfterEdit)
	}
	dir, err := v.o.Dir(ctx)
	if err != nil {
		return err
	}
	root, err := owndir.MakeSub(dir, Folder)
	if err != nil {
		return err
	}
	defer root.Close()
	v.sweep(root)
	editor, err := v.find(command)
	if err == nil {
		c := change{Viewer: v, root: root, dir: filepath.Join(dir, Folder), event: e, editor: editor}
		err = c.show()
	}
	if errors.Is(err, errNoEditor) && reported(root, e.Session, command) {
		return nil
	}
	return err
}

// reported marks that a missing editor was reported in a session, and returns whether it
// was marked before.
func reported(root *os.Root, session string, command []string) bool {
	f, err := root.OpenFile(markName("missing", append([]string{session}, command...)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, fs.ErrExist)
}

// markName returns the name of the mark of one kind for some words.
func markName(kind string, words []string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return kind + "-" + hex.EncodeToString(sum[:16])
}

// sweep removes copies and marks older than keepCopies. The next one tries again if that
// fails.
func (v *Viewer) sweep(root *os.Root) {
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && v.o.Now().Sub(info.ModTime()) > keepCopies {
			_ = root.RemoveAll(e.Name())
		}
	}
}

// change is one change that is shown.
type change struct {
	*Viewer
	root   *os.Root // of Folder
	dir    string   // the absolute name of Folder
	event  hooks.HookInput
	editor []string
}

// show opens a window, unless one of the same burst is open. The mark of the file and
// editor holds the time of the last change, and a byte once a window was opened.
func (c change) show() error {
	name := markName("shown", append([]string{c.event.Path}, c.editor...))
	mark, err := c.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer mark.Close()
	if got, err := filelock.Try(mark); !got && err == nil {
		return nil // another process opens a window for this file
	}
	info, err := mark.Stat()
	if err != nil {
		return err
	}
	now := c.o.Now()
	if info.Size() == 0 || now.Sub(info.ModTime()) > burst {
		if err := c.open(); err != nil {
			return err
		}
		if _, err := mark.WriteAt([]byte{'\n'}, 0); err != nil {
			return err
		}
	}
	return c.root.Chtimes(name, now, now)
}

// open copies the old text and starts the editor.
func (c change) open() error {
	folder := strings.ToLower(rand.Text()[:10])
	if err := c.root.Mkdir(folder, 0o700); err != nil {
		return err
	}
	base := filepath.Base(c.event.Path)
	err := c.copyOld(filepath.Join(folder, base))
	if err == nil {
		err = c.start(filepath.Join(c.dir, folder, base))
	}
	if err != nil {
		_ = c.root.RemoveAll(folder)
	}
	return err
}

// copyOld writes the old text, and an empty file if the event names none.
func (c change) copyOld(name string) error {
	to, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	if c.event.Before == "" {
		return nil
	}
	from, err := os.Open(c.event.Before)
	if err != nil {
		return fmt.Errorf("the old text cannot be read: %s", phrase.Cause(err))
	}
	defer from.Close()
	if _, err := io.Copy(to, from); err != nil {
		return fmt.Errorf("the old text cannot be copied: %s", phrase.Cause(err))
	}
	return nil
}

// start starts the editor in the working directory of this process.
func (c change) start(old string) error {
	cmd := exec.Command(c.editor[0], append(c.editor[1:len(c.editor):len(c.editor)], old, c.event.Path)...)
	if err := procgroup.StartAlone(cmd); err != nil {
		return missing("%q could not be started: %s", c.editor[0], phrase.Cause(err))
	}
	return cmd.Process.Release()
}
