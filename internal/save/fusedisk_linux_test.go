//go:build !fsys_portable

package save

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// fuseDisk is a file system by FUSE with one file, whose writes and flushes are logged. A loop
// device on that file is a disk whose content the test knows at each moment.
type fuseDisk struct {
	t     *testing.T
	dev   int
	dir   string // where it is mounted
	image *os.File
	size  uint64
	mu    sync.Mutex // guards log
	log   []diskWrite
	block int // of the file system: it is written whole or not
}

// diskWrite is a write to a disk, or without data a flush.
type diskWrite struct {
	off  int64
	data []byte
}

// The operations of FUSE that are answered; see include/uapi/linux/fuse.h of Linux.
const (
	fuseLookup      = 1
	fuseForget      = 2
	fuseGetattr     = 3
	fuseSetattr     = 4
	fuseOpen        = 14
	fuseRead        = 15
	fuseWrite       = 16
	fuseRelease     = 18
	fuseFsync       = 20
	fuseFlush       = 25
	fuseInit        = 26
	fuseInterrupt   = 36
	fuseBatchForget = 42
)

const (
	fuseRoot, fuseFile = 1, 2
	fuseMaxWrite       = 128 << 10
)

// newFuseDisk serves an image as a file.
func newFuseDisk(t *testing.T, image string) *fuseDisk {
	t.Helper()
	f, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	d := &fuseDisk{t: t, dir: t.TempDir(), image: f, size: uint64(info.Size())}
	if d.dev, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		t.Skipf("!!! NOT TESTED: there is no FUSE: %v !!!", err)
	}
	if err := unix.Mount("fsmcp-disk", d.dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", d.dev)); err != nil {
		unix.Close(d.dev)
		t.Skipf("!!! NOT TESTED: FUSE cannot be mounted: %v !!!", err)
	}
	served := make(chan bool)
	go func() { d.serve(); close(served) }()
	t.Cleanup(func() {
		unix.Unmount(d.dir, unix.MNT_DETACH)
		<-served
		unix.Close(d.dev)
	})
	return d
}

// file is the name of the disk.
func (d *fuseDisk) file() string { return filepath.Join(d.dir, "disk") }

// written is the number of writes and flushes so far.
func (d *fuseDisk) written() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

func (d *fuseDisk) note(w diskWrite) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, w)
}

// serve answers requests until the file system is unmounted.
func (d *fuseDisk) serve() {
	request := make([]byte, fuseMaxWrite+1<<16)
	for {
		n, err := unix.Read(d.dev, request)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EAGAIN):
			continue
		case err != nil:
			return // unmounted
		}
		const header = 40
		op, unique, node := binary.NativeEndian.Uint32(request[4:]), request[8:16], binary.NativeEndian.Uint64(request[16:])
		if op == fuseForget || op == fuseBatchForget || op == fuseInterrupt {
			continue
		}
		body, errno := d.answer(op, node, request[header:n])
		answer := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
		answer = binary.NativeEndian.AppendUint32(answer, uint32(-int32(errno)))
		answer = append(append(answer, unique...), body...)
		unix.Write(d.dev, answer)
	}
}

// answer returns what is answered to a request.
func (d *fuseDisk) answer(op uint32, node uint64, in []byte) (out []byte, errno unix.Errno) {
	u32, u64 := binary.NativeEndian.AppendUint32, binary.NativeEndian.AppendUint64
	switch op {
	case fuseInit:
		for _, n := range []uint32{7, 31, 1 << 16, 1 << 5} { // the version, reads ahead, large writes
			out = u32(out, n)
		}
		return append(u32(u32(u32(out, 16|12<<16), fuseMaxWrite), 1), make([]byte, 36)...), 0
	case fuseLookup:
		if string(in) != "disk\x00" {
			return nil, unix.ENOENT
		}
		return append(append(u64(u64(nil, fuseFile), 0), make([]byte, 24)...), d.attributes(fuseFile)...), 0
	case fuseGetattr, fuseSetattr:
		return append(make([]byte, 16), d.attributes(node)...), 0
	case fuseOpen:
		return make([]byte, 16), 0
	case fuseRead:
		off, size := int64(binary.NativeEndian.Uint64(in[8:])), binary.NativeEndian.Uint32(in[16:])
		out = make([]byte, size)
		n, _ := d.image.ReadAt(out, off)
		return out[:n], 0
	case fuseWrite:
		off, size := int64(binary.NativeEndian.Uint64(in[8:])), binary.NativeEndian.Uint32(in[16:])
		data := slices.Clone(in[40:][:size])
		if _, err := d.image.WriteAt(data, off); err != nil {
			return nil, unix.EIO
		}
		d.note(diskWrite{off, data})
		return u64(nil, uint64(size)), 0
	case fuseFsync:
		d.note(diskWrite{})
		return nil, 0
	case fuseRelease, fuseFlush:
		return nil, 0
	}
	return nil, unix.ENOSYS
}

func (d *fuseDisk) attributes(node uint64) []byte {
	u32, u64 := binary.NativeEndian.AppendUint32, binary.NativeEndian.AppendUint64
	mode, size := uint32(unix.S_IFDIR|0o755), uint64(0)
	if node == fuseFile {
		mode, size = unix.S_IFREG|0o600, d.size
	}
	b := append(u64(u64(u64(nil, node), size), size/512), make([]byte, 24+12)...)
	b = u32(u32(b, mode), 1)
	return append(b, make([]byte, 20)...)
}

// cut writes into a copy of what was there at first what a disk may hold that loses its power
// after so many writes: all up to the last flush, and some of those since, perhaps in part.
func (d *fuseDisk) cut(base, to string, writes int) (lost int) {
	d.t.Helper()
	if out, err := exec.Command("cp", "--sparse=always", base, to).CombinedOutput(); err != nil {
		d.t.Fatalf("%v %s", err, out)
	}
	f, err := os.OpenFile(to, os.O_WRONLY, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	d.mu.Lock()
	log := d.log[:writes]
	d.mu.Unlock()
	flushed := -1
	for i, w := range log {
		if w.data == nil {
			flushed = i
		}
	}
	keep := rand.IntN(4) // of four: none, some, more, nearly all
	for i, w := range log {
		if i > flushed && rand.IntN(4) >= keep {
			if lost++; rand.IntN(4) > 0 {
				continue
			}
			w.data = w.data[:len(w.data)/2/d.block*d.block]
		}
		if _, err := f.WriteAt(w.data, w.off); err != nil {
			d.t.Fatal(err)
		}
	}
	return lost
}

// diskSystems are the file systems that are tried on such a disk.
var diskSystems = []struct {
	name, options string
	make          []string
	size          int64
	block         int
}{
	{"ext4", "data=ordered", []string{"mkfs.ext4", "-q", "-F", "-b", "4096"}, 64 << 20, 4096},
	{"ext4 writeback", "data=writeback", []string{"mkfs.ext4", "-q", "-F", "-b", "4096"}, 64 << 20, 4096},
	{"ext4 in small blocks", "data=ordered", []string{"mkfs.ext4", "-q", "-F", "-b", "1024"}, 64 << 20, 1024},
	{"xfs", "defaults", []string{"mkfs.xfs", "-q", "-f"}, 320 << 20, 4096},
	{"btrfs", "defaults", []string{"mkfs.btrfs", "-q", "-f"}, 256 << 20, 4096},
}

// TestCutBetweenFlushes lets a writer work on real file systems whose disk logs its writes, and
// looks at what the disk may hold after a cut at some of the writes: the file is whole, has what
// was reported by then, and the next start clears up.
func TestCutBetweenFlushes(t *testing.T) {
	shortrun.Leave(t, "cuts between the flushes of ext4, xfs and btrfs")
	needRoot(t)
	for _, system := range diskSystems {
		for _, way := range []string{"full", "poor", "in-place"} {
			t.Run(system.name+"/"+way, func(t *testing.T) {
				c := newCutDisk(t, system.make, system.options, system.size, system.block)
				c.record("durable", way)
				bad := c.try(min(runs(12), 60))
				for _, why := range bad {
					t.Error(why)
				}
			})
		}
	}
}

// TestCutBetweenFlushesControl: without syncs what was reported is lost.
func TestCutBetweenFlushesControl(t *testing.T) {
	shortrun.Leave(t, "the control arm of cuts between flushes")
	needRoot(t)
	for _, system := range diskSystems {
		t.Run(system.name, func(t *testing.T) {
			c := newCutDisk(t, system.make, system.options, system.size, system.block)
			c.record("hasty", "full")
			bad := c.try(20)
			if len(bad) == 0 {
				t.Fatal("nothing was lost: the test proves nothing")
			}
			t.Logf("%d of 20 are bad, as %s", len(bad), bad[0])
		})
	}
}

// cutDisk is a file system on a disk of its own.
type cutDisk struct {
	*powerDisk
	disk    *fuseDisk
	base    string // the image before the writer began
	options string
	d       *testFolder
	path    string
	said    []int // writes of the disk when each version was reported
	last    int
}

func newCutDisk(t *testing.T, makeFS []string, options string, size int64, block int) *cutDisk {
	t.Helper()
	top := t.TempDir()
	c := &cutDisk{base: filepath.Join(top, "base"), options: options}
	image := filepath.Join(top, "image")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, size)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(makeFS[0], append(makeFS[1:], image)...).CombinedOutput(); err != nil {
		t.Skipf("!!! NOT TESTED: no file system can be made: %v %s !!!", err, out)
	}
	c.powerDisk = &powerDisk{t: t, mount: filepath.Join(top, "mount")}
	os.Mkdir(c.mount, 0o755)
	c.d = &testFolder{t: t, dir: filepath.Join(c.mount, "work"), state: filepath.Join(c.mount, "state")}
	t.Cleanup(c.detach)
	c.attach(image)
	if err := os.Mkdir(c.d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.path = c.d.put("f", string(version(0)))
	c.detach()
	if out, err := exec.Command("cp", "--sparse=always", image, c.base).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	c.disk = newFuseDisk(t, image)
	c.disk.block = block
	t.Cleanup(c.detach)
	c.attach(c.disk.file())
	return c
}

// attach mounts an image.
func (c *cutDisk) attach(image string) {
	c.t.Helper()
	device, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		c.t.Skipf("!!! NOT TESTED: there is no device for it: %v !!!", err)
	}
	c.device = strings.TrimSpace(string(device))
	if out, err := exec.Command("mount", "-o", c.options, c.device, c.mount).CombinedOutput(); err != nil {
		c.detach()
		c.t.Skipf("!!! NOT TESTED: it cannot be mounted: %v %s !!!", err, out)
	}
	c.mounted = true
}

func (c *cutDisk) detach() {
	if c.device == "" {
		return
	}
	c.off()
	exec.Command("losetup", "--detach", c.device).Run()
	c.device = ""
	if _, err := exec.LookPath("btrfs"); err == nil { // which refuses older states of a disk that it knows
		exec.Command("btrfs", "device", "scan", "--forget").Run()
	}
}

// record lets a writer replace the file some times.
func (c *cutDisk) record(role, way string) {
	w := play(c.t, role, way, c.d.state, c.path)
	for w.out.Scan() {
		if n, err := strconv.Atoi(w.out.Text()); err == nil {
			c.last = n
			c.said = append(c.said, c.disk.written())
		}
		if len(c.said) == 8 {
			unix.Sync()
			w.Process.Kill()
		}
	}
	w.Wait()
	c.detach()
}

// try looks at the states after some of the writes, and says what is wrong with them.
func (c *cutDisk) try(cuts int) (bad []string) {
	state, all := filepath.Join(filepath.Dir(c.base), "state"), c.disk.written()
	lost := 0
	for range cuts {
		at := rand.IntN(all + 1)
		n := c.disk.cut(c.base, state, at)
		lost += n
		reported := 0
		for _, writes := range c.said {
			if writes <= at {
				reported++
			}
		}
		c.attach(state)
		if _, why := c.d.afterPower(c.path, reported, c.last+1); why != "" {
			bad = append(bad, fmt.Sprintf("after %d of %d writes, with %d lost: %s", at, all, n, why))
		}
		c.detach()
	}
	c.t.Logf("%d versions, %d writes and flushes, %d cuts that lost %d writes", c.last, all, cuts, lost)
	return bad
}
