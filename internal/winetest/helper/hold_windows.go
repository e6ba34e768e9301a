package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// serve obeys the lines of standard input, and answers each with one line: "ok" with a
// result, or "error" with the number of the system's error.
//
//	open ACCESS SHARE NAME   ACCESS of r and w, SHARE of r, w and d or "-"
//	append TEXT              to the open file
//	close
//	reads N NAME             opens the file N times as most programs do, counts refusals
//	read NAME, edit NAME     what fsmcp's Read and Edit do, in a few lines
func serve() error {
	lines := bufio.NewScanner(os.Stdin)
	held := syscall.InvalidHandle
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
			result, err = reads(words[1], words[2])
		case "read":
			var b []byte
			b, err = os.ReadFile(words[1])
			result = strconv.Itoa(len(b))
		case "edit":
			err = edit(words[1])
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
		rights |= map[rune]uint32{'r': syscall.GENERIC_READ, 'w': syscall.GENERIC_WRITE}[c]
	}
	for _, c := range share {
		shared |= map[rune]uint32{'r': syscall.FILE_SHARE_READ, 'w': syscall.FILE_SHARE_WRITE, 'd': 4}[c]
	}
	p, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return syscall.InvalidHandle, err
	}
	return syscall.CreateFile(p, rights, shared, nil, syscall.OPEN_EXISTING, 0, 0)
}

// reads opens a file for reading, shared for reading and writing alone, and counts those
// tries that are refused and those that find no file.
func reads(times, name string) (string, error) {
	n, err := strconv.Atoi(times)
	if err != nil {
		return "", err
	}
	refused, missing := 0, 0
	for range n {
		h, err := open(name, "r", "rw")
		switch err {
		case nil:
			_ = syscall.CloseHandle(h)
		case syscall.Errno(32):
			refused++
		case syscall.ERROR_FILE_NOT_FOUND:
			missing++
		default:
			return "", err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Sprintf("%d %d", refused, missing), nil
}

// edit reads a file, changes its first byte, and replaces it as a whole.
func edit(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	b[0] ^= 1
	f, err := os.CreateTemp(filepath.Dir(name), ".edit")
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
