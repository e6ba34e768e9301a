package sys

import (
	"sync"

	"golang.org/x/sys/unix"
)

// mostHeld bounds MaxHeld.
const mostHeld = 1024

// MaxHeld returns how many files a call may hold open at a time, beside those that it works on:
// eight calls at once take half of what the process may open.
var MaxHeld = sync.OnceValue(func() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur/16, mostHeld))
})
