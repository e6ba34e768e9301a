package fsys

import (
	"bytes"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"
)

// largePages asks the kernel for large pages for a buffer that holds nothing yet, if it is long
// enough for two (madvise(2), MADV_HUGEPAGE): where a page fault is dear, as in some virtual
// machines, most of the time of a large read goes into them. The kernel may refuse.
func largePages(b []byte) {
	if len(b) >= 4<<20 {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}

// FreeMemory returns the bytes that the process can still take without another having to
// give them up: what the kernel says is available (proc_meminfo(5)), and what the control
// groups of the process leave, whose page cache counts as free (cgroups(7)). known is false
// if the kernel does not say.
func FreeMemory() (free int64, known bool) {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	kilobytes, known := field(info, "MemAvailable:")
	groups, _ := os.ReadFile("/proc/self/cgroup")
	return min(kilobytes<<10, groupsLeave(groups, "/sys/fs/cgroup")), known
}

// unbounded is the free memory of a control group without a limit.
const unbounded = 1 << 62

// groupsLeave returns what control groups, as /proc/self/cgroup lists them, leave free.
func groupsLeave(groups []byte, root string) int64 {
	free := int64(unbounded)
	for line := range bytes.Lines(groups) {
		parts := bytes.SplitN(bytes.TrimSpace(line), []byte(":"), 3)
		if len(parts) < 3 {
			continue
		}
		dir, limit, used := root, "memory.max", "memory.current"
		switch string(parts[1]) {
		case "": // version 2
		case "memory":
			dir, limit, used = path.Join(root, "memory"), "memory.limit_in_bytes", "memory.usage_in_bytes"
		default:
			continue
		}
		for at := path.Clean("/" + string(parts[2])); ; at = path.Dir(at) {
			free = min(free, groupLeaves(path.Join(dir, at), limit, used))
			if at == "/" {
				break
			}
		}
	}
	return free
}

// groupLeaves returns what one control group leaves free.
func groupLeaves(dir, limit, used string) int64 {
	most, err := number(path.Join(dir, limit))
	if err != nil {
		return unbounded
	}
	now, err := number(path.Join(dir, used))
	if err != nil {
		return unbounded
	}
	stat, _ := os.ReadFile(path.Join(dir, "memory.stat"))
	for _, cache := range []string{"inactive_file", "active_file"} {
		n, _ := field(stat, cache)
		now -= n
	}
	return max(most-max(now, 0), 0)
}

// number reads a file that holds a number; one that holds "max" is an error.
func number(name string) (int64, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
}

// field returns the number behind a name at the start of a line.
func field(text []byte, name string) (n int64, ok bool) {
	for line := range bytes.Lines(text) {
		if words := bytes.Fields(line); len(words) > 1 && string(words[0]) == name {
			n, err := strconv.ParseInt(string(words[1]), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
