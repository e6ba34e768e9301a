package fsys

import (
	"os"
	"time"
)

// Stamp holds what the system knows of a file besides its bytes. Times are Unix
// nanoseconds; Mode is st_mode (on Windows the kind and the permission bits).
type Stamp struct {
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64
	Mode         uint32
	Nlink        uint64
	UID, GID     uint32
}

// Same reports that nothing was changed between the two stamps as far as stamps
// can tell: device, inode, size, both times. It proves that only together with
// Settled.
func (s Stamp) Same(o Stamp) bool {
	return s.SameFile(o) && s.Size == o.Size && s.Mtime == o.Mtime && s.Ctime == o.Ctime
}

// SameFile reports that both stamps are of one inode.
func (s Stamp) SameFile(o Stamp) bool { return s.Dev == o.Dev && s.Ino == o.Ino }

// The grain of file times: kernels that stamp with the timer tick take at most
// 10 ms; file systems that keep whole seconds may keep only even ones.
const (
	tickGrain   = 20 * time.Millisecond
	secondGrain = 2*time.Second + tickGrain
)

// Settled reports that at now, the moment the stamp was taken, the file's last
// change was older than the clock's grain: any later change then shows in the
// times, and Same with it means unchanged. A change time in the future (another
// machine's clock) is never settled.
func (s Stamp) Settled(now time.Time) bool {
	// The change time is the one that no program can set; if a system has
	// none, the modification time must do.
	changed := s.Ctime
	if changed == 0 {
		changed = s.Mtime
	}
	grain := tickGrain
	if changed%int64(time.Second) == 0 {
		grain = secondGrain
	}
	return now.UnixNano()-changed > int64(grain)
}

// Exists reports whether something has an absolute name, if only a link. It asks no rules.
func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
