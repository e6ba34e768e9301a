package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// InotifyLimits is the folder in which Linux shows its limits of inotify.
const InotifyLimits = "/proc/sys/fs/inotify"

// Limits below these are worth a warning: an editor alone takes thousands of watches. Each
// server takes two instances.
const (
	lowWatches   = 8192
	lowInstances = 128
)

// Watcher checks that changes of files can be watched: it adds a watch of dir and removes
// it, and compares the limits in a folder of the system with what is usual.
func Watcher(dir, limits string) Check {
	c := Check{Name: NameWatcher}
	if err := watch(dir); err != nil {
		c.Status, c.Detail = Warn, fmt.Sprintf("%s cannot be watched: %v; fsmcp looks at files when a tool is called", dir, err)
		switch err {
		case unix.EMFILE:
			c.Remedy = raise("max_user_instances", 4*lowInstances)
		case unix.ENOSPC:
			c.Remedy = raise("max_user_watches", 64*lowWatches)
		default:
			c.Remedy = "Name a folder that is there and that you may read: --dir DIR."
		}
		return c
	}
	watches, instances := limit(limits, "max_user_watches"), limit(limits, "max_user_instances")
	c.Status, c.Detail = OK, fmt.Sprintf("inotify allows %d watches and %d instances", watches, instances)
	switch {
	case watches < 0 || instances < 0:
		c.Detail = "inotify works; its limits cannot be read"
	case watches < lowWatches:
		c.Status, c.Remedy = Warn, raise("max_user_watches", 64*lowWatches)
	case instances < lowInstances:
		c.Status, c.Remedy = Warn, raise("max_user_instances", 4*lowInstances)
	}
	return c
}

// raise names the command that raises a limit.
func raise(name string, to int) string {
	return fmt.Sprintf("Raise the limit: sudo sysctl fs.inotify.%s=%d", name, to)
}

// watch adds a watch of a folder and removes it.
func watch(dir string) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_CREATE)
	return err
}

// limit reads one limit, -1 if it cannot be read.
func limit(dir, name string) int {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return -1
	}
	return n
}
