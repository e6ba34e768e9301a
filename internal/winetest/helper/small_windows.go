package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The small program that fsmcp is timed beside: it takes the steps that fsmcp promises, one
// after the other, for files below one folder, and keeps nothing in between but its workspace.

// begin looks at a workspace and reads the settings of a user, as a server does when it starts.
func (p *small) begin(ws string) (string, error) {
	f, name, err := look(ws)
	if err != nil {
		return "", err
	}
	f.Close()
	p.ws = name
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	for _, dir := range []string{ws, home, filepath.Join(home, ".config")} {
		for _, name := range []string{".fsmcp/settings.json", ".fsmcp/settings.local.json", ".claude/settings.json"} {
			if _, err := os.ReadFile(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
				return "", fmt.Errorf("settings: %w", err)
			}
		}
	}
	p.state = filepath.Join(home, "small")
	return name, os.MkdirAll(p.state, 0o700)
}

type small struct{ ws, state string }

// look goes down a name, where no segment may be a link, and returns the file, open for its
// attributes, and its final name.
func look(name string) (*os.File, string, error) {
	for i := len(filepath.VolumeName(name)) + 1; i < len(name); {
		end := strings.IndexByte(name[i:], '\\')
		if end < 0 {
			end = len(name) - i
		}
		info, err := os.Lstat(name[:i+end])
		if err != nil {
			return nil, "", err
		}
		if info.Mode()&os.ModeSymlink != 0 {
			return nil, "", errors.New("a link")
		}
		i += end + 1
	}
	h, err := open(name, "", "rwd")
	if err != nil {
		return nil, "", err
	}
	buf := make([]uint16, 1024)
	n, err := windows.GetFinalPathNameByHandle(windows.Handle(h), &buf[0], uint32(len(buf)), 0)
	return os.NewFile(uintptr(h), name), strings.TrimPrefix(windows.UTF16ToString(buf[:n]), `\\?\`), err
}

// openInside opens a file through its folder, and makes sure that it lies in the workspace and is the
// one that was looked at.
func (p *small) openInside(name string) (*os.Root, *os.File, error) {
	looked, final, err := look(name)
	if err != nil {
		return nil, nil, err
	}
	defer looked.Close()
	if !strings.HasPrefix(final, p.ws+`\`) {
		return nil, nil, errors.New("outside")
	}
	root, err := os.OpenRoot(filepath.Dir(final))
	if err != nil {
		return nil, nil, err
	}
	f, err := root.Open(filepath.Base(final))
	if err != nil {
		root.Close()
		return nil, nil, err
	}
	before, err := looked.Stat()
	now, err2 := f.Stat()
	if err = errors.Join(err, err2); err == nil && !os.SameFile(before, now) {
		err = errors.New("another file")
	}
	return root, f, err
}

// readStill reads an open file that does not change meanwhile.
func readStill(f *os.File) ([]byte, error) {
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && (after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime())) {
		err = errors.New("the file changes")
	}
	return b, err
}

// read returns five numbered lines as JSON.
func (p *small) read(name string) (string, error) {
	root, f, err := p.openInside(name)
	if err != nil {
		return "", err
	}
	defer root.Close()
	defer f.Close()
	b, err := readStill(f)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for i, line := range strings.SplitN(string(b), "\n", 6)[:5] {
		fmt.Fprintf(&text, "%6d\t%s\n", i+1, line)
	}
	answer, err := json.Marshal(text.String())
	return string(answer), err
}

// edit replaces "count N." by "count N+1." and keeps the old bytes.
func (p *small) edit(name string, n int) error {
	lock, err := os.OpenFile(filepath.Join(p.state, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := windows.LockFileEx(windows.Handle(lock.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{}); err != nil {
		return err
	}
	root, f, err := p.openInside(name)
	if err != nil {
		return err
	}
	defer root.Close()
	defer f.Close()
	only, err := open(name, "r", "rd") // no other program can write the file from here on
	if err != nil {
		return err
	}
	defer syscall.CloseHandle(only)
	old, err := readStill(f)
	if err != nil {
		return err
	}
	from := fmt.Appendf(nil, "count %d.", n)
	if bytes.Count(old, from) != 1 {
		return errors.New("not once")
	}
	if err := p.keep(name, old); err != nil {
		return err
	}
	changed := bytes.Replace(old, from, fmt.Appendf(nil, "count %d.", n+1), 1)
	return p.replace(root, windows.Handle(f.Fd()), filepath.Base(name), changed)
}

// keep adds the old bytes to a history.
func (p *small) keep(name string, old []byte) error {
	f, err := os.OpenFile(filepath.Join(p.state, "history"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %q %d\n", time.Now().Format(time.RFC3339), name, len(old))
	_, err = f.Write(old)
	return err
}

// replace writes a file beside the old one, with what that one has besides its bytes, and gives
// it the name: by one rename if the volume can, else by two and an entry for the moment between.
func (p *small) replace(root *os.Root, old windows.Handle, name string, content []byte) error {
	temp := fmt.Sprintf(".%s.%d", name, time.Now().UnixNano())
	f, err := root.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = copyMetadata(filepath.Join(root.Name(), temp), old)
	if err == nil {
		_, err = f.Write(content)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	defer syncFolder(root.Name())
	if windowsRename(root.Name(), temp, name) == nil {
		return nil
	}
	return p.twoRenames(root, temp, name)
}

// copyMetadata gives a new file the access list, attributes and creation time of an old one. It
// has to have no other streams.
func copyMetadata(temp string, old windows.Handle) error {
	sd, err := windows.GetSecurityInfo(old, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	wide, err := windows.UTF16PtrFromString(temp)
	if err != nil {
		return err
	}
	const access = windows.FILE_READ_ATTRIBUTES | windows.FILE_WRITE_ATTRIBUTES | windows.WRITE_DAC
	h, err := windows.CreateFile(wide, access, 7, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	if err := windows.SetKernelObjectSecurity(h, windows.DACL_SECURITY_INFORMATION, sd); err != nil {
		return err
	}
	var basic [40]byte // FILE_BASIC_INFO: times and attributes
	if err := windows.GetFileInformationByHandleEx(old, windows.FileBasicInfo, &basic[0], uint32(len(basic))); err != nil {
		return err
	}
	clear(basic[8:32]) // all times but that of creation
	if err := windows.SetFileInformationByHandle(h, windows.FileBasicInfo, &basic[0], uint32(len(basic))); err != nil {
		return err
	}
	streams := make([]byte, 4096)
	err = windows.GetFileInformationByHandleEx(old, windows.FileStreamInfo, &streams[0], uint32(len(streams)))
	if err == nil && *(*uint32)(unsafe.Pointer(&streams[0])) != 0 {
		return errors.New("it has another stream")
	}
	return nil
}

// windowsRename renames a file over another one by its handle, with POSIX semantics.
func windowsRename(dir, from, to string) error {
	wide, err := windows.UTF16FromString(filepath.Join(`\??\`+dir, to))
	if err != nil {
		return err
	}
	h, err := open(filepath.Join(dir, from), "d", "rwd")
	if err != nil {
		return err
	}
	defer syscall.CloseHandle(h)
	var info struct {
		flags, _ uint32
		folder   windows.Handle
		length   uint32
		name     [1024]uint16
	}
	info.flags = windows.FILE_RENAME_REPLACE_IF_EXISTS | windows.FILE_RENAME_POSIX_SEMANTICS
	info.length = uint32(2 * (len(wide) - 1))
	copy(info.name[:], wide)
	const class = 65 // FileRenameInformationEx
	return windows.NtSetInformationFile(windows.Handle(h), &windows.IO_STATUS_BLOCK{}, (*byte)(unsafe.Pointer(&info)), 20+info.length+2, class)
}

func (p *small) twoRenames(root *os.Root, temp, name string) error {
	away := temp + "-old"
	entry := filepath.Join(p.state, "entry")
	f, err := os.Create(entry)
	if err != nil {
		return err
	}
	fmt.Fprintf(f, "%q %q\n", filepath.Join(root.Name(), name), away)
	if err := errors.Join(f.Sync(), f.Close(), syncFolder(p.state)); err != nil {
		return err
	}
	before, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if err := errors.Join(root.Rename(name, away), root.Rename(temp, name)); err != nil {
		return err
	}
	if moved, err := root.Lstat(away); err != nil || !os.SameFile(before, moved) {
		return errors.Join(err, errors.New("another file was moved"))
	}
	if err := syncFolder(root.Name()); err != nil {
		return err
	}
	return errors.Join(root.Remove(away), os.Remove(entry))
}

// syncFolder makes the names in a folder last.
func syncFolder(name string) error {
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	h, err := windows.CreateFile(wide, windows.GENERIC_WRITE, 7, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.FlushFileBuffers(h)
}
