package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// serve obeys the lines of standard input, and answers each with one line: "ok" with a
// result, or "error" with the number of the system's error.
//
//	open ACCESS SHARE NAME   ACCESS of r, w and d, SHARE of r, w and d or "-"
//	append TEXT              to the open file
//	close
//	reads N SHARE NAME       opens the file N times for reading, counts refusals
//	begin FOLDER             a workspace, for read N NAME and edit N NAME: see small
//	rewrite NAME             reads the file and writes it again, without care
//	protect NAME             gives the file an access list and attributes of its own
//	describe NAME            the attributes and the access list
func serve() error {
	lines := bufio.NewScanner(os.Stdin)
	held := syscall.InvalidHandle
	var program small
	for lines.Scan() {
		words := strings.SplitN(lines.Text(), " ", 4)
		var err error
		result := ""
		switch words[0] {
		case "open":
			held, err = open(words[3], words[1], words[2])
		case "append":
			_, _ = syscall.Seek(held, 0, 2)
			_, err = syscall.Write(held, []byte(words[1]+"\n"))
		case "close":
			err = syscall.CloseHandle(held)
		case "reads":
			result, err = reads(words[1], words[2], words[3])
		case "begin":
			result, err = program.begin(words[1])
		case "read":
			result, err = program.read(words[2])
		case "edit":
			var n int
			if n, err = strconv.Atoi(words[1]); err == nil {
				err = program.edit(words[2], n)
			}
		case "rewrite":
			err = rewrite(words[1])
		case "protect":
			err = protect(words[1])
		case "describe":
			result, err = describe(words[1])
		}
		if err != nil {
			number := syscall.Errno(0)
			if n, ok := err.(syscall.Errno); ok {
				number = n
			}
			fmt.Printf("error %d %v\n", uint32(number), err)
			continue
		}
		fmt.Println("ok", result)
	}
	return lines.Err()
}

func open(name, access, share string) (syscall.Handle, error) {
	var rights, shared uint32
	for _, c := range access {
		rights |= map[rune]uint32{'r': syscall.GENERIC_READ, 'w': syscall.GENERIC_WRITE, 'd': windows.DELETE}[c]
	}
	for _, c := range share {
		shared |= map[rune]uint32{'r': syscall.FILE_SHARE_READ, 'w': syscall.FILE_SHARE_WRITE, 'd': 4}[c]
	}
	p, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return syscall.InvalidHandle, err
	}
	return syscall.CreateFile(p, rights, shared, nil, syscall.OPEN_EXISTING, syscall.FILE_FLAG_BACKUP_SEMANTICS, 0)
}

// reads opens a file for reading, shared as share says. It counts the times that this is
// refused for a moment, that no file is found, and that it is refused for half a second.
func reads(times, share, name string) (string, error) {
	n, err := strconv.Atoi(times)
	if err != nil {
		return "", err
	}
	refused, missing, lockedOut := 0, 0, 0
	for range n {
		begin := time.Now()
		h, err := open(name, "r", share)
		if err == syscall.Errno(32) {
			refused++
		}
		for err == syscall.Errno(32) && time.Since(begin) < 500*time.Millisecond {
			time.Sleep(time.Millisecond)
			h, err = open(name, "r", share)
		}
		switch err {
		case nil:
			_ = syscall.CloseHandle(h)
		case syscall.Errno(32):
			lockedOut++
		case syscall.ERROR_FILE_NOT_FOUND:
			missing++
		default:
			return "", err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Sprintf("%d %d %d", refused, missing, lockedOut), nil
}

// rewrite reads a file and writes it again, as a careless program does.
func rewrite(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	time.Sleep(10 * time.Millisecond)
	return os.WriteFile(name, b, 0o644)
}

// protect gives a file an access list that is not inherited, and makes it a hidden file of
// the system.
func protect(name string) error {
	sd, err := windows.SecurityDescriptorFromString("D:P(A;;FA;;;BA)(A;;0x1301ff;;;WD)")
	if err != nil {
		return err
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return err
	}
	err = windows.SetNamedSecurityInfo(name, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, dacl, nil)
	if err != nil {
		return err
	}
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	return windows.SetFileAttributes(p, windows.FILE_ATTRIBUTE_HIDDEN|windows.FILE_ATTRIBUTE_SYSTEM)
}

// describe returns the attributes and the access list of a file.
func describe(name string) (string, error) {
	sd, err := windows.GetNamedSecurityInfo(name, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return "", err
	}
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return "", err
	}
	attributes, err := windows.GetFileAttributes(p)
	return fmt.Sprintf("%#x %s", attributes&^windows.FILE_ATTRIBUTE_ARCHIVE, sd), err
}
