package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// ownLimits are the attributes of a process in a user namespace of its own,
// whose limits it may set.
func ownLimits() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// after has the server start behind a few words of shell, in a namespace of
// its own. It skips the test where there can be none.
func (f *fort) after(shell string) {
	f.t.Helper()
	try := exec.Command("/bin/sh", "-ec", shell)
	try.SysProcAttr = ownLimits()
	if out, err := try.CombinedOutput(); err != nil {
		f.t.Skipf("!!! NOT TESTED: no user namespace of our own can be had: %v !!! %s", err, out)
	}
	f.prelude = []string{"-ec", shell + "\nexec \"$0\" \"$@\"", program}
}

// TestWithoutEvents follows settings files where the system has no watchers
// left, or too few: they are looked at before each call.
func TestWithoutEvents(t *testing.T) {
	const none, few = "echo 0 > /proc/sys/user/max_inotify_instances", "echo 3 > /proc/sys/user/max_inotify_watches"
	for i, c := range []struct {
		name, shell string
		play        func(*fort, settingsFile)
	}{
		{"no instances, a deny is added", none, playDenyAdded},
		{"no instances, a file breaks", none, playBroken},
		{"few watches, a deny is added", few, playDenyAdded},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachOf(t, someFiles(t, i/2), func(f *fort, s settingsFile) {
				f.after(c.shell)
				c.play(f, s)
				f.soon("the log says that events are missing", func() bool {
					return strings.Contains(f.stderr.String(), "settings files are looked at before calls instead")
				})
			})
		})
	}
}

// someFiles returns every other settings file, for an odd number the others, or all where all is
// to be tested.
func someFiles(t *testing.T, number int) (some []settingsFile) {
	all := settingsFiles()
	step := len(all) / shortrun.Most(t, len(all), len(all)/2, "settings files")
	for i := number % step; i < len(all); i += step {
		some = append(some, all[i])
	}
	return some
}

// TestManaged has the administrator's files, in an /etc of the server's own:
// their deny rules hold whatever flags say, one that others could write counts
// for nothing, and a file that is dropped in holds within a second.
func TestManaged(t *testing.T) {
	t.Parallel()
	inTime(t, func(f *fort) {
		for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
			f.put(name, canary+"\n")
		}
		managed := f.put(f.outside+"/managed.json", rules{"deny": []string{"Read(a.txt)"}, "allow": []string{"Read(/x)"}}.text())
		loose := f.put(f.outside+"/loose.json", deny("Read(b.txt)").text())
		f.after("mount -t tmpfs none /etc && mkdir -p /etc/claude-code/managed-settings.d && cd /etc/claude-code && " +
			"cp " + managed + " managed-settings.json && cp " + loose + " managed-settings.d/10.json && chmod 666 managed-settings.d/10.json && cd " + f.ws)
		f.serve("--no-claude-settings", "--allow", "Read(a.txt)", "--permission-mode", "bypassPermissions")
		f.refused(f.abs("a.txt"), "denied")
		res := f.call("Read", map[string]any{"file_path": f.abs("a.txt")})
		if !strings.Contains(res.Text, "Read(a.txt) (/etc/claude-code/managed-settings.json:7)") {
			t.Errorf("answered %s", res.Text)
		}
		f.soon("warnings", func() bool {
			return strings.Contains(f.stderr.String(), "10.json is ignored: it has to belong to root")
		})
		if !f.open("b.txt")() {
			t.Error("a rule that anybody could have written counts")
		}
		f.put(fmt.Sprintf("/proc/%d/root/etc/claude-code/managed-settings.d/20.json", f.client.PID()), deny("Read(c.txt)").text())
		f.soon("a file dropped in", f.closed("c.txt"))
	})
}
