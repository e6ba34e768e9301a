package fsys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The calls of the Restart Manager, found when they are first needed.
var (
	restartManager      = windows.NewLazySystemDLL("rstrtmgr.dll")
	rmStartSession      = restartManager.NewProc("RmStartSession")
	rmRegisterResources = restartManager.NewProc("RmRegisterResources")
	rmGetList           = restartManager.NewProc("RmGetList")
	rmEndSession        = restartManager.NewProc("RmEndSession")
)

// rmProcessInfo is RM_PROCESS_INFO (source: restartmanager.h).
type rmProcessInfo struct {
	process   uint32
	started   windows.Filetime
	name      [256]uint16
	service   [64]uint16
	kind      uint32
	status    uint32
	session   uint32
	restarted int32
}

// Holder returns the name and the number of a program that has a file open, "" if the system
// tells none.
func Holder(file string) string {
	if restartManager.Load() != nil || rmGetList.Find() != nil {
		return ""
	}
	var session uint32
	var key [33]uint16 // CCH_RM_SESSION_KEY and the end
	if r, _, _ := rmStartSession.Call(uintptr(unsafe.Pointer(&session)), 0, uintptr(unsafe.Pointer(&key))); r != 0 {
		return ""
	}
	defer rmEndSession.Call(uintptr(session))
	name, err := windows.UTF16PtrFromString(file)
	if err != nil {
		return ""
	}
	if r, _, _ := rmRegisterResources.Call(uintptr(session), 1, uintptr(unsafe.Pointer(&name)), 0, 0, 0, 0); r != 0 {
		return ""
	}
	var infos [8]rmProcessInfo
	var needed, reasons uint32
	count := uint32(len(infos))
	r, _, _ := rmGetList.Call(uintptr(session), uintptr(unsafe.Pointer(&needed)), uintptr(unsafe.Pointer(&count)),
		uintptr(unsafe.Pointer(&infos)), uintptr(unsafe.Pointer(&reasons)))
	if r != 0 {
		return ""
	}
	for _, p := range infos[:min(int(count), len(infos))] {
		if p.process != windows.GetCurrentProcessId() {
			return fmt.Sprintf("%s (process %d)", windows.UTF16ToString(p.name[:]), p.process)
		}
	}
	return ""
}
