package save

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// renameEntry is a file of the state folder that says which name may be missing for a moment,
// and under which one its file is then: two quoted names in a line. The lock on it tells
// sweeps that its process lives.
type renameEntry struct {
	at      *place
	dir, fd int
	name    string
}

// startRenameEntry writes the entry for a file that is about to be renamed to away.
func (p *place) startRenameEntry(away string) (*renameEntry, error) {
	dir, err := p.st.openRenames()
	if err != nil {
		return nil, err
	}
	e := &renameEntry{at: p, dir: dir, fd: -1}
	if err := e.write(away); err != nil {
		e.done()
		e.close()
		return nil, err
	}
	return e, nil
}

func (e *renameEntry) write(away string) error {
	calls := e.at.sys
	made, err := sys.CreateLocked(calls, e.dir, 0o600, func() (string, error) { return e.at.s.random(10) })
	if e.fd, e.name = made.FD, made.Name; err != nil {
		return err
	}
	if made.LockErr != nil { // a sweep could act on it meanwhile
		return made.LockErr
	}
	line := strconv.Quote(e.at.folder()) + " " + strconv.Quote(e.at.base) + " " + strconv.Quote(away) + "\n"
	if err := sys.WriteAll(calls, e.fd, []byte(line), 0); err != nil || e.at.s.o.Durability == None {
		return err
	}
	if err := calls.Sync(e.fd); err != nil {
		return err
	}
	return calls.Sync(e.dir)
}

// done removes the entry, because the name exists again. An entry that stays does no harm:
// the sweep changes nothing if the name exists.
func (e *renameEntry) done() {
	if e.name != "" && sys.Remove(e.at.sys, e.dir, e.name) == nil {
		e.name = ""
	}
	e.close()
}

// close gives the descriptor back. It may be called again.
func (e *renameEntry) close() {
	if e.fd >= 0 {
		e.at.sys.Close(e.fd)
		e.fd = -1
	}
}

// finishRename gives a file its name back if a process died between the two renames of
// twoRenames.
func (w *sweep) finishRename(_, fd int, _ string) (done bool, err error) {
	text, err := sys.ReadAll(w.sys, fd)
	if err != nil {
		return false, err
	}
	folder, base, away, ok := parseRenameEntry(string(text))
	if !ok {
		return true, nil // never acted upon
	}
	path := filepath.Join(folder, base)
	unlock, err := w.lockPath(path)
	if err == nil {
		defer unlock()
		err = w.giveNameBack(folder, base, away)
	}
	if err != nil && !sys.Is(err, syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.EEXIST) {
		w.report.Pending = append(w.report.Pending, path)
		return false, nil
	}
	return true, nil
}

func parseRenameEntry(text string) (folder, base, away string, ok bool) {
	line, whole := strings.CutSuffix(text, "\n")
	var names [3]string
	for n := range names {
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return "", "", "", false
		}
		names[n], err = strconv.Unquote(quoted)
		if err != nil {
			return "", "", "", false
		}
		line = strings.TrimPrefix(line[len(quoted):], " ")
	}
	temp, isTemp := parseTempName(names[2])
	return names[0], names[1], names[2], whole && line == "" && isTemp && temp.Kind != newOnly
}

// giveNameBack renames away to base, unless that name is there.
func (w *sweep) giveNameBack(folder, base, away string) error {
	dir, err := w.sys.Openat(sys.CWD, folder, sys.Folder|sys.NoFollow, 0)
	if err != nil {
		return err
	}
	defer w.sys.Close(dir)
	if _, err := w.sys.Fstatat(dir, base); !sys.Is(err, syscall.ENOENT) {
		return err
	}
	now, err := w.sys.Fstatat(dir, away)
	if err != nil || !sys.IsRegular(now) {
		return err
	}
	if err := w.s.moveToFree(dir, now, away, base); err != nil {
		return err
	}
	if w.s.o.Durability != None {
		return w.sys.Sync(dir)
	}
	return nil
}
