package save

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

const (
	// lateTime is the time for which a replaced file is watched. What a program writes into it
	// later, or through a memory map, is lost.
	lateTime = time.Second
	// maxLate bounds the files that are watched at a time; a further one is not.
	maxLate = 64
	// maxMerge bounds the files whose old content is kept in memory, for a merge.
	maxMerge = 1 << 20
)

// LateWrite: a program had a file open, without a lease that would have shown it, and wrote
// into the old content after that was replaced.
type LateWrite struct {
	Path    string
	Merged  bool     // what it wrote is in the file now
	Saved   []string // else, the whole text of that program: in these files
	Rescued []string // or as this in Options.Rescue
	Err     error    // or nowhere
}

// lateFile is an old file that is watched while it is replaced and for lateTime after that.
type lateFile struct {
	sys.WriteWatch
	files *lateFiles
	path  string
	base  []byte // the old content; nil if it is too long
}

// lateFiles are the files that are watched.
type lateFiles struct {
	rescue func(*lateFile)
	mu     sync.Mutex
	n      int
	end    chan struct{} // closed by endAll
	ending bool
	wait   sync.WaitGroup
}

// watch begins to watch the file, if no lease keeps writers out.
func (o *oldFile) watch() *lateFile {
	files := &o.at.s.late
	if o.leased || o.sum == nil || !files.reserve() {
		return nil
	}
	w, err := o.at.sys.Watch(o.fd)
	if err != nil {
		files.release()
		return nil
	}
	l := &lateFile{WriteWatch: w, files: files, path: o.at.path}
	if o.was.Size <= maxMerge {
		base, err := sys.ReadAt(o.at.sys, o.fd, 0, int(o.was.Size))
		if err == nil && sha256.Sum256(base) == *o.sum {
			l.base = base
		}
	}
	return l
}

func (f *lateFiles) reserve() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == maxLate {
		return false
	}
	f.n++
	return true
}

func (f *lateFiles) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n--
}

// close ends the watch. A nil file has none.
func (l *lateFile) close() {
	if l != nil {
		l.Close()
		l.files.release()
	}
}

// await rescues what a program writes into a file that has been replaced by now.
func (f *lateFiles) await(l *lateFile) {
	if l == nil {
		return
	}
	f.mu.Lock()
	if f.end == nil {
		f.end = make(chan struct{})
	}
	end := f.end
	f.wait.Add(1)
	f.mu.Unlock()
	go func() {
		defer f.wait.Done()
		defer l.close()
		over := time.NewTimer(lateTime)
		defer over.Stop()
		select {
		case <-over.C:
		case <-end:
		}
		if l.Changed() {
			f.rescue(l)
		}
	}()
}

// endAll rescues at once what was written so far, and waits for that.
func (f *lateFiles) endAll() {
	f.mu.Lock()
	end := f.end
	if end != nil && !f.ending {
		close(end)
		f.ending = true // so that a file that a merge replaces is not waited for either
	}
	f.mu.Unlock()
	f.wait.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end == end {
		f.end, f.ending = nil, false
	}
}

// rescueLate merges what a program wrote into the replaced file, or keeps that file's text.
func (s *Saver) rescueLate(l *lateFile) {
	size, err := l.Size()
	report := LateWrite{Path: l.path, Err: err}
	if err == nil {
		theirs := io.NewSectionReader(l, 0, size)
		if report.Merged = s.mergeLate(l, theirs); !report.Merged {
			s.keepLate(&report, theirs)
		}
	}
	if s.o.Late != nil {
		s.o.Late(report)
	}
}

// mergeTries bounds the tries to merge while other programs change the file.
const mergeTries = 5

// mergeLate merges what a program wrote into the file as it is now.
func (s *Saver) mergeLate(l *lateFile, late *io.SectionReader) bool {
	if s.o.Merge == nil || l.base == nil || late.Size() > maxMerge {
		return false
	}
	theirs, err := io.ReadAll(late)
	if err != nil {
		return false
	}
	if bytes.Equal(theirs, l.base) {
		return true // it wrote the same bytes
	}
	for range mergeTries {
		err := s.withFile(l.path, func(x *Txn) (err error) {
			if x.Old() == nil {
				return ErrVanished
			}
			ours, _, err := x.Old().ReadAll(2 * maxMerge)
			if err != nil {
				return err
			}
			c, ok := s.o.Merge(l.base, ours, theirs)
			if !ok {
				return errConflict
			}
			if len(c) > 0 {
				x.Known(int64(len(ours)), func() [32]byte { return sha256.Sum256(ours) })
				_, err = x.Replace(context.Background(), c)
			}
			return err
		})
		if !errors.Is(err, ErrModified) {
			return err == nil
		}
	}
	return false
}

// keepLate keeps the text by Options.Rescue, else beside the file.
func (s *Saver) keepLate(report *LateWrite, theirs *io.SectionReader) {
	if s.o.Rescue != nil {
		if id, err := s.o.Rescue(report.Path, theirs, theirs.Size()); err == nil {
			report.Rescued = []string{id}
			return
		}
	}
	report.Err = s.withFile(report.Path, func(x *Txn) error {
		if len(x.missing) > 0 {
			return ErrVanished
		}
		name, err := x.at.saveBeside(theirs)
		if err == nil {
			report.Saved = []string{filepath.Join(x.at.folder(), name)}
		}
		return err
	})
}

// saveBeside writes a text to NAME.fsmcp-saved, or with a number behind it.
func (p *place) saveBeside(text io.Reader) (name string, err error) {
	n, err := p.newFileIn(p.dir, 0o600, 0o600)
	if err != nil {
		return "", err
	}
	defer n.discard()
	w := sys.Writer{Sys: p.sys, FD: n.fd}
	if _, err := io.Copy(&w, text); err != nil {
		return "", err
	}
	if err := n.sync(); err != nil {
		return "", err
	}
	for i := 1; i <= savedMax; i++ {
		name = savedName(p.base, i)
		if err = n.linkTo(name); !sys.Is(err, syscall.EEXIST) {
			break
		}
	}
	if err == nil {
		n.ours = false
		p.syncFolder(p.dir)
	}
	return name, err
}

var (
	errConflict = errors.New("both texts changed in the same place")
	errBusyName = errors.New("the name leads elsewhere by now")
)

// withFile calls f with a transaction on the file at path, an absolute name without links.
func (s *Saver) withFile(path string, f func(*Txn) error) error {
	ctx := context.Background()
	t, err := resolveAgain(path)
	if err != nil {
		return err
	}
	lock, err := s.Lock(ctx, t)
	t.Close()
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if t, err = resolveAgain(path); err != nil {
		return err
	}
	defer t.Close()
	if !lock.Covers(t) {
		return errBusyName
	}
	x, err := s.Begin(ctx, t)
	if err != nil {
		return err
	}
	defer x.Close()
	return f(x)
}

// resolveAgain resolves a path that had no links in it, and follows none that it has by now.
func resolveAgain(path string) (*fsys.Target, error) {
	p, err := fsys.Lexer{OS: runtime.GOOS}.Parse(path)
	if err != nil {
		return nil, err
	}
	t, err := fsys.NewResolver().Resolve(p)
	if err == nil && t.Path != path {
		err = errBusyName
	}
	if err != nil && t != nil {
		t.Close()
	}
	return t, err
}
