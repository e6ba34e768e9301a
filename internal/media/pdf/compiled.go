package pdf

import (
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

// compiled is the folder that keeps PDFium's compiled code for later processes; empty: none.
// wazero runs these files and checks only a part of them. So a list holds the checksum of each
// file, and a file that differs is deleted, not run.
type compiled string

// listName names the list: the maker in its first line, then a line for each file.
const listName = "list"

// tryName begins the names of files that only test whether one can be made. The test needs
// no lock, so such a file counts as left over only when it is old.
const (
	tryName = ".try"
	tryOld  = time.Minute
)

// Compiled code has 19 million bytes: needed is enough room for it, and a file of maxFile bytes
// is something else.
const (
	needed  = 24 << 20
	maxFile = 64 << 20
)

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

// usable reports whether the folder exists, or can be made, and has room for compiled code.
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
	os.Remove(f.Name()) // again, for systems that cannot remove an open file
	return room
}

// list returns the lines of the list: the maker, and a line for each file.
func (c compiled) list() []string {
	f, err := c.open(listName)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// sound reports whether the folder holds exactly the files that the list of this maker names.
func (c compiled) sound() bool {
	listed, names := c.list(), c.files()
	if len(names) == 0 || len(listed) != len(names)+1 || listed[0] != maker() {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !c.asListed(name, listed) })
}

// clean deletes the files that differ from the list, and reports whether all of them are gone.
func (c compiled) clean() bool {
	if c == "" {
		return true
	}
	listed, clean := c.list(), true
	for _, name := range c.files() {
		if !c.asListed(name, listed) {
			err := os.Remove(filepath.Join(string(c), name))
			clean = (err == nil || errors.Is(err, fs.ErrNotExist)) && clean
		}
	}
	tried, _ := filepath.Glob(filepath.Join(string(c), tryName+"*"))
	for _, name := range tried {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > tryOld {
			os.Remove(name)
		}
	}
	return clean
}

// empty deletes the content of the folder, but not the folder: it may be a link to another
// disk.
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

// files returns the names of all files but the list, the newest first.
func (c compiled) files() (names []string) {
	age := make(map[string]time.Time)
	fs.WalkDir(os.DirFS(string(c)), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || name == listName || strings.HasPrefix(e.Name(), tryName) {
			return nil
		}
		if info, err := e.Info(); err == nil {
			names = append(names, name)
			age[name] = info.ModTime()
		}
		return nil
	})
	slices.SortFunc(names, func(a, b string) int { return age[b].Compare(age[a]) })
	return names
}

// asListed reports whether a file is as the list says.
func (c compiled) asListed(name string, listed []string) bool {
	line, err := c.line(name)
	return err == nil && slices.Contains(listed, line)
}

// line returns the line of the list for a file as it is: checksum, size and name.
func (c compiled) line(name string) (string, error) {
	f, err := c.open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.Copy(sum, io.LimitReader(f, maxFile))
	if err == nil && n == maxFile {
		err = fs.ErrInvalid // it may be endless
	}
	return fmt.Sprintf("%08x %d %s", sum.Sum32(), n, name), err
}

// open opens a regular file. Opening a FIFO could wait forever.
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

// writeList writes the list of the present files, and deletes the oldest ones.
func (c compiled) writeList() error {
	list := maker() + "\n"
	for i, name := range c.files() {
		if i >= keptFiles {
			os.Remove(filepath.Join(string(c), name))
			continue
		}
		line, err := c.line(name)
		if err != nil {
			return err
		}
		list += line + "\n"
	}
	f, err := os.CreateTemp(string(c), listName)
	if err != nil {
		return err
	}
	_, err = f.WriteString(list)
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
