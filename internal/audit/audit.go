// Package audit appends lines to a file that several processes share, and starts a new one
// when it grows too long.
//
// It promises that a line is in the file whole when Append returns, that lines of several
// processes do not mix, and that at most Keep old files stay. It removes a partly written
// line. While another program holds one of the files so that it cannot be renamed, as
// Windows allows, the file grows longer. It does not sync, does not know the meaning of a line, and returns errors to its
// caller only.
package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/filelock"
)

// The defaults of a Log.
const (
	MaxSize = 10 << 20 // bytes of one file
	Keep    = 5        // old files: NAME.1, the youngest, to NAME.5
)

// lockTimeout bounds the wait for another process's lock.
const lockTimeout = time.Second

// Log is an open file of lines. It is safe for concurrent use, and touches nothing
// before the first line.
type Log struct {
	name string
	max  int64
	wait time.Duration // for another process; a field for tests

	mu   sync.Mutex
	file *os.File
}

// New makes a Log of the file with an absolute name. max bounds its size in
// bytes; 0 is MaxSize.
func New(name string, max int64) *Log {
	if max == 0 {
		max = MaxSize
	}
	return &Log{name: name, max: max, wait: lockTimeout}
}

// Name is the file's name.
func (l *Log) Name() string { return l.name }

// Append writes one line, without its end, to the file.
func (l *Log) Append(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.append(append(line[:len(line):len(line)], '\n'))
	if err != nil || !keepOpen {
		l.drop() // the next line tries afresh
	}
	return err
}

func (l *Log) append(line []byte) error {
	info, err := l.lock()
	if err == nil && info.Size() > 0 && info.Size()+int64(len(line)) > l.max {
		switch err = l.rotate(); {
		case err == nil:
			l.drop()
			info, err = l.lock()
		case isHeld(err): // the next line tries again
			err = nil
		}
	}
	if err != nil {
		return err
	}
	defer filelock.Unlock(l.file)
	if _, err := l.file.Seek(0, io.SeekEnd); err != nil { // not every system's open file appends
		return err
	}
	n, err := l.file.Write(line)
	if err != nil && n > 0 {
		l.file.Truncate(info.Size()) // no other process writes while the lock is held
	}
	return err
}

// lock opens and locks the file that has the name now, and describes it: another process
// may have begun a new one. Closing the file unlocks it, too.
func (l *Log) lock() (os.FileInfo, error) {
	for end := time.Now().Add(l.wait); ; {
		if err := l.open(); isHeld(err) && time.Now().Before(end) {
			time.Sleep(time.Millisecond)
			continue
		} else if err != nil {
			return nil, err
		}
		locked, err := filelock.Try(l.file)
		if errors.Is(err, filelock.ErrNone) {
			locked, err = true, nil // each line is one write at the end
		}
		if err != nil {
			return nil, err
		}
		if locked {
			if info, err := l.file.Stat(); err == nil && l.current(info) {
				return info, nil
			}
			l.drop()
			continue
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s is locked by another process", l.name)
		}
		time.Sleep(time.Millisecond)
	}
}

func (l *Log) open() error {
	if l.file != nil {
		return nil
	}
	f, err := filelock.OpenAppend(l.name)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: l.name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		f.Close()
		return err
	}
	l.file = f
	return nil
}

// current reports whether the open file still has the name.
func (l *Log) current(open os.FileInfo) bool {
	there, err := os.Stat(l.name)
	return err == nil && os.SameFile(open, there)
}

func (l *Log) drop() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// rotate renames the file and the old ones, each by one; the oldest goes. A missing number
// is filled first, so that no file goes while a rename fails again and again. The lock on
// the file keeps others from doing the same.
func (l *Log) rotate() error {
	names := Names(l.name)
	last := 1
	for last < Keep && isThere(names[last]) {
		last++
	}
	for n := last - 1; n >= 0; n-- {
		if err := os.Rename(names[n], names[n+1]); err != nil && (n == 0 || !errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	return nil
}

func isThere(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// Names returns the name of a Log's file and those of its old files, the youngest
// first.
func Names(name string) []string {
	names := []string{name}
	for n := 1; n <= Keep; n++ {
		names = append(names, fmt.Sprintf("%s.%d", name, n))
	}
	return names
}

// Close closes the file.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop()
}
