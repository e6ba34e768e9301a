package sandbox

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Enter lowers this process for good, as far as the system can, and returns what holds. A
// second call changes nothing.
func Enter() State { return entered() }

var entered = sync.OnceValue(func() State {
	marked, remove := mark()
	defer remove()
	_ = giveUpPrivileges()
	_ = lowerIntegrity()
	refuseForeignCode()
	return State{Writes: marked && !canChange(markName()), Privileges: hasNoPrivileges(), Programs: isAlone()}
})

// markName names an event that mark makes.
func markName() *uint16 {
	name, _ := windows.UTF16PtrFromString(fmt.Sprintf(`Local\fsmcp-%d`, os.Getpid()))
	return name
}

// mark makes something that a process of medium integrity, and none below, may change. It
// reports whether this process may change it.
func mark() (made bool, remove func()) {
	h, err := windows.CreateEvent(nil, 0, 0, markName())
	if err != nil {
		return false, func() {}
	}
	return canChange(markName()), func() { windows.CloseHandle(h) }
}

// canChange reports whether this process may change an event. Wine ignores the integrity.
func canChange(name *uint16) bool {
	h, err := windows.OpenEvent(windows.EVENT_MODIFY_STATE, false, name)
	if err == nil {
		windows.CloseHandle(h)
	}
	return err != windows.ERROR_ACCESS_DENIED
}

// ownToken opens the token of this process.
func ownToken(access uint32) (t windows.Token, err error) {
	err = windows.OpenProcessToken(windows.CurrentProcess(), access|windows.TOKEN_QUERY, &t)
	return t, err
}

// lowerIntegrity gives this process the low integrity level: it can change nothing that is
// not marked as low. Each process may lower itself, and none may raise itself.
func lowerIntegrity() error {
	t, err := ownToken(windows.TOKEN_ADJUST_DEFAULT)
	if err != nil {
		return err
	}
	defer t.Close()
	low, err := windows.CreateWellKnownSid(windows.WinLowLabelSid)
	if err != nil {
		return err
	}
	label := windows.Tokenmandatorylabel{Label: windows.SIDAndAttributes{Sid: low, Attributes: windows.SE_GROUP_INTEGRITY}}
	return windows.SetTokenInformation(t, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), label.Size())
}

// passFolders is the privilege to pass through folders without a right to them, which all
// users have: without it names are found more slowly, and nothing more is safe. (Source:
// ntifs.h, SE_CHANGE_NOTIFY_PRIVILEGE; the number is the same on all systems.)
var passFolders = windows.LUID{LowPart: 23}

// giveUpPrivileges removes all privileges but passFolders from this process.
func giveUpPrivileges() error {
	t, err := ownToken(windows.TOKEN_ADJUST_PRIVILEGES)
	if err != nil {
		return err
	}
	defer t.Close()
	all, err := privileges(t)
	if err != nil {
		return err
	}
	for i, p := range all.AllPrivileges() {
		if p.Luid != passFolders {
			all.AllPrivileges()[i].Attributes = windows.SE_PRIVILEGE_REMOVED
		}
	}
	return windows.AdjustTokenPrivileges(t, false, all, 0, nil, nil)
}

// privileges returns the privileges of a token.
func privileges(t windows.Token) (*windows.Tokenprivileges, error) {
	var size uint32
	_ = windows.GetTokenInformation(t, windows.TokenPrivileges, nil, 0, &size)
	room := make([]uint64, size/8+1) // aligned
	err := windows.GetTokenInformation(t, windows.TokenPrivileges, (*byte)(unsafe.Pointer(&room[0])), uint32(len(room)*8), &size)
	return (*windows.Tokenprivileges)(unsafe.Pointer(&room[0])), err
}

// hasNoPrivileges reports whether this process has no privilege but passFolders.
func hasNoPrivileges() bool {
	t, err := ownToken(0)
	if err != nil {
		return false
	}
	defer t.Close()
	all, err := privileges(t)
	if err != nil {
		return false
	}
	for _, p := range all.AllPrivileges() {
		if p.Luid != passFolders {
			return false
		}
	}
	return true
}

// isAlone reports whether the job of this process allows one process, so that it can start
// no program. Wine tells nothing.
func isAlone() bool {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	err := windows.QueryInformationJobObject(0, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	basic := info.BasicLimitInformation
	return err == nil && basic.LimitFlags&windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS != 0 && basic.ActiveProcessLimit == 1
}

// policy is a mitigation policy of a process (source: winnt.h, PROCESS_MITIGATION_POLICY).
type policy struct{ kind, flags uint32 }

// policies are those that a decoder needs nothing of: input methods and hooks of other
// programs (DisableExtensionPoints), fonts of users (DisableNonSystemFonts), libraries from
// other machines and libraries that a process of low integrity has written. None forbids
// code that is made at run time, which the compiler of WebAssembly needs. None forbids the
// system calls of windows (win32k): that no library makes one could not be tried.
var policies = []policy{{6, 1}, {9, 1}, {10, 1 | 2}}

// refuseForeignCode sets the policies that this system knows.
func refuseForeignCode() {
	set := windows.NewLazySystemDLL("kernel32.dll").NewProc("SetProcessMitigationPolicy")
	if set.Find() != nil {
		return
	}
	for _, p := range policies {
		_, _, _ = set.Call(uintptr(p.kind), uintptr(unsafe.Pointer(&p.flags)), unsafe.Sizeof(p.flags))
	}
}
