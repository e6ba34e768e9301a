package mcptest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// Children are the ids of the processes that a process has started, but for those
// that have ended and wait to be buried.
func Children(pid int) (out []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The program's name, in brackets, may hold anything.
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != strconv.Itoa(pid) || string(fields[0]) == "Z" {
			continue
		}
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			out = append(out, child)
		}
	}
	return out
}
