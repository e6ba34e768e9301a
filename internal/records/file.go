package records

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/text/charset"
)

const (
	folder = "records" // in the state folder
	ending = ".jsonl"
	temp   = ".tmp" // the ending of a file that is being written
)

// conversation is one whose records are kept.
type conversation struct {
	store *Store
	id    state.Sum
	files *state.Files
	// left holds changes that could not be written.
	left map[string]*state.Record
}

// idOf returns the hash of a name: the name itself is not stored.
func idOf(name string) state.Sum { return sha256.Sum256([]byte(name)) }

// file is the name of a conversation's file.
func (c *conversation) file() string { return hex.EncodeToString(c.id[:16]) + ending }

// line is a record in the file of a conversation. Ranges are in the order Start, End.
type line struct {
	Path    string      `json:"path"`
	At      int64       `json:"at"`    // Unix seconds of the latest change
	Stamp   [5]int64    `json:"stamp"` // device, inode, size, mtime, ctime
	Older   bool        `json:"older,omitempty"`
	All     string      `json:"all,omitempty"`
	Charset string      `json:"charset,omitempty"`
	Mark    bool        `json:"mark,omitempty"`
	Ranges  [][2]int64  `json:"ranges"`
	Sums    []state.Sum `json:"sums"`
}

// head is the first line of the file. Sum is of all that follows: a file that was not written to the end
// has another.
type head struct {
	Format       int       `json:"format"`
	Conversation state.Sum `json:"conversation"`
	Sum          state.Sum `json:"sum"`
}

// format is the version of the file. A file of another one is not used.
const format = 1

// load returns what was kept of the conversation. A file that cannot be used counts as none:
// the texts have to be read again.
func (c *conversation) load() map[string]state.Record {
	if !c.store.o.On() {
		return nil
	}
	dir, err := c.store.o.FoundDir()
	if err != nil || dir == "" {
		return nil
	}
	root, err := owndir.Sub(dir, folder)
	if err != nil {
		return nil
	}
	defer root.Close()
	records := make(map[string]state.Record)
	for _, l := range c.read(root) {
		if rec, ok := l.record(); ok {
			records[l.Path] = rec
		}
	}
	return records
}

// read returns the lines of the conversation's file that are not too old, nil if it cannot be
// used.
func (c *conversation) read(root *os.Root) []line {
	raw, err := readOwn(root, c.file())
	if err != nil {
		return nil
	}
	lines, err := decode(raw, c.id, c.store.o.Now(), checks)
	if err != nil {
		return nil
	}
	return lines
}

// readOwn reads a file that only this user can read or write.
func readOwn(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := private(filepath.Join(root.Name(), name), info); err != nil {
		return nil, err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if len(raw) > maxBytes {
		err = errors.New("the file is too large")
	}
	return raw, err
}

// private returns an error unless a file is regular and another user can neither read nor write it.
func private(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %s", path, owndir.KindOf(info.Mode()))
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 { // there the mode says nothing
		return fmt.Errorf("%s is open to other users", path)
	}
	return owndir.Check(path, info)
}

// check returns why a file is not used, "" if it is.
type check struct {
	name string
	why  func(h head, id state.Sum, rest []byte) string
}

var checks = []check{
	{"format", func(h head, _ state.Sum, _ []byte) string {
		if h.Format != format {
			return "it is of another version of fsmcp"
		}
		return ""
	}},
	{"conversation", func(h head, id state.Sum, _ []byte) string {
		if h.Conversation != id {
			return "it is of another conversation"
		}
		return ""
	}},
	{"sum", func(h head, _ state.Sum, rest []byte) string {
		if h.Sum != sha256.Sum256(rest) {
			return "it was not written to the end"
		}
		return ""
	}},
}

// decode returns the records of a file of the conversation id that passes the checks, without
// those that are too old.
func decode(raw []byte, id state.Sum, now time.Time, checks []check) (lines []line, err error) {
	first, rest, _ := bytes.Cut(raw, []byte("\n"))
	var h head
	if err := json.Unmarshal(first, &h); err != nil {
		return nil, err
	}
	for _, c := range checks {
		if why := c.why(h, id, rest); why != "" {
			return nil, errors.New(why)
		}
	}
	for one := range bytes.Lines(rest) {
		var l line
		if err := json.Unmarshal(one, &l); err != nil {
			return nil, err
		}
		if age := now.Unix() - l.At; age >= 0 && age < int64(maxAge/time.Second) {
			lines = append(lines, l)
		}
	}
	return lines, nil
}

// encode returns the file of the conversation id, with the latest of lines for which there is
// room.
func encode(id state.Sum, lines []line) ([]byte, error) {
	slices.SortFunc(lines, func(a, b line) int {
		if a.At != b.At {
			return int(b.At - a.At)
		}
		return strings.Compare(a.Path, b.Path)
	})
	var rest []byte
	for _, l := range lines[:min(len(lines), maxFiles)] {
		one, err := json.Marshal(l)
		if err != nil {
			return nil, err
		}
		if len(rest)+len(one) > maxBytes-512 { // the first line has less
			break
		}
		rest = append(append(rest, one...), '\n')
	}
	first, err := json.Marshal(head{Format: format, Conversation: id, Sum: sha256.Sum256(rest)})
	return slices.Concat(first, []byte("\n"), rest), err
}

// lineOf returns a record as it is stored; ok is false of one that is not.
func lineOf(path string, rec state.Record, now time.Time) (l line, ok bool) {
	rec = rec.Kept()
	if !utf8.ValidString(path) || len(rec.Parts) > maxParts {
		return l, false
	}
	l = line{Path: path, At: now.Unix(), Older: rec.Older, Ranges: [][2]int64{}, Sums: []state.Sum{}}
	l.Stamp = [5]int64{int64(rec.Stamp.Dev), int64(rec.Stamp.Ino), rec.Stamp.Size, rec.Stamp.Mtime, rec.Stamp.Ctime}
	if rec.All != (state.Sum{}) {
		l.All = hex.EncodeToString(rec.All[:])
	}
	if rec.Enc != (text.Encoding{}) {
		l.Charset, l.Mark = rec.Enc.Name(), rec.Enc.Mark
	}
	for _, p := range rec.Parts {
		l.Ranges, l.Sums = append(l.Ranges, [2]int64{p.Start, p.End}), append(l.Sums, p.Sum)
	}
	return l, true
}

// record returns the record of a line; ok is false of one that makes no sense.
func (l line) record() (rec state.Record, ok bool) {
	if len(l.Ranges) != len(l.Sums) || len(l.Ranges) > maxParts {
		return rec, false
	}
	s := l.Stamp
	rec.Stamp = fsys.Stamp{Dev: uint64(s[0]), Ino: uint64(s[1]), Size: s[2], Mtime: s[3], Ctime: s[4]}
	rec.Older = l.Older
	if l.All != "" {
		if err := rec.All.UnmarshalText([]byte(l.All)); err != nil {
			return rec, false
		}
	}
	if l.Charset != "" {
		set, known := charset.Named(l.Charset)
		if !known {
			return rec, false
		}
		rec.Enc = text.Encoding{Set: set, Mark: l.Mark}
	}
	for i, r := range l.Ranges {
		if r[0] < 0 || r[1] <= r[0] || r[1]-r[0] > state.MaxPart {
			return rec, false
		}
		rec.Parts = append(rec.Parts, state.Part{Span: span.Span{Start: r[0], End: r[1]}, Sum: l.Sums[i]})
	}
	return rec, true
}

// write writes what has changed since the last write, beside what the file holds of other
// files.
func (c *conversation) write() error {
	changed := c.files.TakeChanged()
	for path, rec := range c.left {
		if _, newer := changed[path]; !newer {
			changed[path] = rec
		}
	}
	c.left = nil
	if len(changed) == 0 || !c.store.o.On() {
		return nil
	}
	err := c.replace(changed)
	if err != nil {
		c.left = changed // for the next write
	}
	return err
}

// replace writes the conversation's file anew.
func (c *conversation) replace(changed map[string]*state.Record) error {
	dir, err := c.store.o.MakeDir(context.Background())
	if err != nil {
		return err
	}
	root, err := owndir.MakeSub(dir, folder)
	if err != nil {
		return err
	}
	defer root.Close()
	c.store.sweep(root)
	lines := slices.DeleteFunc(c.read(root), func(l line) bool {
		_, ours := changed[l.Path]
		return ours
	})
	for path, rec := range changed {
		if rec == nil || c.store.o.Secret([]string{path}) {
			continue
		}
		if l, ok := lineOf(path, *rec, c.store.o.Now()); ok {
			lines = append(lines, l)
		}
	}
	raw, err := encode(c.id, lines)
	if err != nil {
		return err
	}
	name := c.file()
	own := strings.TrimSuffix(name, ending) + "-" + strings.ToLower(rand.Text()) + temp
	if err := root.WriteFile(own, raw, 0o600); err != nil {
		_ = root.Remove(own)
		return err
	}
	if err := root.Rename(own, name); err != nil {
		_ = root.Remove(own)
		return err
	}
	return nil
}

// sweep removes the files of conversations that are over, once in a process: those that are too
// old, and the oldest beyond mostKept.
func (s *Store) sweep(root *os.Root) {
	if s.swept {
		return
	}
	s.swept = true
	dir, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	type aged struct {
		name string
		at   time.Time
	}
	var kept []aged
	for _, e := range dir {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), ending) && !strings.HasSuffix(e.Name(), temp) {
			continue
		}
		if s.o.Now().Sub(info.ModTime()) > maxAge {
			_ = root.Remove(e.Name())
			continue
		}
		kept = append(kept, aged{e.Name(), info.ModTime()})
	}
	slices.SortFunc(kept, func(a, b aged) int { return b.at.Compare(a.at) })
	for _, old := range kept[min(len(kept), mostKept):] {
		_ = root.Remove(old.name)
	}
}
