//go:build !fsys_portable

package rescue

import (
	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/tempname"
)

// PutAway stores a file of unknown bytes: by Hand, else beside base under another name.
// After an error the file is where it was.
func (s Store) PutAway(dir int, folder, name, base string) (Kept, error) {
	if id, ok := s.rescue(dir, folder+"/"+base, name); ok {
		return Kept{Rescued: []string{id}}, nil
	}
	kept, err := s.setAside(dir, folder, name, base)
	return Kept{Saved: []string{kept}}, err
}

// rescue hands the bytes of a file over and removes it. A program that has it open
// for writing may go on to write, so its file has to stay one; where that cannot
// be told, too.
func (s Store) rescue(dir int, path, name string) (id string, ok bool) {
	if s.Hand == nil {
		return "", false
	}
	sys := s.Sys
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
	if id, err = s.Hand(path, disk.Reader{Sys: sys, FD: fd}, was.Size); err != nil {
		return "", false
	}
	kind, err := sys.GetLease(fd)
	if err != nil || kind != unix.F_RDLCK || sys.SetLease(fd, unix.F_RDLCK) != nil {
		return "", false
	}
	there, err := sys.Fstatat(dir, name)
	if err != nil || !there.SameFile(was) || there.Size != was.Size || there.Mtime != was.Mtime || disk.Remove(s.Sys, dir, name) != nil {
		return "", false
	}
	return id, true
}

// setAside renames a file to NAME.fsmcp-saved, or with a number behind it, and
// gives its absolute name; on an error that is the old one.
func (s Store) setAside(dir int, folder, name, base string) (string, error) {
	for n := 1; ; n++ {
		to := tempname.Saved(base, n)
		err := s.Sys.Rename(dir, name, to, unix.RENAME_NOREPLACE)
		if disk.Is(err, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP) {
			if err = s.Sys.Link(dir, name, dir, to, 0); err == nil {
				err = disk.Remove(s.Sys, dir, name)
			}
		}
		if disk.Is(err, unix.EEXIST) && n < tempname.SavedMax {
			continue
		}
		if err != nil {
			return folder + "/" + name, err
		}
		return folder + "/" + to, nil
	}
}
