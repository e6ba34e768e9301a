package save

import (
	"path/filepath"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// keptAs says where bytes that are known nowhere else are now.
type keptAs struct {
	saved   []string // files, by absolute name
	rescued []string // what Options.Rescue has kept them as
}

// keepUnknown stores a file of unknown bytes, which other programs wrote while a file was
// replaced, or which a dead process left: by Options.Rescue, else beside base under another
// name. After an error the file is where it was.
func (s *Saver) keepUnknown(dir int, folder, name, base string) (keptAs, error) {
	if id, ok := s.handOver(dir, filepath.Join(folder, base), name); ok {
		return keptAs{rescued: []string{id}}, nil
	}
	to, err := s.setAside(dir, name, base)
	return keptAs{saved: []string{filepath.Join(folder, to)}}, err
}

// handOver gives the bytes of a file to Options.Rescue and removes the file. A program that
// has it open for writing may go on to write, so its file has to stay one; so it has if that
// cannot be known.
func (s *Saver) handOver(dir int, path, name string) (id string, ok bool) {
	if s.o.Rescue == nil {
		return "", false
	}
	fd, was, err := sys.Open(s.sys, dir, name, sys.Read)
	if err != nil {
		return "", false
	}
	defer s.sys.Close(fd)
	if !sys.IsRegular(was) || s.sys.SetLease(fd, sys.ReadLease) != nil {
		return "", false
	}
	defer s.sys.SetLease(fd, sys.NoLease)
	if id, err = s.o.Rescue(path, sys.Reader{Sys: s.sys, FD: fd}, was.Size); err != nil {
		return "", false
	}
	kind, err := s.sys.GetLease(fd)
	if err != nil || kind != sys.ReadLease || s.sys.SetLease(fd, sys.ReadLease) != nil {
		return "", false
	}
	now, err := s.sys.Fstatat(dir, name)
	return id, err == nil && sameContent(now, was) && sys.Remove(s.sys, dir, name) == nil
}

// sameContent reports whether both stamps are of one file whose content is unchanged, as
// far as stamps tell. The change time is left out: linking and exchanging set it.
func sameContent(a, b fsys.Stamp) bool {
	return a.SameFile(b) && a.Size == b.Size && a.Mtime == b.Mtime
}

// setAside renames a file to NAME.fsmcp-saved, or with a number behind it, and returns its
// new name; with an error, the old one.
func (s *Saver) setAside(dir int, name, base string) (string, error) {
	now, err := sys.Stat(s.sys, dir, name)
	for n := 1; err == nil; n++ {
		to := savedName(base, n)
		err = s.moveToFree(dir, now, name, to)
		if err == nil {
			return to, nil
		}
		if sys.Is(err, syscall.EEXIST) && n < savedMax {
			err = nil
		}
	}
	return name, err
}
