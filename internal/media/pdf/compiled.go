package pdf

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
)

// compiled is the folder in which PDFium lies compiled for later processes;
// empty: nowhere. What lies there is run as it is, and wazero checks only a part
// of it: so each file is listed with its checksum, and one that is not as it was
// left is deleted, not run.
type compiled string

// listName is the list: the maker in its first line, then a line for each file.
const listName = "list"

// tryName begins the names of files that only try whether one can be made. That
// may happen out of turn, so they are nobody's leftovers.
const tryName = ".try"

// keptFiles is how many files are kept: one is in use, and what others left, an
// earlier version among them, may still be somebody's.
const keptFiles = 3

// maker names what the code was compiled by and of.
func maker() string {
	words := []string{"fsmcp"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if strings.HasSuffix(d.Path, "/wazero") || strings.HasSuffix(d.Path, "/go-pdfium") {
				words = append(words, d.Path, d.Version)
			}
		}
	}
	return strings.Join(words, " ")
}

// piece is a file of the folder as it was left.
type piece struct {
	name string // from the folder, with slashes
	size int64
	sum  uint32
}

// usable tells whether there is a folder, or one can be made, in which
// something can be kept.
func (c compiled) usable() bool {
	if c == "" || os.MkdirAll(string(c), 0o700) != nil {
		return false
	}
	f, err := os.CreateTemp(string(c), tryName)
	if err != nil {
		return false
	}
	f.Close()
	return os.Remove(f.Name()) == nil
}

// list reads what was left, and by whom.
func (c compiled) list() (by string, pieces []piece) {
	f, err := c.open(listName)
	if err != nil {
		return "", nil
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	if lines.Scan() {
		by = lines.Text()
	}
	for lines.Scan() {
		var p piece
		if _, err := fmt.Sscanf(lines.Text(), "%08x %d %s", &p.sum, &p.size, &p.name); err != nil {
			return "", nil
		}
		pieces = append(pieces, p)
	}
	return by, pieces
}

// sound tells whether all that is needed lies there as this maker left it, and
// nothing else.
func (c compiled) sound() bool {
	by, listed := c.list()
	if by != maker() || len(listed) == 0 {
		return false
	}
	names := c.files()
	for _, name := range names {
		if now, err := c.look(name); err != nil || !slices.Contains(listed, now) {
			return false
		}
	}
	return len(names) == len(listed)
}

// clean deletes what is not as it was left. It returns what is left then, and
// whether nothing else is there.
func (c compiled) clean() (pieces []piece, clean bool) {
	_, listed := c.list()
	clean = true
	for _, name := range c.files() {
		now, err := c.look(name)
		if err == nil && slices.Contains(listed, now) {
			pieces = append(pieces, now)
			continue
		}
		clean = os.Remove(filepath.Join(string(c), name)) == nil && clean
	}
	return pieces, clean
}

// files are the names of all files but the list, the latest first.
func (c compiled) files() (names []string) {
	age := make(map[string]int64)
	filepath.WalkDir(string(c), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), tryName) {
			return nil
		}
		short, err := filepath.Rel(string(c), name)
		if info, infoErr := e.Info(); err == nil && infoErr == nil && short != listName {
			names = append(names, filepath.ToSlash(short))
			age[filepath.ToSlash(short)] = info.ModTime().UnixNano()
		}
		return nil
	})
	slices.SortFunc(names, func(a, b string) int { return int(min(max(age[b]-age[a], -1), 1)) })
	return names
}

// look is a file as it is.
func (c compiled) look(name string) (piece, error) {
	f, err := c.open(name)
	if err != nil {
		return piece{}, err
	}
	defer f.Close()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.Copy(sum, f)
	return piece{name, n, sum.Sum32()}, err
}

// open opens what is a file: a FIFO that lies there would be waited at for ever.
func (c compiled) open(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(string(c), name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fs.ErrInvalid
	}
	return f, nil
}

// holds tells whether a file is that.
func (c compiled) holds(name string, content []byte) bool {
	f, err := c.open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return err == nil && bytes.Equal(b, content)
}

// seal lists what is there now, and lets go of the oldest.
func (c compiled) seal(known []piece) error {
	var list bytes.Buffer
	fmt.Fprintln(&list, maker())
	for i, name := range c.files() {
		at := slices.IndexFunc(known, func(p piece) bool { return p.name == name })
		switch {
		case i >= keptFiles:
			os.Remove(filepath.Join(string(c), name))
			continue
		case at < 0:
			p, err := c.look(name)
			if err != nil {
				return err
			}
			at, known = len(known), append(known, p)
		}
		fmt.Fprintf(&list, "%08x %d %s\n", known[at].sum, known[at].size, known[at].name)
	}
	if c.holds(listName, list.Bytes()) {
		return nil
	}
	f, err := os.CreateTemp(string(c), listName)
	if err != nil {
		return err
	}
	_, err = f.Write(list.Bytes())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(string(c), listName))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
