//go:build !fsys_portable

package save

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// dead makes what a process leaves that died in this folder: a note.
func (d *testFolder) dead() {
	d.t.Helper()
	s := New(Options{StateDir: d.state, Durability: None})
	st, err := s.state.get(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	if err := st.note.add(d.dir)(); err != nil {
		d.t.Fatal(err)
	}
	s.state.end(true) // as death would; the note stays
}

// leave makes a temporary file whose name claims what claim says of its stamp.
func (d *testFolder) leave(content string, claim func(s fsys.Stamp) tempName) string {
	d.t.Helper()
	path := d.put("leftover", content)
	name := d.path(claim(stampAt(d.t, path)).String())
	if err := os.Rename(path, name); err != nil {
		d.t.Fatal(err)
	}
	return name
}

func stampAt(t testing.TB, path string) fsys.Stamp {
	t.Helper()
	s, err := sys.Kernel{}.Fstatat(unix.AT_FDCWD, path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func testDigest(s string) *sys.Digest {
	f, _ := os.CreateTemp("", "")
	defer os.Remove(f.Name())
	defer f.Close()
	f.WriteString(s)
	sum, _ := sys.DigestOf(sys.Kernel{}, int(f.Fd()), int64(len(s)))
	return sum
}

// What a sweeper makes of a leftover.
func TestSweepJudges(t *testing.T) {
	const id, other = "01234567", "zzzzzzzzzzzz"
	unpublished := func(s fsys.Stamp) tempName {
		return tempName{Base: "f", Kind: byStamp, ID: id, New: fingerprint(id, s, nil), Old: other}
	}
	displaced := func(s fsys.Stamp) tempName {
		return tempName{Base: "f", Kind: byStamp, ID: id, New: other, Old: fingerprint(id, s, nil)}
	}
	cases := []struct {
		name   string
		claim  func(s fsys.Stamp) tempName
		after  func(path string) // what happens to it then
		result string            // removed, saved, kept
	}{
		{"unpublished", unpublished, nil, "removed"},
		{"displaced", displaced, nil, "removed"},
		{"displaced, bytes too", func(s fsys.Stamp) tempName {
			return tempName{Base: "f", Kind: byDigest, ID: id, New: other, Old: fingerprint(id, s, testDigest("content"))}
		}, nil, "removed"},
		{"other bytes", func(s fsys.Stamp) tempName {
			return tempName{Base: "f", Kind: byDigest, ID: id, New: other, Old: fingerprint(id, s, testDigest("contend"))}
		}, nil, "saved"},
		{"unknown", func(s fsys.Stamp) tempName {
			return tempName{Base: "f", Kind: byStamp, ID: id, New: other, Old: other}
		}, nil, "saved"},
		{"displaced, then appended to", displaced, func(path string) { appendLine(path, 0)() }, "saved"},
		{"displaced, then touched", displaced, func(path string) { os.Chtimes(path, time.Now(), time.Now().Add(time.Second)) }, "saved"},
		{"displaced, then copied", displaced, func(path string) {
			b, _ := os.ReadFile(path)
			os.WriteFile(path+"x", b, 0o644)
			os.Rename(path+"x", path)
		}, "saved"},
		{"named", func(fsys.Stamp) tempName { return tempName{Base: "f", Kind: newOnly, ID: id} }, nil, "removed"},
		{"a folder", displaced, func(path string) { os.Remove(path); os.Mkdir(path, 0o755) }, "kept"},
		{"a link", displaced, func(path string) { os.Remove(path); os.Symlink("/etc/passwd", path) }, "saved"},
		{"a pipe", displaced, func(path string) { os.Remove(path); unix.Mkfifo(path, 0o600) }, "kept"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			d.put("f", "target")
			d.dead()
			name := d.leave("content", c.claim)
			if c.after != nil {
				c.after(name)
			}
			d.open()
			r, err := d.save.Sweep(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			switch c.result {
			case "removed":
				d.wantNames("f")
				if r.Removed != 1 || len(r.Saved) != 0 {
					t.Errorf("%+v", r)
				}
			case "saved":
				d.wantNames("f", "f.fsmcp-saved")
				if r.Removed != 0 || len(r.Saved) != 1 || r.Saved[0] != d.path("f.fsmcp-saved") {
					t.Errorf("%+v", r)
				}
			case "kept":
				d.wantNames(filepath.Base(name), "f")
			}
			d.want("f", "target")
			if notes, _ := os.ReadDir(filepath.Join(d.state, notesDir)); len(notes) != 0 {
				t.Errorf("%d notes stay", len(notes))
			}
		})
	}
}

// The living are left alone: by the lock on the file, and by that on their note.
func TestSweepSparesTheLiving(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	name := d.leave("content", func(fsys.Stamp) tempName { return tempName{Base: "f", Kind: newOnly, ID: "01234567"} })
	d.open()
	st, err := d.save.state.get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := st.note.add(d.dir)(); err != nil {
		t.Fatal(err)
	}
	other := New(Options{StateDir: d.state})
	if r, err := other.Sweep(t.Context()); err != nil || r.Removed != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	d.dead()
	fd, err := unix.Open(name, unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.Flock(fd, unix.LOCK_SH)
	if r, err := other.Sweep(t.Context()); err != nil || r.Removed != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	unix.Close(fd)
	d.dead()
	if r, err := other.Sweep(t.Context()); err != nil || r.Removed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	d.wantNames()
}

// A program that was held back by the dead one's lease has the displaced file open
// and is about to write to it.
func TestSweepKeepsWhatIsBeingWritten(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	d.dead()
	name := d.leave("content", func(s fsys.Stamp) tempName {
		return tempName{Base: "f", Kind: byStamp, ID: "01234567", New: "zzzzzzzzzzzz", Old: fingerprint("01234567", s, nil)}
	})
	write := appendLine(name, 0)
	d.open()
	if r, err := d.save.Sweep(t.Context()); err != nil || len(r.Saved) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	write()
	d.want("f.fsmcp-saved", "content"+foreignLine)
}

func TestSweepWithoutStateMakesNone(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	d.open()
	if r, err := d.save.Sweep(t.Context()); err != nil || r.Removed != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(d.state); !os.IsNotExist(err) {
		t.Error("a state folder was made")
	}
}

func TestCloseLeavesNothingToSweep(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	d.open()
	path := d.put("f", "old")
	if _, err := whole(d.save, path, "new"); err != nil {
		t.Fatal(err)
	}
	if notes, _ := os.ReadDir(filepath.Join(d.state, notesDir)); len(notes) != 1 {
		t.Errorf("%d notes", len(notes))
	}
	if err := d.save.Close(); err != nil {
		t.Error(err)
	}
	if notes, _ := os.ReadDir(filepath.Join(d.state, notesDir)); len(notes) != 0 {
		t.Errorf("%d notes stay", len(notes))
	}
	if _, err := whole(d.save, path, "newer"); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

// interrupted returns a write in place that was cut short after so many bytes.
func interrupted(t *testing.T, d *testFolder, old, new string) (path, journal string) {
	t.Helper()
	path = d.put("f", old)
	d.open(func(o *Options) {
		o.Sys = hooked{before: func(c call) error {
			if name, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", c.fd)); c.name == "Pwrite" && name == path {
				return unix.EIO // the rolling back fails, too
			}
			return systems["in-place"].before(c)
		}}
	})
	_, err := whole(d.save, path, new)
	var ioerr *IOError
	if !errors.As(err, &ioerr) || !ioerr.Changed {
		t.Fatalf("%v", err)
	}
	d.save.Close()
	journals, err := os.ReadDir(filepath.Join(d.state, journalDir))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	return path, filepath.Join(d.state, journalDir, journals[0].Name())
}

// What the next start makes of a write in place that was interrupted.
func TestJournalReplay(t *testing.T) {
	const short, long = "the old text", "THE NEW AND LONGER TEXT"
	cases := []struct {
		name     string
		old, new string
		then     string // what is on disk when the next process starts
		result   string // replayed, left, torn
	}{
		{"nothing written", short, long, short, "left"},
		{"all written", short, long, long, "left"},
		{"one byte", short, long, "The old text", "replayed"},
		{"half", short, long, "THE NEW text", "replayed"},
		{"past the old end", short, long, "THE NEW AND LON", "replayed"},
		{"longer, with zeros for a page that was lost", short, long, "THE NEW text\x00\x00\x00", "replayed"},
		{"longer, with something else behind zeros", short, long, "THE NEW text\x00\x00!", "torn"},
		{"shorter: nothing", long, short, long, "left"},
		{"shorter: half", long, short, "the old AND LONGER TEXT", "replayed"},
		{"shorter: not yet cut", long, short, "the old text" + long[len(short):], "replayed"},
		{"shorter: done", long, short, short, "left"},
		{"back to front", short, long, "the old TEXT", "torn"},
		{"sectors back to front", strings.Repeat("old ", 256), strings.Repeat("new ", 256), strings.Repeat("old ", 128) + strings.Repeat("new ", 128), "replayed"},
		{"back to front from within a sector", strings.Repeat("old ", 256), strings.Repeat("new ", 256), strings.Repeat("old ", 129) + strings.Repeat("new ", 127), "torn"},
		{"each sector in part", strings.Repeat("old ", 256), strings.Repeat("new ", 256), strings.Repeat(strings.Repeat("new ", 9)+strings.Repeat("old ", 119), 2), "replayed"},
		{"edited since", short, long, "something else entirely", "torn"},
		{"edited since, shorter", short, long, "THE", "torn"},
		{"a mix that was appended to", short, long, "THE NEW text and more", "torn"},
		{"emptied", short, long, "", "torn"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			path, journal := interrupted(t, d, c.old, c.new)
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0) // the same inode
			if err != nil {
				t.Fatal(err)
			}
			f.WriteString(c.then)
			f.Close()
			d.open()
			r, err := d.save.Sweep(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want, replayed, torn := c.then, 0, 0
			switch c.result {
			case "replayed":
				want, replayed = c.new, 1
			case "torn":
				torn = 1
				saved := filepath.Join(d.state, savedDir)
				if look(filepath.Join(saved, "f.before.fsmcp-saved")) != c.old || look(filepath.Join(saved, "f.after.fsmcp-saved")) != c.new {
					t.Errorf("the contents were not kept: %+v", r)
				}
			}
			d.want("f", want)
			if len(r.Replayed) != replayed || len(r.Torn) != torn || len(r.Saved) != 2*torn {
				t.Errorf("%+v", r)
			}
			if _, err := os.Stat(journal); !os.IsNotExist(err) {
				t.Errorf("the journal stays: %v", err)
			}
			if r, err := d.save.Sweep(t.Context()); err != nil || len(r.Replayed)+len(r.Torn)+len(r.Saved) > 0 {
				t.Errorf("second sweep: %+v, %v", r, err)
			}
		})
	}
}

// Whatever a loss of power has left of a write in place is made new: each sector is new up to some
// offset and old behind it, and the file has any size that it had meanwhile. With one other byte
// in it, the file stays as it is, and both contents are kept.
func TestJournalReplaysAnyMix(t *testing.T) {
	seed := time.Now().UnixNano()
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	text := func(letters string, size int) []byte {
		b := make([]byte, size)
		for i := range b {
			b[i] = letters[random.IntN(len(letters))]
		}
		return b
	}
	for range shortrun.Count(t, 200, 40, "mixes of old and new") {
		before, after := text("abcd", 1+random.IntN(5*sector)), text("ABCD", random.IntN(5*sector)) // an empty file is rolled back without a write
		is := bytes.Clone(before)
		if grown := len(after) - len(before); grown > 0 {
			is = append(is, make([]byte, random.IntN(grown+1))...)
		}
		for at := 0; at < len(is); at += sector {
			if random.IntN(2) > 0 {
				copy(is[at:min(len(is), at+random.IntN(2*sector))], after[min(at, len(after)):min(len(after), at+sector)])
			}
		}
		copy(is, after[:random.IntN(len(after)+1)])
		if bytes.Equal(is, before) || bytes.Equal(is, after) {
			continue // TestJournalReplay
		}
		foreign := len(is) > 0 && random.IntN(3) == 0
		if foreign {
			is[random.IntN(len(is))] = '!'
		}
		d := newTestFolderIn(t, memory(t))
		path, _ := interrupted(t, d, string(before), string(after))
		if err := os.WriteFile(path, is, 0); err != nil {
			t.Fatal(err)
		}
		d.open()
		r, err := d.save.Sweep(t.Context())
		want, replayed := string(after), 1
		if foreign {
			want, replayed = string(is), 0
		}
		if err != nil || len(r.Replayed) != replayed || len(r.Torn) != 1-replayed || look(path) != want {
			t.Fatalf("seed %d: from %q to %q, found %q: %+v, %v, %q", seed, before, after, is, r, err, look(path))
		}
	}
}

// A journal is not acted upon if the file is another one, or the journal not whole.
func TestJournalDoubts(t *testing.T) {
	const old, new, mix = "the old text", "THE NEW TEXT AS WELL", "THE NEW text"
	cases := []struct {
		name string
		then func(path, journal string)
		torn bool
	}{
		{"another inode", func(path, _ string) { renameOnto(path, mix) }, true},
		{"a link", func(path, _ string) { os.Rename(path, path+"2"); os.Symlink(path+"2", path) }, true},
		{"deleted", func(path, _ string) { os.Remove(path) }, true},
		{"cut short", func(_, journal string) { os.Truncate(journal, 40) }, false},
		{"empty", func(_, journal string) { os.Truncate(journal, 0) }, false},
		{"a bit flipped", func(_, journal string) {
			b, _ := os.ReadFile(journal)
			b[3] ^= 1
			os.WriteFile(journal, b, 0o600)
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			path, journal := interrupted(t, d, old, new)
			os.WriteFile(path, []byte(mix), 0o644)
			c.then(path, journal)
			before := look(path)
			d.open()
			r, err := d.save.Sweep(t.Context())
			if err != nil || len(r.Replayed) > 0 || (len(r.Torn) == 1) != c.torn {
				t.Errorf("%+v, %v", r, err)
			}
			if got := look(path); got != before {
				t.Errorf("%q became %q", before, got)
			}
			if _, err := os.Stat(journal); !os.IsNotExist(err) {
				t.Errorf("the journal stays: %v", err)
			}
		})
	}
}
