//go:build !fsys_portable

package save

import (
	"io"

	"golang.org/x/sys/unix"
)

// putAway stores a file of unknown bytes: by Rescue, else beside base under another name.
// After an error the file is where it was.
func (s *Saver) putAway(dir int, folder, name, base string) (Outcome, error) {
	if id, ok := s.rescue(dir, folder+"/"+base, name); ok {
		return Outcome{Rescued: []string{id}}, nil
	}
	kept, err := s.setAside(dir, folder, name, base)
	return Outcome{Saved: []string{kept}}, err
}

// rescue hands the bytes of a file over and removes it. A program that has it open
// for writing may go on to write, so its file has to stay one; where that cannot
// be told, too.
func (s *Saver) rescue(dir int, path, name string) (id string, ok bool) {
	if s.o.Rescue == nil {
		return "", false
	}
	sys := s.sys
	fd, err := sys.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer sys.Close(fd)
	was, err := sys.Fstat(fd)
	if err != nil || was.Mode&unix.S_IFMT != unix.S_IFREG || sys.SetLease(fd, unix.F_RDLCK) != nil {
		return "", false
	}
	defer sys.SetLease(fd, unix.F_UNLCK)
	if id, err = s.o.Rescue(path, preader{sys, fd}, was.Size); err != nil {
		return "", false
	}
	kind, err := sys.GetLease(fd)
	if err != nil || kind != unix.F_RDLCK || sys.SetLease(fd, unix.F_RDLCK) != nil {
		return "", false
	}
	there, err := sys.Fstatat(dir, name)
	if err != nil || !there.SameFile(was) || there.Size != was.Size || there.Mtime != was.Mtime || s.remove(dir, name) != nil {
		return "", false
	}
	return id, true
}

// rescueBoth hands over both contents of a journal.
func (s *Saver) rescueBoth(j *journal) (ids []string, ok bool) {
	if s.o.Rescue == nil {
		return nil, false
	}
	for _, part := range []struct{ at, size int64 }{{0, j.old}, {j.old, j.new}} {
		id, err := s.o.Rescue(j.path, io.NewSectionReader(preader{j.sys, j.fd}, part.at, part.size), part.size)
		if err != nil {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}

// preader reads from an open file.
type preader struct {
	sys Sys
	fd  int
}

// ReadAt implements io.ReaderAt.
func (r preader) ReadAt(p []byte, off int64) (int, error) {
	b, err := readAt(r.sys, r.fd, off, len(p))
	if n := copy(p, b); err != nil || n == len(p) {
		return n, err
	}
	return len(b), io.EOF
}
