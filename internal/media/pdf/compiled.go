package pdf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsmcp/fsmcp/internal/owndir"
)

// compiled is the folder in which PDFium lies compiled for later processes;
// empty: nowhere. What lies there is run as it is, and wazero checks only a part
// of it: so each file is listed with its checksum, and one that is not as it was
// left is deleted, not run.
type compiled string

// listName is the list: the maker in its first line, then a line for each file.
const listName = "list"

// tryName begins the names of files that only test whether one can be made. The test needs
// no lock, so such a file counts as left over only when it is old.
const (
	tryName = ".try"
	tryOld  = time.Minute
)

// needed is room enough for what is compiled, in bytes: it has 19 million.
const needed = 24 << 20

// keptFiles bounds the kept files: one is in use, and another process, perhaps of an
// earlier version, may still use one that it left.
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

// openFolder opens the folder, once, if no other user can have written to it or its
// content. It returns a name that leads to this folder even if the folders above change:
// the checked folder is the one that is used. That holds on Linux; on other systems a user
// that may write the folders above can replace it.
func (r *Reader) openFolder() (compiled, error) {
	if r.pinned != "" {
		return r.pinned, nil
	}
	root, err := os.OpenRoot(string(r.cache))
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := owndir.CheckTree(root, string(r.cache), -1); err != nil {
		return "", err
	}
	if r.folder, err = root.Open("."); err != nil {
		return "", err
	}
	r.pinned = r.cache
	pinned := fmt.Sprintf("/proc/self/fd/%d", r.folder.Fd())
	if _, err := os.Stat(pinned); err == nil && runtime.GOOS == "linux" {
		r.pinned = compiled(pinned)
	}
	return r.pinned, nil
}

// usable tells whether there is a folder, or one can be made, in which what is
// compiled can be kept.
func (c compiled) usable() bool {
	if c == "" || os.MkdirAll(string(c), 0o700) != nil {
		return false
	}
	f, err := os.CreateTemp(string(c), tryName)
	if err != nil {
		return false
	}
	os.Remove(f.Name()) // before it grows: a process may end at any moment
	room := roomFor(f, needed)
	f.Close()
	os.Remove(f.Name()) // where an open file cannot be removed
	return room
}

// list returns the listed files, and the maker that listed them.
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
		if _, ok := c.asListed(name, listed); !ok {
			return false
		}
	}
	return len(names) == len(listed)
}

// clean deletes what is not as it was left. It returns what is left then, and
// whether nothing else is there.
func (c compiled) clean() (pieces []piece, clean bool) {
	if c == "" {
		return nil, true
	}
	_, listed := c.list()
	clean = true
	for _, name := range c.files() {
		if p, ok := c.asListed(name, listed); ok {
			pieces = append(pieces, p)
			continue
		}
		err := os.Remove(filepath.Join(string(c), name))
		clean = (err == nil || errors.Is(err, fs.ErrNotExist)) && clean
	}
	tried, _ := filepath.Glob(filepath.Join(string(c), tryName+"*"))
	for _, name := range tried {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > tryOld {
			os.Remove(name)
		}
	}
	return pieces, clean
}

// empty deletes all that is in the folder, but not the folder: it may be a link to
// where there is more room.
func (c compiled) empty() {
	if c == "" {
		return
	}
	entries, err := os.ReadDir(string(c))
	if err != nil {
		return
	}
	for _, e := range entries {
		os.RemoveAll(filepath.Join(string(c), e.Name()))
	}
}

// files are the names of all files but the list, the latest first.
func (c compiled) files() (names []string) {
	if c == "" {
		return nil
	}
	age := make(map[string]int64)
	root := string(c) + string(filepath.Separator) + "." // also where it is a link
	filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
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

// asListed tells whether a file is as the list has it. One of another size is not
// read: it may be endless.
func (c compiled) asListed(name string, listed []piece) (p piece, ok bool) {
	at := slices.IndexFunc(listed, func(p piece) bool { return p.name == name })
	if at < 0 {
		return piece{}, false
	}
	info, err := os.Stat(filepath.Join(string(c), name))
	if err != nil || info.Size() != listed[at].size {
		return piece{}, false
	}
	now, err := c.look(name)
	return now, err == nil && now == listed[at]
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
