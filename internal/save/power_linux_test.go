//go:build !fsys_portable

package save

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// powerDisk is a file system in a file, whose power can be cut. It is one device
// for all its life: a second one for the same file, while the system has not let go
// of the first, would not see what that one has still to write.
type powerDisk struct {
	t             *testing.T
	device, mount string
	mounted       bool
}

func newPowerDisk(t *testing.T) *powerDisk {
	needRoot(t)
	top := t.TempDir()
	image := filepath.Join(top, "image")
	p := &powerDisk{t: t, mount: filepath.Join(top, "mount")}
	os.Mkdir(p.mount, 0o755)
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	os.Truncate(image, 64<<20)
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", image).CombinedOutput(); err != nil {
		t.Skipf("!!! NOT TESTED: no file system can be made: %v %s !!!", err, out)
	}
	device, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		t.Skipf("!!! NOT TESTED: there is no device for it: %v !!!", err)
	}
	p.device = strings.TrimSpace(string(device))
	t.Cleanup(func() { exec.Command("losetup", "--detach", p.device).Run() })
	if err := p.on(); err != nil {
		t.Skipf("!!! NOT TESTED: it cannot be mounted: %v !!!", err)
	}
	t.Cleanup(p.off)
	return p
}

func (p *powerDisk) on() error {
	out, err := exec.Command("mount", p.device, p.mount).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	p.mounted = true
	return nil
}

func (p *powerDisk) off() {
	for range 6000 { // half a minute
		if !p.mounted || unix.Unmount(p.mount, 0) == nil {
			p.mounted = false
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	p.t.Error("the disk cannot be unmounted")
}

// cut stops the file system in its tracks: what is not on disk is lost, the
// journal in memory included.
func (p *powerDisk) cut() error {
	const shutdown, withoutLog = 0x8004587d, 2
	fd, err := unix.Open(p.mount, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	flags := uint32(withoutLog)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), shutdown, uintptr(unsafe.Pointer(&flags))); errno != 0 {
		return errno
	}
	return nil
}

// Through a loss of power the file is wholly old or wholly new, what was reported
// stays, and the next start finds nothing lying about.
func TestPowerLoss(t *testing.T) {
	for _, system := range []string{"full", "poor", "in-place"} {
		t.Run(system, func(t *testing.T) {
			p := newPowerDisk(t)
			d := &testFolder{t: t, dir: filepath.Join(p.mount, "work"), state: filepath.Join(p.mount, "state")}
			os.Mkdir(d.dir, 0o755)
			path := d.put("f", string(version(0)))
			unix.Sync()
			last, cycles := 0, 0
			for range runs(shortrun.Count(t, 4, 2, "losses of power")) {
				now, why := p.cycle(d, "durable", system, path, last)
				if why != "" {
					t.Error(why)
				}
				last, cycles = now, cycles+1
			}
			t.Logf("%d cycles, %d versions", cycles, last)
		})
	}
}

// Without syncs, what was reported is lost.
func TestPowerLossControl(t *testing.T) {
	p := newPowerDisk(t)
	d := &testFolder{t: t, dir: filepath.Join(p.mount, "work"), state: filepath.Join(p.mount, "state")}
	os.Mkdir(d.dir, 0o755)
	path := d.put("f", string(version(0)))
	unix.Sync()
	for range 50 {
		if _, why := p.cycle(d, "hasty", "full", path, 0); why != "" {
			t.Log(why)
			return
		}
	}
	t.Error("nothing was lost: the test proves nothing")
}

// cycle lets a writer work until the power is cut. It gives the version that is
// there afterwards, and what is wrong.
func (p *powerDisk) cycle(d *testFolder, role, system, path string, last int) (now int, why string) {
	t := p.t
	t.Helper()
	w := play(t, role, system, d.state, path)
	w.out.Scan() // it is at work
	if n, err := strconv.Atoi(w.out.Text()); err == nil {
		last = n
	}
	time.Sleep(time.Duration(rand.IntN(20000)) * time.Microsecond)
	if err := p.cut(); err != nil {
		w.Process.Kill()
		w.Wait()
		t.Skipf("!!! NOT TESTED: the power cannot be cut: %v !!!", err)
	}
	w.in.Close()
	for w.out.Scan() {
		if n, err := strconv.Atoi(w.out.Text()); err == nil {
			last = n
		}
	}
	w.Wait()
	p.off()
	if err := p.on(); err != nil {
		t.Fatal(err)
	}
	return d.afterPower(path, last, last+1)
}

// afterPower clears up as the next start does. It gives the version that is there, and what is
// wrong: it has to be at least the last that was reported, and at most another one.
func (d *testFolder) afterPower(path string, last, most int) (now int, why string) {
	d.open()
	report, err := d.save.Sweep(d.t.Context())
	d.save.Close()
	content, _ := os.ReadFile(path)
	now, whole := versionOf(content)
	switch names := d.names(); {
	case err != nil || len(report.Saved)+len(report.Torn)+len(report.Pending) > 0:
		why = fmt.Sprintf("sweep: %+v, %v", report, err)
	case !whole || now < last || now > most:
		why = fmt.Sprintf("version %d (whole: %v) after version %d was reported", now, whole, last)
	case len(names) != 1:
		why = "left behind: " + strings.Join(names, " ")
	}
	return max(now, last), why
}

// roleDurable replaces the file until it cannot.
func roleDurable(system string, how Durability, state, path string) {
	s := New(Options{StateDir: state, Durability: how, Sys: hooked{base: systems[system].base(), before: systems[system].before}})
	b, _ := os.ReadFile(path)
	for k, _ := versionOf(b); ; k++ {
		out, err := whole(s, path, string(version(k+1)))
		if err != nil || out.DurabilityUnknown {
			return
		}
		fmt.Println(k + 1)
	}
}
