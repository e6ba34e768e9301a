//go:build !fsys_portable

package save

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/owndir"
)

// distrusts lists ways in which other users may have written a state folder. at is the
// place that must be named, from that folder.
var distrusts = []struct {
	name string
	at   string
	uid  int
	mode uint32
}{
	{"the folder, writable by all", ".", 0, 0o777},
	{"the folder, writable by the group", ".", 0, 0o770},
	{"the folder, of another user", ".", nobody, 0o777},
	{"the journals", journalDir, 0, 0o722},
	{"the journals, of another user", journalDir, nobody, 0o755},
	{"the locks", "locks", 0, 0o702},
	{"the notes", notesDir, 0, 0o720},
	{"something else in it", "other", 0, 0o777},
}

// What others may have written is not acted upon: no journal in it is replayed,
// and neither locks nor journals are kept there. The control arm is a sound folder.
func TestUntrustedStateIsNotUsed(t *testing.T) {
	const old, new, mix = "the old text", "THE NEW TEXT AS WELL", "THE NEW text"
	for _, c := range distrusts {
		t.Run(c.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			path, journal := interrupted(t, d, old, new)
			os.WriteFile(path, []byte(mix), 0o600)
			at := filepath.Join(d.state, c.at)
			os.MkdirAll(at, 0o700)
			give(t, at, c.uid, c.mode)
			d.open()
			r, err := d.save.Sweep(t.Context())
			if err != nil || len(r.Replayed)+len(r.Torn) > 0 {
				t.Errorf("%+v, %v", r, err)
			}
			wantUntrusted(t, r, at)
			d.want("f", mix)
			if _, err := os.Stat(journal); err != nil {
				t.Errorf("the journal is gone: %v", err)
			}
			out, err := whole(d.save, d.put("g", "old"), "new")
			if err != nil || out.NoState == nil || out.StateInTemp == "" {
				t.Errorf("%+v, %v", out, err)
			}
			give(t, at, 0, 0o700)
			d.open()
			if r, err := d.save.Sweep(t.Context()); err != nil || len(r.Replayed) != 1 {
				t.Errorf("control: %+v, %v", r, err)
			}
			d.want("f", new)
		})
	}
}

func give(t *testing.T, path string, uid int, mode uint32) {
	t.Helper()
	if uid != 0 {
		needRoot(t)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func wantUntrusted(t *testing.T, r SweepReport, path string) {
	t.Helper()
	own := (*owndir.Error)(nil)
	if len(r.Untrusted) != 1 || !errors.As(r.Untrusted[0], &own) || own.Path != path {
		t.Errorf("untrusted: %v, want %s", r.Untrusted, path)
	}
}

// A file that others may have written counts for nothing in a folder that is
// sound: a journal, a note, a lock file.
func TestUntrustedFileIsNotUsed(t *testing.T) {
	for _, c := range []struct {
		uid  int
		mode uint32
	}{{nobody, 0o644}, {nobody, 0o600}, {0, 0o666}, {0, 0o620}} {
		t.Run(fmt.Sprintf("%d %o", c.uid, c.mode), func(t *testing.T) {
			const mix = "THE NEW text"
			d := newTestFolderIn(t, memory(t))
			path, journal := interrupted(t, d, "the old text", "THE NEW TEXT AS WELL")
			os.WriteFile(path, []byte(mix), 0o600)
			give(t, journal, c.uid, c.mode)
			note := filepath.Join(d.state, notesDir, "dead")
			os.WriteFile(note, fmt.Appendf(nil, "%q\n", d.dir), 0o600)
			d.put(".f.fsmcp-n01234567", "unpublished")
			d.open()
			r, err := d.save.Sweep(t.Context())
			if err != nil || len(r.Replayed)+len(r.Torn) > 0 || r.Removed != 1 {
				t.Errorf("%+v, %v", r, err)
			}
			wantUntrusted(t, r, journal)
			d.want("f", mix)

			os.WriteFile(note, fmt.Appendf(nil, "%q\n", d.dir), 0o600)
			give(t, note, c.uid, c.mode)
			give(t, journal, 0, 0o600)
			d.put(".f.fsmcp-n01234567", "unpublished")
			r, err = d.save.Sweep(t.Context())
			if err != nil || r.Removed != 0 || len(r.Replayed) != 1 {
				t.Errorf("%+v, %v", r, err)
			}
			wantUntrusted(t, r, note)

			whole(d.save, path, "a")
			d.save.Close()
			locks, err := os.ReadDir(filepath.Join(d.state, "locks"))
			if err != nil || len(locks) == 0 {
				t.Fatal(locks, err)
			}
			for _, l := range locks {
				give(t, filepath.Join(d.state, "locks", l.Name()), c.uid, c.mode)
			}
			d.open()
			own := (*owndir.Error)(nil)
			if _, err := whole(d.save, path, "b"); !errors.As(err, &own) {
				t.Errorf("a lock of another's: %v", err)
			}
		})
	}
}

// A folder that is opened to others while it is in use is used no more.
func TestStateOpenedToOthersAtWork(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old")
	if out, err := whole(d.save, path, "one"); err != nil || out.NoState != nil {
		t.Fatalf("%+v, %v", out, err)
	}
	give(t, filepath.Join(d.state, "locks"), 0, 0o777)
	if out, err := whole(d.save, path, "two"); err != nil || out.NoState == nil {
		t.Errorf("%+v, %v", out, err)
	}
	give(t, filepath.Join(d.state, "locks"), 0, 0o700)
}

// No journal in the temp directory is replayed, whatever it holds, under any owner. The
// control arm has the same journal in the state folder.
func TestJournalInTempIsNotReplayed(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	path, journal := interrupted(t, d, "the old text", "THE NEW TEXT AS WELL")
	temp := filepath.Join(owndir.InTemp(filepath.Dir(d.state)), journalDir)
	if err := os.MkdirAll(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	forged := filepath.Join(temp, "forged")
	if err := os.Rename(journal, forged); err != nil {
		t.Fatal(err)
	}
	for _, blocked := range []bool{false, true} {
		if blocked { // the folder in the temp directory is in use
			os.RemoveAll(d.state)
			os.WriteFile(d.state, nil, 0o600)
		}
		os.WriteFile(path, []byte("THE NEW text"), 0o600)
		d.open()
		if out, err := whole(d.save, d.put("g", "old"), "new"); err != nil || (out.NoState != nil) != blocked {
			t.Errorf("%+v, %v", out, err)
		}
		if r, err := d.save.Sweep(t.Context()); err != nil || len(r.Replayed)+len(r.Torn)+len(r.Untrusted) > 0 {
			t.Errorf("%+v, %v", r, err)
		}
		d.want("f", "THE NEW text")
	}
	os.Remove(d.state)
	os.MkdirAll(filepath.Join(d.state, journalDir), 0o700)
	os.Rename(forged, journal)
	d.open()
	if r, err := d.save.Sweep(t.Context()); err != nil || len(r.Replayed) != 1 {
		t.Errorf("control: %+v, %v", r, err)
	}
}

// Without the state folder no journal can be kept, so what can be written in place
// only is not written. The control arm has the folder.
func TestWriteInPlaceNeedsTheStateFolder(t *testing.T) {
	for _, links := range []bool{false, true} {
		for _, blocked := range []bool{true, false} {
			d := newTestFolderIn(t, memory(t))
			if blocked {
				os.WriteFile(d.state, nil, 0o600)
			}
			path := d.put("f", "old")
			d.open(func(o *Options) {
				o.KeepHardLinks = links
				if !links {
					o.Sys = hooked{before: systems["in-place"].before}
				}
			})
			if links {
				os.Link(path, d.path("g"))
			}
			out, err := whole(d.save, path, "new")
			no := (*NoJournalError)(nil)
			switch {
			case !blocked:
				if err != nil || !out.InPlace {
					t.Errorf("control: %+v, %v", out, err)
				}
				d.want("f", "new")
				continue
			case !errors.As(err, &no) || no.State.Dir != d.state || (no.Why == nil) != links:
				t.Errorf("links %v: %+v, %v", links, out, err)
			}
			d.want("f", "old")
			held, err := os.ReadDir(owndir.InTemp(filepath.Dir(d.state)))
			if err != nil || len(held) != 2 {
				t.Errorf("more than locks and notes: %v, %v", held, err)
			}
		}
	}
}

// TestTemporaryNameStays: a new file got its name by a link, and the temporary one could not
// be removed. The sweep of the next start removes it.
func TestTemporaryNameStays(t *testing.T) {
	failing := true
	d := newTestFolder(t, func(o *Options) {
		o.Sys = hooked{before: func(c call) error {
			if c.name == "Unlink" && failing {
				return unix.EIO
			}
			return poorer{noUnnamed: true, noExchange: true}.before(c)
		}}
	})
	if _, err := whole(d.save, d.path("f"), "new\n"); err != nil {
		t.Fatal(err)
	}
	if got := d.names(); len(got) != 2 {
		t.Fatalf("no name is left over: %q", got)
	}
	failing = false
	d.save.Close()
	d.open()
	if _, err := d.save.Sweep(context.Background()); err != nil {
		t.Error(err)
	}
	d.wantNames("f")
	d.want("f", "new\n")
}

// TestSetIDAfterModified: a write in place that gives up before its first byte gives back the
// mode that it may have changed.
func TestSetIDAfterModified(t *testing.T) {
	path := ""
	d := newTestFolder(t, func(o *Options) {
		o.Sys = hooked{base: poorer{busy: true, noLease: true}.base(), before: func(c call) error {
			if c.name == "Reserve" {
				appendLine(path, 0)()
				unix.Chmod(path, 0o755)
			}
			return poorer{busy: true, noLease: true}.before(c)
		}}
	})
	path = d.put("f", "old\n")
	unix.Chmod(path, 0o4755)
	if _, err := whole(d.save, path, "old\nand new\n"); err != ErrModified {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeSetuid == 0 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}
