//go:build !linux

package doctor

// InotifyLimits is the folder in which Linux shows its limits of inotify.
const InotifyLimits = ""

// Watcher has nothing to check: only Linux limits watches by user.
func Watcher(dir, limits string) Check {
	return Check{Name: NameWatcher, Status: OK, Detail: "this system has no limit of watches by user"}
}
