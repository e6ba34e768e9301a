package main

import (
	"encoding/binary"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

// attackHere does what only this system has.
func attackHere(op, where string) error {
	switch op {
	case "start":
		return start(where)
	case "open parent":
		h, err := windows.OpenProcess(windows.PROCESS_VM_WRITE, false, uint32(os.Getppid()))
		if err == nil {
			windows.CloseHandle(h)
		}
		return err
	case "privileges":
		return usePrivileges()
	}
	return windows.ERROR_NOT_SUPPORTED
}

// connect connects to a port of this machine.
func connect(where string) error {
	var data windows.WSAData
	if err := windows.WSAStartup(0x202, &data); err != nil {
		return err
	}
	port, err := strconv.Atoi(where)
	if err != nil {
		return err
	}
	s, err := windows.Socket(windows.AF_INET, windows.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer windows.Closesocket(s)
	return windows.Connect(s, &windows.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}

// start starts a program that does nothing, as it is suspended, and ends it.
func start(program string) error {
	p, err := os.StartProcess(program, []string{program}, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED}})
	if err != nil {
		return err
	}
	_ = p.Kill()
	_, err = p.Wait()
	return err
}

// usePrivileges fails if this process has no privilege to use but that to pass through
// folders.
func usePrivileges() error {
	var t windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ADJUST_PRIVILEGES|windows.TOKEN_QUERY, &t); err != nil {
		return err
	}
	defer t.Close()
	var size uint32
	_ = windows.GetTokenInformation(t, windows.TokenPrivileges, nil, 0, &size)
	room := make([]byte, max(size, 4))
	if err := windows.GetTokenInformation(t, windows.TokenPrivileges, &room[0], size, &size); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(room) < 2 {
		return windows.ERROR_PRIVILEGE_NOT_HELD
	}
	return nil
}

// executable makes memory executable, as a compiler does.
func executable() error {
	page, err := windows.VirtualAlloc(0, uintptr(os.Getpagesize()), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return err
	}
	defer windows.VirtualFree(page, 0, windows.MEM_RELEASE)
	var before uint32
	return windows.VirtualProtect(page, uintptr(os.Getpagesize()), windows.PAGE_EXECUTE_READ, &before)
}
