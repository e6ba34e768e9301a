//go:build linux

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"golang.org/x/sys/unix"
)

// mapping is a file that another program changes through a writable memory map.
type mapping struct {
	name string
	fd   int
	m    []byte
}

// openMap maps a file and writes one byte back as it is: later writes to that page
// give the file no new times until the kernel has written the page to the disk.
func openMap(name string) (*mapping, error) {
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	size, err := unix.Seek(fd, 0, unix.SEEK_END)
	if err == nil {
		var m []byte
		if m, err = unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
			copy(m, []byte{m[0]})
			return &mapping{name, fd, m}, nil
		}
	}
	unix.Close(fd)
	return nil, err
}

// change puts as many bytes into the place of others, and closes the map.
func (w *mapping) change(old, now string, sync bool) error {
	at := bytes.Index(w.m, []byte(old))
	if at < 0 || len(old) != len(now) {
		return fmt.Errorf("%q is not in %s, or not as long as %q", old, w.name, now)
	}
	copy(w.m[at:], now)
	var err error
	if sync {
		err = unix.Msync(w.m, unix.MS_SYNC)
	}
	return errors.Join(err, unix.Munmap(w.m), unix.Close(w.fd))
}

// mapWriter is a program that changes the beginning of a file through a map.
func mapWriter(file string) error {
	w, err := openMap(file)
	if err != nil {
		return err
	}
	return w.change("marker 0", "marker 1", false)
}

// tmpfsPlace is a place in memory, where the times of a file never tell that it was
// changed through a map.
func tmpfsPlace(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		t.Skipf("!!! NOT TESTED: no tmpfs can be mounted (%v) !!!", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	p := place{ws: filepath.Join(dir, "ws"), home: filepath.Join(dir, "home")}
	must(t, os.Mkdir(p.ws, 0o755))
	must(t, os.Mkdir(p.home, 0o755))
	return p
}

// times returns the facts that a program compares which trusts a file's times.
type times struct {
	ino          uint64
	size         int64
	mtime, ctime unix.Timespec
}

func timesOf(t testing.TB, name string) times {
	t.Helper()
	var st unix.Stat_t
	must(t, unix.Stat(name, &st))
	return times{st.Ino, st.Size, st.Mtim, st.Ctim}
}

// settled waits until any later change must show in the file's times.
func settled(t testing.TB, name string) {
	changed := timesOf(t, name).ctime
	for time.Since(time.Unix(changed.Unix())) < 25*time.Millisecond {
		time.Sleep(5 * time.Millisecond)
	}
}

// mapRun counts what became of files that were changed through maps.
type mapRun struct {
	t    *testing.T
	p    place
	c    *mcptest.Client
	sync bool

	files, fooled                    int // fooled: a program that believes times would have lost the change
	unseen, unchanged, lost, refused int
	replaced                         map[string][]byte // by file: the bytes that were replaced last
}

// TestMappedWriters has another program change files through writable maps after
// they were read. The times of a file tell that late, on tmpfs never. No bytes are
// replaced that were not shown, no changed file is called unchanged, and all bytes
// that are replaced are in the history.
func TestMappedWriters(t *testing.T) {
	rounds := count(t, "FSMCP_MAPPED_WRITES", 4)
	fooled, arm := 0, 0
	for _, fs := range []string{"disk", "tmpfs"} {
		for _, when := range []string{"before", "after"} {
			for _, sync := range []string{"no_msync", "msync"} {
				arm++
				t.Run(fmt.Sprintf("%s_mapped_%s_the_read_%s", fs, when, sync), func(t *testing.T) {
					p := map[string]func(*testing.T) place{"disk": newPlace, "tmpfs": tmpfsPlace}[fs](t)
					r := mapRun{t: t, p: p, sync: sync == "msync", replaced: map[string][]byte{}}
					r.c = p.start(t, "FSMCP_MAX_OUTPUT_TOKENS=10000000", "FSMCP_DURABILITY=none")
					for i := range rounds {
						r.round(5*arm+i, when == "before")
					}
					must(t, r.c.Close())
					r.history()
					fooled += r.fooled
					report(t, "%d files, %d of them changed without new times: %d replaced unseen, %d called unchanged, %d calls refused, %d of %d replaced not in the history",
						r.files, r.fooled, r.unseen, r.unchanged, r.refused, r.lost, len(r.replaced))
					if r.unseen+r.unchanged+r.lost > 0 {
						t.Fail()
					}
				})
			}
		}
	}
	if fooled == 0 {
		t.Error("no program that believes times would have lost anything: the test proves nothing")
	}
}

// round reads one file, changes it through a map, and uses it. The sizes are those of a
// file whose text is kept, of one that is hashed, and of one with only its shown parts
// hashed.
func (r *mapRun) round(i int, before bool) {
	t := r.t
	name := r.p.file(fmt.Sprintf("%d.txt", i))
	size := []int{2 << 10, 300 << 10, 2 << 20}[i%3]
	body := strings.Repeat(fmt.Sprintf("line of file %d, as there are many\n", i), size/34)
	must(t, os.WriteFile(name, []byte("first\nmarker 0\n"+body+"last\n"), 0o666))
	var w *mapping
	var err error
	if before {
		w, err = openMap(name)
		must(t, err)
	}
	settled(t, name)
	all := args{"file_path": name, "offset": 1, "limit": 1_000_000}
	mustCall(t, r.c, "Read", all)
	was := timesOf(t, name)
	if !before {
		w, err = openMap(name)
		must(t, err)
	}
	must(t, w.change("marker 0", "marker 1", r.sync))
	r.files++
	if timesOf(t, name) == was {
		r.fooled++
	}
	switch i % 4 {
	case 0:
		if res := mustCall(t, r.c, "Read", all); !strings.Contains(res.Text, "marker 1") {
			r.unchanged++
		}
		r.replace(name, "Write", args{"file_path": name, "content": "mine\n"})
	case 1:
		r.refuse(name, "Write", args{"file_path": name, "content": "mine\n"})
		mustCall(t, r.c, "Read", all)
		r.replace(name, "Write", args{"file_path": name, "content": "mine\n"})
	case 2:
		r.refuse(name, "Edit", args{"file_path": name, "old_string": "first\nmarker 1\n", "new_string": "mine\n"})
		mustCall(t, r.c, "Read", all)
		r.replace(name, "Edit", args{"file_path": name, "old_string": "first\nmarker 1\n", "new_string": "mine\n"})
	case 3: // what it replaces was shown and did not change: it may pass, with the change in it
		r.replace(name, "Edit", args{"file_path": name, "old_string": "last\n", "new_string": "mine\n"})
	}
}

// refuse makes a call that would replace what was not shown.
func (r *mapRun) refuse(name, tool string, a args) {
	on := read(r.t, name)
	res, err := r.c.Call(tool, a)
	must(r.t, err)
	if !res.IsError {
		r.unseen++
	} else if r.refused++; res.Slug != "modified" {
		r.t.Errorf("%s: %s: %s", tool, res.Slug, clip(res.Text))
	}
	if res.IsError && !bytes.Equal(read(r.t, name), on) {
		r.t.Errorf("%s of %s was refused and changed the file", tool, name)
	}
}

// replace makes a call that may pass.
func (r *mapRun) replace(name, tool string, a args) {
	on := read(r.t, name)
	res, err := r.c.Call(tool, a)
	must(r.t, err)
	if res.IsError {
		r.refused++
		return
	}
	r.replaced[name] = on
	want := []byte("mine\n")
	if tool == "Edit" {
		want = bytes.Replace(on, []byte(a["old_string"].(string)), want, 1)
	}
	if !bytes.Equal(read(r.t, name), want) {
		r.unseen++
	}
}

// history looks for the replaced bytes.
func (r *mapRun) history() {
	found := map[string]string{}
	for _, e := range r.p.listed(r.t) {
		if found[e.Path] == "" {
			found[e.Path] = e.ID
		}
	}
	for name, old := range r.replaced {
		if out, _, err := r.p.run(r.t, "history", "show", found[name]); err != nil || !bytes.Equal(out, old) {
			r.lost++
		}
	}
}

// TestMappedWriterBehindTheGate has a hook change the file through a map when the
// gate has let the call through and before anything is replaced.
func TestMappedWriterBehindTheGate(t *testing.T) {
	p := tmpfsPlace(t)
	settings, err := json.Marshal(map[string]any{"hooks": map[string]any{"beforeFileEdited": []any{
		map[string]any{"glob": "*.txt", "command": []string{os.Args[0], p.file("a.txt")}, "timeout": "20s"}}}})
	must(t, err)
	must(t, os.MkdirAll(p.home+"/.config/fsmcp", 0o755))
	must(t, os.WriteFile(p.home+"/.config/fsmcp/settings.json", settings, 0o666))
	for _, try := range []struct {
		tool string
		size int
	}{{"Write", 2 << 10}, {"Write", 300 << 10}, {"Write", 2 << 20}, {"Edit", 2 << 10}, {"Edit", 2 << 20}, {"Edit", 65 << 20}} {
		t.Run(fmt.Sprintf("%s_%d", try.tool, try.size), func(t *testing.T) {
			hookedWrite(t, p, try.tool, try.size)
		})
	}
}

// hookedWrite replaces what the hook changes at the last moment.
func hookedWrite(t *testing.T, p place, tool string, size int) {
	c := p.start(t, "FSMCP_MAX_OUTPUT_TOKENS=10000000", "FSMCP_DURABILITY=none", "FAULTS_ROLE=map-writer")
	name := p.file("a.txt")
	must(t, os.WriteFile(name, []byte("first\nmarker 0\n"+strings.Repeat("a line as there are many\n", size/25)), 0o666))
	settled(t, name)
	was := timesOf(t, name)
	look := args{"file_path": name, "offset": 1, "limit": 1_000_000}
	change := args{"file_path": name, "content": "mine\n"}
	if size > 64<<20 {
		look["limit"] = 3
	}
	if tool == "Edit" {
		change = args{"file_path": name, "old_string": "first\nmarker 0\n", "new_string": "mine\n"}
	}
	mustCall(t, c, "Read", look)
	res, err := c.Call(tool, change)
	must(t, err)
	if !bytes.Contains(read(t, name), []byte("marker 1")) {
		t.Errorf("bytes that nobody was shown were replaced: %s", clip(res.Text))
	} else if timesOf(t, name) != was {
		t.Errorf("the times tell of the change: the test proves nothing")
	}
	must(t, c.Close())
}
