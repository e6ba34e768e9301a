package save

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// openForeign opens a file as another program does.
func openForeign(path string, access, share uint32) (windows.Handle, error) {
	wide, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	return windows.CreateFile(wide, access, share, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
}

const (
	shareRead  = windows.FILE_SHARE_READ
	shareWrite = windows.FILE_SHARE_WRITE
	shareDel   = windows.FILE_SHARE_DELETE
)

// holders are the ways in which another program holds a file, and the words of the answer to
// a change then; "" if the change is made.
var holders = map[string]struct {
	access, share uint32
	busy          string
}{
	"writer, shares all":      {windows.GENERIC_WRITE, shareRead | shareWrite | shareDel, "open for writing"},
	"writer, as C opens":      {windows.GENERIC_READ | windows.GENERIC_WRITE, shareRead | shareWrite, "open for writing"},
	"writer, shares reading":  {windows.GENERIC_WRITE, shareRead, "open for writing"},
	"appender":                {windows.FILE_APPEND_DATA, shareRead | shareWrite | shareDel, "open for writing"},
	"reader, shares all":      {windows.GENERIC_READ, shareRead | shareWrite | shareDel, ""},
	"reader, as C opens":      {windows.GENERIC_READ, shareRead | shareWrite, "without sharing deletion"},
	"reader, shares reading":  {windows.GENERIC_READ, shareRead, "without sharing deletion"},
	"reader, shares nothing":  {windows.GENERIC_READ, 0, "does not share it"},
	"reader, shares deletion": {windows.GENERIC_READ, shareRead | shareDel, ""},
}

// A change says in which way another program holds the file, changes nothing then, and is
// made as soon as the program lets go.
func TestHeldByAnother(t *testing.T) {
	for name, c := range holders {
		for what, change := range map[string]func(s *Saver, path string) (Written, error){
			"replace": func(s *Saver, path string) (Written, error) { return whole(s, path, "newer") },
			"remove":  removeFile,
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				d := newTestFolder(t)
				path := d.put("f", "old")
				h, err := openForeign(path, c.access, c.share)
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				_, err = change(d.save, path)
				waited := time.Since(begun)
				if c.busy == "" {
					if err != nil {
						t.Error(err)
					}
					windows.CloseHandle(h)
					return
				}
				busy, held := (*BusyError)(nil), (*fsys.HeldError)(nil)
				if !errors.As(err, &busy) && !errors.As(err, &held) || !strings.Contains(err.Error(), c.busy) {
					t.Errorf("%v", err)
				}
				if waited < 2*time.Second || waited > 8*time.Second {
					t.Errorf("waited %v", waited)
				}
				time.AfterFunc(500*time.Millisecond, func() { windows.CloseHandle(h) })
				if _, err := change(d.save, path); err != nil {
					t.Errorf("after 0.5 s: %v", err)
				}
				if what == "replace" {
					d.want("f", "newer")
					d.wantNames("f")
				}
			})
		}
	}
}

// While a change is made no other program can write the file, and each can read it.
func TestHeldByChange(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old")
	x, err := d.save.Begin(context.Background(), target(t, path))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		access, share uint32
		refused       bool
	}{
		"writer": {windows.GENERIC_WRITE, shareRead | shareWrite | shareDel, true},
		"C":      {windows.GENERIC_READ, shareRead | shareWrite, false},
		".NET":   {windows.GENERIC_READ, shareRead, false},
		"all":    {windows.GENERIC_READ, shareRead | shareWrite | shareDel, false},
	} {
		h, err := openForeign(path, c.access, c.share)
		if refused := errors.Is(err, windows.ERROR_SHARING_VIOLATION); refused != c.refused || err != nil && !refused {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			windows.CloseHandle(h)
		}
	}
	if err := os.Rename(d.dir, d.dir+"2"); err == nil {
		t.Error("the folder was renamed during a change")
	}
	x.Close()
	h, err := openForeign(path, windows.GENERIC_WRITE, shareRead)
	if err != nil {
		t.Fatalf("after the change: %v", err)
	}
	windows.CloseHandle(h)
	if err := os.Rename(d.dir, d.dir+"2"); err != nil {
		t.Errorf("after the change: %v", err)
	}
}

// A resolved target, which is kept while a user or a hook is waited for, locks no other program out.
func TestTargetHoldsNothing(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old")
	file := target(t, path)
	if _, _, err := file.ParentID(); err != nil {
		t.Fatal(err)
	}
	h, err := openForeign(path, windows.GENERIC_WRITE|windows.DELETE, shareDel)
	if err != nil {
		t.Fatal(err)
	}
	windows.CloseHandle(h)
	if err := os.Rename(d.dir, d.dir+"2"); err != nil {
		t.Error(err)
	}
}

// The name keeps its case.
func TestCaseOfName(t *testing.T) {
	d := newTestFolder(t)
	d.put("File.Txt", "old")
	if _, err := whole(d.save, d.path("FILE.TXT"), "newer"); err != nil {
		t.Fatal(err)
	}
	d.wantNames("File.Txt")
	d.want("File.Txt", "newer")
}

// No update of a program that appends meanwhile is lost.
func TestForeignAppender(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "")
	n := runs(60)
	done := make(chan int)
	go func() {
		appended := 0
		for range n {
			h, err := openForeign(path, windows.FILE_APPEND_DATA, shareRead|shareWrite|shareDel)
			if err != nil {
				continue
			}
			var written uint32
			if windows.WriteFile(h, []byte("theirs\n"), &written, nil) == nil && written == 7 {
				appended++
			}
			windows.CloseHandle(h)
		}
		done <- appended
	}()
	ours := 0
	for range n {
		if _, err := change(d.save, path, appendLine("ours\n")); err == nil {
			ours++
		}
	}
	theirs := <-done
	got := d.get("f")
	if strings.Count(got, "theirs\n") != theirs || strings.Count(got, "ours\n") != ours || ours == 0 || theirs == 0 {
		t.Errorf("%d of %d theirs, %d of %d ours", strings.Count(got, "theirs\n"), theirs, strings.Count(got, "ours\n"), ours)
	}
	t.Logf("%d theirs, %d ours, none lost", theirs, ours)
}

// appendLine appends a line.
func appendLine(line string) func(old []byte) ([]span.Splice, error) {
	return func(old []byte) ([]span.Splice, error) {
		at := int64(len(old))
		return []span.Splice{{Start: at, End: at, New: []byte(line)}}, nil
	}
}
